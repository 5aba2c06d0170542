// Package kernelforms tells bloom bench how the kernels of this CPU get the words of a filter.
package kernelforms

// Cost is what a kernel takes to test an absent key of LevelDB's format in a filter in the nearest cache.
type Cost struct {
	Kernel  string  `json:"kernel"`
	Gathers float64 `json:"gathers_ns_per_key"`
	Loads   float64 `json:"loads_ns_per_key"`
	InUse   string  `json:"in_use"` // gathers, or loads
}

// Costs measures each kernel that can gather or load, in a few milliseconds. It is nil where none can.
var Costs func() []Cost
