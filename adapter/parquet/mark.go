package bloomparquet

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// The mark of an [Embedder] is a value of the footer's key-value metadata. Other programs copy these to files
// whose filters they made themselves. So the mark has an entry for each filter: a digest of the place of its
// chunk, by which an entry is replaced, and one of the place and the filter. The entries are in base64.

// MarkKey is the key under which an [Embedder] stores its mark in the key-value metadata of the footer. The
// mark records that the filters are complete.
const MarkKey = "lanebloom.filters"

// marking is an entry of a mark.
type marking struct{ place, filter uint64 }

// mark returns the entry for a filter of the chunk of a place.
func (p Place) mark(blocks []byte) marking {
	var place []byte
	for _, n := range []int64{p.Values, p.Offset, p.Size} {
		place = binary.LittleEndian.AppendUint64(place, uint64(n))
	}
	d := xxhash.New()
	_, _ = d.Write(place)
	m := marking{place: d.Sum64()}
	_, _ = d.Write(blocks)
	m.filter = d.Sum64()
	return m
}

// parseMark returns the entries of a mark, or none if it is malformed.
func parseMark(mark string) (entries []marking) {
	const size = 16
	data, err := base64.RawStdEncoding.DecodeString(mark)
	if err != nil || len(data)%size != 0 {
		return nil
	}
	for ; len(data) > 0; data = data[size:] {
		entries = append(entries, marking{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])})
	}
	return entries
}

// appendMark returns a mark with more entries, which replace those of the same places.
func appendMark(mark string, added []marking) string {
	replaced := map[uint64]bool{}
	for _, m := range added {
		replaced[m.place] = true
	}
	entries := slices.DeleteFunc(parseMark(mark), func(m marking) bool { return replaced[m.place] })
	var data []byte
	for _, m := range append(entries, added...) {
		data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, m.place), m.filter)
	}
	return base64.RawStdEncoding.EncodeToString(data)
}
