//go:build !purego

package bloom

var ours = assembly{"probe_amd64.s", []gate{
	{AVX512, "AVX512", featuresAVX512, 31, map[hashKind]callLengths{hashLevelDB: {16, 16}, hashXXH64x2: {16, 16}, hashXXH64: {16, 16}, hashXXPH3: {48, 48}}},
	{AVX2, "AVX2", featuresAVX2, 28, map[hashKind]callLengths{hashLevelDB: {16, 8}, hashXXH64: {48, 48}}},
}}

// forms are the two ways of testing that the switch chooses from, the switch
// itself, and others that put its turns elsewhere.
var forms = []struct {
	name string
	form form
}{
	{"switched", staged},
	{"dense", dense},
	{"staged", form{0, 256}},
	{"late", form{16, 250}},
	{"early", form{200, 100}},
}
