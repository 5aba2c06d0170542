package docs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/window"
)

// This file contains the Go code of the pages in docs word for word, except the code of adapters. It is not in the
// root, whose tests run on many emulated machines: HTTP adds 78 packages to the 146 that they need.

// show prints the error of an example, if it has one.
func show(err error) {
	if err != nil {
		fmt.Println(err)
	}
}

func removeDuplicates() error {
	seen, err := bloom.New(1_000_000, 0.005)
	if err != nil {
		return err
	}
	for _, column := range [][]string{{"ann", "bob", "ann"}, {"bob", "eve"}} {
		hits := make([]uint64, (len(column)+63)/64)
		seen.TestAndAddBatch(bloom.Strings(column), hits)
		for i, key := range column {
			if hits[i/64]>>(i%64)&1 == 0 { // it was not there before
				fmt.Println(key) // ann, bob, eve
			}
		}
	}
	return nil
}

func Example_removeDuplicates() {
	show(removeDuplicates())
	// Output:
	// ann
	// bob
	// eve
}

func seenLately(ctx context.Context) error {
	seen, err := window.New(window.Options{Generations: 25, Keys: 200_000, Rate: 0.01})
	if err != nil {
		return err
	}
	go seen.Run(ctx, time.Hour)
	for _, url := range []string{"/a", "/b", "/a"} {
		fmt.Println(seen.TestAndAddString(url)) // false, false, true
	}
	return restart(seen)
}

func restart(seen *window.Window) error {
	var file bytes.Buffer
	if _, err := seen.WriteTo(&file); err != nil {
		return err
	}
	larger, err := window.New(window.Options{Generations: 25, Keys: 500_000, Rate: 0.01})
	if err != nil {
		return err
	}
	loaded, err := larger.Load(&file)
	if err != nil {
		return err
	}
	fmt.Println(loaded.Kept, loaded.Reshaped, larger.MayContainString("/a")) // 25 1 true
	return nil
}

func Example_seenLately() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	show(seenLately(ctx))
	// Output:
	// false
	// false
	// true
	// 25 1 true
}

func skipTables(policy bloom.Policy) {
	tables := map[string]*bloom.Filter{
		"monday":  policy.NewFilter(bloom.Strings([]string{"ann", "bob"})),
		"tuesday": policy.NewFilter(bloom.Strings([]string{"eve"})),
	}
	hash := policy.Format.HashString("eve")
	for name, filter := range tables {
		if filter.MayContainHash(hash) {
			fmt.Println("read", name) // tuesday
		}
	}
}

func unknownLength() error {
	set, err := bloom.Policy{BitsPerKey: 10}.NewFoldable(1_000_000)
	if err != nil {
		return err
	}
	set.AddBatch(bloom.Strings([]string{"ann", "bob", "eve"})) // fewer came
	times, err := set.Fold(0.01)
	if err != nil {
		return err
	}
	fmt.Println(times, set.Stats().Bits, set.MayContainString("bob")) // 12 2560 true
	return nil
}

func Example_unknownLength() {
	show(unknownLength())
	// Output: 12 2560 true
}

func Example_skipTables() {
	skipTables(bloom.Policy{BitsPerKey: 10})
	// Output: read tuesday
}

func joinRows(policy bloom.Policy) {
	filter := policy.NewFilter(bloom.Strings([]string{"ann", "eve"}))
	rows := []string{"ann", "bob", "cid", "dan", "eve"}
	for _, i := range filter.AppendHits(nil, bloom.Strings(rows)) {
		fmt.Println("look up", rows[i]) // ann, eve
	}
}

func Example_joinRows() {
	joinRows(bloom.Policy{BitsPerKey: 10})
	// Output:
	// look up ann
	// look up eve
}

// hashColumn hashes as writers of Parquet do, whose filters have XXH64.
func hashColumn() error {
	// XXH64, as in Parquet files
	hashes := bloom.Parquet.AppendHashes64(nil, bloom.Integers([]int64{7, 8, 9}))
	fmt.Printf("%x\n", hashes[0]) // 876cd406afde455
	set, err := bloom.Policy{Format: bloom.Parquet, BitsPerKey: 10}.NewSet(len(hashes))
	if err != nil {
		return err
	}
	set.AddBatch(bloom.Parquet.Hashes64(hashes))
	fmt.Println(set.MayContainUint64(8), set.MayContainUint64(1000)) // true false
	return nil
}

func Example_hashColumn() {
	show(hashColumn())
	// Output:
	// 876cd406afde455
	// true false
}

func shareFilter(policy bloom.Policy) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/blocked.bloom", func(w http.ResponseWriter, _ *http.Request) {
		filter := policy.NewFilter(bloom.Strings([]string{"mallory"}))
		if _, err := filter.WriteTo(w); err != nil {
			log.Print(err)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	response, err := http.Get(server.URL + "/blocked.bloom")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var blocked bloom.Filter
	if _, err := blocked.ReadFrom(response.Body); err != nil {
		return err
	}
	fmt.Println(blocked.MayContainString("mallory"), blocked.MayContainString("ann")) // true false
	return nil
}

func Example_shareFilter() {
	show(shareFilter(bloom.Policy{BitsPerKey: 10}))
	// Output: true false
}

func askStored(encoded []byte, other *bloom.Filter, column []string, hits []uint64) error {
	filter, err := bloom.Open(bloom.BitsAndBlooms, encoded) // what WriteTo wrote; no copy
	if err != nil {
		return err
	}
	fmt.Println(filter.MayContainString("pear"))        // a key
	for i := range filter.Hits(bloom.Strings(column)) { // a column of keys
		fmt.Println(column[i])
	}
	group, _ := bloom.NewGroup([]*bloom.Filter{filter, other}) // no error: both have one format
	fmt.Println(group.MayContain([]byte("pear"), hits))        // how many may have the key; hits says which
	return nil
}

func Example_askStored() {
	policy := bloom.Policy{Format: bloom.BitsAndBlooms, BitsPerKey: 10}
	encoded := policy.AppendFilter(nil, bloom.Strings([]string{"pear", "rome"}))
	other := policy.NewFilter(bloom.Strings([]string{"pear"}))
	show(askStored(encoded, other, []string{"oslo", "rome"}, make([]uint64, 1)))
	// Output:
	// true
	// rome
	// 2
}

func askRows(rows [][]byte) {
	hash := bloom.BitsAndBlooms.HashString("pear")
	for i, row := range rows {
		mayHave := bloom.BitsAndBlooms.MayContainHash(row, hash) // for each row; it opens and allocates nothing
		if mayHave {
			fmt.Println("read row", i)
		}
	}
}

func Example_askRows() {
	policy := bloom.Policy{Format: bloom.BitsAndBlooms, BitsPerKey: 10}
	askRows([][]byte{
		policy.AppendFilter(nil, bloom.Strings([]string{"oslo"})),
		policy.AppendFilter(nil, bloom.Strings([]string{"pear"})),
	})
	// Output: read row 1
}

// ranges is a file behind HTTP. It counts requests.
type ranges struct {
	url   string
	asked int
}

func (r *ranges) ReadAt(p []byte, offset int64) (int, error) {
	request, err := http.NewRequest(http.MethodGet, r.url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(p))-1))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return 0, errors.New(response.Status)
	}
	r.asked++
	return io.ReadFull(response.Body, p)
}

func findTrace(path string) error {
	policy := bloom.Policy{BitsPerKey: 10}
	ids, err := policy.NewFoldable(10_000)
	if err != nil {
		return err
	}
	builder, err := bloom.NewInterleavedBuilder(ids.Filter()) // in bounded memory, for any number of blocks
	if err != nil {
		return err
	}
	defer builder.Close()
	for _, block := range []string{"block 1", "block 2", "block 3"} {
		ids := ids.Clone()
		ids.AddString("trace of " + block)
		if err := builder.Add(ids.Filter(), block); err != nil {
			return err
		}
	}
	if err := builder.WriteFile(path); err != nil { // whole or not at all
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	defer server.Close()
	file, size := &ranges{url: server.URL + "/" + filepath.Base(path)}, info.Size()
	rows, err := bloom.OpenInterleavedFile(file, size) // an os.File, or ranges of HTTP
	if err != nil {
		return err
	}
	hits := make([]uint64, (rows.Len()+63)/64)
	if _, err := rows.MayContain([]byte("trace of block 2"), hits); err != nil {
		return err
	}
	fmt.Println(hits) // [2]: bit 1, block 2
	labels, err := rows.Labels()
	if err != nil {
		return err
	}
	fmt.Println(labels.Label(1), file.asked) // the header, a region, the labels
	return nil
}

func Example_findTrace() {
	folder, err := os.MkdirTemp("", "traces")
	show(err)
	defer os.RemoveAll(folder)
	show(findTrace(filepath.Join(folder, "traces")))
	// Output:
	// [2]
	// block 2 3
}

func droppedTraces(ctx context.Context) error {
	traceID := [16]byte{0x4b, 0xf9, 0x2f}
	dropped, err := window.New(window.Options{Generations: 7, Keys: 1_000_000, Rate: 0.0001})
	if err != nil {
		return err
	}
	go dropped.Run(ctx, 10*time.Minute) // late spans come within an hour
	dropped.Add(traceID[:])
	fmt.Println(dropped.MayContain(traceID[:])) // true
	return nil
}

func Example_droppedTraces() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	show(droppedTraces(ctx))
	// Output: true
}

// index is an exact table, such as one on disk with a unique key.
type index struct {
	ids   map[string]bool
	reads int
}

func (x *index) Insert(id string) error {
	x.ids[id] = true
	return nil
}

func (x *index) InsertIfAbsent(id string) (inserted bool, err error) {
	x.reads++
	if x.ids[id] {
		return false, nil
	}
	return true, x.Insert(id)
}

func firstStage(table *index) error {
	filter, err := bloom.Policy{BitsPerKey: 10}.NewAtomicSet(1_000_000)
	if err != nil {
		return err
	}
	for id := range table.ids {
		filter.AddString(id)
	}
	add := func(id string) (isNew bool, err error) {
		if !filter.TestAndAddString(id) { // certainly new: the table is not read
			return true, table.Insert(id)
		}
		return table.InsertIfAbsent(id)
	}
	for _, id := range []string{"a", "b", "a", "old"} {
		isNew, err := add(id)
		if err != nil {
			return err
		}
		fmt.Println(id, isNew) // a true, b true, a false, old false
	}
	return nil
}

func Example_firstStage() {
	table := &index{ids: map[string]bool{"old": true}}
	show(firstStage(table))
	fmt.Println(table.reads, "reads")
	// Output:
	// a true
	// b true
	// a false
	// old false
	// 2 reads
}

// TestPrograms runs each whole program of a page as it stands. It compares what the program prints with the comments behind its calls
// of fmt.Println.
func TestPrograms(t *testing.T) {
	printed := regexp.MustCompile(`fmt\.Println\(.*\) // (.*)`)
	found := 0
	for _, page := range pages(t) {
		for _, block := range page.Go {
			if !isProgram(block) {
				continue
			}
			found++
			want := ""
			for _, m := range printed.FindAllStringSubmatch(block, -1) {
				want += m[1] + "\n"
			}
			name := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(name, []byte(block), 0o644); err != nil {
				t.Fatal(err)
			}
			run := exec.Command("go", "run", name)
			run.Dir = root
			if out, err := run.CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%s: the program prints\n%s%v, want\n%s", page.Path, out, err, want)
			}
		}
	}
	if found == 0 {
		t.Error("no page has a program")
	}
}

// isProgram reports whether a block of a page is a whole program, which TestPrograms runs.
func isProgram(block string) bool { return strings.HasPrefix(block, "package main\n") }

// TestCodeOfDocs looks for the code of every page in the examples above, which run it, or in a test of an adapter, of
// package window or of compare, which compiles it. It looks for all lines in their order, since a page may leave out what a test does between them.
func TestCodeOfDocs(t *testing.T) {
	var tests [][]string
	for _, pattern := range []string{"docs/code_test.go", "adapter/*/example*_test.go", "adapter/*/*/example*_test.go", "compare/*_test.go", "window/example*_test.go"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files, or %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, lines(string(text)))
		}
	}
	found := 0
	for _, page := range pages(t) {
		for _, block := range page.Go {
			found++
			if !isProgram(block) && !slices.ContainsFunc(tests, func(test []string) bool { return inOrder(lines(block), test) }) {
				t.Errorf("%s: no test has the code\n%s", page.Path, block)
			}
		}
	}
	if found < 10 {
		t.Errorf("the pages have %d blocks of code", found)
	}
}

// lines returns the lines of Go code that are not empty, without indentation.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "import "); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// inOrder says whether all elements of some are in all, in their order.
func inOrder(some, all []string) bool {
	for _, line := range all {
		if len(some) > 0 && line == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}
