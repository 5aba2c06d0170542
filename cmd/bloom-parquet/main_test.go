package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/parquet"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/commandtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bloom-parquet": main, "write-forever": writeForever, "read-damaged": readDamaged})
}

// writeForever writes the file that it is given and does not come to an end.
func writeForever() {
	s := &cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Program: "bloom-parquet"}
	err := s.Outputs().Write(os.Args[1], func(w io.Writer) error {
		_, err := io.WriteString(w, "a part")
		time.Sleep(time.Hour)
		return err
	})
	os.Exit(s.Status(err))
}

// TestScripts runs the scripts of testdata/script, in which "bloom-parquet" is this command.
func TestScripts(t *testing.T) {
	testscript.Run(t, commandtest.Scripts(map[string]commandtest.Command{
		"orders":  writeOrders,
		"lines":   writeLines,
		"show":    showValues,
		"pairs":   writePairs,
		"uuids":   writeUUIDs,
		"mislead": mislead,
		"comma":   writeComma,
		"spoil":   spoil,
		"age":     age,
		"cut":     cutFile,
		"flip":    flip,
		"types":   writeTypes,
	}))
}

// order is a row of the files of scripts.
type order struct {
	ID       int64     `parquet:"id"`
	Name     string    `parquet:"name,dict"`
	Small    int32     `parquet:"small"`
	Optional *int64    `parquet:"optional,optional"`
	At       time.Time `parquet:"at,timestamp(millisecond)"`
	Tags     []string  `parquet:"tags,list"`
	Bare     string    `parquet:"bare"`
}

func orderOf(i int) order {
	o := order{
		ID: int64(i), Name: fmt.Sprint("name ", i%700), Small: int32(-i), At: time.Unix(int64(i), 0).UTC(),
		Tags: []string{"all", fmt.Sprint("tag ", i)}, Bare: fmt.Sprint("bare ", i),
	}
	if i%3 == 0 {
		o.Optional = &o.ID
	}
	return o
}

// writeOrders is the script command: orders FILE FROM TO [gzip|unordered|text], for a file of the orders
// FROM … TO-1 in row groups of 1000. All columns but bare have filters. An unordered file has none, and
// its bounds are like those of DuckDB 1.4: without column_orders. In a file of text, ids are text, and
// there are no other columns.
func writeOrders(ts *testscript.TestScript, _ bool, args []string) {
	from, err := strconv.Atoi(args[1])
	ts.Check(err)
	to, err := strconv.Atoi(args[2])
	ts.Check(err)
	options := []parquet.WriterOption{
		parquet.MaxRowsPerRowGroup(1000), parquet.KeyValueMetadata("made by", "a test"),
		parquet.BloomFilters(parquet.SplitBlockFilter(16, "id"), parquet.SplitBlockFilter(16, "name"), parquet.SplitBlockFilter(16, "small"),
			parquet.SplitBlockFilter(16, "optional"), parquet.SplitBlockFilter(16, "at"), parquet.SplitBlockFilter(16, "tags", "list", "element")),
	}
	kind := strings.Join(args[3:], " ")
	switch kind {
	case "gzip":
		options = append(options, parquet.BloomFilterCompression(&parquet.Gzip))
	case "text":
		writeTextOrders(ts, args[0], from, to)
		return
	case "unordered":
		options = []parquet.WriterOption{parquet.MaxRowsPerRowGroup(1000), parquet.DeprecatedDataPageStatistics(true)}
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[order](&out, options...)
	for i := from; i < to; i++ {
		_, err := w.Write([]order{orderOf(i)})
		ts.Check(err)
	}
	ts.Check(w.Close())
	data := out.Bytes()
	if kind == "unordered" {
		data, err = withFooter(data, func(m *format.FileMetaData) { m.ColumnOrders = nil })
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

func writeTextOrders(ts *testscript.TestScript, name string, from, to int) {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		ID string `parquet:"id"`
	}](&out)
	for i := from; i < to; i++ {
		_, err := w.Write([]struct {
			ID string `parquet:"id"`
		}{{fmt.Sprint(i)}})
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(name), out.Bytes(), 0o644))
}

// spoil is the script command: spoil FILE GROUP, which damages the pages of all columns of a row group.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	group, err := strconv.Atoi(args[1])
	ts.Check(err)
	data := []byte(ts.ReadFile(args[0]))
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	ts.Check(err)
	for _, column := range file.Metadata().RowGroups[group].Columns {
		copy(data[column.MetaData.DataPageOffset:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// mislead is the script command: mislead FILE, which leaves a single bit of each filter set.
func mislead(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	ts.Check(err)
	for i, group := range file.RowGroups() {
		for j, chunk := range group.ColumnChunks() {
			if filter := chunk.BloomFilter(); filter != nil {
				meta := file.Metadata().RowGroups[i].Columns[j].MetaData
				end := meta.BloomFilterOffset + int64(meta.BloomFilterLength)
				bits := data[end-filter.Size() : end]
				clear(bits)
				bits[0] = 1
			}
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// writeComma is the script command: comma FILE, for a file whose only column is a,b.
func writeComma(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	w := parquet.NewWriter(&out, parquet.NewSchema("table", parquet.Group{"a,b": parquet.Int(64)}))
	for i := range int64(100) {
		_, err := w.WriteRows([]parquet.Row{{parquet.Int64Value(i)}})
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o644))
}

// age is the script command: age FILE, which makes a file an hour older.
func age(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), time.Time{}, info.ModTime().Add(-time.Hour)))
}

// cutFile is the script command: cut FILE, which cuts off the second half of a file.
func cutFile(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(len(ts.ReadFile(args[0])))/2))
}

// flip is the script command: flip FILE, which changes every fiftieth byte of a file in the middle half.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	for i := len(data) / 4; i < len(data)*3/4; i += 50 {
		data[i] ^= 1
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// manyTypes is a row with columns of many types, and nested ones.
type manyTypes struct {
	ID    int64            `parquet:"id"`
	Small uint32           `parquet:"small"`
	Day   int32            `parquet:"day,date"`
	At    int64            `parquet:"at,timestamp(microsecond)"`
	Money int64            `parquet:"money,decimal(2:12)"`
	Real  float64          `parquet:"real"`
	Yes   bool             `parquet:"yes"`
	UUID  [16]byte         `parquet:"uuid,uuid"`
	Text  *string          `parquet:"text,optional"`
	Bytes []byte           `parquet:"bytes"`
	Tags  []string         `parquet:"tags,list"`
	Items []manyItem       `parquet:"items"`
	Map   map[string]int64 `parquet:"map"`
	Pair  *manyPair        `parquet:"pair,optional"`
}

type manyItem struct {
	Name   string  `parquet:"name"`
	Counts []int32 `parquet:"counts"`
}

type manyPair struct {
	A *int32 `parquet:"a,optional"`
	B string `parquet:"b"`
}

// writeTypes is the script command: types FILE, for a file of four rows of many types.
func writeTypes(ts *testscript.TestScript, _ bool, args []string) {
	text := func(s string) *string { return &s }
	five := int32(5)
	rows := []manyTypes{
		{
			ID: 1, Small: 1 << 31, Day: 19844, At: 1714564800000001, Money: -1250, Real: 0.5, Yes: true, UUID: [16]byte{1, 2, 3}, Text: text("a \"b\", <c>\n"),
			Bytes: []byte{0, 0xff}, Tags: []string{"x", "y"}, Items: []manyItem{{"i", []int32{1, 2}}, {"j", nil}}, Map: map[string]int64{"k": 7}, Pair: &manyPair{&five, "b"},
		},
		{ID: 2, Real: math.NaN(), Text: text("")},
		{ID: 3, Real: math.Copysign(0, -1), Tags: []string{""}, Items: []manyItem{{"", []int32{3}}}, Pair: &manyPair{}},
		{ID: 4, Real: 1e300, Bytes: []byte("plain")},
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[manyTypes](&out)
	_, err := w.Write(rows)
	ts.Check(errors.Join(err, w.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o644))
}

// writeLines is the script command: lines FILE FORMAT FROM TO, for a line of each number FROM … TO-1.
func writeLines(ts *testscript.TestScript, _ bool, args []string) {
	from, err := strconv.Atoi(args[2])
	ts.Check(err)
	to, err := strconv.Atoi(args[3])
	ts.Check(err)
	var lines bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&lines, args[1]+"\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), lines.Bytes(), 0o644))
}

// showValues is the script command: show FILE, which prints the ids of orders to the file show, and
// what is in the file's footer.
func showValues(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	ts.Check(err)
	rows, err := parquet.Read[order](bytes.NewReader(data), int64(len(data)))
	ts.Check(err)
	var lines strings.Builder
	made, _ := file.Lookup("made by")
	fmt.Fprintf(&lines, "%d rows, made by %q\n", len(rows), made)
	if _, embedded := file.Lookup(bloomparquet.MarkKey); embedded {
		fmt.Fprintln(&lines, "filters are marked as whole")
	}
	for _, group := range file.Metadata().RowGroups[:min(1, len(rows))] {
		for i, chunk := range group.Columns {
			if chunk.MetaData.BloomFilterOffset > 0 {
				fmt.Fprintln(&lines, "filter of", file.Schema().Columns()[i])
			}
		}
	}
	for _, row := range rows {
		if !reflect.DeepEqual(row, orderOf(int(row.ID))) {
			ts.Fatalf("order %d is %+v", row.ID, row)
		}
		fmt.Fprintln(&lines, row.ID)
	}
	ts.Check(os.WriteFile(ts.MkAbs("show"), []byte(lines.String()), 0o644))
}

// writePairs is the script command: pairs FILE FROM TO, for a file of the ids FROM … TO-1 and texts in row
// groups of 1000. Every seventh id is null.
func writePairs(ts *testscript.TestScript, _ bool, args []string) {
	type pair struct {
		ID   *int64 `parquet:"id,optional"`
		Text string `parquet:"text"`
	}
	from, err1 := strconv.ParseInt(args[1], 10, 64)
	to, err2 := strconv.ParseInt(args[2], 10, 64)
	ts.Check(errors.Join(err1, err2))
	var pairs []pair
	for i := from; i < to; i++ {
		p := pair{&i, fmt.Sprint("text ", i)}
		if i%7 == 6 {
			p.ID = nil
		}
		pairs = append(pairs, p)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), fileOf(pairs, 1000), 0o644))
}

// writeUUIDs is the script command: uuids FILE, for a file of two UUIDs and a null.
func writeUUIDs(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("uuids", parquet.Group{"k": parquet.Optional(parquet.UUID())}))
	for _, value := range []parquet.Value{parquet.FixedLenByteArrayValue(append([]byte{1}, make([]byte, 15)...)), {}, parquet.FixedLenByteArrayValue(append([]byte{2}, make([]byte, 15)...))} {
		level := 1
		if value.IsNull() {
			level = 0
		}
		_, err := w.WriteRows([]parquet.Row{{value.Level(0, level, 0)}})
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o644))
}

// TestFilterRows compares the selected rows with the reference, for filters of each format and for keys of columns
// of each type, any share of rows, both senses, and row groups of several sizes.
func TestFilterRows(t *testing.T) {
	type row struct {
		K32  int32    `parquet:"k32"`
		K64  int64    `parquet:"k64,dict"`
		Text string   `parquet:"text"`
		Dict string   `parquet:"dict,dict"`
		UUID [16]byte `parquet:"uuid,uuid"`
		Real float64  `parquet:"real"`
		Null *string  `parquet:"null,optional"`
		List []int32  `parquet:"list,list"`
	}
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, 6000)
	for i := range rows {
		r := &rows[i]
		r.K32, r.K64, r.Real = int32(random.Uint32()), int64(random.Uint64N(5000)), random.Float64()
		r.Text, r.Dict = fmt.Sprint("text ", random.IntN(9000)), fmt.Sprint("dict ", random.IntN(300))
		r.UUID[random.IntN(16)] = byte(i)
		if i%3 > 0 {
			r.Null = &r.Text
		}
		for range random.IntN(4) {
			r.List = append(r.List, int32(i))
		}
	}
	dir := t.TempDir()
	input, list := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "list")
	writeRows(t, input, rows, 2501)
	le := func(x uint64, width int) []byte {
		b := make([]byte, width)
		for i := range b {
			b[i] = byte(x >> (8 * i))
		}
		return b
	}
	type filter struct {
		format bloom.Format
		keys   int
	}
	filters := []filter{{bloom.Parquet, 0}, {bloom.Parquet, 2}}
	for _, format := range bloom.Formats() {
		if format == bloom.Default || !testing.Short() {
			filters = append(filters, filter{format, 500})
		}
	}
	for column, key := range map[string]func(r *row) []byte{
		"k32":  func(r *row) []byte { return le(uint64(uint32(r.K32)), 4) },
		"k64":  func(r *row) []byte { return le(uint64(r.K64), 8) },
		"text": func(r *row) []byte { return []byte(r.Text) },
		"dict": func(r *row) []byte { return []byte(r.Dict) },
		"uuid": func(r *row) []byte { return r.UUID[:] },
		"null": func(r *row) []byte {
			if r.Null == nil {
				return nil
			}
			return []byte(*r.Null)
		},
	} {
		for _, filter := range filters {
			builder := bloom.Policy{Format: filter.format, BitsPerKey: 12}.NewBuilder()
			keys, lines := map[string]bool{}, ""
			for i := range filter.keys {
				k := key(&rows[len(rows)/filter.keys*i])
				builder.Add(k)
				if k != nil { // a null, which has no key
					keys[string(k)], lines = true, lines+fmt.Sprintf("%x\n", k)
				}
			}
			if err := os.WriteFile(list, []byte(lines), 0o644); err != nil {
				t.Fatal(err)
			}
			encoded := builder.AppendFilter(nil)
			name := filepath.Join(dir, "filter")
			if err := os.WriteFile(name, encoded, 0o644); err != nil {
				t.Fatal(err)
			}
			for mode := range 4 {
				invert, exact := mode&1 != 0, mode&2 != 0
				var want []row
				for i := range rows {
					k := key(&rows[i])
					in := k != nil && bloom.Reference(filter.format, encoded, k)
					if exact {
						in = k != nil && keys[string(k)]
					}
					if in != invert {
						want = append(want, rows[i])
					}
				}
				output := filepath.Join(dir, "out.parquet")
				args := []string{"filter", "--column", column, "--format", filter.format.String(), "-o", output, name, input}
				if exact {
					args = []string{"filter", "--column", column, "-o", output, "--hex", "--keys", list, input}
				}
				if invert {
					args = append(args, "-v")
				}
				if status := run(&cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Args: args, Program: "bloom-parquet"}); len(want) == 0 && status != cli.ExitNone || len(want) > 0 && status != cli.ExitSome {
					t.Fatalf("%s: status %d", column, status)
				}
				got, err := parquet.ReadFile[row](output)
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				for i := range got {
					if len(got[i].List) == 0 {
						got[i].List = nil
					}
				}
				if !slices.EqualFunc(got, want, func(a, b row) bool { return reflect.DeepEqual(a, b) }) {
					t.Fatalf("%s, %v of %d keys, invert %v: %d rows, want %d", column, filter.format, filter.keys, invert, len(got), len(want))
				}
			}
		}
	}
}

func writeRows[T any](t *testing.T, name string, rows []T, size int64) {
	t.Helper()
	if err := os.WriteFile(name, fileOf(rows, size), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fileOf returns a file of rows.
func fileOf[T any](rows []T, size int64) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, parquet.MaxRowsPerRowGroup(size), parquet.PageBufferSize(4096))
	_, err := w.Write(rows)
	must(errors.Join(err, w.Close()))
	return out.Bytes()
}

// TestCommandLine parses the examples of every help and the command lines of every document, and looks for
// the flags that helps name. Every flag and argument that names a file says whether it is read or written,
// and every command refuses an output that is an input.
func TestCommandLine(t *testing.T) {
	commandtest.Examples(t, "bloom-parquet", program)
	commandtest.Helps(t, "bloom-parquet", program)
	commandtest.HelpFlags(t, "bloom-parquet", program)
	commandtest.Formats(t, "bloom-parquet", program)
	commandtest.Documents(t, "bloom-parquet", program, 3)
	commandtest.Grammar(t, "bloom-parquet", program, "column", "keys-column", "delimiter", "trust", "as", "completion shell", "help command")
}
