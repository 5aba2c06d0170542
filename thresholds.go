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

	// Kernels hash so many keys at a time. Fewer are filled up, or hashed in Go, or tested one by one: schemes has the limits.
	vectorKeys = 16
	// Kernels hash so many integers or keys of RocksDB, or more, in a vector that is filled up: Go hashes fewer in less time.
	filledKeys = 12
	// At most so many keys are added one by one. Kernels find the places of no fewer hashes.
	leastHashes = 8
	// Batches of at most so many keys have their hashes on the stack, if these are one word each.
	smallBatch = 64
	// At most so many keys are tested one by one by portable Go, and key after key by a Group.
	keysAcross = 32
	// A Group loads the lines of a key in at most so many large filters of RocksDB at once, before it tests them: of more
	// filters, the kernel's own loads take less time.
	touchFilters = 24
	// So many views become strings at a time.
	viewKeys = 256

	// If less than one row in so many of a window has a key, the keys are hashed one by one. To find the lengths of a window, one row in
	// so many is asked.
	sparseRows = 32
	// AVX-512's call of LevelDB's hash ends at a key of so many bytes: a group takes as long as its longest key.
	rowsLimit = 1024

	// An AtomicSet computes and loads so many probes of a key before it sets the first.
	someProbes = 16
	// For a column, it loads so many bits before it sets the first.
	somePlaces = 64

	// Go hashes longer keys alone, and a call of XXPH3 hashes at most so many bytes, because a call of assembly cannot be preempted.
	longKey = 1 << 15
)

// farBytes is the size, in bytes, of a filter that lies beyond the near caches. Its lines are requested before they are needed,
// and its allocation has huge pages.
const farBytes = memory.Far

// Stages, or all probes of a key at once.
const (
	// LevelDB's kernel turns dense when more than so many of 256 hashes pass a stage.
	densePer256 = probes.DensePer256

	// A scheme of 64-bit remainders turns dense when so many of 256 keys are hits.
	denseFull256 = 64
	// Its kernels, and LevelDB's of NEON, make so many probes of all hashes first, unless they begin dense.
	firstProbes = 3

	// Encoded filters of bits-and-blooms below so many bits take a reciprocal, and others a division for each probe.
	reciprocalBelow = 1 << 12
)

// Requests, pages and the regions of a build.
const (
	// A build computes the places of some keys at a time: at least those of one key.
	windowPlaces = 1 << 12

	// If keys lie side by side, bits-and-blooms' hash requests so many bytes ahead.
	columnAhead = 2 << 10

	// One worker sets filters of so many bytes region by region.
	regionsBytes = 16 << 20
	// Several workers set filters of so many bytes.
	shareBytes = 2 << 20
	// The binary logarithm of a region's bits, 64 KiB.
	regionShift = 19
	// All workers together keep so many places for a region, which take half of its memory.
	regionPlaces = 1 << regionShift / 64
	// Each worker has at least so many keys.
	workerKeys = 1 << 17
	// More workers would share regionPlaces in parts that are too small to gain from.
	maxWorkers = 16
)

// Interleaved filters, in memory and in files.
const (
	// So many filters are put in, and so many keys are tested, at a time: their part of a slice is a cache line.
	columnsAtOnce = 8 * memory.CacheLine
	// WriteTo copies so many bytes of slices to a buffer, and a read of a batch takes as many, unless one slice has more.
	fileAtOnce = 1 << 20
	// One read takes all slices of a key if they span at most so many bytes.
	regionAtOnce = 64 << 10
	// A batch reads up to so many bytes between two slices rather than to read twice.
	batchGap = 16 << 10
)
