package bloomsst

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/minio/minlz"
	"github.com/pierrec/lz4/v4"
)

// The compressions of blocks, as their trailers number them.
const (
	storedBlock = 0
	snappyBlock = 1
	zlibBlock   = 2 // zstd in tables of LevelDB; LZ4 in those of Riak, and zlib in those of Mojang
	bzip2Block  = 3
	lz4Block    = 4
	lz4hcBlock  = 5
	zstdBlock   = 7
	oldZstd     = 64 // RocksDB's, before the format of Zstandard was final
	minlzBlock  = 8  // Pebble's
)

// codec decodes a kind of blocks whose length is known before.
type codec struct {
	length func(data []byte) (n uint64, rest []byte, err error) // of the contents; rest is what decode decodes
	decode func(dst, src []byte) ([]byte, error)                // dst has the length
}

var (
	snappyCodec  = codec{inside(snappy.DecodedLen), snappy.Decode}
	minlzCodec   = codec{inside(minlz.DecodedLen), minlz.Decode}
	zstdCodec    = codec{lengthBefore, zstdDecode}
	frameCodec   = codec{inside(frameSize), zstdDecode}
	lz4Codec     = codec{lengthBefore, lz4Decode}
	oldLZ4Codec  = codec{wideLengthBefore, lz4Decode}
	errNoLength  = errors.New("its length is missing")
	zstdDecoders = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	})
)

// decompress returns the contents of a block. They have no more bytes than the file and the headroom.
func (f *file) decompress(data []byte, kind byte) ([]byte, error) {
	engine := f.footer.engine
	old := engine == RocksDB && f.footer.version < 2
	switch {
	case kind == storedBlock:
		return data, nil
	case f.dictionary != nil && kind != bzip2Block:
		return f.decompressWith(f.dictionary, data, kind)
	case kind == snappyBlock:
		return f.decoded(snappyCodec, data)
	case engine == LevelDB && kind == zlibBlock:
		if !isFrame(data) { // Riak's LevelDB writes LZ4, and Mojang's zlib
			return nil, fmt.Errorf("%w: a block with compression %d of %s that is not Zstandard", ErrVersion, kind, engine)
		}
		return f.decoded(frameCodec, data)
	case engine == LevelDB:
	case engine == Pebble && kind == minlzBlock:
		return f.decoded(minlzCodec, data)
	case kind == zstdBlock, engine == RocksDB && kind == oldZstd:
		return f.decoded(zstdCodec, data)
	case (kind == lz4Block || kind == lz4hcBlock) && old:
		return f.decoded(oldLZ4Codec, data)
	case kind == lz4Block || kind == lz4hcBlock:
		return f.decoded(lz4Codec, data)
	case kind == zlibBlock || kind == bzip2Block:
		if !old {
			var err error
			if _, data, err = lengthBefore(data); err != nil {
				return nil, badBlock(err)
			}
		}
		if kind == bzip2Block {
			return f.readAll(bzip2.NewReader(bytes.NewReader(data)))
		}
		return f.inflate(data)
	}
	return nil, fmt.Errorf("%w: a block with compression %d of %s", ErrVersion, kind, engine)
}

// decompressWith returns the contents of a data block of RocksDB that was compressed with a dictionary.
func (f *file) decompressWith(dictionary, data []byte, kind byte) ([]byte, error) {
	plain := *f
	plain.dictionary = nil
	if f.footer.engine != RocksDB || f.footer.version < 2 {
		return plain.decompress(data, kind)
	}
	switch kind {
	case zstdBlock, oldZstd:
		return plain.decoded(codec{lengthBefore, func(dst, src []byte) ([]byte, error) { return zstdDecodeWith(dictionary, dst, src) }}, data)
	case lz4Block, lz4hcBlock:
		return plain.decoded(codec{lengthBefore, func(dst, src []byte) ([]byte, error) {
			n, err := lz4.UncompressBlockWithDict(src, dst, dictionary)
			return dst[:max(n, 0)], err
		}}, data)
	case zlibBlock:
		_, data, err := lengthBefore(data)
		if err != nil {
			return nil, badBlock(err)
		}
		return plain.readAll(flate.NewReaderDict(bytes.NewReader(data), dictionary))
	}
	return plain.decompress(data, kind)
}

// limit is the largest number of bytes that a block may have once it is decompressed, or all blocks together that are
// counted.
func (f *file) limit() uint64 {
	most := uint64(f.size) + headroom
	if f.spent != nil {
		most -= min(f.spent.Load(), most)
	}
	return most
}

// spend counts bytes that are decompressed.
func (f *file) spend(n int) {
	if f.spent != nil {
		f.spent.Add(uint64(n))
	}
}

func badBlock(err error) error { return fmt.Errorf("%w: compressed block: %w", ErrDamaged, err) }

func (f *file) decoded(c codec, data []byte) ([]byte, error) {
	n, rest, err := c.length(data)
	if err != nil {
		return nil, badBlock(err)
	}
	if n > min(f.limit(), math.MaxInt) {
		return nil, fmt.Errorf("%w: a compressed block claims to have %d bytes, but the limit is %d", ErrDamaged, n, f.limit())
	}
	f.spend(int(n))
	contents, err := c.decode(make([]byte, n), rest)
	if err == nil && uint64(len(contents)) != n {
		err = fmt.Errorf("it has %d bytes instead of %d", len(contents), n)
	}
	if err != nil {
		return nil, badBlock(err)
	}
	return contents, nil
}

// readAll reads a block whose length is not known before.
func (f *file) readAll(r io.Reader) ([]byte, error) {
	limit := f.limit()
	contents, err := io.ReadAll(io.LimitReader(r, int64(limit+1)))
	f.spend(len(contents))
	if err == nil && uint64(len(contents)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return nil, badBlock(err)
	}
	return contents, nil
}

// inflate decodes RocksDB's zlib, which has no header unless its options ask for one.
func (f *file) inflate(data []byte) ([]byte, error) {
	contents, err := f.readAll(flate.NewReader(bytes.NewReader(data)))
	if err == nil {
		return contents, nil
	}
	if r, zlibErr := zlib.NewReader(bytes.NewReader(data)); zlibErr == nil {
		return f.readAll(r)
	}
	return nil, err
}

// inside is for compressions that tell the length themselves.
func inside(length func([]byte) (int, error)) func([]byte) (uint64, []byte, error) {
	return func(data []byte) (uint64, []byte, error) {
		n, err := length(data)
		if n < 0 {
			err = errNoLength
		}
		return uint64(n), data, err
	}
}

// lengthBefore reads the length that RocksDB, since format_version 2, and Pebble write before what they compress.
func lengthBefore(data []byte) (uint64, []byte, error) {
	n, m := binary.Uvarint(data)
	if m <= 0 {
		return 0, nil, errNoLength
	}
	return n, data[m:], nil
}

// wideLengthBefore reads the length before LZ4 in RocksDB before format_version 2.
func wideLengthBefore(data []byte) (uint64, []byte, error) {
	if len(data) < 8 {
		return 0, nil, errNoLength
	}
	return binary.LittleEndian.Uint64(data), data[8:], nil
}

func lz4Decode(dst, src []byte) ([]byte, error) {
	n, err := lz4.UncompressBlock(src, dst)
	return dst[:max(n, 0)], err
}

// zstdDecode decodes no more bytes than dst has room for.
func zstdDecode(dst, src []byte) ([]byte, error) {
	decoder, err := zstdDecoders()
	if err != nil {
		return nil, err
	}
	return decoder.DecodeAll(src, dst[:0])
}

// isFrame reports whether data begin as a frame of zstd does.
func isFrame(data []byte) bool {
	const magic = 0xfd2fb528
	return len(data) >= 4 && binary.LittleEndian.Uint32(data) == magic
}

// frameSize returns the size that a frame of zstd tells.
func frameSize(data []byte) (int, error) {
	var header zstd.Header
	if err := header.Decode(data); err != nil {
		return 0, err
	}
	if !header.HasFCS || header.FrameContentSize > math.MaxInt32 {
		return 0, errNoLength
	}
	return int(header.FrameContentSize), nil
}

// zstdDecodeWith decodes with a dictionary, which is any bytes unless it begins as those do that were trained.
func zstdDecodeWith(dictionary, dst, src []byte) ([]byte, error) {
	const trained = "\x37\xa4\x30\xec"
	with := zstd.WithDecoderDictRaw(0, dictionary)
	if bytes.HasPrefix(dictionary, []byte(trained)) {
		with = zstd.WithDecoderDicts(dictionary)
	}
	decoder, err := zstd.NewReader(nil, with, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(src, dst[:0])
}
