package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"os"
	"syscall"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/lanebloom/bloom"
)

// The functions of this file do what programs do with the filters that they store: as they do it with
// bits-and-blooms, and with this library. The tables count the lines of the second that are not in the first.

// lokiBefore counts the rows that may have a value. Loki 3.7 has a filter in each row of a column
// (pkg/dataobj/sections/pointers).
func lokiBefore(rows [][]byte, value string) (found int) {
	for _, row := range rows {
		var filter bitsbloom.BloomFilter
		_, err := filter.ReadFrom(bytes.NewReader(row))
		if err != nil || filter.TestString(value) {
			found++
		}
	}
	return found
}

func lokiAfter(rows [][]byte, value string) (found int) {
	hash := bloom.BitsAndBlooms.HashString(value)
	for _, row := range rows {
		if bloom.BitsAndBlooms.MayContainHash(row, hash) {
			found++
		}
	}
	return found
}

// block is a block of Tempo: its filter is divided into objects of 100 KiB, by a hash of the trace's ID
// (tempodb/encoding/common, tempodb/encoding/vparquet5).
type block [][]byte

// shardOf returns which of the objects of a block has a trace.
func shardOf(id []byte, shards int) int {
	hash := fnv.New32()
	hash.Write(id)
	return int(hash.Sum32()) % shards
}

// tempoBefore reports whether a block may have a trace.
func tempoBefore(b block, id []byte) (bool, error) {
	shard := b[shardOf(id, len(b))]
	filter := &bitsbloom.BloomFilter{}
	_, err := filter.ReadFrom(bytes.NewReader(shard))
	if err != nil {
		return false, err
	}
	return filter.Test(id), nil
}

func tempoAfter(b block, id []byte) (bool, error) {
	shard := b[shardOf(id, len(b))]
	filter, err := bloom.Open(bloom.BitsAndBlooms, shard)
	if err != nil {
		return false, err
	}
	return filter.MayContain(id), nil
}

var errChecksum = errors.New("wrong checksum")

// weaviateBefore opens the filter of a segment: its file has 4 bytes of a checksum, and then the filter
// (adapters/repos/db/lsmkv).
func weaviateBefore(path string) (*bitsbloom.BloomFilter, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != crc32.ChecksumIEEE(data[4:]) {
		return nil, errChecksum
	}
	filter := new(bitsbloom.BloomFilter)
	_, err = filter.ReadFrom(bytes.NewReader(data[4:]))
	return filter, err
}

func weaviateAfter(path string) (*bloom.Filter, error) {
	data, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != crc32.ChecksumIEEE(data[4:]) {
		return nil, errChecksum
	}
	return bloom.Open(bloom.BitsAndBlooms, data[4:])
}

// mapFile maps a file, as Weaviate maps those of its segments.
func mapFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
}

// segmentsBefore counts the segments that may have a key.
func segmentsBefore(segments []*bitsbloom.BloomFilter, key []byte) (found int) {
	for _, filter := range segments {
		if filter.Test(key) {
			found++
		}
	}
	return found
}

func segmentsAfter(segments *bloom.Group, key []byte, hits []uint64) (found int) {
	return segments.MayContain(key, hits)
}

// spiceBefore records a key in the filter that a request of SpiceDB carries, and reports whether it may have been
// there (pkg/proto/dispatch/v1).
func spiceBefore(traversal []byte, key string) (possiblyLoop bool, _ []byte, err error) {
	filter := &bitsbloom.BloomFilter{}
	if err := filter.UnmarshalBinary(traversal); err != nil {
		return false, nil, err
	}
	if filter.TestString(key) {
		return true, traversal, nil
	}
	traversal, err = filter.AddString(key).MarshalBinary()
	return false, traversal, err
}

func spiceAfter(traversal []byte, key string) (possiblyLoop bool, _ []byte, err error) {
	traversal = bytes.Clone(traversal) // other requests have it, too
	isNew, err := bloom.BitsAndBlooms.AddHash(traversal, bloom.BitsAndBlooms.HashString(key))
	return !isNew, traversal, err
}
