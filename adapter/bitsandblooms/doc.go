// Package bloom has the names and signatures of github.com/bits-and-blooms/bloom/v3. It reads and writes the
// same bytes, with the code of this library. A program changes its import and nothing else:
//
//	import bloom "github.com/lanebloom/bloom/adapter/bitsandblooms" // was "github.com/bits-and-blooms/bloom/v3"
//
// Filters with equal m, k and keys are equal byte for byte. Each library reads what the other wrote with
// WriteTo, MarshalBinary, gob or JSON. [BloomFilter.AddBatch], [BloomFilter.TestBatch] and
// [BloomFilter.TestAndAddBatch] handle a column of keys in one call, and [BloomFilter.Filter] returns the
// same filter for the rest of this library, such as groups. A program that only tests stored filters does not
// need a BloomFilter: see Open and MayContainHash of github.com/lanebloom/bloom.
//
// # What differs
//
// The tests of bits-and-blooms pass with this package. These calls differ:
//
//	call                      bits-and-blooms                       here
//	BitSet                    the bits of the filter                a copy of them
//	g := *f of a filter that  additions to g are in f               g gets bits of its own with its first addition
//	  grows
//	From, FromWithM           the slice holds the bits              the slice is copied; bits that are set later are
//	                                                                  also set in it, until the filter grows
//	Add, if m is more than    the bits grow up to the one           the bits grow to m
//	  the slice's bits          that is set
//	New(0, k)                 no bits before the first key          one bit
//	New of too large an m     Add panics                            New panics
//	k above 4,096             works                                 New and From panic; to read it is an error
//	Copy of k = 0             k is 1                                k is 0
//	NewWithEstimates(0, p)    on amd64, k is 2^63                   k is 1
//	EstimateParameters of     depends on the CPU                    0, or the largest uint
//	  impossible arguments
//	m = 0, as in From(nil, k) queries and additions panic           holds no key; additions panic; no JSON
//	  and the zero filter
//	null in JSON              makes it the zero filter              changes nothing, as encoding/json requires
//	Merge of two k            the error names m                     the error names k
//	ReadFrom and the like,    panics, allocates what the bytes      an error, and the filter stays as it was
//	  of damaged bytes          claim, or the filter panics later
//	m of a filter that is     any                                   an error if m exceeds the stored bits by 2^20 or more,
//	  read                                                            because the first addition would need the memory
//	bitset.LittleEndian,      change what is written and read       change nothing: words are big-endian, JSON has the
//	  Base64StdEncoding                                               alphabet for URLs
//	ApproximatedSize of a     depends on the CPU                    the largest uint32
//	  filter of set bits
//
// As in bits-and-blooms, goroutines may share a filter while none changes it.
package bloom

import lanebloom "github.com/lanebloom/bloom"

// Keys is a column of keys. Functions of the package github.com/lanebloom/bloom return columns of strings,
// byte slices, integers and other layouts.
type Keys = lanebloom.Keys
