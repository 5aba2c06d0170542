//go:build !amd64 || purego

package bloom

func setAssembly(Kernel, *byte, uint64, []uint32) int { return 0 }

func (b *regionBuffers) sortAssembly([]uint32) (left int, ok bool) { return 0, false }
