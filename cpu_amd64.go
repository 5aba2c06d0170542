//go:build !purego

package bloom

import (
	"math"
	"time"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"github.com/lanebloom/bloom/internal/kernelforms"
)

// The features that probe_amd64.s uses.
var (
	featuresAVX2   = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
	featuresAVX512 = []cpuid.FeatureID{cpuid.AVX, cpuid.AVX2, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512F, cpuid.AVX512VL, cpuid.BMI2, cpuid.CMOV, cpuid.POPCNT}
)

var isAMD = cpuid.CPU.VendorID == cpuid.AMD || cpuid.CPU.VendorID == cpuid.Hygon

// slowPDEP reports whether PDEP takes hundreds of cycles, as on AMD's CPUs before Zen 3. A
// kernel that tests in stages uses PDEP after the last stage.
var slowPDEP = isAMD && cpuid.CPU.Family < 0x19

// init finds the kernels and their forms. cpuid reports AVX and AVX-512 only where the operating system
// saves their registers.
func init() {
	if cpuid.CPU.Supports(featuresAVX2...) {
		kernels = append([]Kernel{AVX2}, kernels...)
	}
	if cpuid.CPU.Supports(featuresAVX512...) {
		kernels = append([]Kernel{AVX512}, kernels...)
	}
	setSingles()
	tune(thisCPU)
	if !isAMD && len(kernels) > 1 { // even if a hypervisor says that it is a CPU that Downfall spares
		gathers.Store(untimedGathers)
	}
	timeGathers, kernelforms.Costs = timeOnce, costs
}

// cpuKind is a kind of CPU that has choices of its own.
type cpuKind int

const (
	intel cpuKind = iota // and every other CPU that is not AMD's
	zen3                 // AMD's CPUs without AVX-512
	zen4
	zen5 // and later ones
)

// thisCPU is the kind of CPU that the program runs on.
var thisCPU = func() cpuKind {
	switch {
	case !isAMD:
		return intel
	case !cpuid.CPU.Supports(featuresAVX512...):
		return zen3
	case cpuid.CPU.Family <= 0x19:
		return zen4
	}
	return zen5
}()

// choice has what each kind of CPU takes. What is "untimed" was chosen by the figures of another kind.
type choice[T any] [zen5 + 1]T

const never = math.MaxUint64

// The sizes of filters, in bytes, at which CPUs take another path. Figures are how many times as fast that path
// is at a size: on a Zen 4, a Zen 5, or an Emerald Rapids (ER).
var (
	// Of the walk double32, loads of words one by one in stages, over gathers. Absent keys. Zen 4: 16 KiB 1.14,
	// 1 MiB 1.11, 8 MiB 1.04, 64 MiB 1.0. Zen 5: 16 KiB 1.28, 1 MiB 1.15, 4 MiB 1.06, 64 MiB 0.97; half of them
	// present, 4 MiB 0.98, 8 MiB 0.95. Intel's with slow gathers: untimed. Without AVX-512, there is no such choice.
	stagedLoadsBelow = choice[uint64]{intel: 4 << 20, zen4: 16 << 20, zen5: 4 << 20}
	// The same in the dense form. Present keys. Zen 4: 16 KiB 1.27, 96 KiB 1.11, 128 KiB 1.06, 256 KiB 0.99. Zen 5:
	// 16 KiB 1.34, 64 KiB 1.18, 96 KiB 1.05, 128 KiB 0.93. Intel's with slow gathers: untimed.
	denseLoadsBelow = choice[uint64]{intel: 96 << 10, zen4: 192 << 10, zen5: 112 << 10}
	// Two probes of a single key that share a branch, over three. Zen 4: 256 KiB 0.95, 1 MiB 1.02, 8 MiB 1.1. Zen 5:
	// 256 KiB 0.88, 1 MiB 1.0. A Sapphire Rapids: 256 KiB 1.1. Zen 3: untimed in this form.
	pairBytesOf = choice[uint64]{intel: 256 << 10, zen3: 1 << 20, zen4: 1 << 20, zen5: 1 << 20}
	// AVX-512's tests of lines that are requested and loaded in halves, over tests of near lines. Zen 4: 8 MiB 0.9,
	// 16 MiB 1.5 to 1.6, 64 MiB 2.3; whole lines that are requested 16 MiB 1.05, 64 MiB 1.44. Zen 5: 16 MiB 0.98 to
	// 1.08, 32 MiB 1.2, 64 MiB 1.26; whole lines that are requested 64 MiB 1.22. Intel: halves are untimed.
	requests512Of = choice[lineRequests]{
		intel: {requestedLines, requestBytes}, zen4: {halvedLines, 16 << 20}, zen5: {halvedLines, 32 << 20},
	}
	// AVX-512's tests of blocks that are requested. Zen 4: 0.85 to 0.97 at every size up to 128 MiB. Zen 5: 16 KiB
	// 0.7, 1 MiB 0.86, from 8 MiB on 0.95 to 0.98.
	requestBlocks512Of = choice[uint64]{intel: requestBytes, zen4: never, zen5: never}
	// Adds to blocks that are requested. Zen 4: 1 MiB 0.84, 16 MiB 0.96, 64 MiB 1.0. Zen 5: 1 MiB 0.82, 16 MiB 0.9,
	// 64 MiB 1.0; adds in order, which request on every CPU, 1 MiB 0.92, 16 MiB 1.08. Zen 3: untimed.
	requestAddedBlocksOf = choice[uint64]{intel: requestBytes, zen3: requestBytes, zen4: never, zen5: never}
	// Integers of 8 bytes that one function of AVX-512 hashes and tests, over single keys or a window. Zen 5, Parquet:
	// 8 keys 1.28, 12 1.67, 16 1.33, 24 1.69, 32 1.02, 64 0.77; RocksDB 1.34, 1.66, 1.34, 1.62, 0.97, 0.69; Pebble 1.20,
	// 1.29, 1.13, 1.45, 0.86, 0.63. Zen 4: untimed in this form; a prototype of 8 keys took 0.4 to 0.5 times as long as single
	// keys. Intel: untimed, not chosen.
	mostFewOf = choice[int]{zen4: 31, zen5: 31}
)

// tune takes the choices of a kind of CPU. Tests run all of them.
//
// Gathers take longer than their loads on AMD's CPUs. AVX2's kernels then load words one by one. On a Zen 3,
// a gather of 8 words takes 11.4 cycles, and the loads take 7.9. Prototypes of a filter of 16 KiB were 1.18
// times as fast for absent keys, and 1.28 to 1.39 times as fast for present keys. On a Zen 5, a gather of 16
// words takes 20 cycles, and the loads take 10 to 12. On a Sapphire Rapids and an Emerald Rapids, gathers are
// faster: -bench 'Gathers|Forms' has both.
//
// Gathers are slow on Intel's CPUs from Skylake to Rocket Lake, too, if their microcode protects against
// Downfall. No CPUID bit tells, and hypervisors hide models, so calibrate times both on every CPU but AMD's, for
// some 5 µs once. If loads win, Intel's CPUs take what is AMD's of forms and rows, but not of caches: rows
// avoid gathers, too. No such CPU has timed that. On an Emerald Rapids, loads took 1.7 times as long, and
// none of 120,000 calibrations beside other work was wrong (-bench Calibration).
func tune(cpu cpuKind) {
	gathers.Store(slowGathers)
	if cpu == intel {
		gathers.Store(fastGathers)
	}
	dense = form{denseBelow: windowKeys, denseBelowFar: windowKeys, loadsBelow: denseLoadsBelow[cpu]}
	staged = form{denseBelow: 64, denseBelowFar: 8, densePer256: 192, loadsBelow: stagedLoadsBelow[cpu]}
	firstFullProbes = 3
	byRows = [...][len(hashKinds)]rowLengths{fastGathers: rowsIntel, slowGathers: rowsAMD}
	pairBytes = pairBytesOf[cpu]
	requests512, requestBlocks512, requestAddedBlocks = requests512Of[cpu], requestBlocks512Of[cpu], requestAddedBlocksOf[cpu]
	mostFew = mostFewOf[cpu]
	if slowPDEP {
		staged, firstFullProbes = dense, maxFullProbes
	}
}

// What AVX-512 hashes by rows, on Intel's CPUs and on AMD's: no keys of a hash without a line. Figures are how many
// times as fast hashes of strings are by rows as by gathers.
//
// For AMD, they are from a Zen 4 and then a Zen 5, for windows of strings that lie near each other. Of 729
// choices between rows, gathers, AVX2 and Go, for five hashes, four layouts and 61 lengths, 13 took more than 1.1 times
// as long as the best, on either: mostly keys of 1,000 bytes among short ones, and XXPH3 of 9 to 16 bytes between
// offsets. Nori's two seeds go as XXH64 does, once for each.
//
// For Intel, they are from an Emerald Rapids, for windows of strings and of keys between offsets. Its gathers
// lose to rows where keys of fewer than 4 bytes cost them a branch and a load of each byte, and in LevelDB's
// hash where their lanes wait for the longest of 16 keys. LevelDB's hash of lengths that differ: 8 to 32 bytes
// 1.13 to 1.56, 0 to 12 bytes 1.3 to 1.7, 1 to 100 bytes 1.2, 20 to 40 bytes 0.9 to 1.16, 8 to 16 bytes 0.8 to
// 0.95. Of equal lengths: 64 bytes 1.3, 36 bytes 0.82 to 1.07, 16 bytes 0.65 to 0.9, 8 bytes 0.4 to 0.56.
var (
	rowsIntel = [len(hashKinds)]rowLengths{
		hashLevelDB: {equal: 48, short: 4, long: 20, most: 127}, // see above
		hashXXH64x2: {equal: longKey, short: 4, long: 32, most: 32},
		hashXXH64:   {equal: longKey, short: 4, long: 32, most: 32}, // 0 to 12 bytes 1.06 to 1.2; 8 to 32 bytes 0.95 to 1.1, 8 bytes 0.55
		// XXPH3 goes by no rows: 0 to 12 bytes 0.94, strings of 17 to 32 bytes 1.1, between offsets 0.8.
		hashLevelDBSigned: {equal: 48, short: 4, long: 20, most: 127},
	}
	rowsAMD = [len(hashKinds)]rowLengths{
		// 2 bytes 2.5, 3.2; 4 bytes 0.9, 0.96; 8 bytes 1.5, 1.9; 16 bytes 2.0, 2.3; 8 to 32 bytes 2.9, 3.0; 4 to 100 bytes
		// 2.5, 2.4; 0 to 12 bytes 2.6, 3.6; 200 bytes 3.2, 3.1.
		hashLevelDB: {equal: 5, tiny: 4, most: 1023},
		// 2 bytes 1.8, 1.8; 8 bytes 0.6, 0.65; 9 bytes 1.3, 1.4; 24 bytes 0.95, 1.04; 36 bytes 1.1, 1.2; 8 to 32 bytes
		// 1.6, 1.6; 4 to 100 bytes 1.5, 1.7.
		hashXXH64:   {equal: 1, fours: 25, most: longKey},
		hashXXH64x2: {equal: 1, fours: 25, most: longKey},
		// 2 bytes 1.2, 1.6; 8 bytes 1.07, 1.0; 16 bytes 1.4, 1.6; 36 bytes 1.7, 2.0; 8 to 32 bytes 1.7, 1.6; 4 to 100 bytes
		// 1.6, 1.8; 4 to 7 bytes 0.8, 0.8; between offsets, 10 bytes 0.8, 0.8, and 17 bytes 1.3 on a Zen 5.
		hashXXPH3:         {equal: 8, tiny: 4, beside: 17, short: 4, long: 8, most: 128},
		hashLevelDBSigned: {equal: 5, tiny: 4, most: 1023}, // 8 to 32 bytes 2.4, 2.5; 4 to 100 bytes 1.8 on a Zen 5
	}
)

// timeForms returns how long a kernel's tests of 256 hashes in a filter in the nearest cache take by gathers
// and by loads: the least of as many rounds, because other work can only make a round longer.
func timeForms(kernel Kernel, rounds, repeats int, clock func() uint64) (byGathers, byLoads uint64) {
	var bits [512]uint64
	var hashes [timedHashes]uint32
	var hits [timedHashes / 64]uint64
	random := uint64(1)
	for i := range bits {
		random = random*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
		bits[i], hashes[i%timedHashes] = random, uint32(random>>32)
	}
	d := newDouble32(unsafe.Slice((*byte)(unsafe.Pointer(&bits)), unsafe.Sizeof(bits)), 6)
	recip, shift := d.vectorWalk()
	byForm := [2]uint64{1 << 63, 1 << 63}
	for range rounds {
		for form := range byForm {
			start := clock()
			for range repeats {
				if form == 0 {
					probeDouble32(kernel, d.base, d.n, recip, shift, d.k, &hashes[0], timedHashes, &hits[0], 0, staged.denseBelow, staged.densePer256)
				} else {
					probeDouble32Loads(kernel, d.base, d.n, recip, shift, d.k, &hashes[0], timedHashes, &hits[0], 0, staged.denseBelow, staged.densePer256)
				}
			}
			byForm[form] = min(byForm[form], clock()-start)
		}
	}
	return byForm[0], byForm[1]
}

const timedHashes = 256

// timeOnce is timeGathers for the kernel that is chosen, in a few microseconds. It counts the ticks of the CPU:
// the clock of package time has steps of half a millisecond or more on Windows.
func timeOnce() (byGathers, byLoads uint64) {
	return timeForms(kernels[0], 4, 1, func() uint64 { return cpuid.CPU.RTCounter() })
}

// costs is kernelforms.Costs.
func costs() (all []kernelforms.Cost) {
	inUse := "gathers"
	if calibrate(); slowGather() {
		inUse = "loads"
	}
	start := time.Now()
	for _, kernel := range kernels[:len(kernels)-1] {
		const repeats = 1000
		byGathers, byLoads := timeForms(kernel, 5, repeats, func() uint64 { return uint64(time.Since(start)) })
		all = append(all, kernelforms.Cost{
			Kernel: kernel.String(), InUse: inUse,
			Gathers: float64(byGathers) / (repeats * timedHashes), Loads: float64(byLoads) / (repeats * timedHashes),
		})
	}
	return all
}
