package bloomsst

import (
	"testing"

	"github.com/lanebloom/bloom/internal/floors"
)

// TestFloors wants no file of the package to be under itself.
func TestFloors(t *testing.T) { floors.Check(t) }
