package bloombeam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"weak"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/lanebloom/bloom"
)

// headerBytes are the first bytes of the file of a filter. They have its checksum, so that two files with the same header have
// the same filter (docs/file-format.md).
const headerBytes = 112

// files are the filters of files that bundles use now.
var files shared

// shared has an entry for each path.
type shared struct {
	sync.Mutex
	of map[string]*sharedFile
}

// sharedFile is the filter that a file had when it was read last.
type sharedFile struct {
	turn   chan struct{} // holds a value while a bundle reads the file
	header []byte
	filter weak.Pointer[bloom.Filter]
}

// file returns the entry of a path. Nobody else has its turn until done is called.
func (s *shared) file(ctx context.Context, path string) (f *sharedFile, done func(), err error) {
	s.Lock()
	if s.of == nil {
		s.of = map[string]*sharedFile{}
	}
	if f = s.of[path]; f == nil {
		f = &sharedFile{turn: make(chan struct{}, 1)}
		s.of[path] = f
	}
	s.Unlock()
	select {
	case f.turn <- struct{}{}:
		return f, func() { <-f.turn }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// open returns the filter of a file as it is now. Of a file whose filter is still in use it reads the header alone, and
// the rest if the header is another one.
func (s *shared) open(ctx context.Context, path string) (*bloom.Filter, error) {
	f, done, err := s.file(ctx, path)
	if err != nil {
		return nil, err
	}
	defer done()
	system, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer system.Close()
	r, err := system.OpenRead(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	filter, err := f.read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return filter, nil
}

// read returns the filter of the file that r reads.
func (f *sharedFile) read(r io.Reader) (*bloom.Filter, error) {
	header, err := io.ReadAll(io.LimitReader(r, headerBytes))
	if err != nil {
		return nil, err
	}
	if filter := f.filter.Value(); filter != nil && bytes.Equal(header, f.header) {
		return filter, nil
	}
	filter := new(bloom.Filter)
	if _, err := filter.ReadFrom(io.MultiReader(bytes.NewReader(header), r)); err != nil {
		return nil, err
	}
	if n, err := io.Copy(io.Discard, r); n != 0 || err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %d bytes after the filter", bloom.ErrEncoding, n), err)
	}
	f.header, f.filter = header, weak.Make(filter)
	return filter, nil
}
