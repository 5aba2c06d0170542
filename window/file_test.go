package window

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/lanebloom/bloom"
)

// generationKeys returns 50 keys of a generation, counted from the oldest.
func generationKeys(g int) bloom.Keys { return bloom.Integers(addition{from: 50 * g, n: 50}.keys()) }

// filled returns a window whose generations have keys of their own: the keys of generationKeys(0) are in the oldest.
func filled(t *testing.T, o Options) *Window {
	w := mustNew(t, o)
	for g := range o.Generations {
		if g > 0 {
			w.Rotate()
		}
		w.AddBatch(generationKeys(g))
	}
	return w
}

func fileOf(t *testing.T, w *Window) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := w.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d, %v", n, err)
	}
	return b.Bytes()
}

// checkForgets rotates until all keys are gone. It wants to find the keys of each of the saved generations as
// long as a window of most generations keeps them.
func checkForgets(t *testing.T, w *Window, saved, most int) {
	t.Helper()
	for rotations := range most + 1 {
		for g := range saved {
			age := saved - 1 - g // 0 is the newest
			n := w.MayContainBatch(generationKeys(g), words(50))
			if there := age+rotations < most; there && n != 50 || !there && n > 5 {
				t.Fatalf("after %d rotations: %d of 50 keys of generation %d of %d", rotations, n, age, saved)
			}
		}
		w.Rotate()
	}
}

// TestReadFrom wants a window back as it was written, and to go on: it adds, forgets, and is written again as it was.
func TestReadFrom(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		o := Options{Format: f, Generations: 5, Keys: 60, Rate: 0.001}
		file := fileOf(t, filled(t, o))
		var w Window
		n, err := w.ReadFrom(iotest.OneByteReader(bytes.NewReader(append(slices.Clone(file), "more"...))))
		if err != nil || n != int64(len(file)) || w.Options() != o {
			t.Fatalf("ReadFrom: %d of %d bytes, %v, %+v", n, len(file), err, w.Options())
		}
		if !bytes.Equal(fileOf(t, &w), file) {
			t.Error("it is written otherwise than it was read")
		}
		w.AddString("more")
		if !w.MayContainString("more") {
			t.Error("a key is lost")
		}
		checkForgets(t, &w, 5, 5)
	})
}

// TestLoad loads files into windows of the same and of other shapes, and wants each key as long as the window has a place for its
// generation, beside the keys that the window had.
func TestLoad(t *testing.T) {
	base := Options{Generations: 5, Keys: 60, Rate: 0.001}
	for name, c := range map[string]struct {
		saved, now                Options
		kept, forgotten, reshaped int
	}{
		"same":              {base, base, 5, 0, 0},
		"more keys":         {base, Options{Generations: 5, Keys: 6000, Rate: 0.001}, 5, 0, 5},
		"fewer keys":        {Options{Generations: 5, Keys: 6000, Rate: 0.001}, base, 5, 0, 5},
		"other rate":        {base, Options{Generations: 5, Keys: 60, Rate: 1e-4}, 5, 0, 5},
		"more generations":  {base, Options{Generations: 9, Keys: 60, Rate: 0.001}, 5, 0, -1},
		"fewer generations": {base, Options{Generations: 2, Keys: 60, Rate: 0.001}, 2, 3, -1},
		"all other":         {base, Options{Generations: 3, Keys: 6000, Rate: 5e-5}, 3, 2, 3},
	} {
		eachFormat(t, func(t *testing.T, f bloom.Format) {
			if testing.Short() && f != bloom.RocksDB && f != bloom.Nori {
				return
			}
			c.saved.Format, c.now.Format = f, f
			w := mustNew(t, c.now)
			w.AddString("own")
			file := fileOf(t, filled(t, c.saved))
			loaded, err := w.Load(bytes.NewReader(file))
			if err != nil || loaded.Saved != c.saved || loaded.Kept != c.kept || loaded.Forgotten != c.forgotten || loaded.Size != int64(len(file)) {
				t.Fatalf("%s: %+v, %v", name, loaded, err)
			}
			if c.reshaped >= 0 && loaded.Reshaped != c.reshaped && !(f == bloom.NoriCrate || f == bloom.Pebble) { // whose sizes are few
				t.Errorf("%s: %d filters of another shape", name, loaded.Reshaped)
			}
			if w.Options() != c.now || !w.MayContainString("own") {
				t.Errorf("%s: the window is another", name)
			}
			if s := w.Stats(); math.Abs(s.Keys-float64(50*c.kept+1)) > 15 || !(s.FalsePositiveRate > 0 && s.FalsePositiveRate < 0.01) {
				t.Errorf("%s: Stats() = %+v", name, s)
			}
			var again Window // a file of filters of several shapes
			if _, err := again.ReadFrom(bytes.NewReader(fileOf(t, w))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			third := mustNew(t, c.now)
			if _, err := third.Load(bytes.NewReader(fileOf(t, w))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkForgets(t, w, 5, c.now.Generations)
			checkForgets(t, &again, 5, c.now.Generations)
			checkForgets(t, third, 5, c.now.Generations)
		})
	}
}

// TestLoadBeside loads files while others add and rotate: what they add is found, and what is in the files.
func TestLoadBeside(t *testing.T) {
	o := Options{Generations: 20, Keys: 2000, Rate: 1e-3}
	w := mustNew(t, o)
	same, larger := mustNew(t, o), mustNew(t, Options{Generations: 20, Keys: 5000, Rate: 1e-3})
	same.AddBatch(generationKeys(1000))
	larger.AddBatch(generationKeys(2000))
	files := [][]byte{fileOf(t, same), fileOf(t, larger)}
	var group sync.WaitGroup
	for g := range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 10 {
				w.AddBatch(generationKeys(10*g + i))
				w.TestAndAddUint64(key(1_000_000 + g))
				if g == 0 && i%3 == 0 {
					w.Rotate()
				}
				if n := w.MayContainBatch(generationKeys(10*g+i), words(50)); n != 50 {
					t.Errorf("%d of 50 keys", n)
				}
			}
		}()
	}
	for i := range 7 { // the last one leaves the filters of the one before alone
		if _, err := w.Load(bytes.NewReader(files[i%2])); err != nil {
			t.Error(err)
		}
		if n := w.MayContainBatch(generationKeys(1000*(1+i%2)), words(50)); n != 50 {
			t.Errorf("%d of 50 keys of a file", n)
		}
		w.Stats()
	}
	group.Wait()
	for i := range 30 {
		if n := w.MayContainBatch(generationKeys(i), words(50)); n != 50 {
			t.Errorf("%d of 50 keys", n)
		}
	}
	for i, file := range []string{"same", "larger"} { // each was loaded before the other
		if n := w.MayContainBatch(generationKeys(1000*(1+i)), words(50)); n != 50 {
			t.Errorf("%d of 50 keys of the file %s, at the end", n, file)
		}
	}
}

// TestRotateBesideLoad loads files while a key grows old. No rotation is lost by that: after as many as there are generations,
// the key is forgotten.
func TestRotateBesideLoad(t *testing.T) {
	o := Options{Generations: 60, Keys: 5000, Rate: 1e-3}
	w := mustNew(t, o)
	file := fileOf(t, w)
	for range 10 {
		w.AddString("key")
		rotated := make(chan struct{})
		go func() {
			defer close(rotated)
			for range o.Generations {
				w.Rotate()
				runtime.Gosched()
			}
		}()
		for range 3 {
			if _, err := w.Load(bytes.NewReader(file)); err != nil {
				t.Error(err)
			}
		}
		<-rotated
		if w.MayContainString("key") {
			t.Fatal("a rotation is lost")
		}
	}
}

// rotating rotates a window before its first bytes are written.
type rotating struct {
	bytes.Buffer
	w     *Window
	times int
}

func (r *rotating) Write(b []byte) (int, error) {
	for ; r.times > 0; r.times-- {
		r.w.Rotate()
	}
	return r.Buffer.Write(b)
}

// TestRotateBesideWriteTo rotates a window while it is written: the file has all keys that it had at the beginning.
func TestRotateBesideWriteTo(t *testing.T) {
	o := Options{Generations: 5, Keys: 60, Rate: 1e-4}
	for times := range o.Generations + 2 {
		w := filled(t, o)
		out := &rotating{w: w, times: times}
		if _, err := w.WriteTo(out); err != nil {
			t.Fatal(err)
		}
		var again Window
		if _, err := again.ReadFrom(&out.Buffer); err != nil {
			t.Fatal(err)
		}
		checkForgets(t, &again, 5, 5)
	}
}

// TestLoadOtherFormat wants ErrShape, and the window as it was.
func TestLoadOtherFormat(t *testing.T) {
	w := filled(t, Options{Generations: 3, Keys: 60, Rate: 0.001})
	before := fileOf(t, w)
	loaded, err := w.Load(bytes.NewReader(fileOf(t, filled(t, Options{Format: bloom.Parquet, Generations: 3, Keys: 60, Rate: 0.001}))))
	if !errors.Is(err, bloom.ErrShape) || loaded.Saved.Format != bloom.Parquet || loaded.Kept != 0 {
		t.Errorf("%+v, %v", loaded, err)
	}
	if !bytes.Equal(fileOf(t, w), before) {
		t.Error("the window has changed")
	}
}

// TestDamaged wants an error for a file that ends anywhere, and for one with a wrong bit anywhere, and the window as it was.
func TestDamaged(t *testing.T) {
	file := fileOf(t, filled(t, Options{Generations: 3, Keys: 60, Rate: 0.01}))
	w := filled(t, Options{Generations: 3, Keys: 70, Rate: 0.01})
	before := fileOf(t, w)
	check := func(name string, at int, data []byte, want ...error) {
		t.Helper()
		_, err := w.ReadFrom(bytes.NewReader(data))
		_, loadErr := w.Load(bytes.NewReader(data))
		for _, err := range []error{err, loadErr} {
			ok := false
			for _, one := range want {
				ok = ok || errors.Is(err, one)
			}
			if !ok {
				t.Fatalf("%s at byte %d: %v", name, at, err)
			}
		}
	}
	for i := range file {
		if testing.Short() && i > 400 && i%11 != 0 {
			continue
		}
		if i == 0 {
			check("end", i, nil, io.EOF)
		} else {
			check("end", i, file[:i], io.ErrUnexpectedEOF)
			check("end", i, file[:i], bloom.ErrEncoding)
		}
		damaged := slices.Clone(file)
		damaged[i] ^= 1 << (i % 8)
		check("wrong bit", i, damaged, bloom.ErrEncoding, bloom.ErrFormat)
	}
	failing := errors.New("failing")
	if _, err := w.ReadFrom(iotest.ErrReader(failing)); !errors.Is(err, failing) {
		t.Errorf("a reader that fails: %v", err)
	}
	for fails := 1; ; fails++ {
		to := &failingWriter{left: fails}
		if _, err := w.WriteTo(to); to.left > 0 {
			break // it was not called so often
		} else if err == nil {
			t.Errorf("write %d fails: no error", fails)
		}
	}
	if !bytes.Equal(fileOf(t, w), before) {
		t.Error("the window has changed")
	}
	for how, v := range map[string]any{"pointer": w, "value": reflect.ValueOf(w).Elem().Interface()} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("a %s in JSON: %s", how, text)
		}
	}
}

// TestClaimedKeys wants ErrEncoding for a file whose header claims far more keys, or fewer, than its filters
// have room for: Rotate would make filters of another size, up to more than the memory has. A file of another
// version may have up to four times the bits.
func TestClaimedKeys(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		options := Options{Format: f, Generations: 2, Keys: 1000, Rate: 0.01}
		bits := func(keys uint64) float64 {
			if keys > 1<<16 {
				return math.Inf(1) // far more
			}
			o := options
			o.Keys = int(keys)
			plan, err := o.plan()
			if err != nil {
				t.Fatal(err)
			}
			return float64(plan.shape.bits)
		}
		file, has := fileOf(t, mustNew(t, options)), bits(1000)
		for _, keys := range []uint64{1, 225, 900, 1100, 3900, 4500, 1_000_000, 1 << 30, 1 << 62, math.MaxUint64} {
			end := fixed2 + 2*entrySize
			binary.LittleEndian.PutUint64(file[16:], keys)
			binary.LittleEndian.PutUint64(file[end:], xxhash.Sum64(file[:end]))
			var w Window
			_, err := w.ReadFrom(bytes.NewReader(file))
			claimed := bits(keys)
			near := claimed <= 4*has+64 && has <= 4*claimed+4*64
			if near && err != nil || !near && (!errors.Is(err, bloom.ErrEncoding) || w.Options() != (Options{})) {
				t.Errorf("%d keys, %v bits in place of %v: %v", keys, claimed, has, err)
			}
			w.Rotate()
		}
	})
}

// oldHeader returns the header of a file of version 1, with as many filters in each generation.
func oldHeader(o Options, filters ...uint32) []byte {
	b := append([]byte(nil), magic...)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(o.Generations))
	b = binary.LittleEndian.AppendUint64(b, uint64(o.Keys))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(o.Rate))
	b = appendText(b, o.Format)
	for _, n := range filters {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// TestNoBits wants ErrEncoding for a file with the zero Set as a filter, which no query can test, or with a
// generation without a filter.
func TestNoBits(t *testing.T) {
	o := Options{Format: bloom.RocksDB, Generations: 2, Keys: 60, Rate: 0.01} // the format of the zero Set
	none, err := new(bloom.Set).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	one, err := mustNew(t, o).state.Load().newest.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"alone":          slices.Concat(oldHeader(o, 1, 1), one, none),
		"beside another": slices.Concat(oldHeader(o, 1, 2), one, one, none),
		"no filter":      slices.Concat(oldHeader(o, 1, 0), one),
	} {
		w := mustNew(t, o)
		if _, err := w.ReadFrom(bytes.NewReader(file)); !errors.Is(err, bloom.ErrEncoding) {
			t.Errorf("%s: ReadFrom: %v", name, err)
		}
		if _, err := w.Load(bytes.NewReader(file)); !errors.Is(err, bloom.ErrEncoding) {
			t.Errorf("%s: Load: %v", name, err)
		}
	}
	w := mustNew(t, o)
	if _, err := w.ReadFrom(bytes.NewReader(slices.Concat(oldHeader(o, 1, 1), one, one))); err != nil {
		t.Errorf("a file with filters: %v", err)
	}
}

// TestVersion1 reads and loads files that this library wrote before files had times: three generations of 60 keys at a rate of
// 0.001, the one of RocksDB with filters of a loaded file of 100 keys, too.
func TestVersion1(t *testing.T) {
	for _, f := range []bloom.Format{bloom.RocksDB, bloom.LevelDB, bloom.Nori} {
		file, err := os.ReadFile("testdata/version1-" + f.String() + ".window")
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		o := Options{Format: f, Generations: 3, Keys: 60, Rate: 0.001}
		read, loading := new(Window), mustNew(t, o)
		if n, err := read.ReadFrom(bytes.NewReader(file)); err != nil || n != int64(len(file)) || read.Options() != o {
			t.Fatalf("%v: %d of %d bytes, %v, %+v", f, n, len(file), err, read.Options())
		}
		loaded, err := loading.Load(bytes.NewReader(file))
		if err != nil || loaded.Kept != 3 || loaded.Saved != o || loaded.Began.Before(before) {
			t.Fatalf("%v: %+v, %v", f, loaded, err)
		}
		for _, w := range []*Window{read, loading} {
			if w.Began().Before(before) {
				t.Errorf("%v: its newest generation began at %v, before it was loaded", f, w.Began())
			}
			w.AddString("more")
			var again Window
			if _, err := again.ReadFrom(bytes.NewReader(fileOf(t, w))); err != nil {
				t.Fatal(err)
			}
			checkForgets(t, w, 3, 3)
			if !again.MayContainString("more") {
				t.Errorf("%v: a key is lost", f)
			}
			checkForgets(t, &again, 3, 3)
		}
	}
}

// failingWriter fails once, when it is called so often.
type failingWriter struct{ left int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.left--; f.left == 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// FuzzReadFrom wants an error or a window for any bytes, and memory by their number.
func FuzzReadFrom(f *testing.F) {
	for _, format := range bloom.Formats() {
		w, err := New(Options{Format: format, Generations: 2, Keys: 1, Rate: 0.1})
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		w.WriteTo(&b)
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var w Window
		if _, err := w.ReadFrom(bytes.NewReader(data)); err != nil {
			if w.Stats().Generations != nil {
				t.Error("an error, and a window")
			}
			return
		}
		if w.AddUint64(1); !w.MayContainUint64(1) {
			t.Error("a key is lost")
		}
	})
}
