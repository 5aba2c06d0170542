package bloom

// The tuning numbers of the package: each changes speed, and never an answer. Limits of kernels are in kernel.go.
//
// A line says what a number is for, what it gains, on which CPU, and which benchmark shows that: go test -run - -bench NAME .
// "×" is how many times as fast the choice is as its alternative. Z3, Z4 and Z5 are AMD's Zen 3, 4 and 5; SPR is Intel's Sapphire
// Rapids, and ER its Emerald Rapids; "?" is one that was not recorded. A number without a figure is untimed. docs/design.md has the
// reasons.

// Keys at a time.
const (
	windowKeys    = 1024           // hashed, then probed: 1.8 ns a key, with 512 2.0, 256 2.3, 64 4.3 (Skylake)
	windowKeys128 = windowKeys / 2 // the same for hashes of two words and more, which take more of the cache: untimed

	vectorKeys = 16  // of a vector of most kernels: fewer are tested one by one, 9 to 15 ×1.1 to 2 over a window (Z3, Z5, SmallBatches)
	singleKeys = 8   // tested one by one where no assembly tests single keys, and added so; kernels take no fewer hashes: untimed
	smallBatch = 64  // at most, whose hashes are on the stack: untimed
	keysAcross = 32  // at most, which portable Go tests one by one, and a Group key by key: 32 ×1.0 to 3.2, 64 ×0.8 to 2.7 (SPR, GroupBatch)
	viewKeys   = 256 // whose views become strings at a time: with 64, views of 8 to 32 bytes take 1.05 to 1.15 times as long (Z5)

	fewKeys   = 32   // a window with less than one key of so many rows is hashed key by key, and one row of so many is asked for its length: untimed
	rowsLimit = 1024 // bytes of a key at which LevelDB's hash of AVX-512 ends: a group takes as long as its longest key (Z5, Columns)
	restKeys  = 11   // of 16, from which on a last group that is not full goes by rows: untimed

	someProbes = 16 // of a key that an AtomicSet computes and loads before it sets one: untimed
	somePlaces = 64 // bits that it loads before it sets one: untimed

	longKey = 1 << 15 // bytes of a key that Go hashes alone, and of which a call of XXPH3 hashes so many, because none can be preempted: untimed
)

// farBytes is the size, in bytes, of a filter that lies beyond the near caches. Its lines are requested before they are needed,
// and its allocation has huge pages.
const farBytes = 4 << 20

// Stages, or all probes of a key at once.
const (
	densePer256 = 192 // hashes of 256 that pass a stage, above which it turns dense: with 224 up to 5 % longer, 128 up to 19 % (Z5, Forms)

	denseFull256  = 64 // hits of 256 keys, from which on a walk of 64-bit remainders turns dense: untimed
	fewFullProbes = 3  // probes that its kernels make of all hashes first, where PDEP is not slow: untimed
	firstNEON     = 2  // the same of double32 by NEON: untimed

	// Encoded filters of bits-and-blooms below so many bits take a reciprocal, and others a division for each probe.
	// Rows of 152 bytes ×1.1; 1.3 KB with a reciprocal 0.9 (Z5, stored programs in compare/).
	reciprocalBelow = 1 << 12
)

// Requests, pages and the regions of a build.
const (
	columnAhead = 2 << 10 // bytes after a key side by side that bits-and-blooms' hash requests: 36 bytes beyond the L2 cache ×2.3, else 1.0 (Z5, Hash)

	regionsBytes = 16 << 20              // of a filter that one worker sets by region: 4.2 ns a bit for 10 to 12; 2 to 8 MiB the same (?, Build)
	shareBytes   = 2 << 20               // of a filter that several workers set: untimed (Cores)
	regionShift  = 19                    // log2 of a region's bits, 64 KiB: 32 to 512 KiB are within 10 % (?, Build)
	regionPlaces = 1 << regionShift / 64 // that all workers together keep for a region, half of its memory: untimed
	workerKeys   = 1 << 17               // at least for each worker: untimed (Cores)
	maxWorkers   = 16                    // more share regionPlaces in parts too small to gain from: untimed
)

// Interleaved filters, in memory and in files.
const (
	columnsAtOnce = 8 * cacheLine // filters that are put in, and keys that are tested, at a time: their part of a slice is a line: untimed
	fileAtOnce    = 1 << 20       // bytes of slices that WriteTo copies to a buffer, or a read of a batch takes, unless one has more: untimed
	regionAtOnce  = 64 << 10      // bytes that a key's slices span at most for one read to take them: untimed
	batchGap      = 16 << 10      // bytes between two slices that a batch reads rather than to read twice: untimed
)

// foursXXPH3 is the keys that AVX2 hashes four at a time, over Go: 8 bytes ×0.9, 16 1.0 (ER, Hash).
var foursXXPH3 = rowLengths{equal: 17, least: 8, most: 128}
