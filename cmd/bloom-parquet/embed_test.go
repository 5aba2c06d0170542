package main

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// TestNearestSize embeds filters of 781 and of 1000 keys. Half the size that keeps 0.01 has a rate near 0.01
// for 781 of them, and a higher one for 1000. A rate that is asked for is a bound.
func TestNearestSize(t *testing.T) {
	t.Setenv(apartVariable, "1")
	type row struct {
		Key int64 `parquet:"key"`
	}
	for _, test := range []struct {
		keys  int
		flags []string
		bytes string
		most  float64
	}{
		{781, nil, "1024", 0.0125},
		{781, []string{"--rate", "0.01"}, "2048", 0.01},
		{781, []string{"--rate", "1%", "--any-size"}, "1056", 0.0105},
		{781, []string{"--any-size"}, "1056", 0.0105},
		{1000, nil, "2048", 0.01},
	} {
		rows := make([]row, test.keys)
		for i := range rows {
			rows[i].Key = int64(i)
		}
		in := filepath.Join(t.TempDir(), "in.parquet")
		if err := parquet.WriteFile(in, rows); err != nil {
			t.Fatal(err)
		}
		status, _, messages := runOn(t, 1, append([]string{"embed", "--column", "key", "-o", "out", in}, test.flags...)...)
		found := regexp.MustCompile(`: key: 1 of 1 row groups get filters of (\d+) bytes in all, rate (\S+) to [^,\n]*(, at most 0.0125 \(use --rate to set another maximum\))?\n`).FindSubmatch(messages)
		if found == nil {
			t.Errorf("%d keys, %v: status %d: %s", test.keys, test.flags, status, messages)
			continue
		}
		if rate, err := strconv.ParseFloat(string(found[2]), 64); err != nil || rate > test.most || string(found[1]) != test.bytes || (len(found[3]) > 0) != (test.flags == nil) {
			t.Errorf("%d keys, %v: %s", test.keys, test.flags, messages)
		}
	}
}

// TestChunkKeys compares the keys of values with their bytes in the encoding PLAIN. Of zeros both are keys if
// one is a value, and of NaN those that programs look for.
func TestChunkKeys(t *testing.T) {
	le := binary.LittleEndian
	type bytes = []byte
	single := func(bits uint32) bytes { return le.AppendUint32(nil, bits) }
	double := func(bits uint64) bytes { return le.AppendUint64(nil, bits) }
	float16 := bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Logical: bloomparquet.Float16, Width: 2}
	for name, test := range map[string]struct {
		of     bloomparquet.Type
		values encoding.Values
		want   []bytes
	}{
		"int32":         {bloomparquet.Type{Physical: bloomparquet.Int32}, encoding.Int32Values([]int32{1, -1}), []bytes{single(1), single(math.MaxUint32)}},
		"int64":         {bloomparquet.Type{Physical: bloomparquet.Int64}, encoding.Int64Values([]int64{1, -1}), []bytes{double(1), double(math.MaxUint64)}},
		"int96":         {bloomparquet.Type{Physical: bloomparquet.Int96}, encoding.Int96Values([]deprecated.Int96{{1, 2, 3}}), []bytes{{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}}},
		"float":         {bloomparquet.Type{Physical: bloomparquet.Float}, encoding.FloatValues([]float32{1.5}), []bytes{single(math.Float32bits(1.5))}},
		"float -0":      {bloomparquet.Type{Physical: bloomparquet.Float}, encoding.FloatValues([]float32{float32(math.Copysign(0, -1))}), []bytes{single(0), single(1 << 31)}},
		"float NaN":     {bloomparquet.Type{Physical: bloomparquet.Float}, encoding.FloatValues([]float32{math.Float32frombits(0x7fc00005)}), []bytes{single(0x7fc00005), single(0x7fc00000), single(0xffc00000)}},
		"double":        {bloomparquet.Type{Physical: bloomparquet.Double}, encoding.DoubleValues([]float64{1.5}), []bytes{double(math.Float64bits(1.5))}},
		"double 0":      {bloomparquet.Type{Physical: bloomparquet.Double}, encoding.DoubleValues([]float64{0}), []bytes{double(0), double(1 << 63)}},
		"double NaN":    {bloomparquet.Type{Physical: bloomparquet.Double}, encoding.DoubleValues([]float64{math.NaN()}), []bytes{double(math.Float64bits(math.NaN())), double(0x7ff8 << 48), double(0xfff8 << 48)}},
		"float16":       {float16, encoding.FixedLenByteArrayValues(bytes{1, 2, 0, 0x80}, 2), []bytes{{1, 2}, {0, 0}, {0, 0x80}}},
		"float16 NaN":   {float16, encoding.FixedLenByteArrayValues(bytes{5, 0x7e}, 2), []bytes{{5, 0x7e}, {0, 0x7e}, {0, 0xfe}}},
		"byte array":    {bloomparquet.Type{Physical: bloomparquet.ByteArray}, encoding.ByteArrayValues(bytes("abc"), []uint32{0, 1, 1, 3}), []bytes{bytes("a"), {}, bytes("bc")}},
		"fixed length":  {bloomparquet.Type{Physical: bloomparquet.FixedLenByteArray, Width: 3}, encoding.FixedLenByteArrayValues(bytes("abcdef"), 3), []bytes{bytes("abc"), bytes("def")}},
		"boolean":       {bloomparquet.Type{Physical: bloomparquet.Boolean}, encoding.BooleanValues(bytes{0xfe}), []bytes{{0}}},
		"no byte array": {bloomparquet.Type{Physical: bloomparquet.ByteArray}, encoding.ByteArrayValues(nil, []uint32{0}), nil},
	} {
		k := &equals{of: test.of}
		keys, err := keysOf(test.values, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		k.note(keys)
		got := map[string]bool{}
		for _, column := range []bloom.Keys{keys, bloom.Bytes(k.values)} {
			for row := range column.Len() {
				key, _ := column.AppendKey(nil, row)
				got[string(key)] = true
			}
		}
		for _, key := range test.want {
			if !got[string(key)] {
				t.Errorf("%s: no key %x", name, key)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %d keys, want %d", name, len(got), len(test.want))
		}
	}
}
