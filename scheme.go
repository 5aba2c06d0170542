package bloom

import (
	"math"

	"github.com/lanebloom/bloom/internal/encoding"
)

// scheme is what a format does with keys: how it hashes one, and which bits of a filter belong to a hash. Nori's two
// formats share one. dispatch.go leads from a scheme to its code.
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
	words      hashWords // of a hash
	kernels    []Kernel  // those that hash integers, and perhaps other keys

	line      bool          // all bits of a key are in one line of memory, if lines have 64 bytes
	word      uint64        // bits: an array has a whole number of such words
	bigEndian bool          // the words are stored with the upper byte first
	few       [NEON + 1]few // keys are tested one by one by each kernel
	dense     int           // of 256 keys, from which on it is best to make all probes of a key at once; 0 if that is always so

	// A filter of 2n units of unit bits can be halved. It has at most `most` units. unit is 0 if no size can be halved.
	unit, most uint64
}{
	noScheme: {hash: "no hash"},
	schemeLevelDB: {
		name: "leveldb", hash: "LevelDB's 32-bit hash", words: one32, kernels: everyKernel,
		word: 8, dense: densePer256, unit: 8, most: mostBytes,
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {13, 6}, AVX2: {15, 6}, NEON: {15, 15}},
	},
	schemeNori: {
		name: "nori", hash: "XXH64 with the seeds 0 and 1", words: two64, kernels: everyKernel,
		word: 8, dense: denseFull256, unit: 8, most: mostBytes,
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {12, 7}, AVX2: {14, 12}, NEON: {15, 15}},
	},
	schemeParquet: {
		name: "parquet", hash: "XXH64 with the seed 0", words: one64, kernels: everyKernel,
		line: true, word: 256, unit: 256, most: min(encoding.MaxBlocks, mostBytes/32),
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {13, 6}, AVX2: {15, 11}, NEON: {15, 15}},
	},
	schemeRocksDB: {
		name: "rocksdb", hash: "RocksDB's XXPH3", words: one64, kernels: everyKernel,
		line: true, word: 512, unit: 512, most: min(encoding.RocksDBMostLines, mostBytes/64),
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {13, 8}, AVX2: {12, 6}, NEON: {15, 15}},
	},
	schemePebble: {
		name: "pebble", hash: "LevelDB's 32-bit hash with signed bytes", words: one32, kernels: everyKernel,
		line: true, word: 512,
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {15, 11}, AVX2: {15, 7}, NEON: {15, 15}},
	},
	schemeBitsAndBlooms: {
		name: "bits-and-blooms", hash: "murmur3_x64_128 of the key, and of the key and a byte 1", words: four64, kernels: kernelsOfAMD64,
		word: 64, bigEndian: true, dense: denseFull256, unit: 64, most: mostBytes / 8,
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {8, 8}, AVX2: {11, 11}},
	},
	schemeGuava: {
		name: "guava", hash: "murmur3_x64_128", words: two64, kernels: kernelsOfAMD64,
		word: 64, bigEndian: true, dense: denseFull256, unit: 64, most: min(math.MaxInt32, mostBytes/8),
		few: [NEON + 1]few{Generic: {keysAcross, keysAcross}, AVX512: {8, 8}, AVX2: {11, 11}},
	},
}

// few is up to how many keys of a column are tested one by one, integers and others: a window of them would take longer.
type few struct{ integers, others uint8 }

var kernelsOfAMD64, everyKernel = []Kernel{AVX512, AVX2}, []Kernel{AVX512, AVX2, NEON}

func (s scheme) String() string { return schemes[s].name }

const noSuchScheme = "bloom: no such scheme"

// hashWords is the number and the size of the words of a hash.
type hashWords uint8

const (
	noWords hashWords = iota
	one32             // a word of 32 bits
	one64             // a word of 64 bits
	two64             // two words of 64 bits
	four64            // four words of 64 bits
)

// bits returns how many bits the words have.
func (w hashWords) bits() int {
	return [...]int{noWords: 0, one32: 32, one64: 64, two64: 128, four64: 256}[w]
}

// mostBytes is the largest number of bytes that the bits of a filter may take when it is built.
const mostBytes = encoding.MostBytes

// bytesOf returns the bytes of an array that has the given bits or more.
func (s scheme) bytesOf(bits uint64) int {
	word := schemes[s].word
	return int((bits/word + min(bits%word, 1)) * (word / 8))
}

// swap is XORed with a bit's number to find it in the bytes: 56 where words are big-endian, else 0.
func (s scheme) swap() uint64 {
	if schemes[s].bigEndian {
		return 56
	}
	return 0
}

// isDense reports whether it is likely to be faster to make all probes of each of the next
// keys at once, because of the hits among the last n keys.
func (s scheme) isDense(hits, n int) bool { return 256*hits >= schemes[s].dense*n }
