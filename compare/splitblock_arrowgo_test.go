package compare

import (
	"bytes"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// arrowGoModule is the module of [arrowGo].
const arrowGoModule = "github.com/apache/arrow-go/v18"

// arrowGo is arrow-go. It makes filters of a power of two of blocks, and reads filters
// of any number.
type arrowGo[K columnKey] struct{}

// CreateFilter inserts the keys as arrow-go's writer of files does.
func (arrowGo[K]) CreateFilter(keys []K, bitsPerKey int) ([]byte, error) {
	z := blocks(len(keys), bitsPerKey)
	if z&(z-1) != 0 {
		return nil, errSize
	}
	size := uint32(z * bytesPerBlock)
	builder := metadata.NewBloomFilter(size, size, memory.DefaultAllocator)
	defer builder.Release()
	switch keys := any(keys).(type) {
	case [][]byte:
		metadata.InsertHashes(builder, byteArrays(keys))
	case []int32:
		metadata.InsertHashes(builder, keys)
	case []int64:
		metadata.InsertHashes(builder, keys)
	}
	var blocks bytes.Buffer
	_, err := builder.WriteTo(&blocks, nil)
	return blocks.Bytes(), err
}

func byteArrays(keys [][]byte) []parquet.ByteArray {
	arrays := make([]parquet.ByteArray, len(keys))
	for i, key := range keys {
		arrays[i] = key
	}
	return arrays
}

// KeyMayMatch gives the filter a header and lets arrow-go's reader of files read it.
func (arrowGo[K]) KeyMayMatch(filter []byte, keys []K) (answers []bool, err error) {
	err = visitArrowGo(filter, func(f metadata.BloomFilter) error {
		for _, hash := range hashes(f.Hasher(), keys) {
			answers = append(answers, f.CheckHash(hash))
		}
		return nil
	})
	return answers, err
}

// visitArrowGo calls visit with a filter as arrow-go's reader of files has it.
func visitArrowGo(filter []byte, visit func(metadata.BloomFilter) error) error {
	file, meta, err := embed(filter)
	if err != nil {
		return err
	}
	reader := metadata.BloomFilterReader{
		Input:        bytes.NewReader(file),
		FileMetadata: meta,
		BufferPool:   &sync.Pool{New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) }},
	}
	rowGroup, err := reader.RowGroup(0)
	if err != nil {
		return err
	}
	return rowGroup.VisitColumnBloomFilter(0, visit)
}

// hashes returns arrow-go's hash of each key.
func hashes[K columnKey](hasher metadata.Hasher, keys []K) []uint64 {
	switch keys := any(keys).(type) {
	case [][]byte:
		return metadata.GetHashes(hasher, byteArrays(keys))
	case []int32:
		return metadata.GetHashes(hasher, keys)
	case []int64:
		return metadata.GetHashes(hasher, keys)
	}
	panic("unreachable")
}

// embed returns the start of a file with one column that has the filter, and the
// file's metadata. arrow-go chooses the place of the filter; it wants a builder for
// that, and gets the smallest.
func embed(filter []byte) (file []byte, meta *metadata.FileMetaData, err error) {
	const column = "column"
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{schema.NewByteArrayNode(column, parquet.Repetitions.Required, -1)}, -1)
	if err != nil {
		return nil, nil, err
	}
	s := schema.NewSchema(root)
	builder := metadata.NewFileMetadataBuilder(s, parquet.NewWriterProperties(), nil)
	rowGroup := builder.AppendRowGroup()
	rowGroup.NextColumnChunk()
	if err := rowGroup.Finish(0, 0); err != nil {
		return nil, nil, err
	}
	smallest := metadata.NewBloomFilter(bytesPerBlock, bytesPerBlock, memory.DefaultAllocator)
	defer smallest.Release()
	filters := metadata.FileBloomFilterBuilder{Schema: s}
	filters.AppendRowGroup(rowGroup, map[string]metadata.BloomFilterBuilder{column: smallest})
	magic := []byte("PAR1")
	if err := filters.WriteTo(&tellBuffer{*bytes.NewBuffer(slices.Clone(magic))}); err != nil {
		return nil, nil, err
	}
	if meta, err = builder.Finish(); err != nil {
		return nil, nil, err
	}
	header, err := headerOfParquet(len(filter))
	if err != nil {
		return nil, nil, err
	}
	file = slices.Concat(magic, header, filter)
	meta.SetSourceFileSize(int64(len(file)))
	return file, meta, nil
}

// tellBuffer is a buffer that knows its length by the name that arrow-go wants.
type tellBuffer struct{ bytes.Buffer }

func (b *tellBuffer) Tell() int64 { return int64(b.Len()) }

// headerOfParquet returns the header of a filter in a file, in parquet-go's encoding.
func headerOfParquet(numBytes int) ([]byte, error) {
	return thrift.Marshal(new(thrift.CompactProtocol), &format.BloomFilterHeader{
		NumBytes:    int32(numBytes),
		Algorithm:   format.BloomFilterAlgorithm{Value: new(format.SplitBlockAlgorithm)},
		Hash:        format.BloomFilterHash{Value: new(format.XxHash)},
		Compression: format.BloomFilterCompression{Value: new(format.BloomFilterUncompressed)},
	})
}
