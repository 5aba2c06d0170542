//go:build unix

package keyhash

import (
	"testing"
	"unsafe"

	"github.com/lanebloom/bloom/internal/guard"
)

// TestBounds hashes keys that end where an inaccessible page begins.
func TestBounds(t *testing.T) {
	const most = 600
	after := guard.Buffer(t, most)
	for name, h := range hashes {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= most; n++ {
				h.of(unsafe.Pointer(&after[most-n]), n)
			}
		})
	}
}
