package bloomsst

import (
	"errors"
	"io"

	"github.com/lanebloom/bloom"
)

// Open opens the table in the first size bytes of r. It reads the footer, the metaindex, the properties and
// the filter, with at most four reads. Open reads no data blocks. Queries read the partitions of a filter and
// the index of the data blocks on first use. Open and the queries verify all checksums. The memory for a
// block is at most size plus 16 MiB, even if the block claims to be larger.
//
// Open returns no error for a table without a filter, or with a filter that this package does not read.
// [Table.Ignored] then returns the reason, and the queries test only the table's range, if it is known.
func Open(r io.ReaderAt, size int64, options ...Option) (*Table, error) {
	return open(r, size, tailSize, options...)
}

// open reads the last tail bytes of the file first.
func open(r io.ReaderAt, size, tail int64, options ...Option) (*Table, error) {
	t := &Table{file: file{r: r, size: size}, names: map[string]bloom.Format{}}
	for _, o := range options {
		o(t)
	}
	if err := t.file.readTail(tail); err != nil {
		return nil, err
	}
	if err := t.readFooter(); err != nil {
		return nil, err
	}
	return t, nil
}

// readFooter reads the footer, and what it leads to.
func (t *Table) readFooter() error {
	foot, err := parseFooter(t.file.tail, t.file.size)
	if errors.Is(err, errNoMagic) {
		return t.openBadger()
	}
	if err != nil {
		return err
	}
	t.engine, t.version = foot.engine, foot.version
	t.file.footer = foot
	return t.readMetadata()
}

// readMetadata reads what the metaindex lists: the properties and the filter.
func (t *Table) readMetadata() error {
	meta, err := t.readMetaindex()
	if err != nil {
		return err
	}
	if h, ok := meta.handle("rocksdb.properties"); ok {
		if t.engine == LevelDB { // format_version 0 has LevelDB's footer
			t.engine = RocksDB
			t.file.footer.engine = RocksDB
		}
		if err := t.readProperties(h); err != nil {
			return err
		}
	}
	t.dictionary, _ = meta.handle("rocksdb.compression_dict")
	if h, ok := meta.handle("rocksdb.index"); ok {
		t.file.footer.index = h
	}
	return t.readFilter(meta)
}
