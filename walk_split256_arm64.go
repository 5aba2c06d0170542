//go:build !purego

package bloom

import "unsafe"

// testAssembly is testGeneric in the kernel's assembly. It returns false, and does nothing,
// if Go must test the hashes.
func (d *split256) testAssembly(kernel Kernel, hashes []uint64, hits []uint64) bool { return false }

// addAssembly sets the bits of the hashes, at least one, in the kernel's assembly. It returns
// false, and does nothing, if Go must set them.
func (d *split256) addAssembly(kernel Kernel, hashes []uint64) bool { return false }

func (d *split256) has(h uint64) bool { return d.test(h) }

func (d *split256) hasUint64(key uint64) bool { return d.test(xxh64Uint64(key)) }

func (d *split256) hasKey(p unsafe.Pointer, n int) bool { return d.test(xxh64At(p, n)) }
