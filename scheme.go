package bloom

import (
	"math"
	"unsafe"

	"github.com/lanebloom/bloom/internal/encoding"
	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/load"
	"github.com/lanebloom/bloom/internal/probes"
)

// scheme is what a format does with keys: how it hashes one, and which bits of a filter belong to a hash. Nori's two
// formats share one. Every way from a filter to the code of a scheme goes through this file: a switch an operation, of which
// each arm is a call of the scheme's own function. The hash of one key is in internal/keyhash, the bits of one hash are in
// internal/probes, and what is done with a window of keys is in the file of the format.
//
// Operations that take memory of callers are switches and no function values: the arguments of a call of such a value escape
// to the heap, so callers' buffers could not be on the stack. Only view.MayContain calls one.
type scheme uint8

const (
	noScheme            scheme = iota // of the zero Filter
	schemeLevelDB                     // LevelDB's hash of 32 bits, and double hashing over all bits
	schemeNori                        // XXH64 with the seeds 0 and 1, and double hashing over all bits
	schemeParquet                     // XXH64: a block of 256 bits, and a bit in each of its words
	schemeRocksDB                     // RocksDB's copy of a preview of XXH3: a line of 512 bits, and multiplication inside it
	schemePebble                      // LevelDB's hash with a last word of signed bytes: a line, and double hashing inside it
	schemeBitsAndBlooms               // murmur3_x64_128 of the key, and of the key and a byte 1: two starts in two steps, by turns
	schemeGuava                       // murmur3_x64_128: double hashing without its sign, over all bits
)

// schemes describes each scheme.
var schemes = [...]struct {
	name, hash string
	words      words    // of a hash
	kernels    []Kernel // those that hash integers, and perhaps other keys

	line     bool   // all bits of a key are in one line of memory, if lines have 64 bytes
	word     uint64 // bits: an array has a whole number of such words
	oneByOne uint8  // up to so many keys are tested one by one where there are kernels
	dense    int    // of 256 keys, from which on it is best to make all probes of a key at once; 0 if that is always so

	// A size of an even number of units, of so many bits, can be halved. There may be most units. The
	// unit is 0 if no size can be halved.
	unit, most uint64
}{
	noScheme: {hash: "no hash"},
	schemeLevelDB: {
		name: "leveldb", hash: "LevelDB's 32-bit hash", words: one32, kernels: everyKernel,
		word: 8, oneByOne: vectorKeys - 1, dense: densePer256, unit: 8, most: mostBytes,
	},
	schemeNori: {
		name: "nori", hash: "XXH64 with the seeds 0 and 1", words: two64, kernels: everyKernel,
		word: 8, oneByOne: vectorKeys - 1, dense: denseFull256, unit: 8, most: mostBytes,
	},
	schemeParquet: {
		name: "parquet", hash: "XXH64 with the seed 0", words: one64, kernels: everyKernel,
		line: true, word: 256, oneByOne: vectorKeys - 1, unit: 256, most: min(encoding.MaxBlocks, mostBytes/32),
	},
	schemeRocksDB: {
		name: "rocksdb", hash: "RocksDB's XXPH3", words: one64, kernels: everyKernel,
		line: true, word: 512, oneByOne: vectorKeys - 1, unit: 512, most: min(encoding.RocksDBMostLines, mostBytes/64),
	},
	schemePebble: {
		name: "pebble", hash: "LevelDB's 32-bit hash with signed bytes", words: one32, kernels: everyKernel,
		line: true, word: 512, oneByOne: vectorKeys - 1,
	},
	schemeBitsAndBlooms: {
		name: "bits-and-blooms", hash: "murmur3_x64_128 of the key, and of the key and a byte 1", words: four64, kernels: kernelsOfAMD64,
		word: 64, oneByOne: singleKeys, dense: denseFull256, unit: 64, most: mostBytes / 8,
	},
	schemeGuava: {
		name: "guava", hash: "murmur3_x64_128", words: two64, kernels: kernelsOfAMD64,
		word: 64, oneByOne: singleKeys, dense: denseFull256, unit: 64, most: min(math.MaxInt32, mostBytes/8),
	},
}

var kernelsOfAMD64, everyKernel = []Kernel{AVX512, AVX2}, []Kernel{AVX512, AVX2, NEON}

// arrays has what each scheme makes of a number of bits.
var arrays = [len(schemes)]struct {
	array func(n uint64, k int) probes.Array // of k probes, at least 1, of n bits, at least 1, without its base
	bytes func(a probes.Array) uint64        // that an array reaches
	fits  func(a probes.Array) bool          // whether kernels take the array
	one   func(a probes.Array) bool          // whether their assembly tests and adds one key
}{
	noScheme:            {bytes: func(probes.Array) uint64 { return 0 }},
	schemeLevelDB:       {array: arrayLevelDB, bytes: bytesLevelDB, fits: fitsLevelDB, one: anyArray},
	schemeNori:          {array: arrayNori, bytes: bytesFull, fits: fitsFull, one: oneNori},
	schemeParquet:       {array: arrayParquet, bytes: bytesParquet, fits: fitsParquet, one: anyArray},
	schemeRocksDB:       {array: arrayRocksDB, bytes: bytesRocksDB, fits: fitsLines, one: oneVector},
	schemePebble:        {array: arrayPebble, bytes: bytesPebble, fits: fitsLines, one: oneVector},
	schemeBitsAndBlooms: {array: arrayBitsAndBlooms, bytes: bytesBitsAndBlooms, fits: fitsBitsAndBlooms, one: noArray},
	schemeGuava:         {array: arrayGuava, bytes: bytesFull, fits: fitsFull, one: noArray},
}

func (f scheme) String() string { return schemes[f].name }

// anyArray and noArray are answers for every array.

func anyArray(probes.Array) bool { return true }
func noArray(probes.Array) bool  { return false }

// bytesFull returns how many bytes an array reaches whose n is a number of bits.
func bytesFull(a probes.Array) uint64 { return (a.N-1)/8 + 1 }

// fitsFull reports whether kernels take an array whose probes each take a remainder of 64 bits.
func fitsFull(a probes.Array) bool { return a.N <= maxKernelBits && a.K <= maxFullProbes }

// fitsLines reports whether kernels take an array of lines of 64 bytes. The number of longer lines is larger: see probes.Pebble.
func fitsLines(a probes.Array) bool { return a.N < maxLinesBytes/64 }

// oneVector reports whether the probes of a key fit a vector.
func oneVector(a probes.Array) bool { return a.K <= maxHasProbes }

// made reports whether a hash is of the scheme. One of four words passes for a shorter one if its last word
// is the number of that scheme, which is a chance of 2^-64.
func (f scheme) made(h Hash) bool {
	if f == schemeBitsAndBlooms {
		return h.scheme() == schemeBitsAndBlooms
	}
	return h.h4 == uint64(f)
}

// setKernel settles which code runs, for the scheme and the array, which are set before: the kernel's, or portable Go for an array that the
// kernel does not take. Nothing asks again.
func (s *prober) setKernel(kernel Kernel) {
	f, a := &schemes[s.scheme], &arrays[s.scheme]
	if s.scheme == noScheme {
		s.kernel, s.oneByOne, s.single = kernel, 0, nil
		return
	}
	if !a.fits(s.Array) {
		kernel = Generic
	}
	s.kernel, s.oneByOne, s.single = kernel, f.oneByOne, &singles[Generic][noScheme]
	if kernel == Generic {
		s.oneByOne = keysAcross
	}
	if a.one(s.Array) {
		s.single = &singles[kernel][s.scheme]
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
func (s *prober) setFastest(f scheme) {
	s.scheme, s.kernel = f, kernels[0]
	s.single = &singles[s.kernel][f]
}

// array returns the array of k probes, at least 1, of n bits, at least 1, which begin where data does.
func (f scheme) array(data []byte, n uint64, k int) probes.Array {
	a := arrays[f].array(n, k)
	a.Base = unsafe.SliceData(data)
	return a
}

// bytes returns the number of bytes that the array reaches.
func (s *prober) bytes() uint64 { return arrays[s.scheme].bytes(s.Array) }

// isDense reports whether it is likely to be faster to make all probes of each of the next
// keys at once, because the last n keys had so many hits.
func (f scheme) isDense(hits, n int) bool { return 256*hits >= schemes[f].dense*n }

// hashKey returns the hash of the n bytes at p.
func (f scheme) hashKey(p unsafe.Pointer, n int) Hash {
	switch f {
	case schemeLevelDB:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.UnsignedBytes)), 0, f)
	case schemeNori:
		return f.twoWords(keyhash.XXH64x2(p, n))
	case schemeParquet:
		return shortHash(keyhash.XXH64(p, n), 0, f)
	case schemeRocksDB:
		return shortHash(xxph3At(p, n), 0, f)
	case schemePebble:
		return shortHash(uint64(keyhash.LevelDB(p, n, keyhash.SignedBytes)), 0, f)
	case schemeBitsAndBlooms:
		return fourWords(keyhash.Murmur3x2(p, n))
	case schemeGuava:
		return f.twoWords(keyhash.Murmur3(p, n))
	}
	panic(noSuchScheme)
}

const noSuchScheme = "bloom: no such scheme"

// hashUint64 returns the hash of key's 8 little-endian bytes.
func (f scheme) hashUint64(key uint64) Hash {
	switch f {
	case schemeLevelDB, schemePebble: // the same for whole words
		return shortHash(uint64(keyhash.LevelDBUint64(key)), 0, f)
	case schemeNori:
		return f.twoWords(keyhash.XXH64x2Uint64(key))
	case schemeParquet:
		return shortHash(keyhash.XXH64Uint64(key), 0, f)
	case schemeRocksDB:
		return shortHash(keyhash.XXPH3Uint64(key), 0, f)
	case schemeBitsAndBlooms:
		return fourWords(keyhash.Murmur3x2Uint64(key))
	case schemeGuava:
		return f.twoWords(keyhash.Murmur3Uint64(key))
	}
	panic(noSuchScheme)
}

// hashGeneric is hashInGo for rows that are not narrow.
func (k *Keys) hashGeneric(f scheme, h *hashes) {
	switch f {
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

// addKey adds the key of n bytes at p, and reports whether it was certainly new. It is not atomic: an AtomicSet must not call it.
func (s *prober) addKey(p unsafe.Pointer, n int) (isNew bool) {
	if n == 8 {
		return addUint64(&s.Base, load.Uint64(p, 0))
	}
	switch s.scheme {
	case schemeLevelDB:
		return probes.LevelDB(s.Array).Add(keyhash.LevelDB(p, n, keyhash.UnsignedBytes))
	case schemeNori:
		return (*probes.Nori)(&s.Array).Add(keyhash.XXH64x2(p, n))
	case schemeParquet:
		h := keyhash.XXH64(p, n)
		if isNew, ok := addOneSplit256(s.kernel, &s.Base, h); ok { // in addOne, it would be a call more: a seventh of the time
			return isNew
		}
		return (*probes.Parquet)(&s.Array).Add(h)
	case schemeRocksDB:
		h := uint64(0)
		if n <= keyhash.ShortXXPH3 {
			h = keyhash.XXPH3Short(p, n)
		} else {
			h = xxph3At(p, n)
		}
		if s.K <= maxHasProbes {
			if isNew, ok := addOneLine512(s.kernel, &s.Base, h); ok {
				return isNew
			}
		}
		return (*probes.RocksDB)(&s.Array).Add(h)
	case schemePebble:
		return (*probes.Pebble)(&s.Array).Add(keyhash.LevelDB(p, n, keyhash.SignedBytes))
	case schemeBitsAndBlooms:
		return (*probes.BitsAndBlooms)(&s.Array).Add(keyhash.Murmur3x2(p, n))
	case schemeGuava:
		return (*probes.Guava)(&s.Array).Add(keyhash.Murmur3(p, n))
	}
	panic(noBits)
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

const noBits = "bloom: a key was added to the zero Set, which has no bits; NewSet and OpenSet make sets"

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
func (f scheme) testPart(kernel Kernel, p *part, h Hash) (word uint64) {
	switch f {
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
