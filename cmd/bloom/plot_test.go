package main

import (
	"slices"
	"testing"
)

func TestPicture(t *testing.T) {
	long := make([]byte, 560) // ten bytes for a column
	for i := range 10 {
		long[i], long[550+i] = 0xff, 0x0f
	}
	for _, c := range []struct {
		array []byte
		want  string
	}{
		{nil, "││"},
		{[]byte{0, 0xff, 0x0f, 0x01}, "│ █▄▁│"},
		{long, "│█                                                      ▄│"},
	} {
		if got := picture(c.array); got != c.want {
			t.Errorf("the picture of %d bytes is %s, want %s", len(c.array), got, c.want)
		}
	}
}

func TestDensity(t *testing.T) {
	for _, c := range []struct {
		array []byte
		n     int
		want  []float64
	}{
		{nil, 4, []float64{}},
		{[]byte{1, 3}, 4, []float64{1. / 8, 2. / 8}},
		{[]byte{1, 3, 7, 15, 31}, 2, []float64{3. / 16, 12. / 24}},
	} {
		if got := density(c.array, c.n); !slices.Equal(got, c.want) {
			t.Errorf("the density of %v is %v, want %v", c.array, got, c.want)
		}
	}
}
