package main

import (
	"fmt"

	"github.com/lanebloom/bloom"
)

// collisions looks for equal hashes among the first keys of a filter whose hash has 32 bits. Keys with
// 64-bit hashes have none, and tell duplicates from collisions.
type collisions struct {
	hashes, different *bloom.Builder
}

const sampleKeys = 1 << 20

func (c *collisions) add(keys [][]byte, hashed bloom.Keys, format bloom.Format) {
	if hashBits(format) > 32 {
		return
	}
	if c.hashes == nil {
		c.hashes = bloom.Policy{Format: format}.NewBuilder()
		c.different = bloom.Policy{Format: bloom.Default}.NewBuilder()
	}
	n := min(len(keys), sampleKeys-c.hashes.Len())
	c.hashes.AddBatch(hashed.Slice(0, n))
	c.different.AddBatch(bloom.Bytes(keys[:n]))
}

// warn warns if equal hashes make more false positives than the bits are expected to.
func (c *collisions) warn(s *streams, policy bloom.Policy, n int) {
	if c.hashes == nil {
		return
	}
	collisions := c.hashes.Collisions() - c.different.Collisions()
	share := 2 * float64(collisions) / float64(max(c.hashes.Len(), 1))
	if expected := policy.FalsePositiveRate(n); collisions >= 100 && share > expected {
		fmt.Fprintf(s.err, "bloom: warning: different keys have equal hashes in the format %v: some %.2g %% of absent keys like them pass, however many bits the filter has, and not %.2g %%; the format %v has no equal hashes\n",
			policy.Format, 100*share, 100*expected, bloom.Default)
	}
}
