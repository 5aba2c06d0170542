package main

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"
)

// TestInspectPicture compares the pixels with the bits: one by one, and of large filters square by square.
func TestInspectPicture(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []uint64{1, 2, 7, 104, 1000, 1024, 1025, 100_003, 1 << 18} {
		array := make([]byte, (size+7)/8)
		set := uint64(0)
		for i := range size {
			if random.IntN(3) == 0 {
				array[i/8] |= 1 << (i % 8)
				set++
			}
		}
		for _, most := range []int{4096, 256, 64, 16} {
			checkPicture(t, newBitPicture(array, size, set, most), most)
		}
		encoded, err := inspectPicture(array, size, set)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := png.Decode(bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		p := newBitPicture(array, size, set, mostColumns)
		if decoded.Bounds() != p.Bounds() {
			t.Fatalf("%d bits: the picture is %v, want %v", size, decoded.Bounds(), p.Bounds())
		}
		for range 1000 {
			x, y := random.IntN(p.Bounds().Dx()), random.IntN(p.Bounds().Dy())
			if got := color.RGBAModel.Convert(decoded.At(x, y)); got != color.RGBAModel.Convert(p.At(x, y)) {
				t.Fatalf("%d bits: the pixel at %d, %d is %v, want %v", size, x, y, got, p.At(x, y))
			}
		}
	}
	if _, err := inspectPicture(nil, 0, 0); err == nil {
		t.Error("there is a picture of no bits")
	}
}

// checkPicture wants every pixel to have the shade of its bits, read one by one.
func checkPicture(t *testing.T, p *bitPicture, most int) {
	t.Helper()
	side := uint64(1) << p.level
	if width := p.Bounds().Dx(); p.level > 0 && width > most || p.level == 0 && int(p.Columns) > most {
		t.Errorf("%d bits: the picture is %d pixels wide, want %d at most", p.Bits, width, most)
	}
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			left, top := uint64(x/p.scale)*side, uint64(y/p.scale)*side
			want := len(p.shades) - 1
			if top*p.Columns+left < p.Bits {
				sum, rows := 0, min(side, p.Rows-top)
				for bit := range side * rows {
					if at := (top+bit/side)*p.Columns + left + bit%side; at < p.Bits {
						sum += int(p.array[at/8] >> (at % 8) & 1)
					}
				}
				shade := p.mean + p.gain*(float64(sum)/float64(side*rows)-p.mean)
				want = int(math.Round(min(max(shade, 0), 1) * float64(want-1)))
			}
			if got := int(p.ColorIndexAt(x, y)); got != want {
				t.Fatalf("%d bits, %d at most: the pixel at %d, %d has shade %d, want %d", p.Bits, most, x, y, got, want)
			}
		}
	}
}
