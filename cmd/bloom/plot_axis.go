package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// An axis leads from a low to a higher value, evenly or by powers of ten.
type axis struct {
	Label     string
	Low, High float64
	Log       bool
	Ticks     []tick
}

type tick struct {
	Value float64
	Label string
}

// share returns how far along the axis a value is, from 0 to 1, and whether it is
// on the axis at all.
func (a axis) share(v float64) (share float64, ok bool) {
	low, high := a.Low, a.High
	if a.Log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	share = (v - low) / (high - low)
	return share, share >= 0 && share <= 1 // which NaN is not
}

// wholes returns ticks at whole numbers from 0 to high: at most the given number of
// steps, of 1, 2 or 5 times a power of ten.
func wholes(high float64, steps int) (ticks []tick) {
	steps = max(steps, 1)
	step := 1.0
	for factors := []float64{2, 2.5, 2}; math.Floor(high/step) > float64(steps); {
		step *= factors[0]
		factors = append(factors[1:], factors[0])
	}
	for i := range steps + 1 {
		if v := float64(i) * step; v <= high {
			ticks = append(ticks, tick{v, humanize.Commaf(v)})
		}
	}
	return ticks
}

// decades returns up to nine ticks from one power of ten down to another.
func decades(high, low float64) (ticks []tick) {
	top, bottom := int(math.Round(math.Log10(high))), int(math.Round(math.Log10(low)))
	step := (top-bottom-1)/8 + 1
	for e := top; e >= bottom; e -= step {
		v := math.Pow10(e)
		label := strconv.FormatFloat(v, 'f', -1, 64)
		if bottom < -5 { // too many digits
			label = "10" + superscript.Replace(strconv.Itoa(e))
		}
		ticks = append(ticks, tick{v, label})
	}
	return ticks
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
