package bloom

import "github.com/lanebloom/bloom/internal/probes"

// The tuning numbers of the package: each changes speed, and never an answer. Limits of kernels are in kernel.go.
//
// A comment says what a number decides. If it was timed, it also says what it gains, on which CPU, and which benchmark shows that:
// go test -run - -bench NAME . "×1.1" is 1.1 times as fast as without it. Z3, Z4 and Z5 are AMD's Zen 3, 4 and 5; SPR is Intel's
// Sapphire Rapids, and ER its Emerald Rapids; "?" is a CPU that was not recorded. docs/design.md has the reasons.

// Keys at a time.
const (
	// A window is the keys that are hashed before they are probed. A key takes 1.8 ns; with 512 keys 2.0, 256 2.3, 64 4.3 (Skylake).
	windowKeys = probes.Window
	// The same for hashes of two words and more, which take more of the cache.
	windowKeys128 = windowKeys / 2

	// Fewer keys than a vector of most kernels has are tested one by one: 9 to 15 keys ×1.1 to 2 (Z3, Z5, SmallBatches).
	vectorKeys = 16
	// At most so many keys are tested one by one where no assembly tests single keys. Kernels take no fewer hashes.
	singleKeys = 8
	// Batches of at most so many keys have their hashes on the stack.
	smallBatch = 64
	// At most so many keys are tested one by one by portable Go, and key after key by a Group: 32 keys ×1.0 to 3.2, 64 ×0.8 to 2.7
	// (SPR, GroupBatch).
	keysAcross = 32
	// So many views become strings at a time. With 64, views of 8 to 32 bytes take 1.05 to 1.15 times as long (Z5).
	viewKeys = 256

	// If less than one row in so many of a window has a key, the keys are hashed one by one. To find the lengths of a window, one row in
	// so many is asked.
	fewKeys = 32
	// AVX-512's call of LevelDB's hash ends at a key of so many bytes: a group takes as long as its longest key (Z5, Columns).
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
const farBytes = 4 << 20

// Stages, or all probes of a key at once.
const (
	// LevelDB's kernel turns dense when more than so many of 256 hashes pass a stage. With 224 it takes up to 5 % longer, with 128 up to
	// 19 % (Z5, Forms).
	densePer256 = probes.DensePer256

	// A walk of 64-bit remainders turns dense when so many of 256 keys are hits.
	denseFull256 = 64
	// Its kernels, and LevelDB's of NEON, make so many probes of all hashes first, unless they begin dense.
	firstProbes = 3

	// Encoded filters of bits-and-blooms below so many bits take a reciprocal, and others a division for each probe: rows of 152 bytes
	// ×1.1. With a reciprocal, rows of 1.3 KB would be ×0.9 (Z5, stored programs in compare/).
	reciprocalBelow = 1 << 12
)

// Requests, pages and the regions of a build.
const (
	// If keys lie side by side, bits-and-blooms' hash requests so many bytes ahead: keys of 36 bytes beyond the L2 cache ×2.3, all others
	// ×1.0 (Z5, Hash).
	columnAhead = 2 << 10

	// One worker sets filters of so many bytes region by region: 4.2 ns a bit instead of 10 to 12. From 2 to 8 MiB it gains nothing
	// (?, Build).
	regionsBytes = 16 << 20
	// Several workers set filters of so many bytes (Cores).
	shareBytes = 2 << 20
	// The binary logarithm of a region's bits, 64 KiB. Regions of 32 to 512 KiB are within 10 % (?, Build).
	regionShift = 19
	// All workers together keep so many places for a region, which take half of its memory.
	regionPlaces = 1 << regionShift / 64
	// Each worker has at least so many keys (Cores).
	workerKeys = 1 << 17
	// More workers would share regionPlaces in parts that are too small to gain from.
	maxWorkers = 16
)

// Interleaved filters, in memory and in files.
const (
	// So many filters are put in, and so many keys are tested, at a time: their part of a slice is a cache line.
	columnsAtOnce = 8 * cacheLine
	// WriteTo copies so many bytes of slices to a buffer, and a read of a batch takes as many, unless one slice has more.
	fileAtOnce = 1 << 20
	// One read takes all slices of a key if they span at most so many bytes.
	regionAtOnce = 64 << 10
	// A batch reads up to so many bytes between two slices rather than to read twice.
	batchGap = 16 << 10
)

// foursXXPH3 says which keys AVX2 hashes four at a time. Of others, keys of 8 bytes would be ×0.9, and of 16 ×1.0 (ER, Hash).
var foursXXPH3 = rowLengths{equal: 17, least: 8, most: 128}
