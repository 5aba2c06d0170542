package main

import (
	"cmp"
	"slices"

	"github.com/lanebloom/bloom/adapter/parquet"
)

// trustFlag says which of a file's metadata are believed.
type trustFlag struct {
	Trust trust `enum:"both,filters,bounds,nothing" default:"both" placeholder:"WHAT" help:"Which metadata of the files to trust: filters, bounds, both or nothing (both). Change this if the program that wrote the files got filters or bounds wrong."`
}

type trust string

// trusted is what the command line says. There is one in a process.
var trusted trust = "both"

func (f trustFlag) apply() { trusted = cmp.Or(f.Trust, "both") }

func (t trust) filters() bool { return t == "both" || t == "filters" }
func (t trust) bounds() bool  { return t == "both" || t == "bounds" }

// of returns a column without the metadata that are not believed.
func (t trust) of(c *bloomparquet.Column) (*bloomparquet.Column, error) {
	if t == "both" {
		return c, nil
	}
	m := c.Meta()
	m.Chunks = slices.Clone(m.Chunks)
	for i := range m.Chunks {
		chunk := &m.Chunks[i]
		if !t.filters() {
			chunk.FilterOffset = 0
		}
		if !t.bounds() {
			chunk.Min, chunk.Max, chunk.Unordered = nil, nil, false
		}
	}
	return bloomparquet.Open(m)
}
