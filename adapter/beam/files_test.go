package bloombeam

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/lanebloom/bloom"
)

// slowFiles is a file system that knows neither times nor sizes. It counts the bytes that were read.
var slowFiles = &slow{files: map[string][]byte{}, waits: map[string]chan struct{}{}}

func init() {
	filesystem.Register("slow", func(context.Context) filesystem.Interface { return slowFiles })
}

type slow struct {
	filesystem.Interface // its other methods are not called
	sync.Mutex
	files map[string][]byte
	waits map[string]chan struct{} // a read of the path waits until the channel is closed
	bytes int
}

func (s *slow) Close() error { return nil }

func (s *slow) put(path string, data []byte) {
	s.Lock()
	defer s.Unlock()
	s.files[path] = data
}

// cost returns how many bytes a call reads.
func (s *slow) cost(call func()) int {
	before := s.bytes
	call()
	return s.bytes - before
}

func (s *slow) OpenRead(_ context.Context, path string) (io.ReadCloser, error) {
	s.Lock()
	defer s.Unlock()
	return io.NopCloser(&slowReader{bytes.NewReader(s.files[path]), s.waits[path]}), nil
}

type slowReader struct {
	data *bytes.Reader
	wait chan struct{}
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.wait != nil {
		<-r.wait
	}
	n, err := r.data.Read(p)
	slowFiles.Lock()
	defer slowFiles.Unlock()
	slowFiles.bytes += n
	return n, err
}

// begin opens what a bundle would open.
func begin(t *testing.T, path string) *loaded {
	t.Helper()
	l := &loaded{ctx: t.Context()}
	if err := l.load(side([]byte(fileMark + path))); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFilesAreShared opens a file while it is in use, one with more bytes than a filter, and one that is cut off.
func TestFilesAreShared(t *testing.T) {
	const path = "slow://known"
	data := file(t, inOneProcess(t, ten, 1000, 50))
	slowFiles.put(path, data)
	var a, b *loaded
	if n := slowFiles.cost(func() { a = begin(t, path) }); n != len(data) {
		t.Errorf("%d bytes of %d are read", n, len(data))
	}
	if n := slowFiles.cost(func() { b = begin(t, path) }); n != headerBytes || a.Filter != b.Filter {
		t.Errorf("the second bundle reads %d bytes, and has the filter of the first: %v", n, a.Filter == b.Filter)
	}
	for name, wrong := range map[string][]byte{
		"a byte after the filter": append(bytes.Clone(data), 0), "a byte is missing": data[:len(data)-1], "half a header": data[:50], "nothing": nil,
	} {
		const path = "slow://wrong"
		slowFiles.put(path, wrong)
		l := loaded{ctx: t.Context()}
		if err := l.load(side([]byte(fileMark + path))); err == nil || len(wrong) > len(data) && !errors.Is(err, bloom.ErrEncoding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFilesWrittenAnew writes a file anew, with as many bytes, while a bundle has the filter that it had.
func TestFilesWrittenAnew(t *testing.T) {
	const path = "slow://anew"
	key := func(i int) []byte { return number{"id"}.AppendKey(nil, i) }
	for more := range 3 {
		old, now := inOneProcess(t, ten, 1000, 50), inOneProcess(t, ten, 1000, 50+more)
		slowFiles.put(path, file(t, old))
		before := begin(t, path)
		slowFiles.put(path, file(t, now))
		if l := begin(t, path); l.MayContain(key(49+more)) != now.MayContain(key(49+more)) || (l.Filter == before.Filter) != (more == 0) {
			t.Errorf("%d more keys: the filter is the one before: %v", more, l.Filter == before.Filter)
		}
		if before.MayContain(key(50)) != old.MayContain(key(50)) {
			t.Error("the filter of a bundle changes")
		}
	}
}

// TestFilesWait reads a file while another file, which does not answer, is read. A bundle that waits for the latter stops with its
// context.
func TestFilesWait(t *testing.T) {
	answer := make(chan struct{})
	slowFiles.Lock()
	slowFiles.waits["slow://stuck"] = answer
	slowFiles.Unlock()
	data := file(t, inOneProcess(t, ten, 100, 50))
	slowFiles.put("slow://stuck", data)
	slowFiles.put("slow://other", data)
	opened := make(chan error)
	open := func(ctx context.Context, path string) {
		_, err := files.open(ctx, path)
		opened <- err
	}
	go open(t.Context(), "slow://stuck")
	for { // until it has its turn
		files.Lock()
		stuck := files.of["slow://stuck"]
		files.Unlock()
		if stuck != nil && len(stuck.turn) == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	go open(t.Context(), "slow://other")
	select {
	case err := <-opened:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Hour): // whatever else this machine does
		t.Error("a file waits for another")
		close(answer)
		<-opened
		<-opened
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	go open(ctx, "slow://stuck")
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("a bundle that is cancelled: %v", err)
	}
	close(answer)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
