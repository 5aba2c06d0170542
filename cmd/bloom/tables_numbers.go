package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// percent returns a share, 0 to 1, in percent with three digits, as people write it.
func percent(share float64) string {
	const least = 0.0001
	if share > 0 && 100*share < least {
		return "< " + strconv.FormatFloat(least, 'f', -1, 64) + " %"
	}
	return threeDigits(100*share) + " %"
}

// threeDigits returns a number with at least three significant digits, and all that stand before the point.
func threeDigits(x float64) string {
	if math.Abs(x) >= 1000 {
		return humanize.Comma(int64(math.Round(x)))
	}
	text := strconv.FormatFloat(x, 'g', 3, 64)
	if strings.ContainsAny(text, "e") {
		rounded, _ := strconv.ParseFloat(text, 64) // it was a number
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return text
}
