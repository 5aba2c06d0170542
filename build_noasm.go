//go:build !amd64 || purego

package bloom

func setAssembly(Kernel, *byte, uint64, []uint32) int { return 0 }

func (b *regionBuffers) sortAssembly([]uint32) (left int, ok bool) { return 0, false }

func packAssembly[E uint32 | uint64](Kernel, []E, []uint64) (done, left int) { return 0, 0 }
