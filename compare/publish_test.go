package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/renameio/v2"

	"github.com/lanebloom/bloom"
)

// The functions publish, reload and blocked are the code of docs/recipes.md.

func publish(path string, names []string) error {
	policy, err := bloom.PolicyFor(bloom.Default, len(names), 0.01)
	if err != nil {
		return err
	}
	data, err := policy.NewFilter(bloom.Strings(names)).MarshalBinary()
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, data, 0o644)
}

var current atomic.Pointer[bloom.Filter]

func reload(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	if err := bloom.VerifyBinary(data); err != nil { // reads all of it, once
		syscall.Munmap(data)
		return err
	}
	filter, err := bloom.OpenBinary(data)
	if err != nil {
		syscall.Munmap(data)
		return err
	}
	runtime.AddCleanup(filter, func(data []byte) { syscall.Munmap(data) }, data)
	current.Store(filter)
	return nil
}

func blocked(name string) bool {
	filter := current.Load()
	defer runtime.KeepAlive(filter) // the mapping stays until the answer is there
	return filter.MayContainString(name)
}

// TestPublish replaces a file while goroutines query it.
func TestPublish(t *testing.T) {
	path := filepath.Join(t.TempDir(), "names.bloom")
	if err := publish(path, []string{"always"}); err != nil {
		t.Fatal(err)
	}
	if err := reload(path); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	answers := make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-done:
				answers <- n
				return
			default:
			}
			if !blocked("always") {
				t.Error("a key of every version is missing")
			}
			n++
		}
	}()
	for i := range 20 {
		names := []string{"always", fmt.Sprint("name ", i)}
		for j := range 100_000 {
			names = append(names, fmt.Sprint(i, " other ", j))
		}
		if err := publish(path, names); err != nil {
			t.Fatal(err)
		}
		if err := reload(path); err != nil {
			t.Fatal(err)
		}
		if !blocked(names[1]) {
			t.Errorf("version %d is not there", i)
		}
		runtime.GC() // unmaps the versions before
	}
	close(done)
	if <-answers == 0 {
		t.Error("nobody asked")
	}
	if err := renameio.WriteFile(path, []byte("damaged"), 0o644); err != nil { // not in place: the old one is mapped
		t.Fatal(err)
	}
	if err := reload(path); err == nil || !blocked("always") {
		t.Errorf("a damaged file: %v", err)
	}
}

// BenchmarkReload verifies the checksums of a file of 100 MB in memory, beside a copy of it.
func BenchmarkReload(b *testing.B) {
	set, err := bloom.Policy{Format: bloom.Default, BitsPerKey: 10}.NewSet(80_000_000)
	if err != nil {
		b.Fatal(err)
	}
	data, err := set.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("verify", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := bloom.VerifyBinary(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		to := make([]byte, len(data))
		for b.Loop() {
			copy(to, data)
		}
	})
}
