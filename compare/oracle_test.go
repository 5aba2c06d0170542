package compare

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
)

// programs is the folder of the compiled oracles, which all tests share.
var programs string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if programs, err = os.MkdirTemp("", "oracles"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(programs)
		return m.Run()
	}())
}

// newOracle returns the oracle of a format. The tests fail on a machine without g++ and
// the library that the oracle runs.
func newOracle(t *testing.T, format bloom.Format) *oracle.Oracle {
	t.Helper()
	o, err := oracle.Compile(format, programs)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// witness makes filters and gives answers that this library must equal. It is an oracle or
// another library.
type witness = witnessOf[[]byte]

// eachWitness runs a subtest for every oracle and every other library.
func eachWitness(t *testing.T, run func(t *testing.T, format bloom.Format, w witness)) {
	for _, format := range oracle.Formats {
		t.Run("format="+format.String(), func(t *testing.T) { run(t, format, newOracle(t, format)) })
	}
	for _, library := range []struct {
		name   string
		format bloom.Format
		witness
	}{
		{"parquet-go", bloom.Parquet, parquetGo[[]byte]{}},
		{"arrow-go", bloom.Parquet, arrowGo[[]byte]{}},
		{"pebble", bloom.Pebble, pebbleFilter{}},
	} {
		t.Run(fmt.Sprintf("format=%v/%s", library.format, library.name), func(t *testing.T) { run(t, library.format, library.witness) })
	}
}

// randomKeys returns n keys of 0 to 300 random bytes.
func randomKeys(random *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = make([]byte, random.IntN(301))
		for j := range keys[i] {
			keys[i][j] = byte(random.Uint32())
		}
	}
	return keys
}

// TestSameBytesSameAnswers builds filters of random keys with this library and with the
// witness. It compares their bytes, and their answers for the keys and for absent keys.
// A witness that writes no filter of the size reads ours.
func TestSameBytesSameAnswers(t *testing.T) {
	eachWitness(t, func(t *testing.T, format bloom.Format, w witness) {
		random := rand.New(rand.NewPCG(1, 2))
		compared := 0
		for i := range 15 { // testdata has 180 of each maker
			n, bits := random.IntN(2000), random.IntN(60)
			switch i % 15 {
			case 0:
				bits *= 100 // more probes than most formats allow
			case 1, 2, 3, 4:
				n, bits = 1<<random.IntN(11), 1<<random.IntN(6) // a power of two
			}
			if format != bloom.LevelDB {
				bits = max(bits, 1) // fewer would make a filter that denies its keys
			}
			t.Run(fmt.Sprintf("%d/keys=%d/bits=%d", i, n, bits), func(t *testing.T) {
				keys := randomKeys(random, n)
				got := bloom.Policy{Format: format, BitsPerKey: bits}.AppendFilter(nil, bloom.Bytes(keys))
				switch want, err := w.CreateFilter(keys, bits); {
				case errors.Is(err, errSize), errors.Is(err, oracle.ErrNoFilter):
				case err != nil:
					t.Fatal(err)
				case !bytes.Equal(got, want):
					t.Fatalf("filter of %d bytes differs from the witness's of %d", len(got), len(want))
				default:
					compared++
				}
				compareAnswers(t, format, w, got, slices.Concat(keys, randomKeys(random, 1000)))
			})
		}
		if compared < 4 {
			t.Errorf("the witness wrote only %d filters", compared)
		}
	})
}

// TestGuavaFunnels builds filters of Guava of strings and of longs, and of their bytes with this library.
func TestGuavaFunnels(t *testing.T) {
	var integers []int64
	var longs, words, chars [][]byte
	for i := range int64(1000) {
		integers = append(integers, i*i*i*0x123456789-i)
		longs = append(longs, binary.LittleEndian.AppendUint64(nil, uint64(integers[i])))
		words = append(words, []byte(fmt.Sprint("schön ", i)))
		text := []byte{}
		for _, unit := range utf16.Encode([]rune(string(words[i]) + " \U0001F600")) {
			text = binary.LittleEndian.AppendUint16(text, unit)
		}
		chars = append(chars, text)
	}
	policy := bloom.Policy{Format: bloom.Guava, BitsPerKey: 10}
	for funnel, c := range map[string]struct {
		keys   [][]byte
		column bloom.Keys
	}{
		"longs": {longs, bloom.Integers(integers)},
		"chars": {chars, bloom.Bytes(chars)},
		"bytes": {words, bloom.Bytes(words)},
	} {
		o, err := oracle.CompileGuava(funnel, programs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := o.CreateFilter(c.keys, 10)
		if err != nil {
			t.Fatal(err)
		}
		if got := policy.AppendFilter(nil, c.column); !bytes.Equal(got, want) {
			t.Errorf("%s: the filters differ", funnel)
		}
	}
}

// TestNeighbours adds a half of the numbers of a range, as 8 bytes big-endian, and asks the oracles for the
// other half. The hash of 32 bits makes these keys alike: many absent ones pass the engines' own filters.
// docs/false-positives.md has the rates of more keys.
func TestNeighbours(t *testing.T) {
	for _, test := range []struct {
		format      bloom.Format
		n           int
		least, most float64 // of the rate
	}{
		{bloom.LevelDB, 40, 0.3, 0.7},
		{bloom.LevelDB, 1000, 0.025, 0.06},
		{bloom.Pebble, 40, 0.9, 1},
		{bloom.Pebble, 1000, 0.6, 0.9},
		{bloom.RocksDB, 40, 0, 0.02},
		{bloom.RocksDB, 1000, 0.005, 0.015},
		{bloom.Nori, 40, 0, 0.02},
		{bloom.Nori, 1000, 0.004, 0.013},
	} {
		t.Run(fmt.Sprintf("format=%v/keys=%d", test.format, test.n), func(t *testing.T) {
			o, passed, asked := newOracle(t, test.format), 0, 0
			for asked < 2000 {
				numbers, keys := rand.New(rand.NewPCG(3, uint64(asked))).Perm(2*test.n), make([][]byte, 2*test.n)
				for i, number := range numbers {
					keys[i] = binary.BigEndian.AppendUint64(nil, uint64(2*asked+number))
				}
				filter, err := o.CreateFilter(keys[:test.n], 10)
				if err != nil {
					t.Fatal(err)
				}
				absent := keys[test.n:]
				answers, err := o.KeyMayMatch(filter, absent)
				if err != nil {
					t.Fatal(err)
				}
				for i, yes := range answers {
					if yes != test.format.MayContain(filter, absent[i]) {
						t.Fatalf("%x: the oracle says %v", absent[i], yes)
					}
					if yes {
						passed++
					}
				}
				asked += test.n
			}
			rate := float64(passed) / float64(asked)
			t.Logf("%.2f %% of %d absent keys pass", 100*rate, asked)
			if rate < test.least || rate > test.most {
				t.Errorf("the rate is %v, want %v to %v", rate, test.least, test.most)
			}
		})
	}
}

// TestSameAnswersToAnyBytes compares answers for filters that neither side wrote, and
// for bytes that are no filter.
func TestSameAnswersToAnyBytes(t *testing.T) {
	odd := map[bloom.Format]func(*rand.Rand) [][]byte{
		bloom.LevelDB: oddLevelDB, bloom.Nori: oddNori, bloom.NoriCrate: oddNori, bloom.Parquet: oddParquet,
		bloom.RocksDB: oddRocksDB, bloom.Pebble: oddPebble, bloom.Guava: oddGuava,
	}
	eachWitness(t, func(t *testing.T, format bloom.Format, w witness) {
		random := rand.New(rand.NewPCG(3, 4))
		filters, keys := odd[format](random), randomKeys(random, 300)
		o, many := w.(*oracle.Oracle)
		if !many {
			for _, filter := range filters {
				compareAnswers(t, format, w, filter, keys)
			}
			return
		}
		answers, err := o.Answers(filters, keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, filter := range filters {
			checkAnswers(t, format, filter, keys, answers[i])
		}
	})
}

// oddLevelDB returns filters with every value of the last byte, and filters that are
// too short.
func oddLevelDB(random *rand.Rand) [][]byte {
	filters := [][]byte{{}, {0}, {6}, {255}}
	for k := range 256 {
		filters = append(filters, append(randomBits(random, 1+random.IntN(50)), byte(k)))
	}
	return filters
}

// oddNori returns filters with headers of both layouts. Some headers fit the length of
// the filter, others do not. None has more than 4,096 probes, this library's limit.
func oddNori(random *rand.Rand) [][]byte {
	filters := [][]byte{{}, {7}, make([]byte, 11)}
	for _, n := range []uint64{0, 1, 7, 8, 9, 100, 256, 1<<32 + 8, math.MaxUint64} {
		for _, k := range []uint32{0, 1, 7, 30, 31, 70, 4096} {
			for _, size := range []uint64{n/8 - 1, n / 8, n/8 + 1, n/8 + 2} {
				if size < 100 {
					array := randomBits(random, int(size))
					filters = append(filters,
						slices.Concat(headerNori(n, k), array),
						slices.Concat(headerNoriCrate(n, k), array))
				}
			}
		}
		filters = append(filters, headerNori(n, 7), headerNoriCrate(n, 7))
	}
	return filters
}

// oddGuava returns filters whose headers fit their words, and others. None has strategy 0, the other of Guava, which this
// library refuses.
func oddGuava(random *rand.Rand) (filters [][]byte) {
	filters = [][]byte{{}, {1, 7, 0, 0, 0}}
	for _, strategy := range []byte{1, 2, 128} {
		for _, k := range []byte{0, 1, 7, 255} {
			for _, words := range []int32{-1, 0, 1, 3} {
				header := headerGuava(uint32(words), k)
				header[0] = strategy
				filters = append(filters, append(header, randomBits(random, 8*3)...))
				if words == 3 {
					filters = append(filters, append(header, randomBits(random, 8*3-1)...))
				}
			}
		}
	}
	return filters
}

// oddParquet returns filters of any number of blocks. The other libraries do not test the
// length of a filter: bytes that are no blocks are not for them.
func oddParquet(random *rand.Rand) (filters [][]byte) {
	for z := range 80 {
		filters = append(filters, randomBits(random, 32*(z+1)))
	}
	for range 20 {
		filters = append(filters, randomBits(random, 32*(1+random.IntN(20_000))))
	}
	return filters
}

// oddRocksDB returns filters with every number of probes, those that RocksDB reserves, and
// other last bytes that make RocksDB answer without a probe.
func oddRocksDB(random *rand.Rand) (filters [][]byte) {
	for n := range 6 {
		filters = append(filters, []byte("\xff\x00\x06\x00\x00")[:n])
	}
	add := func(end ...byte) {
		filters = append(filters, append(randomBits(random, 64*(1+random.IntN(100))), end...))
	}
	for k := range 256 {
		add(0xff, 0, byte(k), 0, 0)
	}
	for k := 1; k < 256; k *= 2 {
		add(0xff, byte(k), 6, 0, 0)
		add(0xff, 0, 6, byte(k), 0)
		add(0xff, 0, 6, 0, byte(k))
		add(0, byte(k), byte(k), 0, 0)
	}
	return filters
}

// oddPebble returns filters of every number of probes, with even and odd numbers of lines of
// every length.
func oddPebble(random *rand.Rand) (filters [][]byte) {
	for n := range 6 {
		filters = append(filters, make([]byte, n))
	}
	for k := range 128 {
		for _, line := range []int{64, 128, 256} {
			lines := 1 + random.IntN(100)
			array := randomBits(random, line*lines)
			filters = append(filters, binary.LittleEndian.AppendUint32(append(array, byte(k)), uint32(lines)))
		}
	}
	return filters
}

// TestRocksDBRefuses asks RocksDB about bytes that it reads as no filter of any version: it
// says yes to every key. Open returns an error for both formats.
func TestRocksDBRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 11))
	o, keys := newOracle(t, bloom.RocksDB), randomKeys(random, 200)
	for _, c := range []struct {
		bytes int // before the last five
		end   string
	}{
		{64, "\x06\x00\x00\x00\x00"}, {64, "\x06\x03\x00\x00\x00"}, {192, "\x06\x01\x00\x00\x00"}, {65, "\x06\x01\x00\x00\x00"},
		{64, "\x06\xff\xff\xff\xff"}, {64, "\xfd\x00\x06\x00\x00"}, {64, "\x80\x01\x00\x00\x00"},
	} {
		filter := append(make([]byte, c.bytes), c.end...)
		for _, format := range []bloom.Format{bloom.RocksDB, bloom.Pebble} {
			if _, err := bloom.Open(format, filter); !errors.Is(err, bloom.ErrEncoding) {
				t.Errorf("Open(%v, …%x): %v", format, c.end, err)
			}
		}
		answers, err := o.KeyMayMatch(filter, keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range keys {
			if !answers[i] || !bloom.Pebble.MayContain(filter, key) {
				t.Fatalf("…%x: RocksDB answers %v", c.end, answers[i])
			}
		}
	}
}

// TestHashesOfRocksDB compares hashes of keys of every length up to some blocks.
func TestHashesOfRocksDB(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 13))
	keys := randomKeys(random, 3000)
	for n := range 2200 {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		keys = append(keys, key)
	}
	for hash, format := range map[string]bloom.Format{"xxph3": bloom.RocksDB, "signed": bloom.Pebble} {
		want, err := newOracle(t, format).Hashes(hash, keys)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) != len(keys) {
			t.Fatalf("%d hashes of %d keys", len(want), len(keys))
		}
		for i, key := range keys {
			if got := fmt.Sprintf("%016x", format.Hash(key).Words()[0]); got != want[i] {
				t.Fatalf("%s of %d bytes, %x: %s, want %s", hash, len(key), key, got, want[i])
			}
		}
	}
}

func headerNori(n uint64, k uint32) []byte {
	const bitsPerKey = 10 // no reader uses it
	b := binary.LittleEndian.AppendUint64(nil, n)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, k), bitsPerKey)
}

func headerNoriCrate(n uint64, k uint32) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, k), n)
}

func headerGuava(words uint32, k byte) []byte {
	return binary.BigEndian.AppendUint32([]byte{1, k}, words)
}

// randomBits returns n random bytes with three of four bits set.
func randomBits(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		word := random.Uint32()
		b[i] = byte(word | word>>8)
	}
	return b
}

// TestSameAnswersPast32Bits compares answers for filters of about 2^32 bits and more. A
// 32-bit hash reaches the first 2^32 bits. Pebble's last filter is of 2^32 bits.
func TestSameAnswersPast32Bits(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	witnesses := map[bloom.Format]witness{bloom.Parquet: parquetGo[[]byte]{}}
	for _, format := range oracle.Formats {
		witnesses[format] = newOracle(t, format)
	}
	// The system takes long to give as much memory: there is one buffer for all filters, and the largest set comes first,
	// so that the others take the memory that it had.
	buffer := make([]byte, 0, 5<<27+1<<11)
	for _, c := range []struct {
		format bloom.Format
		header []byte
		size   int // of the bit array
		last   []byte
	}{
		{bloom.Nori, headerNori(5<<30+12345, 3), 5<<27 + 1544, nil},
		{bloom.RocksDB, nil, 5<<27 + 64, []byte("\xff\x00\x03\x00\x00")},
		{bloom.Parquet, nil, 5<<27 + 32, nil},
		{bloom.Guava, headerGuava(5<<24+1, 3), 5<<27 + 8, nil},
		{bloom.LevelDB, nil, 1<<29 + 1, []byte{3}},
		{bloom.LevelDB, nil, 1 << 29, []byte{3}},
		{bloom.Nori, headerNori(1<<32-1, 3), 1 << 29, nil},
		{bloom.NoriCrate, headerNoriCrate(1<<32, 3), 1 << 29, nil},
		{bloom.Pebble, nil, 1 << 29, []byte("\x03\x00\x00\x80\x00")},
		{bloom.Guava, headerGuava(1<<26, 3), 1 << 29, nil},
		{bloom.LevelDB, nil, 1<<29 - 1, []byte{3}},
	} {
		filter := append(buffer, c.header...)[:len(c.header)+c.size]
		clear(filter[len(c.header):])
		filter = append(filter, c.last...)
		// One bit in four over the first 64 MiB, so that some keys hit.
		array := filter[len(c.header):][:1<<26]
		for i := 0; i < 1<<20; i += 8 {
			binary.LittleEndian.PutUint64(array[i:], random.Uint64()&random.Uint64())
		}
		for n := 1 << 20; n < len(array); n *= 2 {
			copy(array[n:], array[:n])
		}
		runtime.GC()
		set, err := bloom.OpenSet(c.format, filter)
		if err != nil {
			t.Fatal(err)
		}
		known := randomKeys(random, 500)
		set.AddBatch(bloom.Bytes(known))
		filter = set.AppendFilter(filter[:0])
		keys := slices.Concat(known, randomKeys(random, 5000))
		want, err := witnesses[c.format].KeyMayMatch(filter, keys)
		if err != nil {
			t.Fatal(err)
		}
		checkAnswers(t, c.format, filter, keys, want)
		if slices.Contains(want[:len(known)], false) {
			t.Errorf("%v of %d bytes: a key is missing", c.format, c.size)
		}
	}
}

func compareAnswers(t *testing.T, format bloom.Format, w witness, filter []byte, keys [][]byte) {
	t.Helper()
	want, err := w.KeyMayMatch(filter, keys)
	if err != nil && !errors.Is(err, oracle.ErrNoFilter) {
		t.Fatal(err)
	}
	checkAnswers(t, format, filter, keys, want)
}

// checkAnswers compares the answers of each kernel and of the single-key path with the
// witness's, which are nil for what is no filter.
func checkAnswers(t *testing.T, format bloom.Format, filter []byte, keys [][]byte, want []bool) {
	t.Helper()
	if want == nil {
		if _, err := bloom.Open(format, filter); !errors.Is(err, bloom.ErrEncoding) {
			t.Fatalf("Open(%v, %x) = %v: it is no filter to the witness", format, filter, err)
		}
		return
	}
	for _, kernel := range bloom.Kernels() {
		f, err := bloom.Open(format, filter)
		if err != nil {
			t.Fatal(err)
		}
		if f, err = f.WithKernel(kernel); err != nil {
			t.Fatal(err)
		}
		hits := make([]uint64, (len(keys)+63)/64)
		f.MayContainBatch(bloom.Bytes(keys), hits)
		for i, key := range keys {
			if got := hits[i/64]>>(i%64)&1 != 0; got != want[i] {
				t.Fatalf("kernel %v: %v for key %x, the witness says %v", kernel, got, key, want[i])
			}
			if got := f.MayContain(key); got != want[i] {
				t.Fatalf("MayContain(%x) = %v, the witness says %v", key, got, want[i])
			}
		}
	}
}

// TestDemoFilter compares the filter of the demo with LevelDB's.
func TestDemoFilter(t *testing.T) {
	file, err := os.Open("../cmd/bloom/words/known.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	words := bytes.Split(bytes.TrimSuffix(list, []byte("\n")), []byte("\n"))
	want, err := newOracle(t, bloom.LevelDB).CreateFilter(words, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := (bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}).AppendFilter(nil, bloom.Bytes(words)); !bytes.Equal(got, want) {
		t.Errorf("the filter of %d words differs from LevelDB's", len(words))
	}
}
