module github.com/lanebloom/bloom/adapter/sst

go 1.24.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/klauspost/compress v1.19.2
	github.com/lanebloom/bloom v0.1.0
	github.com/minio/minlz v1.0.1
	github.com/pierrec/lz4/v4 v4.1.29
	github.com/zeebo/xxh3 v1.1.0
)

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

