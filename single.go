package bloom

import (
	"fmt"
	"unsafe"

	"github.com/lanebloom/bloom/internal/detect"
)

// single has the functions that test or add one key, for a scheme and a kernel. A prober points to its
// single. So each takes one indirect jump, which CPUs predict, in place of comparisons with each scheme.
type single struct {
	// Where the assembly of probeUint64 and addUint64 jumps to, and that of probeHash with a hash of each scheme: to Go, unless it is its own.
	ofUint64, ofAdd uintptr
	ofHash          [len(schemes)]uintptr

	// ofKey is a keyTest, but p, the address of the key, has no type of a pointer. The compiler takes each pointer
	// that goes through a function value for one that escapes, and would move the key to the heap. A key on the
	// stack can move only when the stack grows, in a call. Then ofKey has p, as a pointer that moves with it.
	ofKey func(s *prober, p uintptr, n int) bool
}

// keyTest reports whether the key of n bytes at p may be in the filter.
type keyTest func(s *prober, p unsafe.Pointer, n int) bool

// ofKey returns what single.ofKey is for a test.
func ofKey(test keyTest) func(*prober, uintptr, int) bool {
	return *(*func(*prober, uintptr, int) bool)(unsafe.Pointer(&test))
}

// singles are those of the schemes, by kernel. All begin with Go's functions; single_amd64.go sets
// those of assembly.
var singles = func() (all [NEON + 1][len(schemes)]single) {
	for kernel := range all {
		for walk := range all[kernel] {
			all[kernel][walk].ofKey = ofKey((*prober).hasKey)
		}
	}
	return all
}()

// probeHash reports whether the key of a hash of the prober may be in the filter.
func (s *prober) probeHash(h Hash) bool {
	if detect.Races && s.atomic {
		return s.probeHashAtomic(h)
	}
	if s.scheme == schemeBitsAndBlooms { // it takes any words
		return (*crossed64)(&s.bitArray).has(h)
	}
	return probeHash(&s.base, h.h1, h.h2, h.h3, h.h4)
}

// otherHash answers no for the zero Filter, which holds no key. For every other filter it
// panics.
func (s *prober) otherHash(h Hash) bool {
	if s.scheme != 0 {
		panicOtherHash(h, s.scheme)
	}
	return false
}

// panicOtherHash is a function of its own, so that those that call it are inlined.
func panicOtherHash(h Hash, want scheme) {
	panic(fmt.Sprintf("bloom: the key was hashed by %s, but the filter's format uses %s", schemes[h.scheme()].hash, schemes[want].hash))
}
