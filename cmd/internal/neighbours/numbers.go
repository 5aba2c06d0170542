package neighbours

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// column is a column of keys: key i is data[offsets[i]:offsets[i+1]].
type column struct {
	data    []byte
	offsets []int32
}

func (c *column) len() int { return max(len(c.offsets)-1, 0) }

func (c *column) key(i int) []byte { return c.data[c.offsets[i]:c.offsets[i+1]] }

// neighbours returns neighbours of the column's keys, one behind the other. Each has the given length. From number after
// on, they have numbers above the highest one of the keys; those before may be keys. Neighbours may be equal. There are
// none if the keys have no number that varies.
//
// A key has a number if it is
//
//   - bytes, of which up to 8 vary: an integer in either byte order;
//   - text with a decimal number of up to 18 digits or a hexadecimal one of up to 16, with leading zeros or
//     without, and any text before and after it. The last such number that varies counts.
//
// The neighbours have other numbers: between the lowest and the highest one of the keys, or after the highest one. If
// other bytes vary too, a neighbour has those of one of the keys. If keys differ in length, the neighbours have the most
// frequent length. There are at most 2^17 of each kind, and none between numbers without a gap.
func (c *column) neighbours() (data []byte, length, after int) {
	s := surveyOf(c)
	n, ok := s.numbering()
	if !ok {
		return nil, 0, 0
	}
	data, after = s.neighbours(n)
	return data, s.length, after
}

const (
	mostNeighbours     = 1 << 17 // between the numbers of keys, and as many after them
	longest            = 1 << 10 // bytes of a key that is judged
	neighbourBytes     = 4 << 20 // that the neighbours of each kind take
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
	column *column
	length int
	count  int       // keys of that length
	seen   []byteSet // at each place of the keys
}

func surveyOf(column *column) *survey {
	s := &survey{column: column}
	var counts [longest + 1]int
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

// eachKey calls visit with the keys of the sample, which is the same at every call.
func (s *survey) eachKey(visit func(key []byte)) {
	random := rand.New(rand.NewPCG(1, 2))
	for row := range min(s.column.len(), surveyedRows) {
		if s.column.len() > surveyedRows {
			row = random.IntN(s.column.len())
		}
		visit(s.column.key(row))
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
func (s *survey) numbering() (numbering, bool) {
	text := true
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

// neighbours returns keys with other numbers than those that were surveyed, one behind the other, and from which one on
// they are after the highest number.
func (s *survey) neighbours(n numbering) (data []byte, after int) {
	low, high := s.bounds(&n)
	alike, random := s.keep(&n), rand.New(rand.NewPCG(1, 2))
	most := uint64(min(mostNeighbours, neighbourBytes/s.length))
	all := high-low < most && len(alike) == s.length
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
	return data, after
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
