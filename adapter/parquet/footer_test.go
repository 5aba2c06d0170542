package bloomparquet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// thrift is a structure of Thrift's compact protocol: what its fields hold, in order. decodeThrift is the
// plain reading that the tests compare with.
type thrift []thriftField

type thriftField struct {
	id, kind int
	value    any // thrift for a structure, []any for lists, sets and maps, else bytes
}

func decodeThrift(data []byte) (s thrift, rest []byte) {
	for id := 0; ; {
		header := data[0]
		data = data[1:]
		if header == 0 {
			return s, data
		}
		if delta := int(header >> 4); delta != 0 {
			id += delta
		} else {
			v, n := binary.Varint(data)
			id, data = int(v), data[n:]
		}
		f := thriftField{id: id, kind: int(header & 15)}
		if f.kind > 2 {
			f.value, data = decodeValue(f.kind, data)
		}
		s = append(s, f)
	}
}

func decodeValue(kind int, data []byte) (value any, rest []byte) {
	bytes := func(n int) (any, []byte) { return string(data[:n]), data[n:] }
	switch kind {
	case 1, 2, 3:
		return bytes(1)
	case 4, 5, 6:
		v, n := binary.Varint(data)
		return v, data[n:]
	case 7:
		return bytes(8)
	case 13:
		return bytes(16)
	case 8:
		size, n := binary.Uvarint(data)
		return bytes(n + int(size))
	case 12:
		return decodeThrift(data)
	}
	var n uint64
	kinds := []int{0}
	if kind == 11 {
		size, length := binary.Uvarint(data)
		if n, data = 2*size, data[length:]; n > 0 {
			kinds, data = []int{int(data[0] >> 4), int(data[0] & 15)}, data[1:]
		}
	} else {
		n, kinds[0] = uint64(data[0]>>4), int(data[0]&15)
		if data = data[1:]; n == 15 {
			size, length := binary.Uvarint(data)
			n, data = size, data[length:]
		}
	}
	list := []any{kinds}
	for i := range n {
		var element any
		element, data = decodeValue(kinds[int(i)%len(kinds)], data)
		list = append(list, element)
	}
	return list, data
}

// randomFooter writes footers: with unknown fields of every kind, numbers in any order, headers that are
// longer than they have to be.
type randomFooter struct {
	*rand.Rand
	data []byte
}

func (r *randomFooter) header(kind, id, last int) {
	if d := id - last; d >= 1 && d <= 15 && r.IntN(4) > 0 {
		r.data = append(r.data, byte(d<<4|kind))
		return
	}
	r.data = binary.AppendVarint(append(r.data, byte(kind)), int64(id))
}

// structure writes fields that are known, by their numbers, among others with numbers from unknown on. It
// writes them in order, or in any.
func (r *randomFooter) structure(depth, unknown int, known map[int]func()) {
	type one struct {
		id    int
		write func()
	}
	var fields []one
	for id, write := range known {
		fields = append(fields, one{id, write})
	}
	slices.SortFunc(fields, func(a, b one) int { return a.id - b.id })
	for id := unknown; r.IntN(3) > 0 && len(fields) < 20; id += 1 + r.IntN(20) {
		fields = append(fields, one{id, nil})
	}
	if r.IntN(4) == 0 {
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	}
	last := 0
	for _, f := range fields {
		kind := 1 + r.IntN(13)
		if f.write != nil {
			kind = knownKinds[f.id]
		}
		if kind == 12 && f.write == nil && depth > 3 {
			kind = 8
		}
		r.header(kind, f.id, last)
		last = f.id
		switch {
		case f.write != nil:
			f.write()
		case kind > 2:
			r.value(kind, depth)
		}
	}
	r.data = append(r.data, 0)
}

// knownKinds are the kinds of the fields that have a meaning, which no two structures give to the same number.
var knownKinds = map[int]int{fieldRowGroups: kindList, fieldColumns: kindList, fieldMetaData: kindStruct, fieldFilterOffset: kindI64, fieldFilterLength: kindI32, fieldKeyValues: kindList}

func (r *randomFooter) value(kind, depth int) {
	switch kind {
	case 1, 2, 3:
		r.data = append(r.data, byte(1+r.IntN(2)))
	case 4, 5, 6:
		r.data = binary.AppendVarint(r.data, int64(r.Uint64()>>r.IntN(64)))
	case 7, 13:
		for range map[int]int{7: 8, 13: 16}[kind] {
			r.data = append(r.data, byte(r.IntN(256)))
		}
	case 8:
		n := r.IntN(200)
		r.data = binary.AppendUvarint(r.data, uint64(n))
		r.data = append(r.data, bytes.Repeat([]byte{0x19}, n)...)
	case 9, 10:
		element := []int{1, 3, 5, 6, 8, 12}[r.IntN(6)]
		if depth > 3 {
			element = 5
		}
		n := r.IntN(20)
		r.list(n, element)
		for range n {
			r.value(element, depth+1)
		}
	case 11:
		n := r.IntN(3)
		r.data = binary.AppendUvarint(r.data, uint64(n))
		if n > 0 {
			r.data = append(r.data, 8<<4|5)
		}
		for range n {
			r.value(8, depth+1)
			r.value(5, depth+1)
		}
	case 12:
		r.structure(depth+1, 1, nil)
	}
}

func (r *randomFooter) list(n, kind int) {
	if n < 15 {
		r.data = append(r.data, byte(n<<4|kind))
		return
	}
	r.data = binary.AppendUvarint(append(r.data, 15<<4|byte(kind)), uint64(n))
}

// keyValues writes some key-value metadata. One of them may be a mark.
func (r *randomFooter) keyValues() {
	text := func(s string) {
		r.data = append(binary.AppendUvarint(append(r.data, 1<<4|kindBinary), uint64(len(s))), s...)
	}
	n := r.IntN(20)
	r.list(n, kindStruct)
	for i := range n {
		key := fmt.Sprint("key ", i)
		if i == 7 {
			key = MarkKey
		}
		if text(key); r.IntN(4) > 0 { // the value may be missing
			text(fmt.Sprint("value ", i))
		}
		r.data = append(r.data, kindStop)
	}
}

// footer writes a footer of row groups of columns.
func (r *randomFooter) footer(groups, columns int) []byte {
	known := map[int]func(){}
	if r.IntN(2) == 0 {
		known[fieldKeyValues] = r.keyValues
	}
	known[fieldRowGroups] = func() {
		r.list(groups, kindStruct)
		for range groups {
			r.structure(1, 2, map[int]func(){fieldColumns: func() {
				r.list(columns, kindStruct)
				for range columns {
					r.structure(2, 20, map[int]func(){fieldMetaData: func() {
						known := map[int]func(){}
						for _, id := range []int{fieldFilterOffset, fieldFilterLength} {
							if r.IntN(2) == 0 {
								known[id] = func() { r.data = binary.AppendVarint(r.data, int64(1+r.IntN(1<<30))) }
							}
						}
						r.structure(3, []int{1, 13, 16, 300}[r.IntN(4)], known)
					}})
				}
			}})
		}
	}
	r.structure(0, 10, known)
	return append(r.data, bytes.Repeat([]byte{7}, r.IntN(3))...) // whatever follows
}

// withPlaces sets the place of filters in a decoded footer.
func withPlaces(footer thrift, places map[[2]int]placement) {
	for _, f := range footer {
		if f.id != fieldRowGroups {
			continue
		}
		for g, group := range f.value.([]any)[1:] {
			for _, f := range group.(thrift) {
				if f.id != fieldColumns {
					continue
				}
				for c, chunk := range f.value.([]any)[1:] {
					for i, f := range chunk.(thrift) {
						if p, ok := places[[2]int{g, c}]; ok && f.id == fieldMetaData {
							meta := slices.DeleteFunc(slices.Clone(f.value.(thrift)), isPlace)
							meta = append(meta, thriftField{fieldFilterOffset, kindI64, p.offset}, thriftField{fieldFilterLength, kindI32, p.length})
							chunk.(thrift)[i].value = meta
						}
					}
				}
			}
		}
	}
}

func isPlace(f thriftField) bool { return f.id == fieldFilterOffset || f.id == fieldFilterLength }

// placesLast moves the place of a filter to the end of every structure, for a comparison.
func placesLast(value any) {
	switch v := value.(type) {
	case thrift:
		for _, f := range v {
			placesLast(f.value)
		}
		slices.SortStableFunc(v, func(a, b thriftField) int {
			key := func(f thriftField) int {
				if isPlace(f) {
					return f.id
				}
				return 0
			}
			return key(a) - key(b)
		})
	case []any:
		for _, element := range v {
			placesLast(element)
		}
	}
}

// TestFooter gives random footers places of filters, and wants all else to be what it was: fields that nobody
// knows, fields in any order, and the bytes around the metadata.
func TestFooter(t *testing.T) {
	for seed := range uint64(2000) {
		r := &randomFooter{Rand: rand.New(rand.NewPCG(1, seed))}
		groups, columns := r.IntN(20), 1+r.IntN(4)
		footer := r.footer(groups, columns)
		chunks, err := parseFooter(footer)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, _ := placeFilters(footer, nil); !bytes.Equal(got, footer) {
			t.Fatalf("seed %d: without a new filter, the footer is another", seed)
		}
		places, by := map[[2]int]placement{}, map[*footerChunk]placement{}
		for g := range chunks {
			for c := range chunks[g] {
				if r.IntN(2) == 0 {
					p := placement{offset: r.Int64N(1 << 50), length: r.Int64N(1 << 20)}
					places[[2]int{g, c}], by[&chunks[g][c]] = p, p
				}
			}
		}
		got, _ := placeFilters(footer, by)
		want, rest := decodeThrift(footer)
		withPlaces(want, places)
		have, left := decodeThrift(got)
		placesLast(want)
		placesLast(have)
		if !reflect.DeepEqual(have, want) || !bytes.Equal(left, rest) {
			t.Fatalf("seed %d: the footer is\n%v, want\n%v", seed, have, want)
		}
		again, err := parseFooter(got)
		if err != nil || len(again) != groups {
			t.Fatalf("seed %d: %d row groups, %v", seed, len(again), err)
		}
		for place := range places {
			if !again[place[0]][place[1]].hasFilter(got) {
				t.Fatalf("seed %d: no filter at %v", seed, place)
			}
		}
	}
}

// TestFooterMark gives random footers marks, and wants all else to be what it was.
func TestFooterMark(t *testing.T) {
	replaced := 0
	for seed := range uint64(2000) {
		r := &randomFooter{Rand: rand.New(rand.NewPCG(3, seed))}
		footer := r.footer(r.IntN(4), 2)
		before, err := markOf(footer)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		mark := "mark" + string(bytes.Repeat([]byte{'x'}, r.IntN(300)))
		got := withMark(footer, mark)
		if again, err := markOf(got); err != nil || again != mark {
			t.Fatalf("seed %d: the mark is %q, %v", seed, again, err)
		}
		if before != "" {
			replaced++
		}
		if again := withMark(got, mark); !bytes.Equal(again, got) {
			t.Fatalf("seed %d: a footer with the same mark is another", seed)
		}
		wantOthers, wantRest, wantLeft := split(footer)
		others, rest, left := split(got)
		if !reflect.DeepEqual(others, wantOthers) || !reflect.DeepEqual(rest, wantRest) || !bytes.Equal(left, wantLeft) {
			t.Fatalf("seed %d: the footer is\n%v %v, want\n%v %v", seed, others, rest, wantOthers, wantRest)
		}
	}
	if replaced < 100 {
		t.Errorf("only %d footers had a mark", replaced)
	}
}

// split returns the key-value metadata of a footer but its mark, the fields besides, and what follows.
func split(footer []byte) (others []any, rest thrift, left []byte) {
	all, left := decodeThrift(footer)
	for _, f := range all {
		if f.id != fieldKeyValues {
			rest = append(rest, f)
			continue
		}
		for _, kv := range f.value.([]any)[1:] {
			if key := kv.(thrift)[0].value.(string); key[1:] != MarkKey {
				others = append(others, kv)
			}
		}
	}
	return others, rest, left
}

// TestBadFooter wants an error of footers that are none.
func TestBadFooter(t *testing.T) {
	for name, test := range map[string]struct {
		hex string
		err error
	}{
		"empty":              {"", ErrFooter},
		"cut":                {"15", ErrFooter},
		"no stop":            {"1502", ErrFooter},
		"kind 15":            {"1f00", ErrFooter},
		"endless integer":    {"15ffffffffffffffffffffff", ErrFooter},
		"long text":          {"18ffffffff0f00", ErrFooter},
		"text of 2^64 - 1":   {"18ffffffffffffffffff0100", ErrFooter},
		"many elements":      {"19f5ffffffff0f00", ErrFooter},
		"elements of kind 0": {"1920000000", ErrFooter},
		"row groups: an i32": {"450200", ErrFooter},
		"row groups: i32s":   {"4915020000", ErrFooter},
		"metadata: an i32":   {"491c191c35020000000000", ErrFooter},
		"signed":             {"8c00" + "00", ErrEncrypted},
		"no row groups":      {"490c00", nil},
	} {
		data, err := hex.DecodeString(test.hex)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseFooter(data); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", name, err, test.err)
		}
	}
	deep := bytes.Repeat([]byte{0x1c}, 1<<20)
	if _, err := parseFooter(deep); !errors.Is(err, ErrFooter) {
		t.Errorf("a million structures inside each other: %v", err)
	}
	lists := append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...)
	if _, err := parseFooter(lists); !errors.Is(err, ErrFooter) {
		t.Errorf("a million lists inside each other: %v", err)
	}
}

// FuzzFooter wants of any bytes an error, or a footer that takes filters and stays what it was.
func FuzzFooter(f *testing.F) {
	for seed := range uint64(20) {
		r := &randomFooter{Rand: rand.New(rand.NewPCG(2, seed))}
		f.Add(r.footer(3, 2))
	}
	f.Fuzz(func(t *testing.T, footer []byte) {
		chunks, err := parseFooter(footer)
		if err != nil {
			return
		}
		if got, _ := placeFilters(footer, nil); !bytes.Equal(got, footer) {
			t.Fatal("another footer")
		}
		by := map[*footerChunk]placement{}
		for g := range chunks {
			for c := range chunks[g] {
				if chunks[g][c].fields != nil {
					by[&chunks[g][c]] = placement{offset: 5, length: 6}
				}
			}
		}
		got, _ := placeFilters(footer, by)
		if _, err := markOf(footer); err == nil {
			got = withMark(got, "mark")
			if mark, err := markOf(got); mark != "mark" || err != nil {
				t.Fatalf("the mark is %q, %v", mark, err)
			}
		}
		again, err := parseFooter(got)
		if err != nil || fmt.Sprint(len(again)) != fmt.Sprint(len(chunks)) {
			t.Fatalf("%d row groups, %v", len(again), err)
		}
		for g := range again {
			for c := range again[g] {
				if again[g][c].fields != nil && !again[g][c].hasFilter(got) {
					t.Fatalf("no filter in row group %d, column %d", g, c)
				}
			}
		}
	})
}
