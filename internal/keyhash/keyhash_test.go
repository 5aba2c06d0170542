package keyhash

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/reference"
)

// hashes has each hash, as this package and as the reference computes it. Those of integers are nil where there is none.
var hashes = map[string]struct {
	of       func(p unsafe.Pointer, n int) [4]uint64
	ofUint32 func(key uint32) [4]uint64
	ofUint64 func(key uint64) [4]uint64
	want     func(key []byte) [4]uint64
}{
	"LevelDB": {
		func(p unsafe.Pointer, n int) [4]uint64 { return [4]uint64{uint64(LevelDB(p, n, UnsignedBytes))} },
		func(key uint32) [4]uint64 { return [4]uint64{uint64(LevelDBUint32(key))} },
		func(key uint64) [4]uint64 { return [4]uint64{uint64(LevelDBUint64(key))} },
		func(key []byte) [4]uint64 { return [4]uint64{uint64(reference.Hash32(key))} },
	},
	"LevelDB, signed": {
		func(p unsafe.Pointer, n int) [4]uint64 { return [4]uint64{uint64(LevelDB(p, n, SignedBytes))} },
		func(key uint32) [4]uint64 { return [4]uint64{uint64(LevelDBUint32(key))} },
		func(key uint64) [4]uint64 { return [4]uint64{uint64(LevelDBUint64(key))} },
		func(key []byte) [4]uint64 { return [4]uint64{uint64(reference.SignedHash32(key))} },
	},
	"XXH64": {
		func(p unsafe.Pointer, n int) [4]uint64 { return [4]uint64{XXH64(p, n)} },
		func(key uint32) [4]uint64 { return [4]uint64{XXH64Uint32(key)} },
		func(key uint64) [4]uint64 { return [4]uint64{XXH64Uint64(key)} },
		func(key []byte) [4]uint64 { return [4]uint64{reference.XXH64(key)} },
	},
	"XXH64, mixed": {
		of: func(p unsafe.Pointer, n int) [4]uint64 {
			if IsMixed(n, n+1) {
				return [4]uint64{XXH64Mixed(p, n)}
			}
			return [4]uint64{XXH64(p, n)}
		},
		want: func(key []byte) [4]uint64 { return [4]uint64{reference.XXH64(key)} },
	},
	"XXH64x2": {
		func(p unsafe.Pointer, n int) [4]uint64 { return two(XXH64x2(p, n)) },
		func(key uint32) [4]uint64 { return two(XXH64x2Uint32(key)) },
		func(key uint64) [4]uint64 { return two(XXH64x2Uint64(key)) },
		func(key []byte) [4]uint64 { return two(reference.XXH64x2(key)) },
	},
	"XXPH3": {
		func(p unsafe.Pointer, n int) [4]uint64 {
			switch {
			case n <= ShortXXPH3:
				return [4]uint64{XXPH3Short(p, n)}
			case n <= MiddleXXPH3:
				return [4]uint64{XXPH3Middle(p, n)}
			}
			sums := NewXXPH3Sums()
			sums.Add(p, n)
			return [4]uint64{sums.Hash(n)}
		},
		func(key uint32) [4]uint64 { return [4]uint64{XXPH3Uint32(key)} },
		func(key uint64) [4]uint64 { return [4]uint64{XXPH3Uint64(key)} },
		func(key []byte) [4]uint64 { return [4]uint64{reference.XXPH3(key)} },
	},
	"Murmur3": {
		func(p unsafe.Pointer, n int) [4]uint64 { return two(Murmur3(p, n)) },
		func(key uint32) [4]uint64 { return two(Murmur3Uint32(key)) },
		func(key uint64) [4]uint64 { return two(Murmur3Uint64(key)) },
		func(key []byte) [4]uint64 { return two(reference.Murmur3(key)) },
	},
	"Murmur3x2": {
		func(p unsafe.Pointer, n int) [4]uint64 { return four(Murmur3x2(p, n)) },
		func(key uint32) [4]uint64 { return four(Murmur3x2Uint32(key)) },
		func(key uint64) [4]uint64 { return four(Murmur3x2Uint64(key)) },
		reference.Murmur3x2,
	},
}

func two(h1, h2 uint64) [4]uint64          { return [4]uint64{h1, h2} }
func four(h1, h2, h3, h4 uint64) [4]uint64 { return [4]uint64{h1, h2, h3, h4} }

// TestReference compares each hash with the reference: of keys of every length up to two blocks of stripes, and of integers.
func TestReference(t *testing.T) {
	data := make([]byte, 2*64*xxph3BlockStripes+100)
	for i := range data {
		data[i] = byte(i*i>>3 + 37*i)
	}
	for name, h := range hashes {
		t.Run(name, func(t *testing.T) {
			for n := range len(data) {
				key := data[len(data)-n:]
				if got, want := h.of(unsafe.Pointer(unsafe.SliceData(key)), n), h.want(key); got != want {
					t.Fatalf("%d bytes: %x, want %x", n, got, want)
				}
			}
			for _, v := range []uint64{0, 1, 0x80, math.MaxUint32, 1 << 32, math.MaxUint64, 0x8899aabbccddeeff} {
				key := binary.LittleEndian.AppendUint64(nil, v)
				if h.ofUint64 != nil && h.ofUint64(v) != h.want(key) {
					t.Errorf("64 bits of %x: %x, want %x", v, h.ofUint64(v), h.want(key))
				}
				if h.ofUint32 != nil && h.ofUint32(uint32(v)) != h.want(key[:4]) {
					t.Errorf("32 bits of %x: %x, want %x", v, h.ofUint32(uint32(v)), h.want(key[:4]))
				}
			}
		})
	}
}

func TestColumnOf16(t *testing.T) {
	data := []byte("sixteen bytes, a16 more of them!and 16 at the end")
	var h [4][3]uint64
	Murmur3x2Of16(unsafe.Pointer(&data[0]), h[0][:], h[1][:], h[2][:], h[3][:])
	for i := range 3 {
		if got, want := [4]uint64{h[0][i], h[1][i], h[2][i], h[3][i]}, reference.Murmur3x2(data[16*i:][:16]); got != want {
			t.Errorf("key %d: %x, want %x", i, got, want)
		}
	}
}
