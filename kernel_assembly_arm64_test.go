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
	name  string
	form  form
	loads bool
}{
	{"switched", form{first: 2}, false},
	{"dense", form{first: maxProbes}, false},
	{"staged", form{first: 2}, false},
	{"one", form{first: 1}, false},
	{"three", form{first: 3}, false},
	{"most", form{first: 29}, false},
}

// withLoads does nothing: no kernel of arm64 gathers.
func withLoads(testing.TB, bool) {}
