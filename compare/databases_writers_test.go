package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	oldpebble "github.com/cockroachdb/pebble"
	oldpebblefilter "github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/v2"
	pebblefilter "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	leveltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/compare/oracle"
)

// levelsOf has C++ LevelDB write many tables.
func levelsOf(cpp *oracle.Database, folder string, keys [][]byte, comparator oracle.Comparator) ([]oracle.Table, error) {
	text, err := cpp.Levels(folder, keys, oracle.Options{Comparator: comparator, Policy: oracle.Bloom, Name: bloom.LevelDB.Name()})
	if err != nil {
		return nil, err
	}
	return levelDBTables(folder, text)
}

// levelDBTables reads LevelDB's or goleveldb's list of tables, and the keys of each.
func levelDBTables(folder, list string) (tables []oracle.Table, err error) {
	level := 0
	for line := range strings.Lines(list) {
		if header, ok := strings.CutPrefix(line, "--- level "); ok {
			if level, err = strconv.Atoi(strings.Fields(header)[0]); err != nil {
				return nil, err
			}
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		t := oracle.Table{Name: fmt.Sprintf("%06s.ldb", number), Level: level}
		if t.Keys, err = levelDBKeys(filepath.Join(folder, t.Name)); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// levelDBKeys returns the keys of a table of LevelDB.
func levelDBKeys(name string) (keys [][]byte, err error) {
	const tag = 8
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	r, err := leveltable.NewReader(file, info.Size(), storage.FileDesc{}, nil, nil, &opt.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Release()
	i := r.NewIterator(nil, nil)
	defer i.Release()
	for i.Next() {
		keys = append(keys, slices.Clone(i.Key()[:len(i.Key())-tag]))
	}
	return keys, i.Error()
}

func writeGoDatabase(folder string, keys [][]byte, flushed func(int)) (tables []oracle.Table, err error) {
	o := &opt.Options{Filter: filter.NewBloomFilter(10), WriteBuffer: 64 << 10, CompactionTableSize: 32 << 10, CompactionTotalSize: 128 << 10}
	db, err := leveldb.OpenFile(folder, o)
	if err != nil {
		return nil, err
	}
	value := make([]byte, 40)
	for i, key := range keys {
		if err := db.Put(key, value, nil); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		if (i+1)%databaseStep == 0 { // goleveldb makes a table of the memory before it compacts any
			if err := db.CompactRange(util.Range{Start: key, Limit: key}); err != nil {
				return nil, errors.Join(err, db.Close())
			}
			flushed(i + 1)
		}
	}
	list, err := stable(func() (string, error) { return db.GetProperty("leveldb.sstables") })
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return levelDBTables(folder, list)
}

// stable returns what get returns several times in a row: no compaction is running.
func stable(get func() (string, error)) (string, error) {
	last, same := "", 0
	for same < 5 {
		now, err := get()
		if err != nil {
			return "", err
		}
		if same++; now != last {
			last, same = now, 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	return last, nil
}

// writePebbleDatabase writes a database, and removes a range of keys so that some of the tables are parts of files.
func writePebbleDatabase(folder string, keys [][]byte, flushed func(int)) ([]oracle.Table, error) {
	o := &pebble.Options{MemTableSize: 256 << 10, FormatMajorVersion: pebble.FormatNewest, Logger: quietLogger{}, L0CompactionThreshold: 2}
	o.LBaseMaxBytes = 64 << 10
	o.TargetFileSizes[0] = 32 << 10
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = pebblefilter.FilterPolicy(10)
	}
	db, err := pebble.Open(folder, o)
	if err != nil {
		return nil, err
	}
	value := make([]byte, 40)
	for i, key := range keys {
		if err := db.Set(key, value, pebble.NoSync); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		if (i+1)%databaseStep == 0 {
			if err := db.Flush(); err != nil {
				return nil, errors.Join(err, db.Close())
			}
			flushed(i + 1)
		}
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	o.DisableAutomaticCompactions = true // which would write the parts anew
	if db, err = pebble.Open(folder, o); err != nil {
		return nil, err
	}
	if err := db.Excise(context.Background(), pebble.KeyRange{Start: []byte("user00050000"), End: []byte("user00060000")}); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	tables, err := pebbleTables(db, folder)
	return tables, errors.Join(err, db.Close())
}

// quietLogger prints nothing.
type quietLogger struct{}

func (quietLogger) Infof(string, ...any)              {}
func (quietLogger) Errorf(string, ...any)             {}
func (quietLogger) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// pebbleTables lists the files of a database, with the keys of each that the database has.
func pebbleTables(db *pebble.DB, folder string) (tables []oracle.Table, err error) {
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	numbers := map[string]int{}
	parts := 0
	for level, infos := range levels {
		for _, info := range infos {
			if info.Virtual {
				parts++
			}
			name := fmt.Sprintf("%06d.sst", info.BackingSSTNum)
			if _, known := numbers[name]; !known {
				numbers[name] = len(tables)
				tables = append(tables, oracle.Table{Name: name, Level: level})
			}
			keys, err := pebbleKeys(filepath.Join(folder, name), info.Smallest.UserKey, info.Largest.UserKey)
			if err != nil {
				return nil, err
			}
			t := &tables[numbers[name]]
			t.Parts = t.Parts || info.Virtual
			t.Keys = append(t.Keys, keys...)
		}
	}
	if parts == 0 {
		return nil, errors.New("no table is a part of a file")
	}
	return tables, nil
}

// pebbleKeys returns the keys of a file from a first to a last one.
func pebbleKeys(name string, first, last []byte) (keys [][]byte, err error) {
	file, err := vfs.Default.Open(name)
	if err != nil {
		return nil, err
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	schema := colblk.DefaultKeySchema(sstable.DefaultComparer, 16)
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{Comparer: sstable.DefaultComparer, KeySchemas: sstable.MakeKeySchemas(&schema)})
	if err != nil {
		return nil, errors.Join(err, readable.Close())
	}
	defer r.Close()
	iterator, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return nil, err
	}
	defer iterator.Close()
	for kv := iterator.SeekGE(first, 0); kv != nil && bytes.Compare(kv.K.UserKey, last) <= 0; kv = iterator.Next() {
		keys = append(keys, bytes.Clone(kv.K.UserKey))
	}
	return keys, iterator.Error()
}

// writeBadgerDatabase writes a database of small tables. Badger makes tables of what is in memory when it is closed.
func writeBadgerDatabase(folder string, keys [][]byte, _ func(int)) (tables []oracle.Table, err error) {
	o := badger.DefaultOptions(folder).WithLogger(nil).WithMemTableSize(256 << 10).WithBaseTableSize(64 << 10).
		WithBaseLevelSize(256 << 10).WithCompression(options.None).WithNumVersionsToKeep(1).WithValueThreshold(1 << 10)
	for range 2 { // the second time, nothing changes
		db, err := badger.Open(o)
		if err != nil {
			return nil, err
		}
		batch := db.NewWriteBatch()
		for _, key := range keys {
			err = errors.Join(err, batch.Set(key, make([]byte, 40)))
		}
		err = errors.Join(err, batch.Flush())
		keys, tables = nil, nil
		for _, info := range db.Tables() {
			tables = append(tables, oracle.Table{Name: fmt.Sprintf("%06d.sst", info.ID), Level: info.Level})
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}
	for i := range tables {
		if tables[i].Keys, err = badgerTableKeys(filepath.Join(folder, tables[i].Name)); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func badgerTableKeys(name string) (keys [][]byte, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t, err := table.OpenInMemoryTable(data, 1, &table.Options{ChkMode: options.NoVerification})
	if err != nil {
		return nil, err
	}
	iterator := t.NewIterator(0)
	defer iterator.Close()
	for iterator.Rewind(); iterator.Valid(); iterator.Next() {
		keys = append(keys, bytes.Clone(y.ParseKey(iterator.Key())))
	}
	return keys, nil
}

// writeOldPebble writes a database with version 1 of Pebble, which names its MANIFEST in CURRENT in the oldest formats.
func writeOldPebble(format oldpebble.FormatMajorVersion) func(string, [][]byte, func(int)) ([]oracle.Table, error) {
	return func(folder string, keys [][]byte, flushed func(int)) (tables []oracle.Table, err error) {
		o := &oldpebble.Options{MemTableSize: 256 << 10, FormatMajorVersion: format, Logger: quietLogger{}, L0CompactionThreshold: 2, LBaseMaxBytes: 64 << 10}
		o.Levels = []oldpebble.LevelOptions{{FilterPolicy: oldpebblefilter.FilterPolicy(10), TargetFileSize: 32 << 10}}
		db, err := oldpebble.Open(folder, o)
		if err != nil {
			return nil, err
		}
		value := make([]byte, 40)
		for i, key := range keys {
			err = errors.Join(err, db.Set(key, value, oldpebble.NoSync))
			if (i+1)%databaseStep == 0 {
				err = errors.Join(err, db.Flush())
				flushed(i + 1)
			}
		}
		_, stableErr := stable(func() (string, error) { return db.Metrics().String(), nil })
		levels, listErr := db.SSTables()
		if err := errors.Join(err, stableErr, listErr, db.Close()); err != nil {
			return nil, err
		}
		for level, infos := range levels {
			for _, info := range infos {
				t := oracle.Table{Name: info.FileNum.String() + ".sst", Level: level}
				if t.Keys, err = pebbleKeys(filepath.Join(folder, t.Name), info.Smallest.UserKey, info.Largest.UserKey); err != nil {
					return nil, err
				}
				tables = append(tables, t)
			}
		}
		return tables, nil
	}
}
