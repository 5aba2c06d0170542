package compare

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
)

// badgers are the kinds of tables of Badger.
func badgers(string) ([]tableWriter, error) {
	with := func(name string, o table.Options) tableWriter {
		o.BlockSize, o.TableSize, o.ChkMode = 4096, 64<<20, options.NoVerification
		b := badgerTable{o}
		return tableWriter{
			Name: name, Engine: bloomsst.Badger, Format: bloom.LevelDB, module: "github.com/dgraph-io/badger/v4", Golden: true, NoRange: true, Keys: 150, Write: b.write, Answers: b.answers,
		}
	}
	w := with("badger", table.Options{BloomFalsePositive: 0.01})
	without := with("badger-no-filter", table.Options{})
	without.Ignored = bloomsst.ErrNoFilter
	return []tableWriter{w, without}, nil
}

// badgerTable writes and reads a table with the options.
type badgerTable struct{ table.Options }

func (b badgerTable) write(folder string, keys [][]byte) (string, error) {
	builder := table.NewTableBuilder(b.Options)
	defer builder.Close()
	for _, key := range slices.SortedFunc(slices.Values(keys), bytes.Compare) {
		builder.Add(y.KeyWithTs(key, 1), y.ValueStruct{Value: []byte("value")}, 0)
	}
	name := filepath.Join(folder, "000001.sst")
	return name, os.WriteFile(name, builder.Finish(), 0o644)
}

func (b badgerTable) answers(folder string, keys [][]byte) (answers []byte, err error) {
	data, err := os.ReadFile(filepath.Join(folder, "000001.sst"))
	if err != nil {
		return nil, err
	}
	t, err := table.OpenInMemoryTable(data, 1, &b.Options)
	if err != nil {
		return nil, err
	}
	iterator := t.NewIterator(0)
	defer iterator.Close()
	for _, key := range keys {
		iterator.Seek(y.KeyWithTs(key, 1))
		switch {
		case iterator.Valid() && y.SameKey(iterator.Key(), y.KeyWithTs(key, 1)):
			answers = append(answers, '+')
		case t.DoesNotHave(y.Hash(key)):
			answers = append(answers, '0')
		default:
			answers = append(answers, '1')
		}
	}
	return answers, nil
}
