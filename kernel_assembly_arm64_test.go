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

// forms are the two ways of testing with the choice of the batch, each, and others.
var forms = []struct {
	name string
	form form
}{
	{"switched", form{first: 2}},
	{"dense", form{first: maxProbes}},
	{"staged", form{first: 2}},
	{"one", form{first: 1}},
	{"three", form{first: 3}},
	{"most", form{first: 29}},
}

// withLoads does nothing: no kernel of arm64 gathers.
func withLoads(testing.TB, bool) {}
