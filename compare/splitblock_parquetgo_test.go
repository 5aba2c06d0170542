package compare

import (
	"bytes"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom"
)

// parquetGoModule is the module of [parquetGo].
const parquetGoModule = "github.com/parquet-go/parquet-go"

// parquetGo is parquet-go. Its filters have any number of blocks, but it makes none
// without keys.
type parquetGo[K columnKey] struct{}

// CreateFilter encodes the keys as parquet-go's writer of files does.
func (parquetGo[K]) CreateFilter(keys []K, bitsPerKey int) (filter []byte, err error) {
	if len(keys) == 0 || bitsPerKey < 1 {
		return nil, errSize
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
func (parquetGo[K]) KeyMayMatch(filter []byte, keys []K) ([]bool, error) {
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
func sum64[K columnKey](key K) uint64 {
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
