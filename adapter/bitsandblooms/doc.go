// Package bloom has the names and signatures of github.com/bits-and-blooms/bloom/v3, and its bytes, on the
// code of this library. A program changes its import and nothing else:
//
//	import bloom "github.com/lanebloom/bloom/adapter/bitsandblooms" // was "github.com/bits-and-blooms/bloom/v3"
//
// Filters of equal m, k and keys are equal byte for byte. Each library reads what the other wrote with WriteTo,
// MarshalBinary, gob or JSON. [BloomFilter.AddBatch], [BloomFilter.TestBatch] and [BloomFilter.TestAndAddBatch] take a
// column of keys in one call, and [BloomFilter.Filter] is the same filter for the rest of this library, such as
// groups. A program that only tests stored filters needs no BloomFilter: see Open and MayContainHash of
// github.com/lanebloom/bloom.
//
// # What differs
//
// The tests of bits-and-blooms pass with this package. These calls differ:
//
//	call                      bits-and-blooms                       here
//	BitSet                    the bits of the filter                a copy of them
//	g := *f of a filter that  additions to g are in f               g has bits of its own from its first addition on
//	  grows
//	From, FromWithM           the slice holds the bits              the slice is copied; bits that are set later are
//	                                                                  set in it, too, until the filter grows
//	Add, if m is more than    the bits grow up to the one           the bits grow to m
//	  the slice's bits          that is set
//	New(0, k)                 no bits before the first key          one bit
//	New of too large an m     Add panics                            New panics
//	k above 4,096             works                                 New and From panic; to read it is an error
//	Copy of k = 0             k is 1                                k is 0
//	NewWithEstimates(0, p)    on amd64, k is 2^63                   k is 1
//	EstimateParameters of     differs by CPU                        0, or the largest uint
//	  what no filter has
//	m = 0, as in From(nil, k) queries and additions panic           holds no key; additions panic; no JSON
//	  and the zero filter
//	null in JSON              makes it the zero filter              changes nothing, as encoding/json asks for
//	Merge of two k            the error names m                     the error names k
//	ReadFrom and the like,    panics, allocates what the bytes      an error, and the filter stays as it was
//	  of damaged bytes          claim, or the filter panics later
//	m of a filter that is     any                                   an error from 2^20 bits more than are stored, since
//	  read                                                            the first addition would need the memory
//	bitset.LittleEndian,      change what is written and read       change nothing: words are big-endian, JSON has the
//	  Base64StdEncoding                                               alphabet for URLs
//	ApproximatedSize of a     differs by CPU                        the largest uint32
//	  filter of set bits
//
// As there, goroutines may share a filter while none changes it.
package bloom

import lanebloom "github.com/lanebloom/bloom"

// Keys is a column of keys. The package github.com/lanebloom/bloom makes it of strings, byte slices, integers and others.
type Keys = lanebloom.Keys
