//go:build unix

package bloom_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lanebloom/bloom"
)

// probeFile maps a filter's file into memory. The filter is read in place, page
// by page as keys need it, and never written to; it must not be asked any more
// when the file is unmapped.
func probeFile(name string, keys bloom.Keys, hits []uint64) (n int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, syscall.Munmap(data)) }()
	filter, err := bloom.Open(bloom.LevelDB, data)
	if err != nil {
		return 0, err
	}
	return filter.MayContainBatch(keys, hits), nil
}

func ExampleOpen_mmap() {
	folder, err := os.MkdirTemp("", "bloom")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "known.bloom")
	encoded := bloom.Policy{BitsPerKey: 10}.AppendFilter(nil, bloom.Strings([]string{"apple", "pear"}))
	if err := os.WriteFile(name, encoded, 0o600); err != nil {
		fmt.Println(err)
		return
	}

	hits := make([]uint64, 1)
	n, err := probeFile(name, bloom.Strings([]string{"pear", "stone", "apple"}), hits)
	fmt.Printf("%d hits: %03b, %v\n", n, hits[0], err)
	// Output: 2 hits: 101, <nil>
}
