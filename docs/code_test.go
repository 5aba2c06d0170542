package docs_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lanebloom/bloom"
)

// This file has the Go code of README.md, recipes.md and migration.md, word for word. It is not
// in the root, whose tests run on many emulated machines: HTTP adds 78 packages to the 146 that
// they need.

// show prints the error of an example, if it has one.
func show(err error) {
	if err != nil {
		fmt.Println(err)
	}
}

func readme() error {
	policy, err := bloom.PolicyFor(bloom.Default, 3, 0.01) // 3 keys; 1 % of absent keys may pass
	if err != nil {
		return err
	}
	filter := policy.NewFilter(bloom.Strings([]string{"apple", "pear", "plum"}))
	filter.MayContainString("pear")  // true
	filter.MayContainString("stone") // false, certainly

	cities := []string{"oslo", "pear", "rome"}
	for i := range filter.Hits(bloom.Strings(cities)) { // a column at once
		fmt.Println(cities[i]) // pear
	}

	file, err := filter.MarshalBinary() // a header with the format and checksums, and the bits
	if err != nil {
		return err
	}
	filter, err = bloom.OpenBinary(file) // no copy
	return err
}

func Example_readme() {
	show(readme())
	// Output: pear
}

func removeDuplicates() error {
	policy, err := bloom.PolicyFor(bloom.Default, 1_000_000, 0.005)
	if err != nil {
		return err
	}
	seen, err := policy.NewSet(1_000_000)
	if err != nil {
		return err
	}
	for _, column := range [][]string{{"ann", "bob", "ann"}, {"bob", "eve"}} {
		added := make([]uint64, (len(column)+63)/64)
		seen.AddBatchNew(bloom.Strings(column), added)
		for i, key := range column {
			if added[i/64]>>(i%64)&1 != 0 {
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

func skipTables(policy bloom.Policy) {
	tables := map[string]*bloom.Filter{
		"monday":  policy.NewFilter(bloom.Strings([]string{"ann", "bob"})),
		"tuesday": policy.NewFilter(bloom.Strings([]string{"eve"})),
	}
	hash := policy.Format.Hash([]byte("eve"))
	for name, filter := range tables {
		if filter.MayContainHash(hash) {
			fmt.Println("read", name) // tuesday
		}
	}
}

func Example_skipTables() {
	skipTables(bloom.Policy{BitsPerKey: 10})
	// Output: read tuesday
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

func migrate() error {
	policy, err := bloom.PolicyFor(bloom.Default, 1000, 0.01) // was NewWithEstimates(1000, 0.01)
	if err != nil {
		return err
	}
	set, err := policy.NewSet(1000)
	if err != nil {
		return err
	}
	set.AddString("love")
	fmt.Println(set.MayContainString("love"), set.TestAndAdd([]byte("hate"))) // true false
	return nil
}

func Example_migrate() {
	show(migrate())
	// Output: true false
}

// TestCodeOfDocs looks for the code of the pages in the examples above, which run it.
func TestCodeOfDocs(t *testing.T) {
	source, err := os.ReadFile("code_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range []string{"../README.md", "recipes.md", "migration.md"} {
		text, err := os.ReadFile(filepath.FromSlash(page))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1) {
			found++
			if !strings.Contains(withoutIndent(source), withoutIndent(block[1])) {
				t.Errorf("%s: no example has the code\n%s", page, block[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("the pages have %d blocks of code", found)
	}
}

// withoutIndent drops the white space at both ends of every line.
func withoutIndent(text []byte) string {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
