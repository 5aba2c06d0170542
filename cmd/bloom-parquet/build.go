package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/internal/outputfile"
)

type buildCommand struct {
	Column     string   `required:"" placeholder:"NAME" help:"Column of the keys, with dots between the names of nested ones."`
	Format     string   `default:"parquet" placeholder:"NAME" help:"Format of the filter, such as nori or leveldb (parquet)."`
	BitsPerKey *int     `xor:"size" placeholder:"N" help:"Bits per key (10)."`
	Rate       *float64 `xor:"size" placeholder:"P" help:"False-positive rate to stay under, such as 0.01."`
	Raw        bool     `help:"Write the bare bytes of the format, without the header that says what they are."`
	Output     string   `short:"o" placeholder:"FILE" help:"Write the filter to this file, not to standard output."`
	Files      []string `arg:"" help:"Parquet files, or files of Arrow IPC."`
}

// Help is what bloom-parquet build --help says, too.
func (b *buildCommand) Help() string {
	return `Keys are the bytes of values in Parquet's PLAIN encoding, without a length: an integer has 4 or 8 bytes, little-endian. So a filter serves columns of the same type, and bloom filter reads it for columns of strings alone. Nulls are no keys.
A value that comes several times counts as several keys: the filter is larger than it has to be.
` + outputfile.Help
}

const mostBitsPerKey = 10000

// Run writes the filter of all files. A process apart reads them.
func (b *buildCommand) Run(s *streams) error {
	switch {
	case isApart():
		return b.build(s)
	case b.Output != "":
		if err := s.outputs().Check(b.Output, b.Files...); err != nil {
			return err
		}
		return s.outputs().Write(b.Output, func(w io.Writer) error { return apart(s, w, b.Files) }, b.Files...)
	case isTerminal(s.out):
		return errors.New("will not write a filter to a terminal: name a file with -o")
	}
	if err := s.outputs().CheckStdout(b.Files...); err != nil {
		return err
	}
	return apart(s, s.out, b.Files)
}

// build writes the filter to standard output.
func (b *buildCommand) build(s *streams) error {
	format, err := bloom.ParseFormat(b.Format)
	switch {
	case err != nil:
		return fmt.Errorf("--format: %s", withoutPrefix(err))
	case b.BitsPerKey != nil && (*b.BitsPerKey < 1 || *b.BitsPerKey > mostBitsPerKey):
		return fmt.Errorf("--bits-per-key must be at least 1 and at most %d, and not %d", mostBitsPerKey, *b.BitsPerKey)
	}
	columns, n, err := b.hashColumns(s, format)
	if err != nil {
		return err
	}
	policy := bloom.Policy{Format: format, BitsPerKey: 10}
	if b.BitsPerKey != nil {
		policy.BitsPerKey = *b.BitsPerKey
	}
	if b.Rate != nil {
		if policy, err = bloom.PolicyFor(format, n, *b.Rate); err != nil {
			return fmt.Errorf("--rate: %s", withoutPrefix(err))
		}
	}
	builder := policy.NewBuilder()
	for _, column := range columns {
		builder.AddBatch(column)
	}
	var encoded []byte
	if filter := builder.Filter(); b.Raw {
		encoded = filter.AppendFilter(nil)
	} else if encoded, err = filter.MarshalBinary(); err != nil {
		return err
	}
	_, err = s.out.Write(encoded)
	return err
}

// adderFunc makes a function a [bloomarrow.Adder].
type adderFunc func(keys bloom.Keys)

func (f adderFunc) AddBatch(keys bloom.Keys) { f(keys) }

// hashColumns returns the hashes of all keys, and their number if there is a rate. The columns must
// have one type: the bytes of equal values differ between types.
func (b *buildCommand) hashColumns(s *streams, format bloom.Format) (columns []bloom.Keys, n int, err error) {
	progress, done := bar(s, "reading keys", int64(len(b.Files)))
	defer done()
	first := ""
	for _, name := range b.Files {
		arrows, err := isArrow(name)
		if err != nil {
			return nil, 0, err
		}
		hash := b.hashParquet
		if arrows {
			hash = b.hashArrow
		}
		kind, err := hash(name, func(keys bloom.Keys) {
			hashed := keys.Hashed(format)
			columns = append(columns, hashed)
			if b.Rate != nil { // nulls do not count
				counter := bloom.Policy{Format: format, BitsPerKey: 1}.NewBuilder()
				counter.AddBatch(hashed)
				n += counter.Len()
			}
		})
		if err != nil {
			return nil, 0, err
		}
		if first == "" {
			first = kind
		}
		if kind != first {
			return nil, 0, fmt.Errorf("%s: column %s is %s, and %s before", name, b.Column, kind, first)
		}
		progress(1)
	}
	return columns, n, nil
}

// hashParquet calls add with the keys of a Parquet file. It returns their type.
func (b *buildCommand) hashParquet(name string, add adderFunc) (kind string, err error) {
	file, err := openFile(name, b.Column)
	if err != nil {
		return "", err
	}
	defer file.close()
	for group := range file.RowGroups() {
		if err := eachPage(file, group, func(p *pageKeys) error {
			add(p.keys)
			return nil
		}); err != nil {
			return "", fmt.Errorf("%s: row group %d: %s", name, group, withoutPrefix(err))
		}
	}
	return file.column.Type().String(), nil
}

// hashArrow is hashParquet for a file of Arrow IPC.
func (b *buildCommand) hashArrow(name string, add adderFunc) (kind string, err error) {
	err = eachRecordBatch(name, b.Column, func(r *ipc.FileReader) error {
		kind = keyType(r.Schema().Field(r.Schema().FieldIndices(b.Column)[0]).Type).String()
		return nil
	}, func(batch arrow.RecordBatch, column int) error {
		// The hashes refer to the validity bitmap of the batch. Its memory is Go's, and stays.
		return bloomarrow.Add(add, batch.Column(column))
	})
	return kind, err
}

// keyType returns the type of the values of a dictionary, or of runs.
func keyType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return keyType(t.ValueType)
	case *arrow.RunEndEncodedType:
		return keyType(t.Encoded())
	}
	return t
}

// pageKeys is the keys of some rows of a column.
type pageKeys struct {
	keys   bloom.Keys // of the values that are not null
	isNull []bool     // of each value
	data   []byte
	ends   []int64
	values []parquet.Value
}

// eachPage calls do with the keys of a column of a row group, some thousand at a time.
func eachPage(file *parquetFile, group int, do func(*pageKeys) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // parquet-go panics for some pages that are not of the format
			err = fmt.Errorf("malformed: %v", p)
		}
	}()
	debug.SetPanicOnFault(true)
	pages := file.RowGroups()[group].ColumnChunks()[file.leaf].Pages()
	defer pages.Close()
	k := &pageKeys{values: make([]parquet.Value, 8192)}
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := k.read(page, do); err != nil {
			return err
		}
		parquet.Release(page)
	}
}

// read calls do with the keys of a page.
func (k *pageKeys) read(page parquet.Page, do func(*pageKeys) error) error {
	values := page.Values()
	for {
		n, err := values.ReadValues(k.values)
		k.data, k.ends, k.isNull = k.data[:0], append(k.ends[:0], 0), k.isNull[:0]
		for _, v := range k.values[:n] {
			k.isNull = append(k.isNull, v.IsNull())
			if !v.IsNull() {
				k.data = v.AppendBytes(k.data)
				k.ends = append(k.ends, int64(len(k.data)))
			}
		}
		if n > 0 {
			keys, err := bloom.Offsets(k.data, k.ends)
			if err != nil {
				return err
			}
			k.keys = keys
			if err := do(k); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
