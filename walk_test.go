package bloom

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWalk compares walks with the answers of the reference, and with the bits
// that building sets.
func TestWalk(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	for range 200 {
		key := make([]byte, random.IntN(20))
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		for f := range formats {
			policy := Policy{Format: Format(f), BitsPerKey: random.IntN(50)}
			set, err := policy.NewSet(1 + random.IntN(100))
			if err != nil {
				t.Fatal(err)
			}
			set.Add(key)
			positions := slices.Clone(set.Walk(key).Positions)
			slices.Sort(positions)
			array, _, _ := set.encoded()
			if n, got := len(slices.Compact(positions)), onesCount(array); uint64(n) != got {
				t.Fatalf("%v, key %x: a walk over %d bits, %d are set", policy, key, n, got)
			}
			for range 20 {
				other := append(bytes.Clone(key), byte(random.Uint32()))
				set.Add(other)
			}
			absent := append(bytes.Clone(key), 0, 0)
			if got, want := set.passes(set.Walk(absent)), Reference(Format(f), set.data, absent); got != want {
				t.Fatalf("%v: the walk of %x answers %v, the reference %v", policy, absent, got, want)
			}
		}
	}
}

// passes reports whether every bit of a walk is set.
func (v *view) passes(w Walk) bool {
	array, _, _ := v.encoded()
	return !slices.ContainsFunc(w.Positions, func(bit uint64) bool { return array[bit/8]>>(bit%8)&1 == 0 })
}

func TestWalkLevelDB(t *testing.T) {
	filter := fromHex("014000010410400006")
	w := mustOpen(t, filter).Walk([]byte("hello"))
	if w.Hash != 0xf795964e || w.Delta != 0xcb277bca || w.HashBits != 32 ||
		!slices.Equal(w.Positions, []uint64{14, 24, 34, 44, 54, 0}) {
		t.Errorf("the walk of hello is %+v", w)
	}
	for _, filter := range []string{"", "00", "ff00", "ffff1f", "ffffff"} {
		if w := mustOpen(t, fromHex(filter)).Walk(nil); len(w.Positions) != 0 || w.Hash != hash32Seed {
			t.Errorf("filter %q: the walk of the empty key is %+v", filter, w)
		}
	}
}

func TestWalkNori(t *testing.T) {
	for format, filter := range map[Format]string{
		NoriCrate: "0700000020000000000000008888a8a2",
		Nori:      "2000000000000000070000000a0000008888a8a2",
	} {
		w := mustOpenAs(t, format, fromHex(filter)).Walk([]byte("hello"))
		if w.Hash != 0x26c7827d889f6da3 || w.Delta != 0x23dd71cb04d0a1b2 || w.HashBits != 64 ||
			!slices.Equal(w.Positions, []uint64{3, 21, 7, 25, 11, 29, 15}) {
			t.Errorf("%v: the walk of hello is %+v", format, w)
		}
	}
	if w := mustOpenAs(t, Nori, header(Nori, 0, 7)).Walk(nil); len(w.Positions) != 0 {
		t.Errorf("the walk through nothing is %+v", w)
	}
}
