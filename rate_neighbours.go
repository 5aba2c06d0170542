package bloom

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

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
	s := surveyOf(&keys)
	n, ok := s.numbering(keys.layout <= uint64s && keys.layout != byteSlices && keys.layout != strs)
	if !ok {
		return between, after
	}
	asked, after0 := s.neighbours(n)
	if asked = absentOf(asked, keys); asked.n == 0 {
		return between, after
	}
	equal := f.equalHashes(asked, keys)
	return f.ask(asked.slice(0, after0), equal[:after0]), f.ask(asked.slice(after0, asked.n), equal[after0:])
}

const (
	mostNeighbours     = 1 << 17 // of each kind
	neighbourBytes     = 4 << 20 // that their keys take
	longestNeighbour   = 1 << 10 // bytes of a key
	surveyedRows       = 1 << 16 // of a column, chosen at random if it has more
	surveyedKeys       = 1 << 10 // that are kept, for what varies beside the number
	decimalDigits      = "0123456789"
	lowerDigits        = "0123456789abcdef"
	upperDigits        = "0123456789ABCDEF"
	decimalMost        = 18 // digits: any number of them fits 64 bits
	hexMost, bytesMost = 16, 8
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func setOf(s string) (b byteSet) {
	for i := range len(s) {
		b.add(s[i])
	}
	return b
}

func (s *byteSet) add(b byte) { s[b/64] |= 1 << (b % 64) }

func (s *byteSet) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s *byteSet) within(other byteSet) bool {
	for i, word := range s {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// printable has the bytes of text in UTF-8.
var printable = byteSet{^uint64(1<<32 - 1), ^uint64(1 << 63), math.MaxUint64, math.MaxUint64}

// survey is what a sample of a column looks like: of its keys of the most frequent length.
type survey struct {
	column *Keys
	length int
	count  int       // keys of that length
	seen   []byteSet // at each place of the keys
}

func surveyOf(column *Keys) *survey {
	s := &survey{column: column}
	var counts [longestNeighbour + 1]int
	s.eachKey(func(key []byte) {
		if n := len(key); n < len(counts) {
			if counts[n]++; counts[n] > s.count {
				s.length, s.count = n, counts[n]
			}
		}
	})
	s.seen = make([]byteSet, s.length)
	s.eachOfLength(func(_ int, key []byte) {
		for i, b := range key {
			s.seen[i].add(b)
		}
	})
	return s
}

// eachKey calls visit with the keys of the sample, which is the same at every call. It copies none, because keys
// may be long. A key is valid until the next.
func (s *survey) eachKey(visit func(key []byte)) {
	random := rand.New(rand.NewPCG(1, 2))
	var integer [8]byte
	for row := range min(s.column.n, surveyedRows) {
		if s.column.n > surveyedRows {
			row = random.IntN(s.column.n)
		}
		one := s.column.slice(row, row+1)
		if key, ok := one.first(&integer); ok {
			visit(key)
		}
	}
}

// eachOfLength calls visit with the keys of the sample that have its length, and their numbers in that order.
func (s *survey) eachOfLength(visit func(i int, key []byte)) {
	i := 0
	s.eachKey(func(key []byte) {
		if len(key) == s.length {
			visit(i, key)
			i++
		}
	})
}

// numbering says where the number of a key is and how it is written.
type numbering struct {
	from, to int    // bytes of the key
	digits   string // of text; empty for bytes
	little   bool   // the first byte is the lowest
	flip     uint64 // the sign bit if the lowest number is negative: what is flipped has the order of the numbers
}

// numbering finds the number of the surveyed keys. It returns false if they have none that varies.
func (s *survey) numbering(integers bool) (numbering, bool) {
	text := !integers
	first, last := s.length, -1
	for i := range s.seen {
		text = text && s.seen[i].within(printable)
		if s.seen[i].len() > 1 {
			first, last = min(first, i), i
		}
	}
	switch {
	case last < 0:
		return numbering{}, false
	case text:
		return s.digits(last)
	case integers:
		return numbering{to: s.length, little: true}, true
	}
	// The lowest byte of a number has more values than the highest one. If not, the end of the key that
	// does not vary is that of the high bytes.
	low, high := s.seen[first].len(), s.seen[last].len()
	if low > high || low == high && first == 0 && last < s.length-1 {
		return numbering{from: first, to: min(first+bytesMost, s.length), little: true}, true
	}
	return numbering{from: max(last+1-bytesMost, 0), to: last + 1}, true
}

// digits finds the last run of digits that varies in text.
func (s *survey) digits(last int) (numbering, bool) {
	for ; last >= 0; last-- {
		if s.seen[last].len() < 2 {
			continue
		}
		for _, digits := range []string{decimalDigits, lowerDigits, upperDigits} {
			set, most := setOf(digits), hexMost
			if digits == decimalDigits {
				most = decimalMost
			}
			from := last + 1
			for from > 0 && last-from+1 < most && s.seen[from-1].within(set) {
				from--
			}
			if from <= last {
				return numbering{from: from, to: last + 1, digits: digits}, true
			}
		}
	}
	return numbering{}, false
}

// place returns the place in a key of digit i, counted from the lowest one.
func (n *numbering) place(i int) int {
	if n.little {
		return n.from + i
	}
	return n.to - 1 - i
}

// base returns how many values a digit has.
func (n *numbering) base() uint64 {
	if n.digits == "" {
		return 256
	}
	return uint64(len(n.digits))
}

// highest returns the highest number that fits.
func (n *numbering) highest() (v uint64) {
	for range n.to - n.from {
		v = v*n.base() + n.base() - 1
	}
	return v
}

func (n *numbering) value(key []byte) (v uint64) {
	for i := n.to - n.from - 1; i >= 0; i-- {
		digit := uint64(key[n.place(i)])
		switch {
		case n.digits == "":
		case digit > '9':
			digit = digit&7 + 9 // a letter of either case
		default:
			digit -= '0'
		}
		v = v*n.base() + digit
	}
	return v ^ n.flip
}

// put writes a number into a key.
func (n *numbering) put(key []byte, v uint64) {
	v ^= n.flip
	for i := range n.to - n.from {
		digit := byte(v % n.base())
		if n.digits != "" {
			digit = n.digits[digit]
		}
		key[n.place(i)] = digit
		v /= n.base()
	}
}

// neighbours returns keys with other numbers than those that were surveyed, and from which row on they are after
// the highest one. Those between may be keys, and rows may be equal.
func (s *survey) neighbours(n numbering) (column Keys, after int) {
	low, high := s.bounds(&n)
	alike, random := s.keep(&n), rand.New(rand.NewPCG(1, 2))
	most := uint64(min(mostNeighbours, neighbourBytes/s.length))
	all := high-low < most && len(alike) == s.length
	var data []byte
	add := func(from, last uint64) { // all numbers, or so many of them at random
		count := most
		if all {
			count = last - from + 1
		}
		data = slices.Grow(data, int(count)*s.length)
		for i := range count {
			v := from + i
			if span := last - from; !all && span < math.MaxUint64 {
				v = from + random.Uint64N(span+1)
			} else if !all {
				v = random.Uint64()
			}
			key := data[len(data):][:s.length]
			copy(key, alike[random.IntN(len(alike)/s.length)*s.length:])
			n.put(key, v)
			data = data[:len(data)+s.length]
		}
	}
	add(low, high)
	after = len(data) / s.length
	if room := n.highest() - high; room > 0 {
		add(high+1, high+1+min(high-low, room-1))
	}
	column, _ = FixedWidth(data, s.length) // no error: whole keys
	return column, after
}

// bounds returns the lowest and the highest number of the surveyed keys. Bytes are numbers with a sign if
// that makes the range smaller.
func (s *survey) bounds(n *numbering) (low, high uint64) {
	sign := uint64(0)
	if n.digits == "" {
		sign = n.highest()/2 + 1
	}
	low, lowSigned, highSigned := math.MaxUint64, uint64(math.MaxUint64), uint64(0)
	s.eachOfLength(func(_ int, key []byte) {
		v := n.value(key)
		low, high = min(low, v), max(high, v)
		lowSigned, highSigned = min(lowSigned, v^sign), max(highSigned, v^sign)
	})
	if highSigned-lowSigned < high-low {
		n.flip = sign
		return lowSigned, highSigned
	}
	return low, high
}

// keep returns keys of the sample: one if nothing varies but the number.
func (s *survey) keep(n *numbering) (keys []byte) {
	each := s.count
	for i := range s.seen {
		if (i < n.from || i >= n.to) && s.seen[i].len() > 1 {
			each = (s.count + surveyedKeys - 1) / surveyedKeys
		}
	}
	s.eachOfLength(func(i int, key []byte) {
		if i%each == 0 {
			keys = append(keys, key...)
		}
	})
	return keys
}

// absentOf returns the column of neighbours in which those rows are null that are keys, or an earlier row again.
func absentOf(neighbours, keys Keys) Keys {
	ids := make([]uint64, neighbours.n) // equal for no other keys, but once in 2^64 pairs
	neighbours.hashWindows(hashXXH64, kernels[0], func(i, j int) hashes { return hashes{h1: ids[i:j]} })
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
	neighbours, _ = neighbours.WithValidity(absent, 0) // no error: a bit for each row
	return neighbours
}

// equalHashes tells for each neighbour whether its hash is that of a key.
func (f *Filter) equalHashes(neighbours, keys Keys) []bool {
	equal := make([]bool, neighbours.n)
	kind := f.pair.hash()
	if f.pair == 0 || hashKinds[kind].words != one32 {
		return equal
	}
	hashed := make([]uint32, neighbours.n)
	neighbours.hashWindows(kind, f.kernel, func(i, j int) hashes { return hashes{h32: hashed[i:j]} })
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
func (f *Filter) ask(neighbours Keys, equal []bool) (n Neighbours) {
	n.Asked = neighbours.n - neighbours.nulls()
	f.eachHit(neighbours, func(row int) bool {
		n.Passed++
		if equal[row] {
			n.EqualHash++
		}
		return true
	})
	return n
}
