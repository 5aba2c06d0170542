// Package bloom has the names and signatures of github.com/bits-and-blooms/bloom/v3. It reads and writes the
// same bytes, but uses the code of this library. A program only has to change its import:
//
//	import bloom "github.com/lanebloom/bloom/adapter/bitsandblooms" // was "github.com/bits-and-blooms/bloom/v3"
//
// Filters with equal m, k and keys are equal byte for byte. Each library reads what the other wrote with
// WriteTo, MarshalBinary, gob or JSON. [BloomFilter.AddBatch], [BloomFilter.TestBatch] and
// [BloomFilter.TestAndAddBatch] process a column of keys in one call. [BloomFilter.Filter] returns the filter
// as a Filter of github.com/lanebloom/bloom, for example for use in a group. A program that only tests stored
// filters does not need a BloomFilter: see Open and Format.MayContainHash of that package.
//
// # What differs
//
// The tests of bits-and-blooms pass with this package. These calls differ:
//
//	call                      bits-and-blooms                       here
//	BitSet                    the bits of the filter                a copy of them
//	g := *f, if f grows       keys added to g are also in f         the first addition gives g its own bits
//	From, FromWithM           the filter uses the slice             the slice is copied; bits that are set later are
//	                                                                  also set in the slice, until the filter grows
//	Add, if the slice has     the bits grow up to the bit           the bits grow to m
//	  fewer than m bits         that is set
//	New(0, k)                 no bits before the first key          one bit
//	New, if m is too large    Add panics                            New panics
//	k above 4,096             works                                 New and From panic; reading it is an error
//	Copy, if k is 0           the copy has k = 1                    the copy has k = 0
//	NewWithEstimates(0, p)    on amd64, k is 2^63                   k is 1
//	EstimateParameters with   depends on the CPU                    0, or the largest uint
//	  impossible arguments
//	m = 0, as in From(nil, k) queries and additions panic           contains no keys; additions panic; no JSON
//	  and the zero filter
//	reading null from JSON    sets the zero filter                  changes nothing, as encoding/json requires
//	Merge, if k differs       the error names m                     the error names k
//	reading damaged bytes     panics, allocates what the bytes      returns an error, and the filter does not change
//	                            claim, or the filter panics later
//	reading a filter whose m  works                                 returns an error if the difference is more than
//	  exceeds its stored bits                                         2^20, because the first addition would allocate it
//	bitset.LittleEndian,      change what is written and read       have no effect: words are big-endian, and JSON uses
//	  Base64StdEncoding                                               the base64 alphabet for URLs
//	ApproximatedSize, if all  depends on the CPU                    the largest uint32
//	  bits are set
//
// As in bits-and-blooms, a filter is safe for concurrent use as long as no goroutine changes it.
package bloom

import lanebloom "github.com/lanebloom/bloom"

// Keys is a column of keys. Functions of github.com/lanebloom/bloom make columns from strings, byte slices,
// integers and other layouts.
type Keys = lanebloom.Keys
