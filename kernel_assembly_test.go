//go:build (amd64 || arm64) && !purego

package bloom

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
	"github.com/lanebloom/bloom/internal/probes"
)

// assembly describes an architecture's file of assembly.
type assembly struct {
	file  string
	gates []gate
}

// gate has the CPU features by which a kernel is chosen. The names of its functions end with
// suffix.
type gate struct {
	kernel   Kernel
	suffix   string
	features []cpuid.FeatureID

	// A hash without assembly for keys of any length has no entry.
	calls map[scheme]callLengths
}

// callLengths says how many of 64 keys a call hashes.
type callLengths struct {
	beforeLong     int // if key 20 is too long
	ofLongest      int // if all are as long as may be
	ofLongestFixed int // ofLongest for keys of one width
	shortest       int // bytes of the shortest keys of one length that a call hashes, but of integers
}

// leastFunctions is fewer than any kernel has.
const leastFunctions = 10

// TestCPUFeatures compares the features by which each kernel is chosen with the features that
// its functions require. The generator writes those above each function.
func TestCPUFeatures(t *testing.T) {
	file, err := os.Open(ours.file)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	required := map[Kernel][]string{}
	functions := map[Kernel]int{}
	var features []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if list, ok := strings.CutPrefix(lines.Text(), "// Requires: "); ok {
			features = strings.Split(list, ", ")
		} else if text, ok := strings.CutPrefix(lines.Text(), "TEXT ·"); ok {
			for _, gate := range ours.gates {
				if strings.Contains(text, gate.suffix+"(SB)") {
					required[gate.kernel] = append(required[gate.kernel], features...)
					functions[gate.kernel]++
				}
			}
			features = nil
		}
	}
	for _, gate := range ours.gates {
		var got []string
		for _, feature := range gate.features {
			got = append(got, feature.String())
		}
		slices.Sort(got)
		slices.Sort(required[gate.kernel])
		if want := slices.Compact(required[gate.kernel]); !slices.Equal(got, want) {
			t.Errorf("%v is chosen by %v and requires %v", gate.kernel, got, want)
		}
		if functions[gate.kernel] < leastFunctions { // or the search finds no functions any more
			t.Errorf("%v has %d functions, want %d and more", gate.kernel, functions[gate.kernel], leastFunctions)
		}
	}
}

// TestSlowInstructions looks for instructions that some CPUs take long for: on a Zen 4 and a Zen 5,
// VPCOMPRESS and VPEXPAND with memory, or, with zeros in the lanes that are left, to another register
// than their source: they wait for what was there. A masked load of bytes takes 500 cycles if what its mask leaves out is in a
// page that is not mapped, and there are only those whose functions say that they know it.
func TestSlowInstructions(t *testing.T) {
	text, err := os.ReadFile(ours.file)
	if err != nil {
		t.Fatal(err)
	}
	checkSlowInstructions(t, string(text), func(format string, args ...any) { t.Errorf(format, args...) })
	for _, bad := range []string{
		"\tVPCOMPRESSD Z1, K1, (AX)", "\tVPCOMPRESSD.Z Z1, K1, Z2", "\tVPEXPANDQ.Z Z1, K1, Z2", "\tVPEXPANDD.Z (AX), K1, Z2",
		"TEXT \u00b7f(SB)\n\tVMOVDQU8.Z (AX), K1, Y2",
	} {
		found := false
		checkSlowInstructions(t, bad, func(string, ...any) { found = true })
		if !found {
			t.Errorf("%q is not found", bad)
		}
	}
}

func checkSlowInstructions(t *testing.T, text string, fail func(format string, args ...any)) {
	t.Helper()
	says := ""
	for i, line := range strings.Split(text, "\n") {
		opcode, operands, _ := strings.Cut(strings.TrimSpace(line), " ")
		list := strings.Split(strings.TrimSpace(operands), ", ")
		switch {
		case strings.HasPrefix(line, "// ") && says != "TEXT":
			says += line
		case opcode == "TEXT":
			says = line
		case strings.HasPrefix(line, "\t// "):
			says += line
		case opcode == "RET":
			says += " "
		case strings.HasPrefix(opcode, "VPCOMPRESS") && strings.Contains(list[len(list)-1], "("),
			strings.HasPrefix(opcode, "VPEXPAND") && strings.Contains(list[0], "("):
			fail("line %d: %s with memory", i+1, opcode)
		case strings.HasPrefix(opcode, "VPCOMPRESS") && strings.HasSuffix(opcode, ".Z") && list[0] != list[len(list)-1],
			strings.HasPrefix(opcode, "VPEXPAND") && strings.HasSuffix(opcode, ".Z") && list[0] != list[len(list)-1]:
			fail("line %d: %s to another register", i+1, opcode)
		case strings.HasPrefix(opcode, "VMOVDQU8") && strings.Contains(operands, "K") && !strings.Contains(says, "500 cycles"):
			fail("line %d: a masked load of bytes in a function that does not say what it costs: %s", i+1, line)
		}
	}
}

// TestKernelLongKeys wants a call into assembly to end at a long key and after many bytes, and nowhere
// else.
func TestKernelLongKeys(t *testing.T) {
	const rows = 64
	data := make([]byte, longKey)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	all := func(calls callLengths, _ layout) int { return rows }
	check := func(width int, long []byte, want func(calls callLengths, l layout) int) {
		keys := slices.Repeat([][]byte{data[:width]}, rows)
		if long != nil {
			keys[20] = long
		}
		columns := columnsOf(t, keys)
		eachHash(t, func(t *testing.T, s scheme) { checkCalls(t, s, keys, columns, want) })
	}
	check(100, data, func(calls callLengths, _ layout) int { return calls.beforeLong })
	check(longKey, nil, func(calls callLengths, _ layout) int { return calls.beforeLong / rows * rows }) // all or none
	check(longKey-1, nil, func(calls callLengths, l layout) int {
		if l == fixedWidth {
			return calls.ofLongestFixed
		}
		return calls.ofLongest
	})
	for _, width := range []int{1, 2, 3, 4, 8, 16, 21, 100} {
		check(width, nil, all)
	}
}

// checkCalls compares how many keys of each column each kernel hashes in a call with want, and the hashes with the
// reference.
func checkCalls(t *testing.T, s scheme, keys [][]byte, columns []Keys, want func(calls callLengths, l layout) int) {
	t.Helper()
	width := len(keys[0])
	for _, gate := range ours.gates {
		if !slices.Contains(proven(), gate.kernel) {
			continue
		}
		calls, has := gate.calls[s]
		if want(calls, noLayout) > 0 { // else Go hashes every key as it does a long one
			checkHashes(t, s, []Kernel{gate.kernel}, keys, columns...)
		}
		for _, column := range columns {
			short := column.layout == fixedWidth && column.width < 8 || column.isNarrow()
			if column.isGathered() || short && schemes[s].words == one32 && gate.kernel == NEON {
				continue // hashed as strings, or by another function
			}
			layout, _, stride, _ := column.assemblyRows()
			isMurmur := s == schemeBitsAndBlooms || s == schemeGuava
			isInteger := layout == uint64s || layout == uint32s && !isMurmur || stride == -16 && isMurmur
			hashed := 0
			if slices.Contains(schemes[s].kernels, gate.kernel) && (isInteger || has && width >= calls.shortest) {
				hashed = want(calls, column.layout)
			}
			room := hashesOfLength(s, len(keys))
			if done, _ := column.hashAssembly(s, gate.kernel, &room); done != hashed {
				t.Errorf("kernel %v, layout %d, keys of %d bytes: %d hashes, want %d", gate.kernel, column.layout, width, done, hashed)
			}
		}
	}
}

// columnsOf returns the keys in every layout that can have them.
func columnsOf(t *testing.T, keys [][]byte) []Keys {
	t.Helper()
	columns, width := eachLayout(t, keys), len(keys[0])
	if slices.ContainsFunc(keys, func(key []byte) bool { return len(key) != width }) {
		return columns
	}
	columns = append(columns, fixedWidthOf(t, keys))
	for _, l := range layouts {
		if l.width == width {
			columns = append(columns, l.column(t, keys))
		}
	}
	return columns
}

// TestKernelForms compares each kernel of double32 with the letter of the scheme, in stages and with all probes at once.
func TestKernelForms(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	test := schemeTests[schemeLevelDB]
	for _, kernel := range kernels[:len(kernels)-1] {
		for _, dense := range []bool{false, true} {
			t.Run(fmt.Sprintf("kernel=%v/dense=%v", kernel, dense), func(t *testing.T) {
				withGathers(t, true)
				for k := 1; k <= 30; k++ {
					bits := 8 * (2 + random.Uint64N(5000))
					data := randomBits(random, bits, math.Pow(random.Float64(), 1/float64(k)))
					hashed := test.hashesOf(random, 1+random.IntN(windowKeys), bits)
					words := hashesOfLength(schemeLevelDB, len(hashed))
					want := make([]uint64, (len(hashed)+63)/64)
					for i, h := range hashed {
						words.set(i, h)
						if test.has(data, h, bits, k) {
							want[i/64] |= 1 << (i % 64)
						}
					}
					hits := make([]uint64, windowKeys/64)
					if s := proberOf(schemeLevelDB, kernel, data, bits, k); !probeDouble32(kernel, s, &words, &hits[0], dense) {
						t.Fatal("no assembly")
					} else if !slices.Equal(hits[:len(want)], want) {
						t.Fatalf("%d probes, %d hashes: %x, want %x", k, len(hashed), hits[:len(want)], want)
					}
				}
			})
		}
	}
}

// TestKernelRequests compares what each kernel of lines tests and adds with portable Go, however it loads the lines, for
// numbers of probes up to the largest.
func TestKernelRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 62))
	entries := map[scheme]struct {
		probe func(s *prober, h *hashes, hits []uint64) bool
		set   func(s *prober, h *hashes) bool
	}{
		schemeParquet: {
			func(s *prober, h *hashes, hits []uint64) bool { return probeSplit256(s, h, &hits[0]) }, setSplit256,
		},
		schemeRocksDB: {
			func(s *prober, h *hashes, hits []uint64) bool {
				return probeLine512(s, h, &hits[0], line512Factors.Of(s.K, 0))
			},
			func(s *prober, h *hashes) bool { return setLine512(s, h, line512Factors.Of(s.K, 0)) },
		},
		schemePebble: {
			func(s *prober, h *hashes, hits []uint64) bool {
				return probeLine32(s, h, &hits[0], line32Steps.Of(s.K, 0))
			},
			func(s *prober, h *hashes) bool { return setLine32(s, h, line32Steps.Of(s.K, 0)) },
		},
	}
	for k := 1; k <= 127; k += 1 + k/10 {
		for s, entry := range entries {
			lines, n := 1+random.Uint64N(100), minSetHashes+random.IntN(windowKeys-minSetHashes+1)/(1+k/8)
			bits := lines * schemes[s].word
			h := hashesOfLength(s, n)
			for i := range n {
				h.set(i, Hash{h1: random.Uint64()})
			}
			data := randomBits(random, bits, math.Pow(random.Float64(), 1/float64(k)))
			on := func(kernel Kernel, data []byte) *prober { return proberOf(s, kernel, data, bits, k) }
			words := (n + 63) / 64
			want, wantSet := make([]uint64, words+1), make([]byte, len(data))
			on(Generic, data).test(&h, want, false)
			on(Generic, wantSet).setLines(&h)
			want[words] = 1 << 40 // not written
			for _, kernel := range kernels[:len(kernels)-1] {
				for _, far := range []bool{false, true} {
					what := fmt.Sprintf("%v, kernel %v, %d lines, %d probes, far %v, %d hashes", s, kernel, lines, k, far, n)
					got, set := slices.Repeat([]uint64{1 << 40}, words+1), make([]byte, len(data))
					s, to := on(kernel, data), on(kernel, set)
					s.far, to.far = far, far
					if !entry.probe(s, &h, got) || !entry.set(to, &h) {
						t.Fatalf("%s: no assembly", what)
					}
					if s.test(&h, got, false); !slices.Equal(got, want) {
						t.Fatalf("%s: hits %x, want %x", what, got, want)
					}
					if to.setLines(&h); !bytes.Equal(set, wantSet) {
						t.Fatalf("%s: wrong bits", what)
					}
				}
			}
		}
	}
}

// TestKernelKeyByKey tests keys of all short lengths one by one; half of them are in the filter.
func TestKernelKeyByKey(t *testing.T) {
	random := rand.New(rand.NewPCG(65, 66))
	var keys, known [][]byte
	for n := range 40 {
		for i := range 6 {
			key := make([]byte, n)
			for j := range key {
				key[j] = byte(random.Uint32())
			}
			if keys = append(keys, key); i%2 == 0 {
				known = append(known, key)
			}
		}
	}
	eachFormat(t, func(t *testing.T, format Format) {
		eachKernel(t, format, Policy{format, 10}.AppendFilter(nil, Bytes(known)), func(t *testing.T, f *Filter) {
			checkFilter(t, f, keys)
		})
	})
}

// TestKernelSingleIntegers tests and adds integers one by one, with filters of several numbers of probes, and
// with those that assembly leaves to Go.
func TestKernelSingleIntegers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(75, 76))
	keys, rows := make([]uint64, 300), make([][]byte, 300)
	for i := range keys {
		keys[i] = random.Uint64()
		rows[i] = binary.LittleEndian.AppendUint64(nil, keys[i])
	}
	// check tests keys from on: up to half of them were added.
	check := func(format Format, encoded []byte, from int) {
		const tested = 100
		keys, rows := keys[from:][:tested], rows[from:][:tested]
		var want [tested]bool
		for i, b := range rows {
			want[i] = Reference(format, encoded, b)
		}
		for _, kernel := range proven() {
			f := onKernel(t, mustOpen(t, format, encoded), kernel)
			for i, key := range keys {
				integer, single, text, hash := f.MayContainUint64(key), f.MayContain(rows[i]), f.MayContainString(string(rows[i])), f.MayContainHash(format.Hash(rows[i]))
				if integer != want[i] || single != want[i] || text != want[i] || hash != want[i] {
					t.Fatalf("%v, kernel %v, %d bytes: MayContainUint64(%x) = %v, MayContain %v, MayContainString %v, MayContainHash %v, want %v",
						format, kernel, len(encoded), key, integer, single, text, hash, want[i])
				}
			}
			s, err := OpenSet(format, encoded)
			if err != nil { // it has no bits
				continue
			}
			letter, _ := OpenSet(format, encoded)
			s.setKernel(kernel)
			letter.setKernel(Generic)
			for i, key := range keys {
				was := Reference(format, letter.data, rows[i])
				letter.AddHash(format.Hash(rows[i]))
				if got := s.TestAndAddUint64(key); got != was {
					t.Fatalf("%v, kernel %v, %d bytes: TestAndAddUint64(%x) = %v, want %v", format, kernel, len(encoded), key, got, was)
				}
			}
			if !bytes.Equal(s.data, letter.data) {
				t.Fatalf("%v, kernel %v, %d bytes: TestAndAddUint64 set other bits than AddHash", format, kernel, len(encoded))
			}
		}
	}
	eachFormat(t, func(_ *testing.T, format Format) {
		for _, bitsPerKey := range []int{1, 2, 3, 4, 6, 8, 10, 13, 20, 40} {
			for _, known := range []int{10, 200} {
				check(format, Policy{format, bitsPerKey}.AppendFilter(nil, Integers(keys[:known])), max(known-50, 0))
			}
		}
	})
	dense := randomBits(random, 1<<20, 0.875)
	for k := range byte(32) {
		for _, n := range []int{1000, len(dense)} {
			check(LevelDB, append(dense[:n:n], k), 0)
		}
	}
	for k := range byte(11) {
		for _, lines := range []byte{16, 8, 4} { // of 64 to 256 bytes
			check(Pebble, append(dense[:1024:1024], k, lines, 0, 0, 0), 0)
		}
		check(RocksDB, append(dense[:1024:1024], 255, 0, k, 0, 0), 0)
	}
}

// TestKernelLargestFilters looks for portable Go in place of kernels from the bounds on past which kernels would be wrong: of sizes and of
// probes. There is no memory for such filters, and none is read.
func TestKernelLargestFilters(t *testing.T) {
	data := make([]byte, 64)
	aligned := data[-uintptr(unsafe.Pointer(&data[0]))&3:]
	for _, kernel := range kernels {
		for name, c := range map[string]struct {
			scheme scheme
			array  probes.Array
			fits   bool
		}{
			"leveldb, 1 byte":            {schemeLevelDB, probes.Array(probes.LevelDB{Base: &data[0], N: 1, K: 6}), false},
			"leveldb, 2 bytes":           {schemeLevelDB, probes.Array(probes.LevelDB{Base: &data[0], N: 2, K: 6}), true},
			"leveldb, 2^29 bytes":        {schemeLevelDB, probes.Array(probes.LevelDB{Base: &aligned[0], N: 1 << 29, K: 6}), true},
			"leveldb, 2^29, not aligned": {schemeLevelDB, probes.Array(probes.LevelDB{Base: &aligned[1], N: 1 << 29, K: 6}), false},
			"nori":                       {schemeNori, probes.Array(probes.NewNori(data, maxKernelBits, maxFullProbes)), true},
			"nori, too many bits":        {schemeNori, probes.Array(probes.NewNori(data, maxKernelBits+1, 6)), false},
			"nori, too many probes":      {schemeNori, probes.Array(probes.NewNori(data, 512, maxFullProbes+1)), false},
			"parquet":                    {schemeParquet, probes.Array(probes.NewParquet(data, maxLinesBytes/32-1)), true},
			"parquet, too large":         {schemeParquet, probes.Array(probes.NewParquet(data, maxLinesBytes/32)), false},
			"rocksdb":                    {schemeRocksDB, probes.Array(probes.NewRocksDB(data, maxLinesBytes/64-1, 30)), true},
			"rocksdb, too large":         {schemeRocksDB, probes.Array(probes.NewRocksDB(data, maxLinesBytes/64, 6)), false},
			"pebble":                     {schemePebble, probes.Array(probes.NewPebble(data, maxLinesBytes/64-1, 0, 30)), true},
			"pebble, too large":          {schemePebble, probes.Array(probes.NewPebble(data, maxLinesBytes/64, 0, 6)), false},
			"pebble, long lines":         {schemePebble, probes.Array(probes.NewPebble(data, 1, 1, 6)), false},
			"bits-and-blooms":            {schemeBitsAndBlooms, probes.Array(probes.NewBitsAndBlooms(data, maxKernelBits, maxFullProbes)), true},
			"bits-and-blooms, fewer":     {schemeBitsAndBlooms, probes.Array{Base: &data[8], N: 512, Recip: probes.FewerStored, K: 6}, false},
			"bits-and-blooms, too large": {schemeBitsAndBlooms, probes.Array(probes.NewBitsAndBlooms(data, maxKernelBits+1, 6)), false},
			"guava, too many probes":     {schemeGuava, probes.Array(probes.NewGuava(data, 512, maxFullProbes+1)), false},
		} {
			want := kernel
			if !c.fits {
				want = Generic
			}
			s := prober{Array: c.array, scheme: c.scheme}
			if s.setKernel(kernel); s.kernel != want {
				t.Errorf("%s: kernel %v serves in place of %v, want %v", name, s.kernel, kernel, want)
			}
		}
	}
}

// BenchmarkForms compares the forms over mixtures of present and absent keys. AVX-512 gathers here on every CPU, and AVX2
// loads: a CPU on which AVX-512 takes less time belongs in the list of gathersWell.
func BenchmarkForms(b *testing.B) {
	defer func(g, p bool) { gathers, slowPDEP = g, p }(gathers, slowPDEP)
	gathers = true
	eachMixture(b, []int{0, 10, 25, 50, 75, 90, 100}, func(b *testing.B, w *workload) {
		hits := make([]uint64, queries/64)
		for _, kernel := range kernels[:len(kernels)-1] {
			filter := onKernel(b, w.filter, kernel)
			for _, form := range []string{"switched", "dense"} {
				b.Run(fmt.Sprintf("kernel=%v/form=%s", kernel, form), func(b *testing.B) {
					slowPDEP = form == "dense"
					inTurn(b, queries, w.reference, func() { sink += filter.MayContainBatch(Integers(w.keys), hits) })
				})
			}
		}
	})
}
