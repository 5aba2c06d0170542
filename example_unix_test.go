//go:build unix

package bloom_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"syscall"

	"github.com/lanebloom/bloom"
)

// A filter can lie in a file that is mapped into memory: it is read in place,
// page by page as keys need it, and never written to. Unmap it when no one asks
// the filter any more.
func ExampleOpen_mmap() {
	folder, err := os.MkdirTemp("", "bloom")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "known.bloom")
	policy := bloom.Policy{BitsPerKey: 10}
	if err := os.WriteFile(name, policy.AppendFilter(nil, bloom.Strings([]string{"apple", "pear"})), 0o600); err != nil {
		log.Fatal(err)
	}

	file, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(data); err != nil {
			log.Fatal(err)
		}
	}()
	filter, err := bloom.Open(bloom.LevelDB, data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filter.MayContainString("pear"), filter.MayContainString("stone"))
	// Output: true false
}
