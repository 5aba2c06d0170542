package bloom

import "testing"

// murmurTests are keys of several lengths, and what Locations of bits-and-blooms v3.7.1 returns for them.
var murmurTests = []struct {
	key       string
	locations [6]uint64
}{
	{"", [6]uint64{0, 0x778867e4430e6785, 0xef10cfc8861ccf0a, 0x706b15b18a5efa42, 0xeb3972420dd3f858, 0x55aa07754f480599}},
	{"f9f2ebe4", [6]uint64{0xe6fe9668f4aed077, 0xa9db9e1caf493f8e, 0xa4118bf07bf1b381, 0xc4c81539a107d8d5, 0x88f12e3f3bd98987, 0x2401892bbdcf05a2}},
	{"f9f2ebe4ddd6cfc8", [6]uint64{0x257a5b0572fa1dce, 0x6e4ec742b6dbd1e2, 0x83c6628badec3b38, 0x3b84e83eef85b0ca, 0xcb4a8c04907e054a, 0x2ae6d64f2cc00cb6}},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e97", [6]uint64{0x653b50af083d9795, 0x39e758ea238ca9ce, 0x65966117de7c273b, 0x43ba98ab9e79753e, 0xc7e705f6e5a30699, 0x3a9d79bbd009c91a}},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e9790", [6]uint64{0xdcfdbb33935ff96d, 0x50a174a983524df8, 0xaf8aab57e478a8f7, 0x194aec6ca1eef26c, 0x74e8504ff24149b9, 0xf5bb54f22583ad0c}},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e979089827b746d665f58514a433c352e2720", [6]uint64{0x2039a3ada5e16f3c, 0xd5590c55e7b454d7, 0xdc5ca62225e6630c, 0x61252c659408b07d, 0x580bd010365536a4, 0x4d9f113ee7be3c77}},
}

// TestMurmur compares the reference, the hash and the walk with the vectors.
func TestMurmur(t *testing.T) {
	is(t, behaviour)
	for _, v := range murmurTests {
		words, h := referenceMurmur(fromHex(v.key)), BitsAndBlooms.Hash(fromHex(v.key))
		for i, want := range v.locations {
			if got := referenceLocation(words, uint64(i)); got != want {
				t.Errorf("%s: the reference of probe %d is %x, want %x", v.key, i, got, want)
			}
			if got := h.crossed(uint64(i)); got != want {
				t.Errorf("%s: probe %d is %x, want %x", v.key, i, got, want)
			}
		}
	}
}
