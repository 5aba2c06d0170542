package compare

import (
	"errors"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
	"github.com/lanebloom/bloom/compare/oracle"
)

// levelDB are the kinds of tables of C++ LevelDB and of goleveldb.
func levelDB(dir string) ([]tableWriter, error) {
	cpp, err := oracle.CompileDatabase(dir)
	if err != nil {
		return nil, err
	}
	w := tableWriter{Engine: bloomsst.LevelDB, Format: bloom.LevelDB, Parts: true, Golden: true, Keys: 600}
	o := oracle.Options{Policy: oracle.Bloom, Name: bloom.LevelDB.Name()}
	ofCpp, ofGo := w, w
	ofCpp.Name, ofCpp.debian = "leveldb", "libleveldb-dev"
	ofCpp.Write = func(folder string, keys [][]byte) (string, error) {
		if err := cpp.Write(folder, keys, o); err != nil {
			return "", err
		}
		return one(folder, "*.ldb")
	}
	ofCpp.Answers = func(folder string, keys [][]byte) ([]byte, error) { return cpp.Answers(folder, keys, o) }
	ofGo.Name, ofGo.module = "goleveldb", "github.com/syndtr/goleveldb"
	ofGo.Write, ofGo.Answers = writeGo, answersGo
	return []tableWriter{ofCpp, ofGo}, nil
}

func withGo(folder string, f filter.Filter, use func(*leveldb.DB) error) error {
	db, err := leveldb.OpenFile(folder, &opt.Options{Filter: f, CompactionTableSize: 1 << 30, WriteBuffer: 1 << 28})
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close())
}

func writeGo(folder string, keys [][]byte) (string, error) {
	err := withGo(folder, filter.NewBloomFilter(10), func(db *leveldb.DB) error {
		for _, key := range keys {
			if err := db.Put(key, []byte("value"), nil); err != nil {
				return err
			}
		}
		return db.CompactRange(util.Range{})
	})
	if err != nil {
		return "", err
	}
	// goleveldb may close before it deletes the tables that were compacted, and deletes such tables when it opens.
	if err := withGo(folder, filter.NewBloomFilter(10), func(*leveldb.DB) error { return nil }); err != nil {
		return "", err
	}
	return one(folder, "*.ldb")
}

func answersGo(folder string, keys [][]byte) (answers []byte, err error) {
	asked := &lastAnswer{Filter: filter.NewBloomFilter(10)}
	return answers, withGo(folder, asked, func(db *leveldb.DB) error {
		for _, key := range keys {
			asked.answer = '-'
			switch _, err := db.Get(key, nil); {
			case err == nil:
				answers = append(answers, '+')
			case err == leveldb.ErrNotFound: //nolint:errorlint // goleveldb returns it as it is
				answers = append(answers, asked.answer)
			default:
				return err
			}
		}
		return nil
	})
}

// lastAnswer remembers the last answer of a filter.
type lastAnswer struct {
	filter.Filter
	answer byte
}

func (f *lastAnswer) Contains(encoded, key []byte) bool {
	may := f.Filter.Contains(encoded, key)
	f.answer = '0'
	if may {
		f.answer = '1'
	}
	return may
}
