//go:build unix && !purego

package bloom

import "testing"

// TestLoadsAtPageEnds is for the kernels of TestLoads.
func TestLoadsAtPageEnds(t *testing.T) {
	is(t, kernelTest|maskTest|alone)
	withLoads(t, !slowGather())
	t.Run("TestVectorsOfKeysAtPageEnds", TestVectorsOfKeysAtPageEnds)
	if testing.Short() {
		return // the others load nothing by a mask
	}
	t.Run("TestColumnsAtPageEnd", TestColumnsAtPageEnd)
	t.Run("TestArraysAtPageEnd", TestArraysAtPageEnd)
}

// TestRowsAtPageEnds is TestVectorsOfKeysAtPageEnds for the kernels that hash by rows.
func TestRowsAtPageEnds(t *testing.T) {
	is(t, kernelTest)
	withRows(t, "all")
	t.Run("TestVectorsOfKeysAtPageEnds", TestVectorsOfKeysAtPageEnds)
	t.Run("TestColumnsAtPageEnd", TestColumnsAtPageEnd)
	t.Run("TestNullRowsAtNoMemory", TestNullRowsAtNoMemory)
}
