package splitblock

import (
	"bytes"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom"
)

// ParquetGoModule is the module of [ParquetGo].
const ParquetGoModule = "github.com/parquet-go/parquet-go"

// ParquetGo is parquet-go. Its filters have any number of blocks, but it makes none
// without keys.
type ParquetGo[K Key] struct{}

// CreateFilter encodes the keys as parquet-go's writer of files does.
func (ParquetGo[K]) CreateFilter(keys []K, bitsPerKey int) (filter []byte, err error) {
	if len(keys) == 0 || bitsPerKey < 1 {
		return nil, ErrSize
	}
	column := parquet.SplitBlockFilter(uint(bitsPerKey), "column")
	filter = make([]byte, column.Size(int64(len(keys))))
	switch keys := any(keys).(type) {
	case [][]byte:
		var values []byte
		offsets := []uint32{0}
		for _, key := range keys {
			values = append(values, key...)
			offsets = append(offsets, uint32(len(values)))
		}
		return column.Encoding().EncodeByteArray(filter, values, offsets)
	case []int32:
		return column.Encoding().EncodeInt32(filter, keys)
	case []int64:
		return column.Encoding().EncodeInt64(filter, keys)
	}
	panic("unreachable")
}

// KeyMayMatch reads the filter as parquet-go's reader of files does.
func (ParquetGo[K]) KeyMayMatch(filter []byte, keys []K) ([]bool, error) {
	answers := make([]bool, len(keys))
	file := bytes.NewReader(filter)
	for i, key := range keys {
		var err error
		if answers[i], err = bloom.CheckSplitBlock(file, file.Size(), sum64(key)); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// sum64 returns parquet-go's hash of a key.
func sum64[K Key](key K) uint64 {
	var hash bloom.XXH64
	switch key := any(key).(type) {
	case []byte:
		return hash.Sum64(key)
	case int32:
		return hash.Sum64Uint32(uint32(key))
	case int64:
		return hash.Sum64Uint64(uint64(key))
	}
	panic("unreachable")
}
