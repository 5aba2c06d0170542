package main

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// cutPages are the pages of a column, cut anywhere: as those of some writers, which begin amid a row.
type cutPages struct {
	parquet.Pages
	left []parquet.Page
}

func (p *cutPages) ReadPage() (parquet.Page, error) {
	if len(p.left) == 0 {
		return nil, io.EOF
	}
	page := p.left[0]
	p.left = p.left[1:]
	return page, nil
}

func (p *cutPages) Close() error { return nil }

type cutPage struct {
	parquet.Page
	values []parquet.Value
}

func (p cutPage) NumRows() int64 { return int64(len(p.values)) } // of a column that is not repeated

func (p cutPage) RepetitionLevels() (levels []byte) {
	for _, v := range p.values {
		levels = append(levels, byte(v.RepetitionLevel()))
	}
	return levels
}

func (p cutPage) Data() encoding.Values { return encoding.Int64Values(nil) }

func (p cutPage) Slice(i, j int64) parquet.Page { return cutPage{values: p.values[i:j]} }

func (p cutPage) Values() parquet.ValueReader { return &cutValues{p.values} }

type cutValues struct{ left []parquet.Value }

func (v *cutValues) ReadValues(values []parquet.Value) (int, error) {
	n := copy(values, v.left)
	if v.left = v.left[n:]; len(v.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TestColumnReader reads random rows, of one value or of several, from pages of any size.
func TestColumnReader(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 1))
	for range 300 {
		repeated, rows := random.IntN(2) == 0, random.IntN(20_000)
		share := []float64{0, 0.0001, 0.001, 0.1, 0.9, 1}[random.IntN(6)]
		keep := make([]bool, rows)
		var all, want []parquet.Value
		for row := range rows {
			keep[row] = random.Float64() < share
			n := 1
			if repeated && random.IntN(3) == 0 {
				n += random.IntN(5)
			}
			for i := range n {
				all = append(all, parquet.ValueOf(int64(row*8+i)).Level(min(i, 1), 1, 0))
				if keep[row] {
					want = append(want, all[len(all)-1])
				}
			}
		}
		pages := new(cutPages)
		for most := 1 + random.IntN(3000); len(all) > 0; {
			n := min(1+random.IntN(most), len(all))
			pages.left, all = append(pages.left, cutPage{values: all[:n]}), all[n:]
		}
		c := &columnReader{pages: pages, repeated: repeated, keep: keep, buffer: make([]parquet.Value, 0, 1+random.IntN(1000)), kept: new(keptValues)}
		ends, kept := windows(keep)
		var got []parquet.Value
		for i, end := range ends {
			values, err := c.read(end)
			if err != nil {
				t.Fatal(err)
			}
			begun := 0
			for _, v := range values.values {
				if v.RepetitionLevel() == 0 {
					begun++
				}
			}
			if begun != min(rowsAtOnce, kept-i*rowsAtOnce) {
				t.Fatalf("%d rows before row %d of %d, window %d", begun, end, rows, i)
			}
			got = append(got, values.values...)
			values.release()
		}
		if !slices.EqualFunc(got, want, func(a, b parquet.Value) bool {
			return a.Int64() == b.Int64() && a.RepetitionLevel() == b.RepetitionLevel()
		}) {
			t.Fatalf("%d values of %d rows (repeated: %v), want %d", len(got), kept, repeated, len(want))
		}
	}
}
