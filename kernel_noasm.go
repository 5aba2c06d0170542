//go:build (!amd64 && !arm64) || purego

package bloom

import "unsafe"

func detectKernels() []Kernel { return []Kernel{Generic} }

const slowGather = false

// There is no assembly here: these functions take nothing, so Go does all the work.

func (hashKind) hasKernel(Kernel) bool { return false }

func (k *Keys) hash32Assembly(Kernel, []uint32, uint32) int { return 0 }

func (k *Keys) hash64Assembly(Kernel, []uint64, []uint64) int { return 0 }

func (k *Keys) xxh64Assembly(Kernel, []uint64) int { return 0 }

func (k *Keys) xxph3Assembly(Kernel, []uint64) int { return 0 }

func (d double32) testAssembly(Kernel, []uint32, []uint64, bool) bool { return false }

func (d double32) placeAssembly(Kernel, []uint32, []uint32) int { return 0 }

func (d *double64) testAssembly(Kernel, *hashes, []uint64, bool) bool { return false }

func (d *split256) testAssembly(Kernel, []uint64, []uint64) bool { return false }

func (d *split256) addAssembly(Kernel, []uint64) bool { return false }

func (*xxph3Sums) addAssembly(unsafe.Pointer, int) bool { return false }
