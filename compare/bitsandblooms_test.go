package compare

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/guard"
)

// randomBitsAndBlooms returns a filter of bits-and-blooms without keys. A quarter of them is of FromWithM: these have random
// bits, more or fewer than m.
func randomBitsAndBlooms(random *rand.Rand) *bitsbloom.BloomFilter {
	m := uint(1 + random.IntN(1<<(1+random.IntN(18))))
	k := uint(1 + random.IntN(20))
	if random.IntN(4) > 0 {
		return bitsbloom.New(m, k)
	}
	words := make([]uint64, 1+random.IntN(2*int(m/64)+2))
	for i := range words {
		words[i] = random.Uint64() | random.Uint64()
	}
	return bitsbloom.FromWithM(words, m, uint(random.IntN(20)))
}

// keysOfLength returns n random keys of one length, or of several if it is negative, one after the other.
func keysOfLength(random *rand.Rand, n, length int) (data []byte, offsets []int32) {
	offsets = []int32{0}
	for range n {
		size := length
		if length < 0 {
			size = random.IntN(50)
		}
		for range size {
			data = append(data, byte(random.Uint32()))
		}
		offsets = append(offsets, int32(len(data)))
	}
	return data, offsets
}

// endOf copies data to the end of a buffer.
func endOf(buffer, data []byte) []byte {
	return append(buffer[len(buffer)-len(data):][:0], data...)
}

// TestBitsAndBlooms compares a million answers with those of bits-and-blooms: of each way to ask, and on every
// kernel. Filters and keys end where an inaccessible page begins.
func TestBitsAndBlooms(t *testing.T) {
	const filters, keysEach = 2500, 400
	random := rand.New(rand.NewPCG(11, 12))
	filterEnd, keysEnd := guard.Buffer(t, 1<<17), guard.Buffer(t, 1<<15)
	answers, yes := 0, 0
	for range filters {
		theirs := randomBitsAndBlooms(random)
		length := [...]int{16, 8, 36, 4, -1, -1}[random.IntN(6)]
		data, offsets := keysOfLength(random, keysEach, length)
		data = endOf(keysEnd, data)
		key := func(i int) []byte { return data[offsets[i]:offsets[i+1]] }
		if theirs.K() > 0 && uint(len(theirs.BitSet().Words()))*64 >= theirs.Cap() {
			for i := range random.IntN(keysEach) {
				theirs.Add(key(i))
			}
		}
		encoded, err := theirs.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		encoded = endOf(filterEnd, encoded)
		what := fmt.Sprintf("m %d, k %d, %d words, keys of %d bytes", theirs.Cap(), theirs.K(), len(theirs.BitSet().Words()), length)
		filter, err := bloom.Open(bloom.BitsAndBlooms, encoded)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		want := make([]uint64, (keysEach+63)/64)
		for i := range keysEach {
			passes := theirs.Test(key(i))
			hash := bloom.BitsAndBlooms.Hash(key(i))
			if filter.MayContain(key(i)) != passes || filter.MayContainHash(hash) != passes ||
				bloom.BitsAndBlooms.MayContainHash(encoded, hash) != passes || bloom.Reference(bloom.BitsAndBlooms, encoded, key(i)) != passes {
				t.Fatalf("%s: key %x: want %v", what, key(i), passes)
			}
			answers++
			if passes {
				yes++
				want[i/64] |= 1 << (i % 64)
			}
		}
		compareColumns(t, what, filter, data, offsets, length, want)
	}
	if answers < 1e6 || yes < answers/10 || yes > answers*9/10 {
		t.Errorf("%d answers, %d of them yes", answers, yes)
	}
}

// compareColumns wants the same hits of columns in each layout, on each kernel.
func compareColumns(t *testing.T, what string, filter *bloom.Filter, data []byte, offsets []int32, length int, want []uint64) {
	t.Helper()
	column, err := bloom.Offsets(data, offsets)
	if err != nil {
		t.Fatal(err)
	}
	slices := make([][]byte, len(offsets)-1)
	for i := range slices {
		slices[i] = data[offsets[i]:offsets[i+1]]
	}
	columns := map[string]bloom.Keys{"offsets": column, "slices": bloom.Bytes(slices), "hashed": column.Hashed(bloom.BitsAndBlooms)}
	if length > 0 {
		if columns["side by side"], err = bloom.FixedWidth(data, length); err != nil {
			t.Fatal(err)
		}
	}
	for _, kernel := range bloom.Kernels() {
		view, err := filter.WithKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		for layout, column := range columns {
			hits := make([]uint64, len(want))
			view.MayContainBatch(column, hits)
			for i := range hits {
				if hits[i] != want[i] {
					t.Fatalf("%s, %v, %s: hits %x in word %d, want %x", what, kernel, layout, hits[i], i, want[i])
				}
			}
		}
	}
}

// TestBitsAndBloomsAdds wants the bytes of bits-and-blooms after keys were added in each way, on every kernel.
func TestBitsAndBloomsAdds(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		m, k := uint(1+random.IntN(1<<(1+random.IntN(18)))), uint(1+random.IntN(20))
		theirs := bitsbloom.New(m, k)
		empty, err := theirs.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		length := [...]int{16, 8, 36, -1}[random.IntN(4)]
		data, offsets := keysOfLength(random, random.IntN(1500), length)
		column, err := bloom.Offsets(data, offsets)
		if err != nil {
			t.Fatal(err)
		}
		inPlace := bytes.Clone(empty)
		for i := range column.Len() {
			key := data[offsets[i]:offsets[i+1]]
			wasThere := theirs.TestAndAdd(key)
			isNew, err := bloom.BitsAndBlooms.AddHash(inPlace, bloom.BitsAndBlooms.Hash(key))
			if err != nil || isNew == wasThere {
				t.Fatalf("m %d, k %d, key %x: AddHash returns %v, %v; TestAndAdd %v", m, k, key, isNew, err, wasThere)
			}
		}
		want, err := theirs.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]byte{"AddHash of bytes": inPlace}
		for _, kernel := range bloom.Kernels() {
			set, err := bloom.OpenSet(bloom.BitsAndBlooms, empty)
			if err != nil {
				t.Fatal(err)
			}
			if set, err = set.WithKernel(kernel); err != nil {
				t.Fatal(err)
			}
			set.AddBatch(column)
			got["AddBatch, "+kernel.String()] = set.Bytes()
		}
		for way, bytesOf := range got {
			if !bytes.Equal(bytesOf, want) {
				t.Fatalf("m %d, k %d, %d keys of %d bytes: %s gives other bytes", m, k, column.Len(), length, way)
			}
		}
	}
}

// TestBitsAndBloomsDamage gives 100,000 damaged filters to both. Where bits-and-blooms returns an error or panics, Open
// returns an error; where it answers, Open gives the same answers. Nobody asks bits-and-blooms for what
// would allocate or run without end: these files Open must refuse.
func TestBitsAndBloomsDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	end := guard.Buffer(t, 1<<12)
	refused, panicked, answered := 0, 0, 0
	for range 100_000 {
		theirs := bitsbloom.New(uint(1+random.IntN(2000)), uint(1+random.IntN(10)))
		for range random.IntN(100) {
			theirs.Add(binary.BigEndian.AppendUint64(nil, random.Uint64()))
		}
		whole, err := theirs.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		data := endOf(end, damaged(random, whole))
		filter, err := bloom.Open(bloom.BitsAndBlooms, data)
		key := binary.BigEndian.AppendUint64(nil, random.Uint64())
		answer, refusal := theirAnswer(data, key)
		hash := bloom.BitsAndBlooms.Hash(key)
		switch {
		case refusal != nil:
			refused++
			if errors.Is(refusal, errPanic) {
				panicked++
			}
			if err == nil {
				t.Fatalf("%x: bits-and-blooms refuses it: %v", data, refusal)
			}
			if !bloom.BitsAndBlooms.MayContainHash(data, hash) || !bloom.Reference(bloom.BitsAndBlooms, data, key) {
				t.Fatalf("%x: the answer for bytes that are no filter is no", data)
			}
			before := bytes.Clone(data)
			if _, err := bloom.BitsAndBlooms.AddHash(data, hash); err == nil || !bytes.Equal(before, data) {
				t.Fatalf("%x: AddHash takes it", before)
			}
		case err != nil:
			t.Fatalf("%x: bits-and-blooms takes it: %v", data, err)
		default:
			answered++
			if filter.MayContain(key) != answer || bloom.BitsAndBlooms.MayContainHash(data, hash) != answer {
				t.Fatalf("%x: bits-and-blooms says %v for %x", data, answer, key)
			}
		}
	}
	if refused < 30_000 || panicked < 1000 || answered < 20_000 {
		t.Errorf("%d refused, %d of them by a panic, %d answered", refused, panicked, answered)
	}
}

// damaged returns a damaged copy: cut, longer, or with other numbers or bits.
func damaged(random *rand.Rand, whole []byte) []byte {
	data := bytes.Clone(whole)
	number := func() uint64 {
		return [...]uint64{0, 1, 63, 64, 65, 1 << 12, 1<<12 + 1, 1 << 63, 1<<64 - 1, random.Uint64(), random.Uint64N(4000)}[random.IntN(11)]
	}
	switch random.IntN(4) {
	case 0:
		return data[:random.IntN(len(data))]
	case 1:
		binary.BigEndian.PutUint64(data[8*random.IntN(3):], number())
	case 2:
		data[random.IntN(len(data))] ^= 1 << random.IntN(8)
	case 3:
		for range 1 + random.IntN(20) {
			data = append(data, byte(random.Uint32()))
		}
	}
	return data
}

var (
	errPanic = errors.New("it panics")
	errLimit = errors.New("more probes than this library takes, or more bits than there are")
)

// theirAnswer returns what bits-and-blooms says of a key, or why it does not.
func theirAnswer(data, key []byte) (answer bool, refusal error) {
	defer func() {
		if recover() != nil {
			refusal = errPanic
		}
	}()
	if len(data) >= 24 {
		k, length := binary.BigEndian.Uint64(data[8:]), binary.BigEndian.Uint64(data[16:])
		if k > 4096 || length > 1<<15 && length < 1<<52 { // from there on, make panics at once
			return false, errLimit
		}
	}
	filter := new(bitsbloom.BloomFilter)
	if _, err := filter.ReadFrom(bytes.NewReader(data)); err != nil {
		return false, err
	}
	return filter.Test(key), nil
}
