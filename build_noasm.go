//go:build !amd64 || purego

package bloom

func setAssembly(*byte, uint64, []uint32) int { return 0 }

func (b *regionBuffers) scatterAssembly([]uint32) (left int, ok bool) { return 0, false }
