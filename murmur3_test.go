package bloom

import (
	"testing"

	"github.com/lanebloom/bloom/internal/probes"
	"github.com/lanebloom/bloom/internal/reference"
)

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

// vectorsMurmur3 are what Hashing.murmur3_128 of Guava 31.1 returns.
var vectorsMurmur3 = []hashVector{
	{"", 0x0000000000000000, 0x0000000000000000},
	{"f9", 0xdafa23432a024bf5, 0x7c9b49b689863632},
	{"f9f2ebe4", 0xe6fe9668f4aed077, 0x4b522358eba7ce09},
	{"f9f2ebe4ddd6cfc8", 0x257a5b0572fa1dce, 0x3f28c37f9962c32d},
	{"f9f2ebe4ddd6cfc8c1", 0x4ca5ba582d1ab98f, 0x125f5cb90c538118},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e97", 0x653b50af083d9795, 0x39b9d0b5b86d61fb},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e9790", 0xdcfdbb33935ff96d, 0x675afc975ac5f633},
	{"f9f2ebe4ddd6cfc8c1bab3aca59e979089827b746d665f58514a433c352e2720fe", 0x1b605f092b805f29, 0xcba6f6a5fa01be68},
	{"68656c6c6f", 0xcbd8a7b341bd9b02, 0x5b1e906a48ae1d19},
}

// TestMurmur compares the reference, the hash and the bits with the vectors.
func TestMurmur(t *testing.T) {
	for _, v := range murmurTests {
		words, h := reference.Murmur3x2(fromHex(v.key)), BitsAndBlooms.Hash(fromHex(v.key))
		for i, want := range v.locations {
			if got := reference.Location(words, uint64(i)); got != want {
				t.Errorf("%s: the reference of probe %d is %x, want %x", v.key, i, got, want)
			}
			if got := probes.Crossed(h.h1, h.h2, h.h3, h.h4, uint64(i)); got != want {
				t.Errorf("%s: probe %d is %x, want %x", v.key, i, got, want)
			}
		}
	}
}
