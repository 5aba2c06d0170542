package bloom

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSingles tests single keys of 8 bytes in every form, and BenchmarkSmallBatches in
// batches of 1 to 8. None should take longer than the plain loop of the format: the reference.
func BenchmarkSingles(b *testing.B) {
	eachSmall(b, func(b *testing.B, w *small) {
		hashes := make([]Hash, len(w.bytes))
		for i, key := range w.bytes {
			hashes[i] = w.format.Hash(key)
		}
		policy := Policy{w.format, 10}
		for _, form := range []struct {
			name string
			run  func(f *Filter, from, to int) (hits uint64)
		}{
			{"MayContain", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.bytes[from:to] {
					hits += oneIf(f.MayContain(key))
				}
				return hits
			}},
			{"MayContainString", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.strings[from:to] {
					hits += oneIf(f.MayContainString(key))
				}
				return hits
			}},
			{"MayContainUint64", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.keys[from:to] {
					hits += oneIf(f.MayContainUint64(key))
				}
				return hits
			}},
			{"MayContainHash", func(f *Filter, from, to int) (hits uint64) {
				for _, h := range hashes[from:to] {
					hits += oneIf(f.MayContainHash(h))
				}
				return hits
			}},
			{"Policy.MayContain", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.bytes[from:to] {
					hits += oneIf(policy.MayContain(f.data, key))
				}
				return hits
			}},
		} {
			for _, kernel := range kernels {
				if form.name == "Policy.MayContain" && kernel != kernels[0] {
					continue // it has no choice
				}
				b.Run(fmt.Sprintf("form=%s/kernel=%v", form.name, kernel), func(b *testing.B) {
					w.inTurn(b, kernel, form.run)
				})
			}
		}
	})
}

func BenchmarkSmallBatches(b *testing.B) {
	eachSmall(b, func(b *testing.B, w *small) {
		hits := make([]uint64, 1)
		for _, batch := range []int{1, 2, 4, 8} {
			for _, column := range []struct {
				keys string
				run  func(f *Filter, from, to int) (n uint64)
			}{
				{"uint64", func(f *Filter, from, to int) (n uint64) {
					for ; from < to; from += batch {
						n += uint64(f.MayContainBatch(Integers(w.keys[from:from+batch]), hits))
					}
					return n
				}},
				{"bytes", func(f *Filter, from, to int) (n uint64) {
					for ; from < to; from += batch {
						n += uint64(f.MayContainBatch(Bytes(w.bytes[from:from+batch]), hits))
					}
					return n
				}},
				{"string", func(f *Filter, from, to int) (n uint64) {
					for ; from < to; from += batch {
						n += uint64(f.MayContainBatch(Strings(w.strings[from:from+batch]), hits))
					}
					return n
				}},
			} {
				for _, kernel := range kernels {
					b.Run(fmt.Sprintf("kernel=%v/keys=%s/batch=%d", kernel, column.keys, batch), func(b *testing.B) {
						w.inTurn(b, kernel, column.run)
					})
				}
			}
		}
	})
}

// small is an encoded filter and keys that are asked for few at a time.
type small struct {
	format  Format
	encoded []byte
	keys    []uint64
	bytes   [][]byte // the same keys
	strings []string
}

// eachSmall runs a sub-benchmark for every format, filter size and share of hits.
func eachSmall(b *testing.B, run func(b *testing.B, w *small)) {
	for f := range formats {
		for _, size := range benchmarkSizes {
			b.Run(fmt.Sprintf("format=%v/filter=%s", Format(f), size.name), func(b *testing.B) {
				known := uint64(size.bytes * 8 / 10)
				w := &small{format: Format(f), encoded: encodedSmall(b, Policy{Format(f), 10}, known)}
				random := rand.New(rand.NewPCG(71, known))
				for _, percent := range []int{0, 50, 100} {
					// As many keys as the filter has lines, so that large filters do not stay in a cache.
					n := min(max(queries/4, size.bytes/cacheLine), 1<<20)
					w.keys, w.bytes, w.strings = make([]uint64, n), make([][]byte, n), make([]string, n)
					data := make([]byte, 8*n)
					for i := range w.keys {
						w.keys[i] = smallKey(known + random.Uint64N(known))
						if random.IntN(100) < percent {
							w.keys[i] = smallKey(random.Uint64N(known))
						}
						w.bytes[i] = data[8*i:][:8:8]
						binary.LittleEndian.PutUint64(w.bytes[i], w.keys[i])
						w.strings[i] = string(w.bytes[i])
					}
					b.Run(fmt.Sprintf("hits=%d%%", percent), func(b *testing.B) { run(b, w) })
				}
			})
		}
	}
}

// encodedSmall returns the encoded filter of the first n keys.
func encodedSmall(b *testing.B, policy Policy, n uint64) []byte {
	set, err := policy.NewSet(int(n))
	if err != nil {
		b.Fatal(err)
	}
	part := make([]uint64, 0, 1<<20)
	for i := range n {
		part = append(part, smallKey(i))
		if len(part) == cap(part) || i == n-1 {
			set.AddBatch(Integers(part))
			part = part[:0]
		}
	}
	return set.data
}

// smallKey returns key i. All differ, and those of a large filter need no memory.
func smallKey(i uint64) uint64 { return avalanche64(i) }

// inTurn compares the test of keys from to to-1 with the plain loop. A round is short, so
// that what slows the machine down meets both, and tests other keys than the round before, half
// of all keys away from those of the reference.
func (w *small) inTurn(b *testing.B, kernel Kernel, test func(f *Filter, from, to int) uint64) {
	f, err := Open(w.format, w.encoded)
	if err == nil {
		f, err = f.WithKernel(kernel)
	}
	if err != nil {
		b.Fatal(err)
	}
	const step = 1 << 10
	at := 0
	inTurn(b, step, func() {
		at = (at + step) % len(w.bytes)
		for _, key := range w.bytes[at:][:step] {
			if Reference(w.format, w.encoded, key) {
				sink++
			}
		}
	}, func() {
		from := (at + len(w.bytes)/2) % len(w.bytes)
		sink += int(test(f, from, from+step))
	})
}
