//go:build !purego

package bloom

// xxph3Assembly is hash32Assembly for XXPH3.
func (k *Keys) xxph3Assembly(kernel Kernel, hashes []uint64) int { return 0 }
