//go:build (!amd64 && !arm64) || purego

package bloom

import "unsafe"

// There is no assembly here: these functions take nothing, so Go does all the work.

func (k *Keys) hash32Assembly(Kernel, []uint32, uint32) int { return 0 }

func (k *Keys) hash64Assembly(Kernel, []uint64, []uint64) int { return 0 }

func (k *Keys) xxh64Assembly(Kernel, []uint64) int { return 0 }

func (k *Keys) xxph3Assembly(Kernel, []uint64) int { return 0 }

func (*xxph3Sums) addAssembly(unsafe.Pointer, int) bool { return false }
