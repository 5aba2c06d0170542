//go:build !purego

package bloom

import "testing"

var ours = assembly{"probe_arm64.s", []gate{
	{NEON, "NEON", featuresNEON, map[scheme]callLengths{
		schemeLevelDB: {beforeLong: 16, ofLongest: 8, ofLongestFixed: 8},
		schemePebble:  {beforeLong: 16, ofLongest: 8, ofLongestFixed: 8},
		schemeNori:    {beforeLong: 20, ofLongest: 5, ofLongestFixed: 5},
		schemeParquet: {beforeLong: 20, ofLongest: 5, ofLongestFixed: 5},
	}},
}}

// withGathers does nothing: no kernel of arm64 gathers.
func withGathers(testing.TB, bool) {}
