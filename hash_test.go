package bloom

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lanebloom/bloom/internal/golden"
	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/reference"
)

// hashVector is a key, in hexadecimal digits, and its hash.
type hashVector struct {
	key    string
	h1, h2 uint64
}

// hashTests has vectors of each hash: a new one is a line here.
var hashTests = [...][]hashVector{
	schemeLevelDB: { // util/hash_test.cc with the seed of its filter, and keys of every tail length
		{"", 0xbc9f1d34, 0},
		{"62", 0xef1345c4, 0},
		{"c397", 0x5b663814, 0},
		{"e299a5", 0x323c078f, 0}, // 530174ee if the bytes are taken as signed
		{"e180b932", 0xed21633a, 0},
		{"80", 0x365ee853, 0},
		{"68656c6c6f", 0xf795964e, 0},
	},
	schemeNori:    {{"68656c6c6f", 0x26c7827d889f6da3, 0x23dd71cb04d0a1b2}},
	schemeParquet: {{"", 0xef46db3751d8e999, 0}, {"68656c6c6f", 0x26c7827d889f6da3, 0}},
	schemeRocksDB: vectorsXXPH3(),
	schemePebble: { // rocksdb::Hash of librocksdb 7.8.3 with the seed of its filters
		{"", 0xbc9f1d34, 0},
		{"68656c6c6f", 0xf795964e, 0},
		{"e299a5", 0x530174ee, 0},
		{"80", 0x91b755f4, 0},
		{"c397", 0x0f2ba540, 0},
		{"61626364ff80", 0x7d75dca3, 0},
		{"6162636465666768ff8081", 0x580e58a5, 0},
	},
	schemeBitsAndBlooms: {}, // murmurTests
	schemeGuava:         vectorsMurmur3,
}

// TestHash compares every way to hash one key with the vectors, and with the reference at
// every length up to several blocks.
func TestHash(t *testing.T) {
	t.Parallel()
	data := slices.Concat(golden.Mixed.Range(0, 131)...)
	eachHash(t, func(t *testing.T, s scheme) {
		if len(hashTests[s]) == 0 && s != schemeBitsAndBlooms {
			t.Error("there are no vectors")
		}
		for _, v := range hashTests[s] {
			if got, want := referenceHash(s, fromHex(v.key)), shortHash(v.h1, v.h2, s); got != want {
				t.Errorf("the reference of %s = %v, want %v", v.key, got, want)
			}
		}
		for n := range 1101 {
			keys := [][]byte{data[n : 2*n]}
			checkHashes(t, s, kernels, keys, Bytes(keys), Strings([]string{string(keys[0])}))
		}
		for _, v := range []uint64{0, 1, 0x80, math.MaxUint32, 1 << 32, math.MaxUint64, 0x8899aabbccddeeff} {
			key := binary.LittleEndian.AppendUint64(nil, v)
			checkHashes(t, s, kernels, [][]byte{key}, Integers([]uint64{v}))
			checkHashes(t, s, kernels, [][]byte{key[:4]}, Integers([]uint32{uint32(v)}))
			if got, want := s.hashUint64(v), referenceHash(s, key); got != want {
				t.Errorf("ofUint64(%x) = %v, want %v", v, got, want)
			}
		}
	})
	if words := (Hash{}).Words(); words != [4]uint64{} {
		t.Errorf("the zero Hash has the words %x", words)
	}
	eachFormat(t, func(t *testing.T, f Format) {
		for n := range 300 {
			if got, want := f.Hash(data[n:2*n]), referenceHash(f.scheme(), data[n:2*n]); got != want {
				t.Errorf("Hash of %d bytes = %v, want %v", n, got, want)
			} else if words := referenceWords(f.scheme(), data[n:2*n]); got.Words() != words {
				t.Errorf("Words of the hash of %d bytes = %x, want %x", n, got.Words(), words)
			}
		}
	})
}

// TestWrongHashes looks for the panic of queries and of builds with hashes of another kind
// than the format's. It must come to the caller, also where a build has workers.
func TestWrongHashes(t *testing.T) {
	t.Parallel()
	keys, many := golden.Mixed.Range(0, 10), map[scheme]Keys{}
	for s := noScheme + 1; int(s) < len(schemes); s++ {
		many[s] = columnOfHashes(s, make([]Hash, 2*workerKeys))
	}
	eachFormat(t, func(t *testing.T, format Format) {
		p := Policy{format, 10}
		f := mustOpen(t, format, p.AppendFilter(nil, Bytes(keys)))
		large, shared := mustSet(t, p, shareBytes), mustAtomicSet(t, p, shareBytes) // of 2.5 MiB
		eachFormat(t, func(t *testing.T, other Format) {
			column, many := Bytes(keys).Hashed(other), many[other.scheme()]
			for name, call := range map[string]func(){
				"MayContainBatch":        func() { f.MayContainBatch(column, make([]uint64, 1)) },
				"MayContainBatch of 0":   func() { f.MayContainBatch(column.Slice(0, 0), nil) },
				"AppendHits":             func() { f.AppendHits(nil, column) },
				"AppendHits of 0":        func() { f.AppendHits(nil, column.Slice(0, 0)) },
				"Hits of 0":              func() { f.Hits(column.Slice(0, 0)) },
				"MayContainHash":         func() { f.MayContainHash(other.Hash(keys[0])) },
				"Hashed":                 func() { column.Hashed(format) },
				"AppendFilter":           func() { p.AppendFilter(nil, column) },
				"Builder":                func() { p.NewBuilder().AddBatch(column) },
				"Builder.AddHash":        func() { p.NewBuilder().AddHash(other.Hash(keys[0])) },
				"Set.AddBatch":           func() { large.AddBatch(column) },
				"AppendFilter of many":   func() { p.AppendFilter(nil, many) },
				"Set.AddBatch of many":   func() { large.AddBatch(many) },
				"Hits":                   func() { f.Hits(column) },
				"NewFilter":              func() { p.NewFilter(column) },
				"Set.AddHash":            func() { large.AddHash(other.Hash(keys[0])) },
				"Set.TestAndAddBatch":    func() { large.TestAndAddBatch(column, make([]uint64, 1)) },
				"Set.TestAndAddHash":     func() { large.TestAndAddHash(other.Hash(keys[0])) },
				"atomic TestAndAddHash":  func() { shared.TestAndAddHash(other.Hash(keys[0])) },
				"atomic AddHash":         func() { shared.AddHash(other.Hash(keys[0])) },
				"atomic AddBatch":        func() { shared.AddBatch(many) },
				"atomic TestAndAddBatch": func() { shared.TestAndAddBatch(column, make([]uint64, 1)) },
				"atomic MayContain":      func() { shared.MayContainHash(other.Hash(keys[0])) },
				"atomic batch":           func() { shared.MayContainBatch(column, make([]uint64, 1)) },
			} {
				got := panicOf(call)
				if (got != "") != (other.scheme() != format.scheme()) {
					t.Errorf("%s: panic %q", name, got)
				}
				if got != "" && (!strings.Contains(got, schemes[format.scheme()].hash) || !strings.Contains(got, schemes[other.scheme()].hash)) {
					t.Errorf("%s: the panic %q does not name both hashes", name, got)
				}
			}
		})
	})
}

// TestHashStaysInRegisters wants a Hash that the compiler keeps in registers: of at most four fields, none of them
// an array of more than one element, and of at most four words.
func TestHashStaysInRegisters(t *testing.T) {
	h := reflect.TypeFor[Hash]()
	if h.NumField() > 4 || h.Size() > 32 {
		t.Errorf("a Hash has %d fields and %d bytes", h.NumField(), h.Size())
	}
	for i := range h.NumField() {
		if kind := h.Field(i).Type.Kind(); kind != reflect.Uint64 {
			t.Errorf("the field %s of a Hash is of kind %v", h.Field(i).Name, kind)
		}
	}
}

// TestHashString wants the hash of a string's bytes, without a copy of them.
func TestHashString(t *testing.T) {
	eachFormat(t, func(t *testing.T, f Format) {
		for n := range 300 {
			key := make([]byte, n)
			for i := range key {
				key[i] = byte(7*n + 131*i)
			}
			text := string(key)
			if got, want := f.HashString(text), f.Hash(key); got != want {
				t.Fatalf("%d bytes: %v, want %v", n, got, want)
			}
			if n%100 == 99 && testing.AllocsPerRun(10, func() { f.HashString(text) }) != 0 {
				t.Errorf("%d bytes: allocates", n)
			}
		}
	})
}

// TestHashFrom makes hashes and columns of hashes from words.
func TestHashFrom(t *testing.T) {
	key := []byte("key")
	eachFormat(t, func(t *testing.T, f Format) {
		h, w := referenceHash(f.scheme(), key), schemes[f.scheme()].words
		encoded := Policy{f, 10}.AppendFilter(nil, Bytes([][]byte{key}))
		for name, c := range map[string]struct {
			words []hashWords // for which it serves
			call  func() bool
		}{
			"HashFrom": {[]hashWords{one32, one64}, func() bool {
				return f.HashFrom(h.h1) == h && mustOpen(t, f, encoded).MayContainHash(f.HashFrom(h.h1))
			}},
			"Hashes32": {[]hashWords{one32}, func() bool {
				return mustOpen(t, f, encoded).MayContainBatch(f.Hashes32([]uint32{uint32(h.h1)}), make([]uint64, 1)) == 1
			}},
			"Hashes64": {[]hashWords{one64}, func() bool {
				return mustOpen(t, f, encoded).MayContainBatch(f.Hashes64([]uint64{h.h1}), make([]uint64, 1)) == 1
			}},
		} {
			serves := slices.Contains(c.words, w)
			found := false
			if got := panicOf(func() { found = c.call() }); (got == "") != serves || found != serves {
				t.Errorf("%s: panic %q, found %v", name, got, found)
			}
		}
	})
	if got := LevelDB.HashFrom(0xabcd00000007); got != LevelDB.HashFrom(7) {
		t.Errorf("HashFrom takes more than 32 bits of a 32-bit hash: %v", got)
	}
}

// murmurTests are keys of several lengths, and what Locations of bits-and-blooms v3.7.1 returns for them.
var murmurTests = []struct {
	key       string
	locations [6]uint64
}{
	{"", [6]uint64{0, 0x778867e4430e6785, 0xef10cfc8861ccf0a, 0x706b15b18a5efa42, 0xeb3972420dd3f858, 0x55aa07754f480599}},
	{"f9f2ebe4", [6]uint64{0xe6fe9668f4aed077, 0xa9db9e1caf493f8e, 0xa4118bf07bf1b381, 0xc4c81539a107d8d5, 0x88f12e3f3bd98987, 0x2401892bbdcf05a2}},
	{"f9f2ebe4ddd6cfc8", [6]uint64{0x257a5b0572fa1dce, 0x6e4ec742b6dbd1e2, 0x83c6628badec3b38, 0x3b84e83eef85b0ca, 0xcb4a8c04907e054a, 0x2ae6d64f2cc00cb6}},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e97", [6]uint64{0x653b50af083d9795, 0x39e758ea238ca9ce, 0x65966117de7c273b, 0x43ba98ab9e79753e, 0xc7e705f6e5a30699, 0x3a9d79bbd009c91a}},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e9790", [6]uint64{0xdcfdbb33935ff96d, 0x50a174a983524df8, 0xaf8aab57e478a8f7, 0x194aec6ca1eef26c, 0x74e8504ff24149b9, 0xf5bb54f22583ad0c}},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e979089827b746d665f58514a433c352e2720", [6]uint64{0x2039a3ada5e16f3c, 0xd5590c55e7b454d7, 0xdc5ca62225e6630c, 0x61252c659408b07d, 0x580bd010365536a4, 0x4d9f113ee7be3c77}},
}

// vectorsMurmur3 are what Hashing.murmur3_128 of Guava 31.1 returns.
var vectorsMurmur3 = []hashVector{
	{"", 0x0000000000000000, 0x0000000000000000},
	{"f9", 0xdafa23432a024bf5, 0x7c9b49b689863632},
	{"f9f2ebe4", 0xe6fe9668f4aed077, 0x4b522358eba7ce09},
	{"f9f2ebe4ddd6cfc8", 0x257a5b0572fa1dce, 0x3f28c37f9962c32d},
	{"f9f2ebe4ddd6cfc8c1", 0x4ca5ba582d1ab98f, 0x125f5cb90c538118},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e97", 0x653b50af083d9795, 0x39b9d0b5b86d61fb},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e9790", 0xdcfdbb33935ff96d, 0x675afc975ac5f633},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e979089827b746d665f58514a433c352e2720fe", 0x1b605f092b805f29, 0xcba6f6a5fa01be68},
	{"68656c6c6f", 0xcbd8a7b341bd9b02, 0x5b1e906a48ae1d19},
}

// TestMurmur compares the reference, the hash and the bits with the vectors.
func TestMurmur(t *testing.T) {
	for _, v := range murmurTests {
		words, h := reference.Murmur3x2(fromHex(v.key)), BitsAndBlooms.Hash(fromHex(v.key))
		for i, want := range v.locations {
			if got := reference.Location(words, uint64(i)); got != want {
				t.Errorf("%s: the reference of probe %d is %x, want %x", v.key, i, got, want)
			}
			if got := probes.Crossed(h.h1, h.h2, h.h3, h.h4, uint64(i)); got != want {
				t.Errorf("%s: probe %d is %x, want %x", v.key, i, got, want)
			}
		}
	}
}
