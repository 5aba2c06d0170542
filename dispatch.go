package bloom

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
	"github.com/lanebloom/bloom/internal/probes"
)

// The switches that lead from a filter to the code of its scheme: one for each operation, and each arm calls a function of the
// scheme. The hash of one key is in internal/keyhash, the bits of one hash are in internal/probes, and work on a window of keys
// is in the file of the format. Three operations have their switches where they are: the kernels for the rows of a column in
// hash_rows.go, encoded bytes in encoded.go, and the slices of a key in interleaved.go.
//
// What uses memory of callers is a switch and not a function value: the arguments of a call of such a value escape to the heap, so
// callers' buffers could not be on the stack. Only view.MayContain calls one.

// setKernel settles once which code runs for the scheme and the array, which are set before: the kernel's, or portable Go for an
// array that the kernel does not serve.
func (s *prober) setKernel(kernel Kernel) {
	f, a := &schemes[s.scheme], &arrays[s.scheme]
	if s.scheme == noScheme {
		s.kernel, s.few, s.oneKey = kernel, few{}, nil
		return
	}
	if !a.onKernels(s.Array) {
		kernel = Generic
	}
	s.kernel, s.few, s.oneKey = kernel, f.few[kernel], &oneKeys[Generic][noScheme]
	if a.oneOnKernels(s.Array) {
		s.oneKey = &oneKeys[kernel][s.scheme]
	}
	if kernel != Generic {
		s.derive()
	}
}

// derive settles what kernels read of a prober, beside its array.
func (s *prober) derive() {
	s.far = s.bytes() >= farBytes
	switch s.scheme {
	case schemeLevelDB:
		s.divisor = probes.LevelDB(s.Array).Divisor()
	case schemeNori:
		s.divisor, s.full = (*probes.Nori)(&s.Array).Divisor(), s.fullDivisor()
	case schemeBitsAndBlooms, schemeGuava:
		s.full = s.fullDivisor()
	case schemePebble:
		s.divisor = (*probes.Pebble)(&s.Array).Divisor()
	}
}

// setFastest is setKernel for the fastest kernel and an array that fits, of one key too. It computes nothing.
func (s *prober) setFastest(to scheme) {
	s.scheme, s.kernel = to, kernels[0]
	s.oneKey = &oneKeys[s.kernel][to]
}

// oneKeys has one for each kernel and scheme. All begin with Go's functions, and single_amd64.go sets those of assembly.
var oneKeys = func() (all [NEON + 1][len(schemes)]oneKey) {
	for kernel := range all {
		for i := range all[kernel] {
			all[kernel][i].ofKey = eraseKey((*prober).hasKey)
		}
	}
	return all
}()

// arrays has what each scheme makes of a number of bits.
var arrays = [len(schemes)]struct {
	array        func(n uint64, k int) probes.Array // of k probes, at least 1, of n bits, at least 1, without its base
	bytes        func(a probes.Array) uint64        // that an array reaches
	onKernels    func(a probes.Array) bool          // whether kernels serve the array
	oneOnKernels func(a probes.Array) bool          // whether their assembly also tests and adds one key
}{
	noScheme:            {bytes: func(probes.Array) uint64 { return 0 }},
	schemeLevelDB:       {array: arrayLevelDB, bytes: bytesLevelDB, onKernels: fitsLevelDB, oneOnKernels: anyArray},
	schemeNori:          {array: arrayNori, bytes: bytesFull, onKernels: fitsFull, oneOnKernels: oneNori},
	schemeParquet:       {array: arrayParquet, bytes: bytesParquet, onKernels: fitsParquet, oneOnKernels: anyArray},
	schemeRocksDB:       {array: arrayRocksDB, bytes: bytesRocksDB, onKernels: fitsLines, oneOnKernels: oneVector},
	schemePebble:        {array: arrayPebble, bytes: bytesPebble, onKernels: fitsLines, oneOnKernels: oneVector},
	schemeBitsAndBlooms: {array: arrayBitsAndBlooms, bytes: bytesBitsAndBlooms, onKernels: fitsBitsAndBlooms, oneOnKernels: noArray},
	schemeGuava:         {array: arrayGuava, bytes: bytesFull, onKernels: fitsFull, oneOnKernels: noArray},
}

// array returns the array of k probes, at least 1, of n bits, at least 1, which begin where data does.
func (s scheme) array(data []byte, n uint64, k int) probes.Array {
	a := arrays[s].array(n, k)
	a.Base = unsafe.SliceData(data)
	return a
}

// bytes returns the number of bytes that the array reaches.
func (s *prober) bytes() uint64 { return arrays[s.scheme].bytes(s.Array) }

// wholeBits returns the number of bits in whole words of 32 bits, or 2^32-1 if it is larger.
func (s *prober) wholeBits() uint32 { return uint32(min(s.bytes()&^3*8, math.MaxUint32)) }

// The operations below hash keys, or rows of a column.

// Hash returns the hash of key in format f.
//
//gcassert:noescape
func (f Format) Hash(key []byte) Hash {
	// This is f.scheme().hashKey, without its call and the table: they would take half as many instructions as the hash.
	p, n := unsafe.Pointer(unsafe.SliceData(key)), len(key)
	switch f {
	case LevelDB:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.UnsignedBytes)), 0, schemeLevelDB)
	case Nori, NoriCrate:
		return schemeNori.twoWords(keyhash.XXH64x2(p, n))
	case Parquet:
		return shortHash(keyhash.XXH64(p, n), 0, schemeParquet)
	case RocksDB:
		if n <= keyhash.ShortXXPH3 {
			return shortHash(keyhash.XXPH3Short(p, n), 0, schemeRocksDB)
		}
		return shortHash(xxph3At(p, n), 0, schemeRocksDB)
	case Pebble:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.SignedBytes)), 0, schemePebble)
	case BitsAndBlooms:
		return fourWords(keyhash.Murmur3x2(p, n))
	case Guava:
		return schemeGuava.twoWords(keyhash.Murmur3(p, n))
	}
	panic(noFormat(f))
}

// HashString is like Hash but accepts the key as a string. It does not copy the string.
//
//gcassert:inline
//gcassert:noescape
func (f Format) HashString(key string) Hash {
	return f.Hash(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// HashUint64 returns the hash of the 8-byte little-endian encoding of key.
func (f Format) HashUint64(key uint64) Hash { return f.scheme().hashUint64(key) }

// HashFrom returns the [Hash] for the hash value h, which the caller has already computed. For [LevelDB], the
// lower 32 bits of h must be LevelDB's hash, which Badger also uses. For [Pebble], the lower 32 bits must be
// LevelDB's hash with one difference: the bytes after the last whole 4-byte word of the key are sign-extended.
// For [Parquet], h must be XXH64 with seed 0. For [RocksDB], h must be XXPH3 (see [Format.AppendHashes64]).
// HashFrom panics if the format's hash has more than 64 bits.
func (f Format) HashFrom(h uint64) Hash {
	s := f.scheme()
	switch schemes[s].words {
	case one32:
		return shortHash(uint64(uint32(h)), 0, s)
	case one64:
		return shortHash(h, 0, s)
	}
	panic(fmt.Sprintf("bloom: the hash of %v has several words, but HashFrom accepts only one", f))
}

// hashKey returns the hash of the n bytes at p.
func (s scheme) hashKey(p unsafe.Pointer, n int) Hash {
	switch s {
	case schemeLevelDB:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.UnsignedBytes)), 0, s)
	case schemeNori:
		return s.twoWords(keyhash.XXH64x2(p, n))
	case schemeParquet:
		return shortHash(keyhash.XXH64(p, n), 0, s)
	case schemeRocksDB:
		return shortHash(xxph3At(p, n), 0, s)
	case schemePebble:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.SignedBytes)), 0, s)
	case schemeBitsAndBlooms:
		return fourWords(keyhash.Murmur3x2(p, n))
	case schemeGuava:
		return s.twoWords(keyhash.Murmur3(p, n))
	}
	panic(noSuchScheme)
}

// hashUint64 returns the hash of key's 8 little-endian bytes.
func (s scheme) hashUint64(key uint64) Hash {
	switch s {
	case schemeLevelDB, schemePebble: // the same for whole words
		return shortHash(uint64(keyhash.LevelDBUint64(key)), 0, s)
	case schemeNori:
		return s.twoWords(keyhash.XXH64x2Uint64(key))
	case schemeParquet:
		return shortHash(keyhash.XXH64Uint64(key), 0, s)
	case schemeRocksDB:
		return shortHash(keyhash.XXPH3Uint64(key), 0, s)
	case schemeBitsAndBlooms:
		return fourWords(keyhash.Murmur3x2Uint64(key))
	case schemeGuava:
		return s.twoWords(keyhash.Murmur3Uint64(key))
	}
	panic(noSuchScheme)
}

// hashGeneric is hashInGo for rows that are not narrow.
func (k *Keys) hashGeneric(s scheme, h *hashes) {
	switch s {
	case schemeLevelDB:
		k.hashLevelDB(h.h32, keyhash.UnsignedBytes)
	case schemeNori:
		k.hashNori(h.h1, h.h2)
	case schemeParquet:
		k.hashParquet(h.h1)
	case schemeRocksDB:
		k.hashRocksDB(h.h1)
	case schemePebble:
		k.hashLevelDB(h.h32, keyhash.SignedBytes)
	case schemeBitsAndBlooms:
		k.hashBitsAndBlooms(h)
	case schemeGuava:
		k.hashGuava(h.h1, h.h2)
	default:
		panic(noSuchScheme)
	}
}

// The operations below are of one key. Each hashes and tests, or adds, in one function: composed of a hash and a test by their addresses,
// they took 7 to 23 % longer in portable Go.

// hasKey is a keyTest of any scheme, in Go.
func (s *prober) hasKey(p unsafe.Pointer, n int) bool {
	if n == 8 {
		return mayContainUint64(&s.Base, load.Uint64(p, 0))
	}
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Has(keyhash.LevelDB(p, n, keyhash.UnsignedBytes))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Has(keyhash.XXH64x2(p, n))
	case schemeParquet:
		return (*probes.Parquet)(&s.Array).Has(keyhash.XXH64(p, n))
	case schemeRocksDB:
		return (*probes.RocksDB)(&s.Array).Has(xxph3At(p, n))
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Has(keyhash.LevelDB(p, n, keyhash.SignedBytes))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Has(keyhash.Murmur3x2(p, n))
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Has(keyhash.Murmur3(p, n))
	}
	return false
}

// mayContainUint64 is probeUint64 in portable Go. base begins a prober: assembly, which jumps here, knows
// no other type.
func mayContainUint64(base **byte, key uint64) bool {
	s := (*prober)(unsafe.Pointer(base))
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Has(keyhash.LevelDBUint64(key))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Has(keyhash.XXH64x2Uint64(key))
	case schemeParquet:
		return (*probes.Parquet)(&s.Array).Has(keyhash.XXH64Uint64(key))
	case schemeRocksDB:
		return (*probes.RocksDB)(&s.Array).Has(keyhash.XXPH3Uint64(key))
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Has(keyhash.LevelDBUint64(key))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Has(keyhash.Murmur3x2Uint64(key))
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Has(keyhash.Murmur3Uint64(key))
	}
	return false
}

// mayContainHash is probeHash in portable Go. base begins a prober.
func mayContainHash(base **byte, h1, h2, h3, h4 uint64) bool {
	s := (*prober)(unsafe.Pointer(base))
	h := Hash{h1, h2, h3, h4}
	if !s.scheme.made(h) {
		return s.otherHash(h)
	}
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Has(uint32(h1))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Has(h1, h2)
	case schemeParquet:
		return (*probes.Parquet)(&s.Array).Has(h1)
	case schemeRocksDB:
		return (*probes.RocksDB)(&s.Array).Has(h1)
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Has(uint32(h1))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Has(h.h1, h.h2, h.h3, h.h4)
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Has(h1, h2)
	}
	return false
}

// addUint64Generic is addUint64 in portable Go. base begins a prober.
func addUint64Generic(base **byte, key uint64) (isNew bool) { //nolint:unused // assembly jumps to it
	s := (*prober)(unsafe.Pointer(base))
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Add(keyhash.LevelDBUint64(key))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Add(keyhash.XXH64x2Uint64(key))
	case schemeParquet:
		return (*probes.Parquet)(&s.Array).Add(keyhash.XXH64Uint64(key))
	case schemeRocksDB:
		return (*probes.RocksDB)(&s.Array).Add(keyhash.XXPH3Uint64(key))
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Add(keyhash.LevelDBUint64(key))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Add(keyhash.Murmur3x2Uint64(key))
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Add(keyhash.Murmur3Uint64(key))
	}
	panic(noBits)
}

// addHash adds the key of a hash, and reports whether it was certainly new.
func (s *prober) addHash(h Hash) (isNew bool) {
	if s.atomic {
		return s.addHashAtomic(h)
	}
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Add(uint32(h.h1))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Add(h.h1, h.h2)
	case schemeParquet:
		return s.addOneParquet(h.h1)
	case schemeRocksDB:
		return s.addOneRocksDB(h.h1)
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Add(uint32(h.h1))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Add(h.h1, h.h2, h.h3, h.h4)
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Add(h.h1, h.h2)
	}
	panic(noBits)
}

// probes writes the numbers of the bits of one hash that probe first, counted from 0, and
// those after it set, one for each element of bits. The filter may have any size.
func (s *prober) probes(h Hash, first int, bits []uint64) {
	switch s.scheme {
	case schemeLevelDB:
		probes.LevelDB(s.Array).Bits(uint32(h.h1), first, bits)
	case schemeNori:
		(*probes.Nori)(&s.Array).Bits(h.h1, h.h2, first, bits)
	case schemeParquet:
		(*probes.Parquet)(&s.Array).Bits(h.h1, first, bits)
	case schemeRocksDB:
		(*probes.RocksDB)(&s.Array).Bits(h.h1, first, bits)
	case schemePebble:
		(*probes.Pebble)(&s.Array).Bits(uint32(h.h1), first, bits)
	case schemeBitsAndBlooms:
		(*probes.BitsAndBlooms)(&s.Array).Bits(h.h1, h.h2, h.h3, h.h4, first, bits)
	case schemeGuava:
		(*probes.Guava)(&s.Array).Bits(h.h1, h.h2, first, bits)
	default:
		panic(noSuchScheme)
	}
}

// probeHashAtomic is probeHash with atomic loads.
func (s *prober) probeHashAtomic(h Hash) bool {
	var buffer [someProbes]uint64
	for first := 0; first < s.K; first += someProbes {
		some := buffer[:min(someProbes, s.K-first)]
		s.probes(h, first, some)
		for _, bit := range some {
			if s.load(bit) == 0 {
				return false
			}
		}
	}
	return true
}

// addHashAtomic sets the bits of one hash. It reports whether it has seen that one was not
// set, so that the key was certainly new. Of goroutines that add a new key at once, the first
// to look at such a bit sees that.
//
// It looks at some bits before it sets the first. The CPU loads several at a time from memory,
// but waits for each operation that sets one.
func (s *prober) addHashAtomic(h Hash) (isNew bool) {
	var buffer [someProbes]uint64
	for first := 0; first < s.K; first += someProbes {
		some := buffer[:min(someProbes, s.K-first)]
		s.probes(h, first, some)
		missing := uint64(0)
		for i, bit := range some {
			missing |= uint64(s.load(bit)^1) << (i % someProbes)
		}
		for rest := missing; rest != 0; rest &= rest - 1 {
			s.or(some[bits.TrailingZeros64(rest)])
		}
		isNew = isNew || missing != 0
	}
	return isNew
}

// The operations below are of a window of hashes: 1 to windowKeys. Kernels read on to the next multiple of 16 hashes and drop
// the outcome, so the capacity of the slices must reach that far.

// test sets bit i of hits for every hash i that may be in the filter. It writes one
// word for every 64 hashes, and clears all other bits of these words. dense is a hint: many
// of the hashes before these were hits.
func (s *prober) test(h *hashes, hits []uint64, dense bool) {
	switch s.scheme {
	case schemeLevelDB:
		s.testLevelDB(h, hits, dense)
	case schemeNori:
		s.testNori(h, hits, dense)
	case schemeParquet:
		s.testParquet(h, hits)
	case schemeRocksDB:
		s.testRocksDB(h, hits)
	case schemePebble:
		s.testPebble(h, hits)
	case schemeBitsAndBlooms:
		s.testBitsAndBlooms(h, hits, dense)
	case schemeGuava:
		s.testGuava(h, hits, dense)
	default:
		panic(noSuchScheme)
	}
}

// setsLines reports whether all bits of a key are set at once, in one line of memory. That is not atomic.
func (s *prober) setsLines() bool {
	return schemes[s.scheme].line && !s.atomic && (s.scheme != schemePebble || (*probes.Pebble)(&s.Array).Doublings() == 0)
}

// setLines sets the bits of all hashes, a key at a time, in an array that setsLines.
func (s *prober) setLines(h *hashes) {
	switch s.scheme {
	case schemeParquet:
		s.addParquet(h)
	case schemeRocksDB:
		s.addRocksDB(h)
	case schemePebble:
		s.addPebble(h)
	default:
		panic(noSuchScheme)
	}
}

// addInOrder adds the keys of hashes one after the other, in the kernel's assembly. It sets bit i of added
// if the key of hash i was new, and writes one word for every 64 hashes. It returns false, and does nothing, if there is
// no such assembly.
func (s *prober) addInOrder(h *hashes, added []uint64) bool {
	if s.atomic || s.kernel == Generic {
		return false
	}
	switch s.scheme {
	case schemeParquet:
		return setNewSplit256(s, h, &added[0])
	case schemeRocksDB:
		return s.K <= maxHasProbes && setNewLine512(s, h, &added[0], line512Factors.Of(s.K, 0))
	}
	return false
}

// place writes the numbers of the bits that the first hashes set to places: k for each hash,
// in any order. It takes as many hashes as there is room for, and returns their number. The
// filter must have at most 2^32 bits.
func (s *prober) place(h *hashes, places []uint32) int {
	n := min(h.len(), len(places)/s.K)
	some := h.slice(0, n)
	switch s.scheme {
	case schemeLevelDB:
		s.placeLevelDB(&some, places)
	case schemeNori:
		s.placeNori(&some, places)
	case schemeParquet:
		(*probes.Parquet)(&s.Array).Place(some.h1, places)
	case schemeRocksDB:
		(*probes.RocksDB)(&s.Array).Place(some.h1, places)
	case schemePebble:
		(*probes.Pebble)(&s.Array).Place(some.h32, places)
	case schemeBitsAndBlooms:
		s.placeBitsAndBlooms(&some, places)
	case schemeGuava:
		s.placeGuava(&some, places)
	default:
		panic(noSuchScheme)
	}
	return n
}

// testPart sets bit i if array i of a part of a group may hold the key of a hash.
func (s scheme) testPart(kernel Kernel, p *groupPart, h Hash) (word uint64) {
	switch s {
	case schemeLevelDB:
		for i := range p.arrays {
			word |= probes.OneIf(probes.LevelDB(p.arrays[i]).Has(uint32(h.h1))) << (i % 64)
		}
	case schemeNori:
		for i := range p.arrays {
			word |= probes.OneIf((*probes.Nori)(&p.arrays[i]).Has(h.h1, h.h2)) << (i % 64)
		}
	case schemeBitsAndBlooms:
		for i := range p.arrays {
			word |= probes.OneIf((*probes.BitsAndBlooms)(&p.arrays[i]).Has(h.h1, h.h2, h.h3, h.h4)) << (i % 64)
		}
	case schemeGuava:
		for i := range p.arrays {
			word |= probes.OneIf((*probes.Guava)(&p.arrays[i]).Has(h.h1, h.h2)) << (i % 64)
		}
	case schemeParquet:
		return testPartParquet(kernel, p, h)
	case schemeRocksDB:
		return testPartRocksDB(kernel, p, h)
	case schemePebble:
		return testPartPebble(kernel, p, h)
	default:
		panic(noSuchScheme)
	}
	return word
}
