package bloomsst

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanebloom/bloom"
)

// readFilter reads the filter of a table, or finds out why it is not asked.
func (t *Table) readFilter(meta metadata) error {
	h, kind, policy, err := meta.filter()
	if errors.Is(err, ErrNoFilter) {
		t.ignored = err
		return nil
	}
	if err != nil {
		return err
	}
	t.policy, t.size = policy, h.size
	if t.ignored = t.whyIgnored(kind); t.ignored != nil && !errors.Is(t.ignored, ErrPrefix) {
		return nil
	}
	f, err := t.parseFilters(h, kind)
	switch {
	case errors.Is(err, ErrRibbon) || errors.Is(err, ErrPolicy) || errors.Is(err, ErrComparator):
		t.ignored = err
	case err != nil:
		return err
	case t.ignored != nil:
		t.unused = f
	default:
		t.filters = f
	}
	return nil
}

// parseFilters reads the filters of a block of a kind.
func (t *Table) parseFilters(h handle, kind string) (filters, error) {
	block, err := t.file.block(h, "the filter")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "filter.":
		return parseBlocks(block, t.format)
	case "partitionedfilter.":
		parts, err := t.parsePartitions(block)
		if err == nil {
			t.size += parts.size()
		}
		return parts, err
	}
	p, err := t.openFilter(block)
	if err == nil {
		t.format = p.format()
	}
	return whole{p}, err
}

// whyIgnored sets the format of the filters, and returns why they are not asked, or nil.
func (t *Table) whyIgnored(kind string) error {
	var known bool
	switch t.format, known = builtin[kind][t.policy]; {
	case known && t.format == bloom.RocksDB && (t.engine == Pebble || t.version < 5):
		t.format = bloom.Pebble
	case !known:
		if t.format, known = t.names[t.policy]; !known {
			return fmt.Errorf("%w: %s%s%s", ErrPolicy, kind, t.policy, familyOf(t.policy))
		}
	}
	p := &t.properties
	if fixed := extractorSplit(p.extractor); fixed != nil && p.prefixesOnly {
		t.split = fixed // RocksDB does not look at its options either
	}
	switch {
	case p.prefixesOnly && t.split == nil:
		return fmt.Errorf("%w: the prefix_extractor is %s", ErrPrefix, p.extractor)
	case t.hasSplit() && p.comparator != bytewise && t.split == nil:
		return fmt.Errorf("%w: the filter contains the prefixes that the Split of %s returns", ErrPrefix, p.comparator)
	case t.columnar() && t.split == nil && !strings.HasPrefix(p.schema, defaultSchema):
		return fmt.Errorf("%w: the filter contains the prefixes that the Split of the key schema %s returns", ErrPrefix, p.schema)
	}
	return nil
}

// goLevelDBPolicy is the name of the policy of goleveldb, and of LevelDB until 2014.
const goLevelDBPolicy = "leveldb.BuiltinBloomFilter"

// builtin are the names of the engines' own policies in blocks of each kind, with the formats of their filters.
var builtin = map[string]map[string]bloom.Format{
	"filter.": {
		bloom.LevelDB.Name(): bloom.LevelDB,
		goLevelDBPolicy:      bloom.LevelDB,
	},
	"fullfilter.":        {bloom.RocksDB.Name(): bloom.RocksDB},
	"partitionedfilter.": {bloom.RocksDB.Name(): bloom.RocksDB},
}

// families are policies whose filters are known and not read, by the beginnings of their names.
var families = map[string]string{
	"binaryfuse":     "a binary fuse filter, which Pebble writes after v2.1",
	"bloom(":         "a Bloom filter under a name that Pebble's options use after v2.1",
	"adaptive_bloom": "a Bloom filter under a name that Pebble's options use after v2.1",
}

// familyOf returns what is known of a policy, after a comma, or nothing.
func familyOf(policy string) string {
	for name, family := range families {
		if strings.HasPrefix(policy, name) {
			return ", " + family
		}
	}
	return ""
}
