module github.com/lanebloom/bloom/adapter/parquet

go 1.24.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/lanebloom/bloom v0.1.0
)

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
