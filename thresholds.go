package bloom

// These are the sizes from which on the code takes another path, and what it takes where gathers are slow.
// What depends on the CPU is in cpu_amd64.go and cpu_arm64.go.

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
	// minKernelHashes is the number of hashes from which on the kernels are faster than Go.
	minKernelHashes = 8
	// requestBytes is the size of a filter from which on kernels request the lines of later keys. In a
	// nearer cache, requests cost more than they save.
	requestBytes = 1 << 20
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

// requests512 is the choice of AVX-512 for tests of lines of 64 bytes. requestBlocks512 is requestBytes for its
// tests of the blocks of the walk split256, and requestAddedBlocks for every kernel's adds to them, but those in order.
var (
	requests512                          lineRequests
	requestBlocks512, requestAddedBlocks uint64 = requestBytes, requestBytes
)

// staged is the form of most hashes, and dense that of hashes after many hits.
var staged, dense form

// byRows has the lengths of AVX-512 for each hash: where gathers are fast, and where they are slow.
var byRows [2][len(hashKinds)]rowLengths

// foursXXPH3 has those of AVX2 for XXPH3, whose kernel hashes four keys at a time. On an Emerald Rapids with other
// work beside it, Go took 0.9 times as long for keys of 8 bytes, and as long for keys of 16.
var foursXXPH3 = rowLengths{equal: 17, least: 8, most: 128}
