package bloomsst_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/sst"
)

// Example finds the files that may contain a key.
func Example() {
	key := []byte("key000041") // the tables contain the keys with even numbers
	files, err := filepath.Glob("testdata/pebble-?.sst")
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range files {
		may, err := mayContain(name, key)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.Base(name), may)
	}
	// Output:
	// pebble-1.sst false
	// pebble-2.sst false
	// pebble-3.sst false
	// pebble-4.sst false
	// pebble-5.sst false
	// pebble-6.sst false
	// pebble-7.sst false
}

func mayContain(name string, key []byte) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	table, err := bloomsst.Open(file, info.Size())
	if err != nil {
		return false, err
	}
	return table.MayContain(key)
}

// ExampleTable_Stats shows how full the filter of a table is. The code of look is also in docs/tables.md.
func ExampleTable_Stats() {
	file, err := os.Open("testdata/rocksdb-7.sst")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	if err := look(file, info.Size(), []byte("key000042"), bloom.Strings([]string{"key000041", "key000042"})); err != nil {
		log.Fatal(err)
	}
	// Output:
	// rocksdb 7
	// true
	// 1 [2]
	// 1536 bits, fill 45 %
}

func look(file io.ReaderAt, size int64, key []byte, keys bloom.Keys) error {
	hits := make([]uint64, (keys.Len()+63)/64)
	table, err := bloomsst.Open(file, size)
	if err != nil {
		return err
	}
	fmt.Println(table.Engine(), table.Version())
	may, err := table.MayContain(key) // tests the table's range and filter
	if err != nil {
		return err
	}
	fmt.Println(may)
	n, err := table.MayContainBatch(keys, hits) // queries a column of keys
	if err != nil {
		return err
	}
	fmt.Println(n, hits)
	stats, err := table.Stats() // fill, keys, rate
	if err != nil {
		return err
	}
	fmt.Printf("%d bits, fill %.0f %%\n", stats.Bits, 100*stats.Fill())
	return nil
}

// ExampleOpenDatabase finds the tables of a database that may contain a key. The code of find is also in
// docs/tables.md.
func ExampleOpenDatabase() {
	if err := find("testdata/databases/families", []byte("user00000420")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 000054.sst, small, level 1
	// 000059.sst, prefix, level 1
	// 000063.sst, none, level 1
	// 000072.sst, times, level 1
	// 000073.sst, prefix, level 0
	// 000074.sst, hits, level 1
	// 000076.sst, none, level 0
	// 000085.sst, prefix, level 0
}

func find(folder string, key []byte) error {
	database, err := bloomsst.OpenDatabase(folder)
	if err != nil {
		return err
	}
	defer database.Close()
	view := database.View()
	hits := make([]uint64, (len(view.Tables())+63)/64)
	_, err = view.MayContain(key, hits)
	if err != nil {
		return err
	}
	for i, table := range view.Tables() {
		if hits[i/64]>>(i%64)&1 != 0 {
			level, _ := table.Level()
			fmt.Printf("%s, %s, level %d\n", table.Name(), table.Family(), level)
		}
	}
	return nil
}
