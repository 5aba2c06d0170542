package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	pebblefilter "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/pebblebloom"
)

// pebbles are the kinds of tables of Pebble: every format, and what a format allows.
func pebbles(string) (all []tableWriter, err error) {
	add := func(name string, o sstable.WriterOptions) *tableWriter {
		if o.Comparer == nil {
			o.Comparer = sstable.DefaultComparer
		}
		schema := colblk.DefaultKeySchema(o.Comparer, 16)
		o.KeySchema = &schema
		p := pebbleTable{o}
		noRange := o.Comparer == splitAt4
		all = append(all, tableWriter{
			Name: "pebble-" + name, Engine: bloomsst.Pebble, Format: bloom.Pebble, module: pebblebloom.Module, Golden: true, NoRange: noRange, Keys: 150, Write: p.write, Answers: p.answers,
		})
		return &all[len(all)-1]
	}
	policy := pebblefilter.FilterPolicy(10)
	for i, format := range []sstable.TableFormat{
		sstable.TableFormatPebblev1, sstable.TableFormatPebblev2, sstable.TableFormatPebblev3, sstable.TableFormatPebblev4,
		sstable.TableFormatPebblev5, sstable.TableFormatPebblev6, sstable.TableFormatPebblev7,
	} {
		v := i + 1
		o := sstable.WriterOptions{FilterPolicy: policy, TableFormat: format, Compression: block.SnappyCompression}
		add(fmt.Sprint(v), o).Version = v
		o.IndexBlockSize, o.Checksum, o.Compression = 64, block.ChecksumTypeXXHash64, block.ZstdCompression
		if v >= 6 {
			o.Compression = block.MinLZCompression
		}
		w := add(fmt.Sprintf("%d-two-levels", v), o)
		w.Version, w.Golden = v, v == 1 || v >= 5
	}
	o := sstable.WriterOptions{FilterPolicy: policy, TableFormat: sstable.TableFormatRocksDBv2}
	old := func(w *tableWriter) *tableWriter { w.Engine, w.Version = bloomsst.RocksDB, 2; return w }
	old(add("of-rocksdb-2", o)).Golden = false
	o.Comparer = splitAt4
	old(add("of-rocksdb-2-split", o)).Ignored = bloomsst.ErrPrefix
	w := old(add("of-rocksdb-2-split-given", o))
	w.Golden, w.Open = false, []bloomsst.Option{bloomsst.Split(splitAt4.Split)}
	o.TableFormat = sstable.TableFormatMax
	w = add("split", o)
	w.Version, w.Ignored = 7, bloomsst.ErrPrefix
	w = add("split-given", o)
	w.Version, w.Golden, w.Open = 7, false, []bloomsst.Option{bloomsst.Split(splitAt4.Split)}
	w = add("no-filter", sstable.WriterOptions{TableFormat: sstable.TableFormatMax})
	w.Version, w.Ignored = 7, bloomsst.ErrNoFilter
	return all, nil
}

// splitAt4 has prefixes of 4 bytes.
var splitAt4 = func() *sstable.Comparer {
	c := *sstable.DefaultComparer
	c.Name = "lanebloom.SplitAt4"
	c.Split = func(key []byte) int { return min(len(key), 4) }
	return &c
}()

// pebbleTable writes and reads a table with the options.
type pebbleTable struct{ sstable.WriterOptions }

const pebbleFile = "table.sst"

func (p pebbleTable) write(folder string, keys [][]byte) (name string, err error) {
	name = filepath.Join(folder, pebbleFile)
	file, err := vfs.Default.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return "", err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(file), p.WriterOptions)
	for _, key := range slices.SortedFunc(slices.Values(keys), bytes.Compare) {
		if err := w.Set(key, []byte("value")); err != nil {
			return "", errors.Join(err, w.Close())
		}
	}
	return name, w.Close()
}

func (p pebbleTable) answers(folder string, keys [][]byte) (answers []byte, err error) {
	file, err := vfs.Default.Open(filepath.Join(folder, pebbleFile))
	if err != nil {
		return nil, err
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	o := sstable.ReaderOptions{Comparer: p.Comparer, KeySchemas: sstable.MakeKeySchemas(p.KeySchema), FilterMetricsTracker: new(sstable.FilterMetricsTracker)}
	if p.FilterPolicy != nil {
		o.Filters = map[string]sstable.FilterPolicy{p.FilterPolicy.Name(): p.FilterPolicy}
	}
	r, err := sstable.NewReader(context.Background(), readable, o)
	if err != nil {
		return nil, errors.Join(err, readable.Close())
	}
	defer r.Close()
	iterator, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.TableBlobContext{})
	if err != nil {
		return nil, err
	}
	defer iterator.Close()
	if len(keys) > seeks {
		return p.ofFilter(r, readable, iterator, keys)
	}
	for _, key := range keys {
		before := o.FilterMetricsTracker.Load().Hits // a hit is a no
		kv := iterator.SeekPrefixGE(key[:p.Comparer.Split(key)], key, 0)
		switch {
		case kv != nil && bytes.Equal(kv.K.UserKey, key):
			answers = append(answers, '+')
		case o.FilterMetricsTracker.Load().Hits != before:
			answers = append(answers, '0')
		default:
			answers = append(answers, '1')
		}
	}
	return answers, iterator.Error()
}

// If more keys than seeks are asked for, Pebble's policy is asked with the filter: a seek without a cache would read all of the
// filter each time.
const seeks = 50_000

// ofFilter asks Pebble's policy with the filter of the table.
func (p pebbleTable) ofFilter(r *sstable.Reader, readable objstorage.Readable, iterator sstable.Iterator, keys [][]byte) (answers []byte, err error) {
	layout, err := r.Layout()
	if err != nil {
		return nil, err
	}
	if len(layout.Filter) != 1 {
		return nil, fmt.Errorf("%d filters", len(layout.Filter))
	}
	filter := make([]byte, layout.Filter[0].Length)
	if err := readable.ReadAt(context.Background(), filter, int64(layout.Filter[0].Offset)); err != nil {
		return nil, err
	}
	present := map[string]bool{}
	for kv := iterator.First(); kv != nil; kv = iterator.Next() {
		present[string(kv.K.UserKey)] = true
	}
	for _, key := range keys {
		switch {
		case !p.FilterPolicy.MayContain(sstable.TableFilter, filter, key[:p.Comparer.Split(key)]):
			answers = append(answers, '0')
		case present[string(key)]:
			answers = append(answers, '+')
		default:
			answers = append(answers, '1')
		}
	}
	return answers, iterator.Error()
}
