package bloomsst

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// metadata are the entries of a metaindex or of the properties.
type metadata map[string][]byte

// readMetaindex reads the list of the blocks that have no data.
func (t *Table) readMetaindex() (metadata, error) {
	block, err := t.file.block(t.file.footer.metaindex, "the metaindex")
	if err != nil {
		return nil, err
	}
	return parseMetadata(block, t.engine == Pebble && t.version >= 6, t.file.limit())
}

// nameSize is how much memory a name of metadata takes, besides its bytes.
const nameSize = 128

// parseMetadata reads a block of names with values. The names take no more memory than limit.
func parseMetadata(block []byte, columnar bool, limit uint64) (metadata, error) {
	m, size := metadata{}, uint64(0)
	if !columnar {
		r := newRows(block)
		for r.next() {
			if size += nameSize + uint64(len(r.key)); size > limit {
				return nil, fmt.Errorf("%w: the names in a metadata block need more than %d bytes", ErrDamaged, limit)
			}
			m[string(r.key)] = r.value
		}
		return m, r.err
	}
	c, err := newColumns(block, 2, nameSize, limit)
	if err != nil {
		return nil, err
	}
	names, err := c.strings(0)
	if err != nil {
		return nil, err
	}
	values, err := c.strings(1)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		m[string(name)] = values[i]
	}
	return m, nil
}

// handle returns the handle of a block that a metaindex names.
func (m metadata) handle(name string) (handle, bool) {
	h, _, ok := parseHandle(m[name])
	return h, ok
}

// filterNames are what stands before the names of filters in a metaindex, with the engine's way to have filters.
var filterNames = []string{"fullfilter.", "partitionedfilter.", "filter."}

// filter returns the block of the filter, the prefix of its name and the policy.
func (m metadata) filter() (h handle, kind, policy string, err error) {
	for _, kind := range filterNames {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			policy, ok := bytes.CutPrefix([]byte(name), []byte(kind))
			if !ok {
				continue
			}
			h, ok := m.handle(name)
			if !ok {
				return h, "", "", fmt.Errorf("%w: malformed block handle of %s", ErrDamaged, name)
			}
			return h, kind, string(policy), nil
		}
	}
	return h, "", "", ErrNoFilter
}

// clearSequence sets the sequence number to 0 that RocksDB writes into the properties of a table that it ingests. It
// does not change the checksum.
func clearSequence(block []byte) {
	for r := newRows(block); r.next(); {
		if string(r.key) == "rocksdb.external_sst_file.global_seqno" {
			clear(r.value)
		}
	}
}

func (t *Table) readProperties(h handle) error {
	block, err := t.file.changedBlock(h, "the properties", clearSequence)
	if err != nil {
		return err
	}
	m, err := parseMetadata(block, t.engine == Pebble && t.version >= 7, t.file.limit())
	if err != nil {
		return fmt.Errorf("%w (in the properties)", err)
	}
	p := &t.properties
	number := func(name string) (uint64, bool) {
		n, size := binary.Uvarint(m[name])
		return n, size > 0
	}
	p.entries, p.entriesKnown = number("rocksdb.num.entries")
	p.deletions, _ = number("rocksdb.deleted.keys")
	p.rangeDeletions, p.rangeDeletionsKnown = number("rocksdb.num.range-deletions")
	p.comparator = string(m["rocksdb.comparator"])
	p.family = string(m["rocksdb.column.family.name"])
	p.extractor = string(m["rocksdb.prefix.extractor.name"])
	p.schema = string(m["pebble.colblk.schema"])
	_, p.ofRocksDB = m["rocksdb.creating.session.identity"]
	persisted, has := number("rocksdb.user.defined.timestamps.persisted")
	p.noTimestamps = has && persisted == 0
	whole, saysWhole := m["rocksdb.block.based.table.whole.key.filtering"]
	p.prefixesOnly, p.saysWhole = string(whole) == "0", saysWhole
	n, _ := number("rocksdb.index.key.is.user.key")
	p.userKeys = n != 0
	n, _ = number("rocksdb.index.value.is.delta.encoded")
	p.differences = n != 0
	if v := m["rocksdb.block.based.table.index.type"]; len(v) == 4 {
		p.indexType = binary.LittleEndian.Uint32(v)
	}
	return nil
}
