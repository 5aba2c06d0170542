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

// probeFile maps a filter file into memory and tests keys. The filter reads the mapped file in place, so a
// lookup loads only the pages that it needs. The filter never writes to the file. Do not use the filter after
// unmapping the file.
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
	filter, err := bloom.OpenBinary(data)
	if err != nil {
		return 0, err
	}
	return filter.MayContainBatch(keys, hits), nil
}

func ExampleOpenBinary_mmap() {
	folder, err := os.MkdirTemp("", "bloom")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "known.bloom")
	builder := bloom.Policy{BitsPerKey: 10}.NewBuilder()
	builder.AddBatch(bloom.Strings([]string{"apple", "pear"}))
	data, err := builder.Filter().MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		fmt.Println(err)
		return
	}

	hits := make([]uint64, 1)
	n, err := probeFile(name, bloom.Strings([]string{"pear", "stone", "apple"}), hits)
	fmt.Printf("%d hits: %03b, %v\n", n, hits[0], err)
	// Output: 2 hits: 101, <nil>
}
