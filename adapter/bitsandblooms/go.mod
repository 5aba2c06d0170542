module github.com/lanebloom/bloom/adapter/bitsandblooms

go 1.24.0

require (
	github.com/bits-and-blooms/bitset v1.24.2
	github.com/bits-and-blooms/bloom/v3 v3.7.1
	github.com/lanebloom/bloom v0.1.0
	github.com/twmb/murmur3 v1.1.8
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
