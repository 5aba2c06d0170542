package bloomsst

import (
	"slices"
	"testing"
)

// TestIntegers reads columns of integers as the UintBuilder of Pebble v2.1.7 writes them, at each alignment. If the first byte has the
// bit 0x80, they are differences to a base.
func TestIntegers(t *testing.T) {
	const base40, base33 = 1 << 40, 1 << 33
	for _, c := range []struct {
		at   int
		want []uint64
		data string
	}{
		{1, []uint64{base40, base40 + 300, base40 + 7, base40 + 65535}, "\x82\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00,\x01\a\x00\xff\xff"},
		{2, []uint64{base40, base40 + 300, base40 + 7, base40 + 65535}, "\x82\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00,\x01\a\x00\xff\xff"},
		{1, []uint64{70000, 70001, 70255}, "\x81p\x11\x01\x00\x00\x00\x00\x00\x00\x01\xff"},
		{1, []uint64{base33, base33 + 1<<31 + 5, base33 + 9}, "\x84\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x80\t\x00\x00\x00"},
		{2, []uint64{base33, base33 + 1<<31 + 5, base33 + 9}, "\x84\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x80\t\x00\x00\x00"},
		{3, []uint64{base33, base33 + 1<<31 + 5, base33 + 9}, "\x84\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x80\t\x00\x00\x00"},
		{1, []uint64{base40, base40}, "\x80\x00\x00\x00\x00\x00\x01\x00\x00"},
		{1, []uint64{5, 5, 5}, "\x01\x05\x05\x05"},
		{3, []uint64{3, 0, 200}, "\x01\x03\x00\xc8"},
		{2, []uint64{1 << 60, 7}, "\b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\a\x00\x00\x00\x00\x00\x00\x00"},
	} {
		data := append(make([]byte, c.at), c.data...)
		x, end, err := parseIntegers(data, c.at, len(c.want))
		var got []uint64
		for i := range c.want {
			if err == nil {
				got = append(got, x.at(i))
			}
		}
		if err != nil || !slices.Equal(got, c.want) || end != len(data) {
			t.Errorf("%q at %d: %v up to %d, %v; want %v", c.data, c.at, got, end, err, c.want)
		}
		for n := c.at; n < len(data); n++ {
			if _, _, err := parseIntegers(data[:n], c.at, len(c.want)); err == nil {
				t.Errorf("%q at %d, cut to %d bytes: no error", c.data, c.at, n-c.at)
			}
		}
	}
}
