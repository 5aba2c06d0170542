package bloom

import "sync/atomic"

// These are the sizes from which on the code takes another path, and what it takes where gathers are slow.
// What depends on the CPU is in cpu_amd64.go and cpu_arm64.go.

const cacheLine = 64 // bytes, on most machines

const (
	// windowKeys is how many keys are hashed, and then probed, at a time. Their hashes stay in the
	// first-level cache. A call into assembly can't be preempted; for a window it is short.
	windowKeys = 1024
	// windowKeys128 is windowKeys for hashes of two 64-bit words: with their remainders,
	// they take six times as much of the cache.
	windowKeys128 = windowKeys / 2
	// farBytes is the size of a filter from which on a window has half as many keys. Such a
	// filter does not fit the caches, so a call into assembly takes longer for each key.
	farBytes = 32 << 20
	// exitBytes is the size of a filter from which on Go returns after four probes of the walk line512, if one
	// of them finds a clear bit, and not after all. While a CPU waits for a line, it loads those of later keys,
	// as many as it has room for their instructions: fewer instructions are more lines. On a Sapphire Rapids
	// (-bench Singles), absent keys were then 1.1 times as fast from 8 MiB on. At 1 MiB, a mixture took 1.4 times
	// as long.
	exitBytes = 4 << 20
	// singleKeys is the largest number of keys that a batch tests, or adds, one by one. For so
	// few, the buffers and the calls of a window cost more than the kernels save.
	singleKeys = 7
	// singleKeysGeneric is singleKeys for columns without null rows in portable Go. On a Sapphire
	// Rapids, windows of 8 and 16 present keys took longer than the plain loop, and single keys
	// do not (-bench SmallBatches).
	singleKeysGeneric = 31
	// stageBytes is the size of a filter from which on kernels of the walk double32 test small batches in
	// stages (form), too. The lines of such a filter come from a far cache or from memory. All probes of
	// an absent key at once load three times as many lines as its stages do, so they take longer. On a
	// Sapphire Rapids, 64 absent keys were as fast in stages at 2 MiB, 1.6 times as fast at 4 MiB, and
	// 2.4 times at 64 MiB. Batches of 8 absent keys are fastest one by one from this size on.
	stageBytes = 4 << 20
	// keysAcross is the largest number of keys that a Group tests one by one with all
	// filters. It tests more keys filter by filter. On a Sapphire Rapids, 32 keys were 1.0
	// to 3.2 times as fast so, in every kernel, and 64 keys 0.8 to 2.7 times (-bench GroupBatch).
	keysAcross = 32
	// smallBatch is the largest number of keys whose hashes are on the stack. To clear room for more would cost
	// more than to take a window.
	smallBatch = 64
	// minFew is the smallest number of integers that assembly hashes and tests in one function: it takes 8 at a time.
	minFew = 8
	// mostLinesBytes is the size from which on kernels set no lines: maxKernelBlocks and
	// maxKernelLines.
	mostLinesBytes = 1 << 32
	// maxHasProbes is the largest number of probes that assembly tests of a single key in the
	// walks line512 and line32: those of one vector.
	maxHasProbes = 8
	// minKernelHashes is the number of hashes from which on the kernels are faster than Go.
	minKernelHashes = 8
	// minSetHashes is the number of hashes from which on kernels set bits of lines.
	minSetHashes = 4
	// maxKernelLines is the number of lines of 64 bytes from which on Go serves a filter of the walks
	// line512 and line32, 4 GiB in all: offsets of lines have 32 bits in the kernels.
	maxKernelLines = 1 << 26
	// maxKernelBlocks is the same for the blocks of 32 bytes of the walk split256.
	maxKernelBlocks = 1 << 27
	// requestBytes is the size of a filter from which on kernels request the lines of later keys. In a
	// nearer cache, requests cost more than they save.
	requestBytes = 1 << 20
	// maxKernelBits is the most bits, 256 MiB, of a filter of the walk double64 that the kernels
	// test. Go tests larger filters.
	maxKernelBits = 1 << 31
	// minReduceBitsFull is the number of bits of a filter from which on AVX-512's tests of columns compute the
	// remainders of 64-bit hashes in floating point from the number of bits, and not from a multiple of it.
	minReduceBitsFull = 1 << 15
	// maxFullProbes is the most probes of a walk with a full remainder a probe that the kernels make.
	maxFullProbes = 32
	// longKey is the number of bytes from which on Go hashes a key.
	longKey = 1 << 15
)

// pairBytes is the size of a filter of the walk double32 from which on two probes of a single key share a
// branch, and not three. On a Sapphire Rapids, absent keys are then 1.1 times as fast at 256 KiB and 1.2
// times as fast from 8 MiB on; at 16 KiB they would take 1.1 times as long (-bench MayContain$). Prototypes
// on a Zen 3 gave the same bound.
var pairBytes uint64 = 256 << 10

// firstFullProbes is how many probes of a walk with a full remainder a probe the kernels make of all hashes before
// they look at the outcome: 3, or if PDEP is slow, all.
var firstFullProbes = 3

// mostFew is the largest number of integers that AVX-512 hashes and tests in one function, or 0.
var mostFew int

// lineLoads says how a kernel tests lines of 64 bytes.
type lineLoads uint8

const (
	nearLines      lineLoads = iota // it loads a line when it needs it
	requestedLines                  // it requests a line before
	halvedLines                     // it does that, and AVX-512 loads a line in two halves, as AVX2 always does
)

// lineRequests says how AVX-512 tests lines in filters of so many bytes and more. In smaller filters, they are near.
type lineRequests struct {
	loads lineLoads
	bytes uint64
}

// requests512 is the choice of AVX-512 for tests of lines of 64 bytes. requestBlocks512 is requestBytes for its
// tests of the blocks of the walk split256, and requestAddedBlocks for every kernel's adds to them, but those in order.
var (
	requests512                          lineRequests
	requestBlocks512, requestAddedBlocks uint64 = requestBytes, requestBytes
)

// lineLoads returns how the kernel tests lines of 64 bytes in a filter of so many bytes.
func (k Kernel) lineLoads(bytes uint64) lineLoads {
	least, loads := uint64(requestBytes), requestedLines
	if k == AVX512 {
		least, loads = requests512.bytes, requests512.loads
	}
	if bytes < least {
		return nearLines
	}
	return loads
}

// requestsBlocks reports whether tests by the kernel request the blocks of a filter of so many bytes.
func (k Kernel) requestsBlocks(bytes uint64) bool {
	if k == AVX512 {
		return bytes >= requestBlocks512
	}
	return bytes >= requestBytes
}

// form says how a kernel of the walk double32 tests. NEON makes the first probes of all hashes. It then
// compacts the hashes that pass and makes their other probes; if first is the number of probes or more, it
// compacts none.
//
// The other kernels test in stages, which make one probe of all hashes and compact those that pass, until
// at most denseBelow hashes are left, or more than densePer256/256 of them passed a stage. Then they make
// all other probes of each hash at once. In a filter of stageBytes, denseBelowFar takes the place of
// denseBelow. Where gathers are slow, AVX2 loads words one by one, and AVX-512, too, in a filter of fewer than
// loadsBelow bytes.
type form struct {
	first                                  int
	denseBelow, denseBelowFar, densePer256 int
	loadsBelow                             uint64
}

// isOfLoads reports whether a kernel loads words one by one in a filter of so many bytes.
func (f *form) isOfLoads(kernel Kernel, bytes uint64) bool {
	return (kernel == AVX2 || kernel == AVX512 && bytes < f.loadsBelow) && slowGather()
}

// staged is the form of most hashes, and dense that of hashes after many hits.
var staged, dense form

// rowLengths says which windows of keys a kernel hashes by rows: it loads the bytes of each key and transposes
// them, and gathers no words. No key that it looks at has fewer than least bytes, or more than most.
//
// If the first, the middle and the last key have one length, they go by rows if it is below tiny, or if it is equal
// or more; multiples of 4 also need fours or more, and keys side by side beside or more. Otherwise they do if a
// key, as far as it looks, has fewer than short bytes, or more than long. The zero value has no keys.
type rowLengths struct{ equal, tiny, fours, beside, short, long, least, most int }

// byRows has the lengths of AVX-512 for each hash: where gathers are fast, and where they are slow.
var byRows [2][len(hashKinds)]rowLengths

// foursXXPH3 has those of AVX2 for XXPH3, whose kernel hashes four keys at a time. On an Emerald Rapids with other
// work beside it, Go took 0.9 times as long for keys of 8 bytes, and as long for keys of 16.
var foursXXPH3 = rowLengths{equal: 17, least: 8, most: 128}

// gathers says whether the CPU's gathers take longer than the loads that they stand for. AVX2's kernels then
// load, and AVX-512's in near caches. An init function knows it of AMD's CPUs. Of all others, the first
// whole window that is hashed finds out; nothing else changes after the init functions.
var gathers atomic.Uint32

// What gathers is. The first two are indices of byRows.
const (
	fastGathers    uint32 = iota // or the kernels have none
	slowGathers                  // gathers take longer than loads
	untimedGathers               // fast until they are timed
)

// timeGathers returns how long gathers and loads take, in the same unit, or 0 if there is no clock. An init
// function sets it where kernels gather.
var timeGathers func() (byGathers, byLoads uint64)

// slowGather returns what gathers says. It times nothing: a call in the tests of 8 keys would cost them 5 %.
func slowGather() bool { return gathers.Load() == slowGathers }

// calibrate times gathers and loads if nobody has. While one goroutine does, the others gather.
func calibrate() {
	if gathers.Load() == untimedGathers && gathers.CompareAndSwap(untimedGathers, fastGathers) && areSlow(timeGathers()) {
		gathers.Store(slowGathers)
	}
}

// areSlow reports whether loads are worth taking in place of gathers. Where both take about as long, a
// wrong answer would cost little, and the margin keeps noise from changing what most CPUs do.
func areSlow(byGathers, byLoads uint64) bool {
	return byLoads > 0 && 10*byGathers > 11*byLoads
}
