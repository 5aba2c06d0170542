//go:build !amd64 || purego

package bloom

// There is no assembly here: Go does all the work.

func (w walkKind) newBlocks([]array) []block { return nil }

func (d *double64) form() int { return 0 }

func testPartDouble32Assembly(Kernel, *part, uint32) (word uint64, probes int)         { return 0, 0 }
func testPartDouble64Assembly(Kernel, *part, uint64, uint64) (word uint64, probes int) { return 0, 0 }
func testPartSplit256Assembly(Kernel, *part, uint64) (word uint64, ok bool)            { return 0, false }
func testPartLine512Assembly(Kernel, *part, uint64) (word uint64, ok bool)             { return 0, false }
func testPartLine32Assembly(Kernel, *part, uint32) (word uint64, ok bool)              { return 0, false }
