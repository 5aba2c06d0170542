package main

import "iter"

// rowGroup is a row group of a file that is open.
type rowGroup struct {
	*parquetFile
	group int
	last  bool // of the file
	err   error
}

// rows returns how many rows it has.
func (g *rowGroup) rows() int64 { return g.RowGroups()[g.group].NumRows() }

// rowGroups yields the row groups of files, in order, or an error.
func rowGroups(files iter.Seq2[*parquetFile, error]) iter.Seq[*rowGroup] {
	return func(yield func(*rowGroup) bool) {
		for file, err := range files {
			if err != nil {
				yield(&rowGroup{err: err})
				return
			}
			groups := len(file.RowGroups())
			for i := range groups {
				if !yield(&rowGroup{file, i, i == groups-1, nil}) {
					return
				}
			}
			if groups == 0 {
				file.close()
			}
		}
	}
}

// eachRowGroup is sideBySide for the row groups of files. A file is open while its row groups are at work.
func eachRowGroup(files iter.Seq2[*parquetFile, error], job func(g *rowGroup, then handOn) error) error {
	return sideBySide(rowGroups(files), func(g *rowGroup, then handOn) error {
		if g.err != nil {
			return g.err
		}
		if err := job(g, then); err != nil || !g.last {
			return err
		}
		return then(g.close)
	})
}
