package bloom

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lanebloom/bloom/internal/keyhash"
	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/probes"
)

// BenchmarkSingles tests single keys of 8 bytes in every form, and BenchmarkSmallBatches in
// batches of 1 to 8. None should take longer than the plain loop of the format: the reference.
func BenchmarkSingles(b *testing.B) {
	eachSmall(b, func(b *testing.B, w *small) {
		hashes := make([]Hash, len(w.bytes))
		for i, key := range w.bytes {
			hashes[i] = w.format.Hash(key)
		}
		for _, form := range []struct {
			name string
			run  func(f *Filter, from, to int) (hits uint64)
		}{
			{"MayContain", w.mayContain},
			{"MayContainString", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.strings[from:to] {
					hits += probes.OneIf(f.MayContainString(key))
				}
				return hits
			}},
			{"MayContainUint64", func(f *Filter, from, to int) (hits uint64) {
				for _, key := range w.keys[from:to] {
					hits += probes.OneIf(f.MayContainUint64(key))
				}
				return hits
			}},
			{"MayContainHash", func(f *Filter, from, to int) (hits uint64) {
				for _, h := range hashes[from:to] {
					hits += probes.OneIf(f.MayContainHash(h))
				}
				return hits
			}},
			{"Policy.MayContain", w.policyMayContain},
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

// BenchmarkSingleStrings hashes and tests single keys that lie side by side, or anywhere in memory: one of
// millions, as in the map of a program.
func BenchmarkSingleStrings(b *testing.B) {
	const all, near = 8 << 20, 8 << 10
	for _, lengths := range []struct{ from, to int }{{8, 8}, {8, 32}, {36, 36}, {0, 12}} {
		b.Run(fmt.Sprintf("keys=%d-%d", lengths.from, lengths.to), func(b *testing.B) {
			random := rand.New(rand.NewPCG(81, 82))
			data, keys := make([]byte, 8+all*(lengths.from+lengths.to+1)/2), make([][]byte, all)
			for i := 0; i < len(data)-8; i += 8 {
				binary.LittleEndian.PutUint64(data[i:], random.Uint64())
			}
			for i := range keys {
				n := min(lengths.from+random.IntN(lengths.to-lengths.from+1), len(data))
				keys[i], data = data[:n:n], data[n:]
			}
			b.Run("place=near", func(b *testing.B) { singleStrings(b, keys, near) })
			b.Run("place=far", func(b *testing.B) {
				random.Shuffle(all, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				singleStrings(b, keys, all)
			})
		})
	}
}

// singleStrings runs a sub-benchmark for every format, filter size, share of hits and form. It asks for at most
// so many keys.
func singleStrings(b *testing.B, keys [][]byte, most int) {
	for f := range formats {
		b.Run(fmt.Sprintf("format=%v", Format(f)), func(b *testing.B) {
			w := &small{format: Format(f), bytes: keys[:most]}
			b.Run("form=Hash", w.hash)
			for _, size := range benchmarkSizes[:4] {
				known := size.bytes * 8 / 10 &^ (1<<11 - 1)
				w.encoded = Policy{w.format, 10}.AppendFilter(nil, Bytes(keys[:known]))
				for percent, asked := range map[int][][]byte{0: keys[known:], 100: keys[:known]} {
					w.bytes = asked[:min(most, len(asked))]
					name := fmt.Sprintf("filter=%s/hits=%d%%", size.name, percent)
					for _, kernel := range kernels {
						b.Run(fmt.Sprintf("%s/form=MayContain/kernel=%v", name, kernel), func(b *testing.B) { w.inTurn(b, kernel, w.mayContain) })
					}
					b.Run(name+"/form=Policy.MayContain", func(b *testing.B) { w.inTurn(b, Generic, w.policyMayContain) })
				}
			}
		})
	}
}

// hash compares Format.Hash with the plain reading of the hash.
func (w *small) hash(b *testing.B) {
	s := w.format.scheme()
	w.parts(b, func(keys [][]byte) {
		for _, key := range keys {
			h := referenceWords(s, key)
			sink += int(h[0] + h[1])
		}
	}, func(from, to int) {
		for _, key := range w.bytes[from:to] {
			h := w.format.Hash(key)
			sink += int(h.h1 + h.h2)
		}
	})
}

func (w *small) mayContain(f *Filter, from, to int) (hits uint64) {
	for _, key := range w.bytes[from:to] {
		hits += probes.OneIf(f.MayContain(key))
	}
	return hits
}

func (w *small) policyMayContain(f *Filter, from, to int) (hits uint64) {
	policy := Policy{w.format, 10}
	for _, key := range w.bytes[from:to] {
		hits += probes.OneIf(policy.MayContain(f.data, key))
	}
	return hits
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
					n := min(max(queries/4, size.bytes/memory.CacheLine), 1<<20)
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
func smallKey(i uint64) uint64 { return keyhash.XXH64Uint64(i) }

// inTurn compares a test of the keys [from, to) with the plain loop.
func (w *small) inTurn(b *testing.B, kernel Kernel, test func(f *Filter, from, to int) uint64) {
	f, err := Open(w.format, w.encoded)
	if err == nil {
		f, err = f.WithKernel(kernel)
	}
	if err != nil {
		b.Fatal(err)
	}
	w.parts(b, func(keys [][]byte) {
		for _, key := range keys {
			if Reference(w.format, w.encoded, key) {
				sink++
			}
		}
	}, func(from, to int) { sink += int(test(f, from, to)) })
}

// parts compares the path over the keys [from, to) with the reference. A round is short, so that what slows the machine down meets
// both. It takes other keys than the round before, and those of the reference are half of all keys away.
func (w *small) parts(b *testing.B, reference func(keys [][]byte), path func(from, to int)) {
	const step = 1 << 10
	at := 0
	inTurn(b, step, func() {
		at = (at + step) % len(w.bytes)
		reference(w.bytes[at:][:step])
	}, func() {
		from := (at + len(w.bytes)/2) % len(w.bytes)
		path(from, from+step)
	})
}
