package main

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/bits"

	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
)

// The sides of a picture, in pixels. A bit of a small filter takes several, and in a large one a pixel
// takes several bits.
const (
	leastColumns = 512
	mostColumns  = 4096
)

// inspectPicture draws all bits as PNG, as the page of bloom explore does.
func inspectPicture(array []byte, size, set uint64) ([]byte, error) {
	if size == 0 {
		return nil, errors.New("the filter has no bits to draw")
	}
	var out bytes.Buffer
	if err := png.Encode(&out, newBitPicture(array, size, set, mostColumns)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// bitPicture is the picture of an array. It computes a pixel when it is asked for it.
type bitPicture struct {
	answers.Picture
	array      []byte
	level      int // a pixel is a square of 2^level × 2^level bits
	scale      int // or the width and height of a bit in pixels
	mean, gain float64
	shades     color.Palette // from clear to set, and then that of no bit
}

func newBitPicture(array []byte, size, set uint64, most int) *bitPicture {
	p := &bitPicture{Picture: answers.PictureOf(size), array: array, scale: 1, gain: 1, mean: float64(set) / float64(size)}
	p.level = max(0, bits.Len64(p.Columns)-bits.Len(uint(most)))
	shades := 2
	if p.level == 0 {
		p.scale = max(1, leastColumns/int(p.Columns))
	} else {
		// Chance looks the same at every size, and more than chance stands out: levels.js does the same.
		const chance = 0.12 // the difference of shades for a standard deviation
		p.gain = max(1, chance*float64(int(1)<<p.level)/math.Sqrt(max(p.mean*(1-p.mean), 1e-9)))
		shades = 255
	}
	clearBit, setBit := [3]float64{0xf0, 0xf3, 0xf5}, [3]float64{0x2f, 0x6f, 0x8f}
	for i := range shades {
		var mixed [3]uint8
		for j := range mixed {
			mixed[j] = uint8(math.Round(clearBit[j] + (setBit[j]-clearBit[j])*float64(i)/float64(shades-1)))
		}
		p.shades = append(p.shades, color.RGBA{mixed[0], mixed[1], mixed[2], 255})
	}
	p.shades = append(p.shades, color.White)
	return p
}

func (p *bitPicture) ColorModel() color.Model { return p.shades }
func (p *bitPicture) At(x, y int) color.Color { return p.shades[p.ColorIndexAt(x, y)] }

func (p *bitPicture) Bounds() image.Rectangle {
	round := uint64(1)<<p.level - 1
	return image.Rect(0, 0, p.scale*int((p.Columns+round)>>p.level), p.scale*int((p.Rows+round)>>p.level))
}

// ColorIndexAt returns the shade of a pixel. With it, the encoder needs no array of pixels.
func (p *bitPicture) ColorIndexAt(x, y int) uint8 {
	left, top := uint64(x/p.scale)<<p.level, uint64(y/p.scale)<<p.level
	if top*p.Columns+left >= p.Bits {
		return uint8(len(p.shades) - 1)
	}
	side := uint64(1) << p.level
	rows := min(side, p.Rows-top)
	sum := 0
	for row := top; row < top+rows; row++ {
		sum += p.ones(row*p.Columns+left, side)
	}
	shade := p.mean + p.gain*(float64(sum)/float64(side*rows)-p.mean)
	return uint8(math.Round(min(max(shade, 0), 1) * float64(len(p.shades)-2)))
}

// ones counts set bits from one on: up to 4, or a multiple of 8.
func (p *bitPicture) ones(from, n uint64) int {
	length := uint64(len(p.array))
	at, end := min(from/8, length), min((from+n+7)/8, length) // the last row may end before the others
	if n < 8 && at < end {
		return bits.OnesCount8(p.array[at] >> (from % 8) & (1<<n - 1))
	}
	return ones(p.array[at:end])
}
