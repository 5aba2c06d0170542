package bloom

import "github.com/lanebloom/bloom/internal/neighbours"

// Neighbours counts the answers of a filter for absent keys that are like its own.
type Neighbours struct {
	Asked  int // absent keys that the filter was asked for
	Passed int // of these, those that it answered yes for

	// EqualHash counts those of Passed whose hash is that of a key. They pass however many bits per key
	// the filter has. It is 0 in formats with a hash of 64 bits or more.
	EqualHash int
}

// Rate returns the share, 0 to 1, of absent keys that passed. The share of none is not a number.
func (n Neighbours) Rate() float64 { return float64(n.Passed) / float64(n.Asked) }

// MeasureNeighbours asks the filter for absent keys that are like keys, the column that it was built from, and
// counts what passes. It needs no sample of absent keys, as [Filter.MeasureRate] does. In [LevelDB] and
// [Pebble], such keys can pass far more often than those with random hashes.
//
// It judges keys that have a number, a dozen of them or more:
//
//   - integers: columns of [Integers], and bytes in either byte order with up to 8 bytes that vary;
//   - text with a decimal number of up to 18 digits or a hexadecimal one of up to 16, with leading zeros or
//     without, and any text before and after it. The last such number that varies counts.
//
// The neighbours have other numbers: between the lowest and the highest one of the keys, or after the highest
// one. No neighbour is one of the keys. If other bytes vary too, a neighbour has those of one of the keys. If
// keys differ in length, the neighbours have the most frequent length. There are at most 2^17 of each kind, and
// none between numbers without a gap.
//
// Asked is 0 for what it cannot judge: columns of hashes, which do not have the keys; text in which only
// words vary; and keys longer than 1,024 bytes. Random keys have neighbours as random as they are.
//
// It reads the column twice, needs at most 32 MiB, and tests the same neighbours at every call. It panics if the
// keys are hashes of another kind than the filter's.
func (f *Filter) MeasureNeighbours(keys Keys) (between, after Neighbours) {
	f.mustTakeColumn(keys)
	if keys.hashed != noHash {
		return between, after
	}
	var integer [8]byte
	data, length, after0 := neighbours.Of(neighbours.Column{
		Rows: keys.n,
		Key: func(row int) ([]byte, bool) {
			one := keys.slice(row, row+1)
			return one.first(&integer)
		},
		Integers: keys.layout <= uint64s && keys.layout != byteSlices && keys.layout != strs,
	})
	if len(data) == 0 {
		return between, after
	}
	asked, _ := FixedWidth(data, length) // no error: whole keys
	asked = absentOf(asked, keys)
	equal := f.equalHashes(asked, keys)
	return f.ask(asked.slice(0, after0), equal[:after0]), f.ask(asked.slice(after0, asked.n), equal[after0:])
}

// absentOf returns the column of neighbours in which those rows are null that are keys, or an earlier row again.
func absentOf(asked, keys Keys) Keys {
	ids := make([]uint64, asked.n) // equal for no other keys, but once in 2^64 pairs
	asked.hashWindows(hashXXH64, kernels[0], func(i, j int) hashes { return hashes{h1: ids[i:j]} })
	rows := make(map[uint64]int, len(ids))
	absent := make([]byte, (len(ids)+7)/8)
	for row, id := range ids {
		if _, twice := rows[id]; !twice {
			rows[id] = row
			absent[row/8] |= 1 << (row % 8)
		}
	}
	some := Policy{Format: Parquet, BitsPerKey: 16}.NewFilter(Parquet.Hashes64(ids)) // finds nearly all other keys quickly
	some.eachHit(keys, func(row int) bool {
		if same, ok := rows[keys.hashRow(hashXXH64, row).h1]; ok {
			absent[same/8] &^= 1 << (same % 8)
		}
		return true
	})
	asked, _ = asked.WithValidity(absent, 0) // no error: a bit for each row
	return asked
}

// equalHashes tells for each neighbour whether its hash is that of a key.
func (f *Filter) equalHashes(asked, keys Keys) []bool {
	equal := make([]bool, asked.n)
	kind := f.pair.hash()
	if f.pair == 0 || hashKinds[kind].words != one32 {
		return equal
	}
	hashed := make([]uint32, asked.n)
	asked.hashWindows(kind, f.kernel, func(i, j int) hashes { return hashes{h32: hashed[i:j]} })
	const size = 1 << 22 // of the set of hashes modulo that many: most hashes of keys are not in it, and none is looked up
	wanted, found := make([]uint64, size/64), make(map[uint32]bool)
	for _, h := range hashed {
		wanted[h%size/64] |= 1 << (h % 64)
	}
	w := takeWindow()
	room := w.hashes(one32, keys.n)
	for i := 0; i < keys.n; i += windowKeys {
		part := keys.slice(i, min(i+windowKeys, keys.n))
		h := room.slice(0, part.n)
		part.hashKeys(kind, f.kernel, &h)
		for _, h := range h.h32 {
			if wanted[h%size/64]>>(h%64)&1 != 0 {
				found[h] = true
			}
		}
	}
	w.giveBack()
	for i, h := range hashed {
		equal[i] = found[h]
	}
	return equal
}

// ask counts the neighbours that pass.
func (f *Filter) ask(asked Keys, equal []bool) (n Neighbours) {
	n.Asked = asked.n - asked.nulls()
	f.eachHit(asked, func(row int) bool {
		n.Passed++
		if equal[row] {
			n.EqualHash++
		}
		return true
	})
	return n
}
