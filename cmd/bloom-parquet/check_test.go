package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lanebloom/bloom/cmd/internal/cli"
)

// number is a row of the files here.
type number struct {
	Key   int64 `parquet:"key"`
	Other int32 `parquet:"other,dict"`
}

// randomNumbers returns a file of 300 rows whose values no codec makes smaller, and its rows.
func randomNumbers(t *testing.T, codec compress.Codec) (file []byte, rows []number) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 300))
	rows = make([]number, 300)
	for i := range rows {
		rows[i] = number{random.Int64(), random.Int32()}
	}
	var out bytes.Buffer
	if err := parquet.Write(&out, rows, parquet.Compression(codec), parquet.MaxRowsPerRowGroup(200)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), rows
}

// TestLZ4Raw wants parquet-go to decode LZ4_RAW wrongly. When a version decodes it rightly, checkColumn can
// allow it.
func TestLZ4Raw(t *testing.T) {
	file, want := randomNumbers(t, &parquet.Lz4Raw)
	got, err := parquet.Read[number](bytes.NewReader(file), int64(len(file)))
	wrong := err != nil || len(got) != len(want)
	for i := range want {
		wrong = wrong || got[i] != want[i]
	}
	if !wrong {
		t.Error("parquet-go decodes LZ4_RAW: add it to codecs")
	}
}

// edited returns a Parquet file with another footer.
func edited(t *testing.T, data []byte, edit func(*format.FileMetaData)) []byte {
	t.Helper()
	data, err := withFooter(data, edit)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withFooter is edited for the commands of scripts.
func withFooter(data []byte, edit func(*format.FileMetaData)) ([]byte, error) {
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	edit(file.Metadata())
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), file.Metadata())
	end := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	data = append(data[:end:end], footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...), err
}

// TestRefused wants columns to be refused that parquet-go does not decode, and values that are outside of
// what the footer says. Only commands that read no pages take such a file.
func TestRefused(t *testing.T) {
	lz4, _ := randomNumbers(t, &parquet.Lz4Raw)
	good, rows := randomNumbers(t, &parquet.Zstd)
	codec := func(group, column int, codec format.CompressionCodec) []byte {
		return edited(t, good, func(m *format.FileMetaData) { m.RowGroups[group].Columns[column].MetaData.Codec = codec })
	}
	bounds := func(column int, low, high uint64, width int) []byte {
		return edited(t, good, func(m *format.FileMetaData) {
			s := &m.RowGroups[0].Columns[column].MetaData.Statistics
			s.MinValue, s.MaxValue = binary.LittleEndian.AppendUint64(nil, low)[:width], binary.LittleEndian.AppendUint64(nil, high)[:width]
		})
	}
	const other = 1
	encrypted := edited(t, good, func(m *format.FileMetaData) {
		c := &m.RowGroups[1].Columns[other]
		c.CryptoMetadata.Value, c.MetaData.Type = &format.EncryptionWithColumnKey{}, 0
	})
	otherType := edited(t, good, func(m *format.FileMetaData) { m.RowGroups[1].Columns[other].MetaData.Type = format.Float })
	outside := func(value any) string {
		return fmt.Sprintf("damaged, or decoded wrongly: the value %d is outside the bounds of its row group, ", value)
	}
	key := "row group 0: " + outside(rows[0].Key)
	for name, test := range map[string]struct {
		file        []byte
		build, want string // what build says, and filter; build reads the column of the keys alone
	}{
		"good":         {good, "", ""},
		"LZ4_RAW":      {lz4, "column key has the compression LZ4_RAW, which is not supported: ", "column key has the compression LZ4_RAW, which is not supported: "},
		"LZ4":          {codec(0, 0, format.Lz4), "column key has the compression LZ4, which is not supported: ", "column key has the compression LZ4, which is not supported: "},
		"LZO":          {codec(1, 0, format.LZO), "column key has the compression LZO, which is not supported: ", "column key has the compression LZO, which is not supported: "},
		"another":      {codec(1, other, format.Lz4Raw), "", "column other has the compression LZ4_RAW, which is not supported: "},
		"two":          {codec(1, other, format.Snappy), "", "column other has the compression ZSTD in row group 0 but SNAPPY in row group 1, which is not supported"},
		"unknown":      {codec(0, other, 99), "", "column other has the compression CompressionCodec(?), which is not supported: "},
		"encrypted":    {encrypted, "", "column other of row group 1 is encrypted, and encrypted columns are not supported"},
		"another type": {otherType, "", "malformed footer: column other has the type INT32 in the schema, but FLOAT in row group 1"},
		"a bound":      {bounds(0, 0, uint64(rows[0].Key)-1, 8), key, key},
		"its bounds":   {bounds(0, uint64(rows[0].Key)+1, 1<<63-1, 8), key, key},
		"other bounds": {bounds(other, 0, uint64(rows[0].Other)-1, 4), "", "row group 0: column other: " + outside(rows[0].Other)},
	} {
		dir := t.TempDir()
		in, keys := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "keys")
		for path, data := range map[string][]byte{in: test.file, keys: fmt.Appendf(nil, "1\n%d\n%d\n", rows[0].Key, int64(math.MaxInt64))} {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, way := range []string{"build", "csv", "jsonl", "parquet", "inverted"} {
			out, err := os.Create(filepath.Join(dir, way))
			if err != nil {
				t.Fatal(err)
			}
			s, want := &cli.Streams{In: os.Stdin, Out: out, Err: os.Stderr, Program: "bloom-parquet"}, test.want
			f := &filterCommand{Column: "key", Keys: cli.Input(keys), As: strings.Replace(way, "inverted", "csv", 1), Invert: way == "inverted", Output: "somewhere", Args: []cli.Input{cli.Input(in)}}
			if way == "build" {
				want, err = test.build, (&buildCommand{Column: "key", Files: []cli.Input{cli.Input(in)}}).work(s)
			} else if _, err = f.prepare(s); err == nil {
				err = f.work(s)
			}
			if way == "inverted" && name == "other bounds" {
				want = strings.Split(want, "the value ")[0] // the first row is not written
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			if ok := want == "" && err == nil || want != "" && err != nil && strings.HasPrefix(err.Error(), in+": "+want); !ok {
				t.Errorf("%s, %s: %v, want %q", name, way, err, want)
			}
		}
		p := &pruneCommand{Column: "key", Keys: cli.Input(keys), Files: []cli.Input{cli.Input(in)}}
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.work(&cli.Streams{In: null, Out: null, Err: null, Program: "bloom-parquet"}); err != nil && !errors.Is(err, cli.ErrNone) {
			t.Errorf("%s: prune: %v", name, err)
		}
		null.Close()
	}
}

// TestUnusedValues wants no value of a dictionary to be refused that no row has.
func TestUnusedValues(t *testing.T) {
	file, _ := randomNumbers(t, &parquet.Snappy)
	opened, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	f := &parquetFile{File: opened}
	var pages []parquet.Page
	if err := f.eachPage(1, 0, func(p *keyPage) error { parquet.Retain(p.Page); pages = append(pages, p.Page); return nil }); err != nil {
		t.Fatal(err)
	}
	first := pages[0].Dictionary().Index(0).Int32()
	b := &bounds{from: int64(first), to: int64(first), column: f.columns[1]}
	if err := b.checkPage(pages[0].Slice(0, 1)); err != nil {
		t.Error(err)
	}
	if err := b.checkPage(pages[0].Slice(0, 2)); err == nil {
		t.Error("no error of a value outside of the bounds")
	}
}
