//go:build !amd64 || purego

package bloom

func detectKernels() []Kernel { return []Kernel{Generic} }

// testAssembly and hash32Assembly leave everything to Go.

func (d double32) testAssembly(Kernel, []uint32, []uint64, bool) bool { return false }

func (k *Keys) hash32Assembly(Kernel, []uint32) int { return 0 }
