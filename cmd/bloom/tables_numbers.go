package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// percent returns a share, 0 to 1, in percent with three digits, as people write it.
func percent(share float64) string {
	if share > 0 && share < 1e-6 {
		return "< 0.0001 %"
	}
	return threeDigits(100*share) + " %"
}

// threeDigits returns a number that is not negative with three digits and all that stand before the point, but no digits after the
// fourth behind it.
func threeDigits(x float64) string {
	switch {
	case x >= 1000:
		return humanize.Comma(int64(math.Round(x)))
	case x > 0 && x < 0.001:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	text := strconv.FormatFloat(x, 'g', 3, 64)
	if strings.ContainsAny(text, "e") {
		rounded, _ := strconv.ParseFloat(text, 64) // it was a number
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return text
}
