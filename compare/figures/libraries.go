package main

import (
	"fmt"
	"strings"
)

// The calls of a library, and the kinds of keys.
const (
	keyByKey, atOnce = "key by key", "at once"
	integers, texts  = "integers", "strings"
)

// compared has the figures of a library with one kind of calls, in filters of some keys of a kind. Some calls do not build,
// and others only build.
type compared struct{ rate, absent, present, build float64 }

func (r run) compared(keys int, kind, library, call string) (c compared) {
	at := fmt.Sprintf("libraries/keys=%d/of=%s/library=%s", keys, kind, library)
	of := func(name string) figure {
		f, _ := r.find(name) // what was not measured is 0
		return f
	}
	c.rate = of(at).Rate
	for job, to := range map[string]*float64{"absent": &c.absent, "present": &c.present, "build": &c.build} {
		*to = of(at + "/call=" + call + "/job=" + job).Ns
	}
	return c
}

// leftOut are rows like others: the table has single keys of the default alone.
var leftOut = map[string]bool{
	"lanebloom, LevelDB, key by key": true, "lanebloom, Parquet, key by key": true, "lanebloom, Pebble, key by key": true,
	"lanebloom, BitsAndBlooms, key by key": true, "lanebloom, Pebble, at once": true, "C++ RocksDB before 5, at once": true,
	"lanebloom, LevelDB, avx2, key by key": true, "lanebloom, Parquet, avx2, key by key": true,
}

// librariesTable has all libraries. A cell has the figures of both sizes.
func librariesTable(r run) (string, error) {
	sizes := []int{10_000, keysOfREADME}
	g := newGrid("", "false positives", "integers: absent", "present", "build", "strings: absent", "present", "build")
	for _, library := range r.values("library") {
		for _, call := range []string{keyByKey, atOnce} {
			if leftOut[library+", "+call] || r.compared(sizes[0], integers, library, call).absent == 0 {
				continue
			}
			var rates []string
			var cells [6][]string
			for _, keys := range sizes {
				rates = append(rates, strings.TrimSuffix(percent(r.compared(keys, integers, library, call).rate), " %"))
				for i, kind := range []string{integers, texts} {
					c := r.compared(keys, kind, library, call)
					for j, ns := range []float64{c.absent, c.present, c.build} {
						if ns > 0 {
							cells[3*i+j] = append(cells[3*i+j], digits(ns))
						}
					}
				}
			}
			row := []string{library + ", " + call, strings.Join(rates, ", ") + " %"}
			for _, c := range cells {
				row = append(row, strings.Join(c, ", "))
			}
			g.Row(row...)
		}
	}
	return g.text()
}
