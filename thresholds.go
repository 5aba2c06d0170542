package bloom

import (
	"github.com/lanebloom/bloom/internal/memory"
	"github.com/lanebloom/bloom/internal/probes"
)

// The tuning numbers of the package: each changes speed, and never an answer. Limits of kernels are in kernel.go.
//
// A comment says what a number decides. docs/measurements/dropped.md says what other numbers took, and docs/design.md has the reasons.

// Keys at a time.
const (
	// A window is the keys that are hashed before they are probed.
	windowKeys = probes.Window
	// The same for hashes of two words and more, which take more of the cache.
	windowKeys128 = windowKeys / 2

	// The number of keys that kernels hash at a time. Fewer are filled up, or hashed in Go, or tested one by one: schemes has the limits.
	vectorKeys = 16
	// The least integers or keys of RocksDB for which kernels fill up a vector: Go hashes fewer in less time.
	filledKeys = 12
	// The most keys that are added one by one. Kernels find the places of as many hashes or more.
	leastHashes = 8
	// The largest batch, in keys, whose hashes are on the stack, if these are one word each.
	smallBatch = 64
	// The most keys that portable Go tests one by one, and a Group key after key.
	keysAcross = 32
	// The most large filters of RocksDB in which a Group loads the lines of a key at once, before it tests them: of more
	// filters, the kernel's own loads take less time.
	touchFilters = 24
	// So many views become strings at a time.
	viewKeys = 256

	// If less than one row in 32 of a window has a key, the keys are hashed one by one. The lengths of the keys of a window are
	// sampled at the same rate.
	sparseRows = 32
	// The length, in bytes, of a key at which AVX-512's call of LevelDB's hash ends: a group takes as long as its longest key.
	rowsLimit = 1024

	// The probes of a key that an AtomicSet computes and loads before it sets the first.
	someProbes = 16
	// The bits that it loads for a column before it sets the first.
	somePlaces = 64

	// The bytes that a call of XXPH3 hashes at most, because a call of assembly cannot be preempted. Go hashes longer keys alone.
	longKey = 1 << 15
)

// farBytes is the size, in bytes, of a filter that lies beyond the near caches. Its lines are requested before they are needed,
// and its allocation has huge pages.
const farBytes = memory.Far

// Stages, or all probes of a key at once.
const (
	// LevelDB's kernel turns dense when more hashes of 256 pass a stage.
	densePer256 = probes.DensePer256

	// A scheme of 64-bit remainders turns dense at this number of hits among 256 keys.
	denseFull256 = 64
	// The probes that its kernels, and LevelDB's of NEON, make of all hashes first, unless they begin dense.
	firstProbes = 3

	// Encoded filters of bits-and-blooms with fewer bits use a reciprocal, and others a division for each probe.
	reciprocalBelow = 1 << 12
)

// Requests, pages and the regions of a build.
const (
	// A build computes the places of some keys at a time: at least those of one key.
	windowPlaces = 1 << 12

	// How far ahead, in bytes, bits-and-blooms' hash requests keys that lie side by side.
	columnAhead = 2 << 10

	// The least bytes of a filter that one worker sets region by region.
	regionsBytes = 16 << 20
	// The least bytes of a filter that several workers set.
	shareBytes = 2 << 20
	// The binary logarithm of a region's bits, 64 KiB.
	regionShift = 19
	// The places that all workers together keep for a region: they take half of its memory.
	regionPlaces = 1 << regionShift / 64
	// The least keys of a worker.
	workerKeys = 1 << 17
	// More workers would share regionPlaces in parts that are too small to gain from.
	maxWorkers = 16
)

// Interleaved filters, in memory and in files.
const (
	// The filters that are put in, and the keys that are tested, at a time: their part of a slice is a cache line.
	columnsAtOnce = 8 * memory.CacheLine
	// The bytes of slices that WriteTo copies to a buffer, and that a batch reads at once, unless one slice has more.
	fileAtOnce = 1 << 20
	// One read returns all slices of a key if they span no more bytes.
	regionAtOnce = 64 << 10
	// The most bytes between two slices that a batch reads rather than to read twice.
	batchGap = 16 << 10
)
