//go:build !amd64 || purego

package bloom

import "unsafe"

func detectKernels() []Kernel { return []Kernel{Generic} }

// testAssembly and hash32Assembly leave everything to Go.

func (d double32) testAssembly(Kernel, []uint32, []uint64, bool) bool { return false }

func hash32Assembly(Kernel, unsafe.Pointer, int, []uint32) int { return 0 }
