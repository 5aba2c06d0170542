package compare

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
)

// tableWriter writes tables of one kind with the engine.
type tableWriter struct {
	Name    string
	Engine  string // as bloomsst names it
	Version int
	Format  bloom.Format
	Ribbon  bool  // the filters are Ribbon filters
	Parts   bool  // the table has several filters
	Ignored error // why bloomsst does not ask the filter
	NoRange bool  // the range of the keys is not known: the order is not, or the table does not tell it
	Open    []bloomsst.Option
	Golden  bool // adapter/sst keeps a small table
	Keys    int  // that it has

	debian, module string // who writes it: a Debian package, or a Go module

	// Write writes a table of the keys, sorted by bytes, in a folder, and returns the file.
	Write func(folder string, keys [][]byte) (file string, err error)
	// Answers looks keys up in that table, and returns a byte for each: '0' if the filter denies it, '+' if it is found, '-'
	// if the engine asks no filter, and '1' else. It is nil if the engine does not tell.
	Answers func(folder string, keys [][]byte) ([]byte, error)
}

// tableWriters returns all kinds. It compiles programs in dir, as [oracle.Compile] does.
func tableWriters(dir string) (all []tableWriter, err error) {
	for _, of := range []func(dir string) ([]tableWriter, error){levelDB, rocksDB, pebbles, badgers} {
		writers, err := of(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, writers...)
	}
	return all, nil
}

// by returns who writes the tables, with the version.
func (w tableWriter) by() (string, error) {
	if w.module == "" {
		return oracle.DebianVersion(w.debian)
	}
	return moduleVersion(w.module)
}

// one returns the only file of a pattern.
func one(folder, pattern string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("%d files %s in place of one", len(files), pattern)
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}

// rocksDB are the kinds of tables of RocksDB. oracle/rocksdb/database.cc has the same options.
func rocksDB(dir string) (all []tableWriter, err error) {
	rocks, err := oracle.CompileRocksDatabase(dir)
	if err != nil {
		return nil, err
	}
	add := func(name string, v int, options ...string) *tableWriter {
		options = append(options, fmt.Sprintf("format_version=%d", v))
		w := tableWriter{Name: "rocksdb-" + name, Engine: bloomsst.RocksDB, Version: v, Format: bloom.RocksDB, debian: "librocksdb-dev", Keys: 150}
		if v < 5 {
			w.Format = bloom.Pebble
		}
		w.Write = func(folder string, keys [][]byte) (string, error) {
			if err := rocks.Write(folder, keys, options...); err != nil {
				return "", err
			}
			return one(folder, "*.sst")
		}
		w.Answers = func(folder string, keys [][]byte) ([]byte, error) { return rocks.Answers(folder, keys, options...) }
		all = append(all, w)
		return &all[len(all)-1]
	}
	golden := func(w *tableWriter) *tableWriter { w.Golden = true; return w }
	parts := func(w *tableWriter) *tableWriter { w.Parts = true; return w }
	golden(add("0", 0))
	for _, compression := range []string{"zlib", "lz4", "zstd"} {
		golden(add("0-"+compression, 0, "block=64", "compression="+compression))
	}
	golden(add("1-xxh32", 1, "checksum=2"))
	golden(add("1-zlib", 1, "block=64", "compression=zlib"))
	add("1-bzip2", 1, "block=64", "compression=bzip2")
	golden(add("1-lz4", 1, "block=64", "compression=lz4", "restarts=16"))
	golden(add("2-zlib", 2, "block=64", "compression=zlib"))
	golden(parts(add("2-partitions", 2, "partitions=64", "block=256")))
	parts(add("3-partitions", 3, "partitions=1024"))
	golden(add("4-bzip2", 4, "block=64", "compression=bzip2"))
	parts(add("4-partitions", 4, "partitions=1024", "restarts=16"))
	golden(add("5-snappy", 5, "block=64", "compression=snappy"))
	golden(add("5-none", 5, "checksum=0"))
	golden(add("5-xxh64", 5, "block=64", "checksum=3", "compression=lz4hc"))
	golden(add("5-xxh3", 5, "block=64", "checksum=4", "compression=zstd"))
	add("5-lz4", 5, "compression=lz4", "restarts=4")
	golden(parts(add("5-partitions", 5, "partitions=64", "block=256", "restarts=16", "compression=zstd")))
	parts(add("5-partitions-xxh3", 5, "partitions=512", "checksum=4"))
	golden(add("5-two-levels", 5, "index=2", "partitions=0"))
	golden(add("5-first-keys", 5, "index=3", "restarts=3"))
	for _, bits := range []string{"1", "2", "3", "4.4", "5", "6", "8", "12", "15", "20", "25", "30"} {
		add("5-bits-"+bits, 5, "bits="+bits)
		add("4-bits-"+bits, 4, "bits="+bits)
	}
	add("5-prefix-and-whole", 5, "prefix=4")
	golden(add("5-prefix", 5, "prefix=4", "whole=0"))
	add("5-prefix-other-split", 5, "prefix=4", "whole=0").Open = []bloomsst.Option{bloomsst.Split(fixed6)}
	add("5-capped", 5, "capped=5", "whole=0", "block=256")
	parts(add("5-capped-partitions", 5, "capped=5", "whole=0", "partitions=1024")).Open = []bloomsst.Option{bloomsst.Split(fixed6)}
	add("5-hash", 5, "hash=1")
	add("5-dictionary", 5, "compression=zstd", "dictionary=4096")
	add("5-old-zstd", 5, "block=64", "compression=oldzstd")
	add("5-dictionary-old-zstd", 5, "compression=oldzstd", "dictionary=4096")
	add("5-dictionary-lz4", 5, "compression=lz4", "dictionary=4096")
	add("5-dictionary-zlib", 5, "compression=zlib", "dictionary=4096")
	add("5-shortlex", 5, "shortlex=1").NoRange = true
	parts(add("5-prefix-partitions", 5, "prefix=4", "whole=0", "partitions=1024"))
	ribbon := golden(add("5-ribbon", 5, "ribbon=1", "compression=zstd"))
	ribbon.Ribbon, ribbon.Keys = true, 1200 // of few keys, RocksDB writes a Bloom filter
	ribbons := golden(parts(add("5-ribbon-partitions", 5, "ribbon=1", "partitions=1024", "compression=zstd")))
	ribbons.Ribbon, ribbons.Keys = true, 2500
	old := golden(add("4-ribbon", 4, "ribbon=1", "bits=5.5", "compression=zstd"))
	old.Ribbon, old.Keys = true, 1200
	golden(add("5-ingested", 5, "ingest=1"))
	golden(add("5-no-filter", 5, "bits=0")).Ignored = bloomsst.ErrNoFilter
	golden(parts(add("5-reverse", 5, "reverse=1", "partitions=64", "block=256")))
	parts(add("5-reverse-given", 5, "reverse=1", "partitions=1024")).Open = []bloomsst.Option{
		bloomsst.Comparator(func(a, b []byte) int { return bytes.Compare(b, a) })}
	return all, nil
}

// fixed6 is a prefix of another length than RocksDB's tables have.
func fixed6(key []byte) int { return min(len(key), 6) }
