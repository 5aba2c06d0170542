package bloom

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/probes"
)

// prober is how a filter is queried and built: its scheme, its bits, and the kernel. dispatch.go has what it can do.
// The zero prober holds no key.
type prober struct {
	probes.Array
	scheme scheme
	kernel Kernel
	few    few  // keys are tested one by one
	far    bool // kernels request lines and blocks before they need them
	atomic bool // bits are set by atomic operations, for an AtomicSet

	oneKey *oneKey // nil for the zero prober

	// What kernels divide with, by scheme: of LevelDB and Pebble a reciprocal and a shift, of Nori the words of
	// floor(2^128 / n), the lower first.
	divisor [2]uint64
	full    fullDivisor // of schemes with full remainders
}

const noBits = "bloom: a key was added to the zero Set, which has no bits; NewSet and OpenSet make sets"

// mustHaveBits panics for the zero Set.
func (s *prober) mustHaveBits() {
	if s.scheme == 0 {
		panic(noBits)
	}
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

// word returns the word of 32 bits that holds a bit. It is aligned: memory.Aligned aligns the
// first bit.
func (s *prober) word(bit uint64) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(s.Base), bit/32*4))
}

// wordShift returns the place of a bit in its word. Bytes are in the order of the machine.
func wordShift(bit uint64) uint64 {
	if bigEndian {
		bit ^= 24 // the bytes of a word the other way round
	}
	return bit % 32
}

// load returns a bit.
func (s *prober) load(bit uint64) uint32 {
	return atomic.LoadUint32(s.word(bit)) >> wordShift(bit) & 1
}

// or sets a bit. Without a result, it is a single instruction on most CPUs, and several times
// as fast.
func (s *prober) or(bit uint64) { atomic.OrUint32(s.word(bit), 1<<wordShift(bit)) }

// setPlacesAtomic is setPlaces by atomic operations. It looks at somePlaces bits first, as
// addHashAtomic does.
func (s *prober) setPlacesAtomic(places []uint32) {
	var missing [somePlaces]uint32
	for len(places) > 0 {
		some := places[:min(len(places), len(missing))]
		n := uint32(0)
		for _, p := range some {
			missing[n%somePlaces] = p
			n += s.load(uint64(p)) ^ 1
		}
		for _, p := range missing[:n] {
			s.or(uint64(p))
		}
		places = places[len(some):]
	}
}

// oneKey has the functions that test or add one key, for a scheme and a kernel. A prober points to one, so that each function takes
// one indirect jump, which CPUs predict, in place of comparisons with each scheme.
type oneKey struct {
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

// eraseKey returns what oneKey.ofKey is for a test.
func eraseKey(test keyTest) func(*prober, uintptr, int) bool {
	return *(*func(*prober, uintptr, int) bool)(unsafe.Pointer(&test))
}

// part is the arrays of some filters of a group, 1 to 64 that are alike: testPart may
// take them together. Their hits are in one word.
type groupPart struct {
	first  int // the number of the first filter
	arrays []probes.Array
	blocks []octet // the same arrays for assembly, if there is any
}

// octet is the fields of 8 arrays, side by side for vectors. Past the last array of a part, the
// last array is there again.
type octet struct {
	bases                 [blockArrays]*byte
	units, recips, shifts [blockArrays]uint64 // the sizes; of Pebble also what divides by them
}

const blockArrays = 8

// The functions below are for the table of dispatch.go: whether kernels serve an array, and how many bytes it has.

func anyArray(probes.Array) bool { return true }
func noArray(probes.Array) bool  { return false }

// oneVector reports whether the probes of a key fit a vector.
func oneVector(a probes.Array) bool { return a.K <= maxHasProbes }

// fitsLines reports whether kernels take an array of lines of 64 bytes. The number of longer lines is larger: see probes.Pebble.
func fitsLines(a probes.Array) bool { return a.N < maxLinesBytes/64 }

// bytesFull returns how many bytes an array reaches whose n is a number of bits.
func bytesFull(a probes.Array) uint64 { return (a.N-1)/8 + 1 }

// fitsFull reports whether kernels take an array whose probes each take a remainder of 64 bits.
func fitsFull(a probes.Array) bool { return a.N <= maxKernelBits && a.K <= maxFullProbes }

// The definitions below are of schemes with a remainder of 64 bits for each probe.

// fullProbes is what differs between the schemes with a full remainder of 64 bits a probe. Probe i tests bit (h + i·d & mask) mod n, in
// which h is the first word of a hash if i is even, and else the second, and d is the third word if i mod 4 is 0 or 3, and
// else the fourth.
type fullProbes struct {
	swap  uint64     // bit i of the array is bit i^swap of the bytes
	mask  uint64     // has the lower 32 bits
	words [4]uintptr // where a window has these words: fields of hashes
}

const wholeSums = 1<<64 - 1

// fieldsOfTwo are the fields of hashes of two words.
var fieldsOfTwo = [4]uintptr{unsafe.Offsetof(hashes{}.h1), unsafe.Offsetof(hashes{}.h1), unsafe.Offsetof(hashes{}.h2), unsafe.Offsetof(hashes{}.h2)}

// fullDivisor is what kernels compute full remainders by, of an array of up to maxKernelBits bits: by a multiple of their number, and
// then by the number if that is small.
type fullDivisor struct {
	inverse   uint64 // of bits, a float64
	bits      uint32 // the multiple
	inverse32 uint32 // of the number, a float32; 0 if it is not small
}

// fullDivisor returns that of the array.
func (s *prober) fullDivisor() (d fullDivisor) {
	multiple := s.N
	if s.N < minReduceBitsFull {
		d.inverse32 = math.Float32bits(1/float32(s.N)) - 2
		multiple <<= bits.LeadingZeros64(s.N) - bits.LeadingZeros64(minReduceBitsFull)
	}
	d.bits, d.inverse = uint32(multiple), math.Float64bits(1/float64(multiple))-4
	return d
}

// fractionBias is what assembly adds to the fraction of h/n, in units of 2^-64: all that it can be too small after the last
// probe. The sum is then less than 2^14 too large, which makes a difference from 2^50 bits on. asm/single.go has the proof.
const fractionBias = 2 + 2*encoding.MaxProbesCrate
