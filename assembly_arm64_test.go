//go:build !purego

package bloom

import "testing"

var ours = assembly{"probe_arm64.s", []gate{
	{NEON, "NEON", featuresNEON, 21, map[hashKind]callLengths{hashLevelDB: {16, 8, 8, 0}, hashLevelDBSigned: {16, 8, 8, 0}, hashXXH64x2: {20, 5, 5, 0}, hashXXH64: {20, 5, 5, 0}}},
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
