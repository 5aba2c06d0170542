package memory

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestShared copies and counts bytes of every length, and wants nothing else to change.
func TestShared(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		shared := Aligned(0, n)
		want := 0
		for i := range shared {
			shared[i] = byte(random.Uint32())
			want += bits.OnesCount8(shared[i])
		}
		dst := bytes.Repeat([]byte{0xa5}, n+8)
		if CopyShared(dst, shared); !bytes.Equal(dst[:n], shared) || !bytes.Equal(dst[n:], bytes.Repeat([]byte{0xa5}, 8)) {
			t.Errorf("%d bytes: the copy is %x of %x", n, dst, shared)
		}
		if got := OnesShared(shared); n%4 == 0 && got != want {
			t.Errorf("%d bytes: %d set bits, want %d", n, got, want)
		}
	}
}
