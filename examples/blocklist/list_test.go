package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// write replaces a list atomically: it writes a new file and renames it.
func write(t testing.TB, path string, lines ...string) {
	t.Helper()
	err := os.WriteFile(path+".new", []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	if err := errors.Join(err, os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// TestBlocked compares the answers with the answers of a map.
func TestBlocked(t *testing.T) {
	list := domains(20_000)
	exact := make(map[string]bool, len(list))
	for _, domain := range list {
		exact[domain] = true
	}
	path := filepath.Join(t.TempDir(), "list")
	write(t, path, list...)
	var b Blocklist
	if blocked, err := b.Blocked(list[0]); blocked || err != nil {
		t.Errorf("the zero Blocklist: %v, %v", blocked, err)
	}
	if err := b.Load(path); err != nil {
		t.Fatal(err)
	}
	for _, domain := range domains(60_000) { // 40,000 of them are not in the list
		for name, want := range map[string]bool{
			domain: exact[domain], "a.b." + domain: exact[domain], strings.ToUpper(domain) + ".": exact[domain], "x" + domain: false,
		} {
			if got, err := b.Blocked(name); got != want || err != nil {
				t.Fatalf("%s: %v, %v", name, got, err)
			}
		}
	}
	for _, name := range []string{"", ".", "..", "com", "no.such.name", strings.Repeat("a.", 300) + list[7], strings.Repeat("x", 1000)} {
		if got, err := b.Blocked(name); got != strings.HasSuffix(name, list[7]) || err != nil {
			t.Errorf("%.20q: %v, %v", name, got, err)
		}
	}
}

// TestLoad wants an error for each list in which a search would miss domains, and wants the old list
// to stay in use.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	write(t, path, "a.com", "b.com")
	var b Blocklist
	if err := b.Load(path); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"b.com\na.com\n":                       "line 2: the list is not sorted",
		"a.com\n\nb.com\n":                     "line 2 has 0 bytes",
		strings.Repeat("a", longest+1) + "\n":  "line 1 has 254 bytes",
		strings.Repeat("a", 100_000) + "\nb\n": "token too long",
	} {
		write(t, path+"2", text[:len(text)-1])
		if err := b.Load(path + "2"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
		if blocked, err := b.Blocked("www.a.com"); !blocked || err != nil {
			t.Errorf("the old list is gone: %v", err)
		}
	}
	if err := b.Load(path + "3"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestReload queries from several goroutines while the list is replaced. A domain in all lists is
// always blocked, and a domain in no list is never blocked.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	write(t, path, "always.com")
	var b Blocklist
	if err := b.Load(path); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Microsecond):
				}
				always, err1 := b.Blocked("www.always.com")
				never, err2 := b.Blocked("never.com")
				if !always || never || err1 != nil || err2 != nil {
					t.Error(always, never, err1, err2)
					return
				}
			}
		}()
	}
	for i := range 50 {
		write(t, path, append([]string{"always.com"}, fmt.Sprintf("b%d.com", i))...)
		if err := b.Load(path); err != nil {
			t.Error(err)
		}
		runtime.GC() // closes the files of old lists
	}
	close(stop)
	wait.Wait()
}

// Benchmark compares a filter with a map, both of 860,000 domains.
func Benchmark(b *testing.B) {
	list := domains(860_000)
	path := filepath.Join(b.TempDir(), "list")
	write(b, path, list...)
	names := map[string][]string{}
	for i := range 1 << 16 {
		names["innocent"] = append(names["innocent"], fmt.Sprintf("www.innocent-%d.com", i))
		names["blocked"] = append(names["blocked"], "www."+list[i*13%len(list)])
	}
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	load := func() map[string]struct{} {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		m := make(map[string]struct{})
		for line := range strings.Lines(string(text)) {
			m[strings.TrimSuffix(line, "\n")] = struct{}{}
		}
		return m
	}
	var list1 Blocklist
	empty := heap()
	if err := list1.Load(path); err != nil {
		b.Fatal(err)
	}
	filterMiB := heap() - empty
	m := load()
	mapMiB := heap() - empty - filterMiB

	for _, kind := range []string{"innocent", "blocked"} {
		names := names[kind]
		b.Run("query/"+kind+"/filter", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := list1.Blocked(names[i%len(names)]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(filterMiB, "MiB")
		})
		b.Run("query/"+kind+"/map", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				name := strings.ToLower(strings.TrimSuffix(names[i%len(names)], "."))
				for from := len(name); from >= 0; {
					from = strings.LastIndexByte(name[:from], '.')
					if _, blocked := m[name[from+1:]]; blocked {
						break
					}
				}
			}
			b.ReportMetric(mapMiB, "MiB")
		})
	}
	b.Run("reload/filter", func(b *testing.B) {
		for b.Loop() {
			if err := list1.Load(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reload/map", func(b *testing.B) {
		for b.Loop() {
			load()
		}
	})
}
