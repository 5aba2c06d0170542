package window

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/internal/detect"
)

func mustOpen(t testing.TB, folder string, o Options) (*Window, Loaded) {
	t.Helper()
	w, loaded, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	return w, loaded
}

// killed leaves the folder as a process does that is killed.
func (w *Window) killed() { w.folder.lock.Close() }

// filesOf returns the contents of a folder's files.
func filesOf(t testing.TB, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestFolder wants a window back as it was closed, in every format, and to go on.
func TestFolder(t *testing.T) {
	eachFormat(t, func(t *testing.T, f bloom.Format) {
		if f == bloom.LevelDB && testing.Short() {
			return // it takes long to find a rate
		}
		folder, o := filepath.Join(t.TempDir(), "new", "seen"), Options{Format: f, Generations: 5, Keys: 60, Rate: 0.001}
		w, loaded := mustOpen(t, folder, o)
		if loaded.Kept != 0 || loaded.Began != w.Began() || loaded.Began.IsZero() {
			t.Errorf("a new folder: %+v", loaded)
		}
		for restart := range 3 { // the second one with the generations of the first
			for g := range o.Generations {
				if g > 0 {
					w.Rotate()
				}
				w.AddBatch(generationKeys(g))
				if g%2 == 0 {
					if err := w.Save(); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := w.Stats()
			began := w.Began()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, err := range []error{w.Save(), w.Close(), mustNew(t, o).Save()} {
				if !errors.Is(err, ErrNoFolder) {
					t.Errorf("no folder: %v", err)
				}
			}
			w, loaded = mustOpen(t, folder, o)
			if loaded.Saved != o || loaded.Kept != 5 || loaded.Forgotten != 0 || loaded.Reshaped != 0 || !loaded.Began.Equal(w.Began()) {
				t.Errorf("restart %d: %+v", restart, loaded)
			}
			if got := w.Stats(); fmt.Sprint(got) != fmt.Sprint(want) || !began.Round(0).Equal(w.Began().Round(0)) {
				t.Errorf("restart %d: %+v, want %+v", restart, got, want)
			}
		}
		again, _ := mustOpen(t, folderOf(t, filesOf(t, folder)), o)
		checkForgets(t, again, 5, 5)
		again.killed()
		w.killed()
	})
}

// TestSealed adds keys to a window that was opened, and rotates it before it is saved: the folder has an older file of the generation.
func TestSealed(t *testing.T) {
	folder, o := t.TempDir(), Options{Generations: 3, Keys: 60, Rate: 0.001}
	for g := range 6 {
		w, _ := mustOpen(t, folder, o)
		w.AddBatch(generationKeys(g))
		w.Rotate()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w, _ = mustOpen(t, folder, o)
		for age := range min(2, g+1) {
			if n := w.MayContainBatch(generationKeys(g-age), words(50)); n != 50 {
				t.Errorf("%d of 50 keys after %d restarts and rotations", n, age+1)
			}
		}
		w.killed()
	}
}

// TestFolderReshaped opens a folder with other options.
func TestFolderReshaped(t *testing.T) {
	o := Options{Generations: 5, Keys: 60, Rate: 0.001}
	folder := t.TempDir()
	w, _ := mustOpen(t, folder, o)
	for g := range 5 {
		if g > 0 {
			w.Rotate()
		}
		w.AddBatch(generationKeys(g))
	}
	w.Close()
	files := filesOf(t, folder)
	for _, c := range []struct {
		o                         Options
		kept, forgotten, reshaped int
	}{
		{o, 5, 0, 0},
		{Options{Generations: 5, Keys: 6000, Rate: 0.001}, 5, 0, 5},
		{Options{Generations: 5, Keys: 60, Rate: 1e-4}, 5, 0, 5},
		{Options{Generations: 9, Keys: 60, Rate: 0.001}, 5, 0, -1},
		{Options{Generations: 2, Keys: 60, Rate: 0.001}, 2, 3, -1},
	} {
		folder := folderOf(t, files)
		w, loaded := mustOpen(t, folder, c.o)
		if loaded.Saved != o || loaded.Kept != c.kept || loaded.Forgotten != c.forgotten || c.reshaped >= 0 && loaded.Reshaped != c.reshaped {
			t.Errorf("%+v: %+v", c.o, loaded)
		}
		w.AddString("own")
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if w, _ = mustOpen(t, folder, c.o); !w.MayContainString("own") {
			t.Error("a key is lost")
		}
		checkForgets(t, w, 5, c.o.Generations)
		w.Close()
	}
	if _, _, err := Open(folder, Options{Format: bloom.Parquet, Generations: 5, Keys: 60, Rate: 0.001}); !errors.Is(err, bloom.ErrShape) {
		t.Errorf("another format: %v", err)
	}
	if _, _, err := Open(folder, Options{}); !errors.Is(err, bloom.ErrCapacity) {
		t.Errorf("no options: %v", err)
	}
	if w, _, err := Open(filepath.Join(folder, windowFile), o); !errors.Is(err, fs.ErrExist) && err == nil {
		t.Errorf("a file: %v, %v", w, err)
	}
}

// TestLocked wants an error for a second window in a folder until the first is closed, and after that none.
func TestLocked(t *testing.T) {
	switch runtime.GOOS {
	case "aix", "js", "plan9", "solaris", "wasip1":
		t.Skip("the system has no lock")
	}
	o := Options{Generations: 2, Keys: 10, Rate: 0.01}
	folder := t.TempDir()
	w, _ := mustOpen(t, folder, o)
	if _, _, err := Open(folder, o); !errors.Is(err, ErrLocked) {
		t.Errorf("a second window: %v", err)
	}
	w.Close()
	w, _ = mustOpen(t, folder, o)
	os.WriteFile(filepath.Join(folder, windowFile), []byte("damaged"), 0o666)
	w.killed()
	for range 2 { // an error leaves no lock
		if _, _, err := Open(folder, o); !errors.Is(err, bloom.ErrEncoding) {
			t.Errorf("a damaged folder: %v", err)
		}
	}
}

// TestSaveWritesLittle wants a Save to write the newest generation alone, after the one before is sealed, and hardly any memory.
func TestSaveWritesLittle(t *testing.T) {
	o := Options{Generations: 25, Keys: 100_000, Rate: 0.01}
	folder := t.TempDir()
	w, _ := mustOpen(t, folder, o)
	for g := range 25 {
		w.AddBatch(bloom.Integers(keysFrom(g*o.Keys, o.Keys*9/10)))
		if g < 24 {
			w.Rotate()
		}
	}
	written := map[string]int{}
	count := func() (names []string) {
		for name, data := range filesOf(t, folder) {
			if written[name] == 0 && strings.HasPrefix(name, generationPrefix) {
				names = append(names, name)
				written[name] = len(data)
			}
		}
		return names
	}
	save := func() {
		t.Helper()
		if err := w.Save(); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{25, 1, 1} {
		w.AddUint64(uint64(i))
		if save(); len(count()) != want {
			t.Errorf("Save %d does not write %d generations", i, want)
		}
	}
	w.Rotate()
	for i, want := range []int{2, 1} {
		if save(); len(count()) != want {
			t.Errorf("after a rotation, Save %d does not write %d generations", i, want)
		}
	}
	if _, err := w.Load(bytes.NewReader(fileOf(t, w))); err != nil {
		t.Fatal(err)
	}
	if save(); len(count()) != 1 {
		t.Error("after a Load that changes nothing, Save writes more than the newest generation")
	}
	if names := filesOf(t, folder); len(names) != 27 { // with the header and the lock
		t.Errorf("%d files", len(names))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.TotalAlloc
	save()
	if runtime.ReadMemStats(&m); m.TotalAlloc-before > 1<<18 {
		t.Errorf("Save takes %d bytes of memory", m.TotalAlloc-before)
	}
	w.Close()
	runtime.GC()
	runtime.ReadMemStats(&m)
	before = m.TotalAlloc
	again, _ := mustOpen(t, folder, o)
	runtime.ReadMemStats(&m)
	if all := again.Stats().Bytes; m.TotalAlloc-before > uint64(all)*115/100 && !detect.Races { // which allocates what it grows twice
		t.Errorf("Open takes %d bytes of memory for filters of %d", m.TotalAlloc-before, all)
	}
	again.Close()
}

// TestDamagedFolder damages each file of a folder in each way, and wants an error that names it, and the folder as it was.
func TestDamagedFolder(t *testing.T) {
	o := Options{Generations: 4, Keys: 60, Rate: 0.01}
	folder := t.TempDir()
	w, _ := mustOpen(t, folder, o)
	for g := range 3 {
		w.AddBatch(generationKeys(g))
		w.Rotate()
	}
	w.AddBatch(generationKeys(3))
	save := func() map[string]string {
		if err := w.Save(); err != nil {
			t.Fatal(err)
		}
		return filesOf(t, folder)
	}
	older := save()
	w.AddBatch(generationKeys(4))
	files := save()
	w.killed()
	check := func(name, file string, damaged map[string]string) {
		t.Helper()
		folder := folderOf(t, damaged)
		_, _, err := Open(folder, o)
		if !(errors.Is(err, bloom.ErrEncoding) || errors.Is(err, fs.ErrNotExist)) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %s: %v", file, name, err)
		}
		for name, data := range filesOf(t, folder) {
			if name != lockName && data != damaged[name] {
				t.Errorf("%s: the folder has changed", name)
			}
		}
	}
	var names []string
	for name := range files {
		if name != lockName {
			names = append(names, name)
		}
	}
	if len(names) != 5 {
		t.Fatalf("%v", names)
	}
	with := func(name string, data []byte) map[string]string {
		changed := map[string]string{}
		for n, d := range files {
			changed[n] = d
		}
		delete(changed, name)
		if data != nil {
			changed[name] = string(data)
		}
		return changed
	}
	for _, name := range names {
		data := []byte(files[name])
		check("missing", name, with(name, nil))
		check("empty", name, with(name, []byte{}))
		check("doubled", name, with(name, slices.Concat(data, data)))
		for i := 0; i < len(data); i += 1 + len(data)/oneOf(20, 100) {
			check("cut", name, with(name, data[:i]))
			changed := slices.Clone(data)
			changed[i] ^= 1 << (i % 8)
			check("wrong bit", name, with(name, changed))
		}
		for _, other := range names {
			if other != name {
				check("the file "+other, name, with(name, []byte(files[other])))
			}
		}
	}
	// Another window has files of the same names.
	elsewhere := t.TempDir()
	w, _ = mustOpen(t, elsewhere, o)
	for g := range 4 {
		w.AddBatch(generationKeys(100 + g))
		if g < 3 {
			w.Rotate()
		}
	}
	w.Close()
	for name, data := range filesOf(t, elsewhere) {
		if _, has := files[name]; has && strings.HasPrefix(name, generationPrefix) {
			check("another window's", name, with(name, []byte(data)))
		}
	}
	// An older header names a file that is gone. With that file, it is the older window.
	check("older", "generation-", with(windowFile, []byte(older[windowFile])))
	both := with(windowFile, []byte(older[windowFile]))
	for name, data := range older {
		both[name] = data
	}
	w, _ = mustOpen(t, folderOf(t, both), o)
	if n := w.MayContainBatch(generationKeys(3), words(50)); n != 50 {
		t.Errorf("the older window has %d of 50 keys", n)
	}
	w.killed()
	// Files of others stay, and what a killed Save has left goes.
	folder = folderOf(t, with("notes.txt", []byte("mine")))
	for _, left := range []string{"generation-77", "generation-78.new", "window.new"} {
		if err := os.WriteFile(filepath.Join(folder, left), []byte("left"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w, _ = mustOpen(t, folder, o)
	w.Close()
	if got := filesOf(t, folder); len(got) != 7 || got["notes.txt"] != "mine" {
		t.Errorf("%d files", len(got))
	}
}

// oneOf returns one number if few cases are enough.
func oneOf(few, most int) int {
	if testing.Short() {
		return few
	}
	return most
}

// TestSaveFails wants an error if the folder is gone, and the next Save to be whole.
func TestSaveFails(t *testing.T) {
	folder, o := filepath.Join(t.TempDir(), "seen"), Options{Generations: 3, Keys: 60, Rate: 0.01}
	w, _ := mustOpen(t, folder, o)
	w.AddString("key")
	elsewhere := folder + ".moved"
	if runtime.GOOS == "windows" {
		t.Skip("the lock keeps the folder where it is")
	}
	if err := os.Rename(folder, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := w.Save(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Save without a folder: %v", err)
	}
	if err := os.Rename(elsewhere, folder); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if w, _ = mustOpen(t, folder, o); !w.MayContainString("key") {
		t.Error("a key is lost")
	}
	w.killed()
}

// TestSaveFailsAtHeader lets Save fail again and again after it has written generations: they must not fill the disk.
func TestSaveFailsAtHeader(t *testing.T) {
	folder, o := t.TempDir(), Options{Generations: 3, Keys: 60, Rate: 1e-4}
	w, _ := mustOpen(t, folder, o)
	w.AddBatch(generationKeys(0))
	if err := w.Save(); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, folder)
	inTheWay := filepath.Join(folder, windowFile+unfinished)
	if err := os.MkdirAll(filepath.Join(inTheWay, "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	for g := range 3 {
		w.Rotate()
		w.AddBatch(generationKeys(1 + g))
		if err := w.Save(); err == nil {
			t.Fatal("no error")
		}
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	if after := filesOf(t, folder); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%d files, and %d after three Saves that failed", len(before), len(after))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, _ = mustOpen(t, folder, o)
	checkForgets(t, w, 4, 3)
	w.killed()
}

// setClock changes all times in the header of a folder as if the clock had been set while no process ran.
func setClock(t *testing.T, folder string, by time.Duration) {
	t.Helper()
	path := filepath.Join(folder, windowFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(b) - 8
	for at := fixed2; at < end; at += entrySize {
		if began := binary.LittleEndian.Uint64(b[at:]); began != 0 {
			binary.LittleEndian.PutUint64(b[at:], began-uint64(by))
		}
	}
	binary.LittleEndian.PutUint64(b[end:], xxhash.Sum64(b[:end]))
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestClockWhileDown sets the clock while no process runs. If it goes back, the newest generation begins now. If it goes forward,
// what became too old stays in the folder, and is there again if somebody sets the clock right before a Save.
func TestClockWhileDown(t *testing.T) {
	folder, o := t.TempDir(), Options{Generations: 5, Keys: 60, Rate: 1e-4}
	w, _ := mustOpen(t, folder, o)
	w.every.Store(int64(time.Hour))
	for g := range 5 {
		if g > 0 {
			w.Rotate()
		}
		w.AddBatch(generationKeys(g))
	}
	w.Close()
	has := func(by time.Duration, missed int) {
		t.Helper()
		setClock(t, folder, by)
		defer setClock(t, folder, -by)
		w, loaded := mustOpen(t, folder, o)
		defer w.killed()
		if loaded.Forgotten != missed || loaded.Kept != 5-missed {
			t.Errorf("set by %v: %+v", by, loaded)
		}
		if age := time.Since(w.Began()); age < 0 || age >= time.Hour {
			t.Errorf("set by %v: the newest generation is %v old", by, age)
		}
		for g := range 5 {
			if n := w.MayContainBatch(generationKeys(g), words(50)); g >= missed && n != 50 || g < missed && n > 2 {
				t.Errorf("set by %v: %d of 50 keys of generation %d", by, n, g)
			}
		}
		if missed > 0 && missed < 5 {
			if g := w.Stats().Generations; g[0].Sets != 1 || g[0].Keys != 0 || g[missed].Keys < 40 || missed > 1 && g[1].Sets != 0 {
				t.Errorf("set by %v: %+v", by, g)
			}
		}
	}
	for _, c := range []struct {
		hours  time.Duration
		missed int
	}{{-1000, 0}, {0, 0}, {1, 1}, {3, 3}, {5, 5}, {100_000, 5}, {0, 0}} {
		has(c.hours*time.Hour, c.missed)
	}
	setClock(t, folder, -1000*time.Hour)
	w, _ = mustOpen(t, folder, o)
	before := w.Stats()
	if _, err := w.Load(bytes.NewReader(fileOf(t, w))); err != nil || fmt.Sprint(w.Stats()) != fmt.Sprint(before) {
		t.Errorf("after the clock went back, a window's own file changes it: %+v, %+v, %v", w.Stats(), before, err)
	}
	w.killed()
	setClock(t, folder, 1000*time.Hour)
	setClock(t, folder, 3*time.Hour)
	w, _ = mustOpen(t, folder, o)
	w.Close() // now they are gone
	setClock(t, folder, -3*time.Hour)
	w, _ = mustOpen(t, folder, o)
	if n := w.MayContainBatch(generationKeys(0), words(50)); n > 2 || len(filesOf(t, folder)) != 2+2+1 {
		t.Errorf("%d keys that were forgotten, %d files", n, len(filesOf(t, folder)))
	}
	w.killed()
}

// TestSaveKilled kills a Save before each call that changes files. The folder then has what the last Save had that has ended, or
// what the one had that was killed.
func TestSaveKilled(t *testing.T) {
	defer func() { before = nil }()
	o := Options{Generations: 4, Keys: 60, Rate: 1e-4}
	calls := map[string]int{}
	for kill := 0; ; kill++ {
		before = nil
		folder := t.TempDir()
		w, _ := mustOpen(t, folder, o)
		for g := range 6 { // the oldest two are forgotten
			w.AddBatch(generationKeys(g))
			if g == 3 || g == 5 {
				if err := w.Save(); err != nil {
					t.Fatal(err)
				}
			}
			w.Rotate()
		}
		w.AddBatch(generationKeys(6))
		ended := saveUntil(w, kill, calls)
		w, loaded, err := Open(folder, o)
		if err != nil {
			t.Fatalf("killed before call %d: %v", kill, err)
		}
		later := w.MayContainBatch(generationKeys(6), words(50)) == 50
		for g := range 7 {
			n := w.MayContainBatch(generationKeys(g), words(50))
			if must := g >= 2 && g < 6 && !later || g >= 3 && later; must && n != 50 || !must && n > 2 {
				t.Errorf("killed before call %d: %d of 50 keys of generation %d: %+v", kill, n, g, loaded)
			}
		}
		if err := w.Save(); err != nil || len(filesOf(t, folder)) != 2+4 {
			t.Errorf("killed before call %d: the next Save: %v, %d files", kill, err, len(filesOf(t, folder)))
		}
		w.killed()
		if ended {
			if !later {
				t.Error("a Save that has ended has not saved")
			}
			break
		}
	}
	for _, call := range []string{"create", "write", "sync", "rename", "sync folder", "remove"} {
		if calls[call] == 0 {
			t.Errorf("no Save was killed before %s: %v", call, calls)
		}
	}
}

// saveUntil saves, but is killed before the call of this number, if there is one. It reports whether there is none.
func saveUntil(w *Window, kill int, calls map[string]int) (ended bool) {
	type death struct{}
	n := 0
	before = func(call string) {
		if n == kill {
			calls[call]++
			panic(death{})
		}
		n++
	}
	defer func() {
		before = nil
		w.killed()
		if r := recover(); r != nil && r != (any)(death{}) {
			panic(r)
		}
	}()
	if err := w.Save(); err != nil {
		panic(err)
	}
	return true
}

// folderModel is a window in a folder, and what its keys must do.
type folderModel struct {
	t      *testing.T
	random *rand.Rand
	folder string
	o      Options
	w      *Window

	rotations int         // of the window, as it is
	added     map[int]int // from the number of a column of keys to the rotations before it was added last
	saved     *folderModel
	next      int
	steps     int
	kills     map[string]int
}

const modelColumn = 200

func (m *folderModel) column(i int) []uint64 { return keysFrom(i*modelColumn, modelColumn) }

// step does something at random.
func (m *folderModel) step() {
	switch r := m.random.IntN(100); {
	case r < 60:
		n := 1
		if m.random.IntN(15) == 0 {
			n = m.random.IntN(40) // a burst
		}
		for range n {
			ways[wayNames[m.random.IntN(len(ways))]](m.w, m.column(m.next))
			m.added[m.next] = m.rotations
			m.next++
		}
	case r < 70: // a key comes again
		for i := range m.added {
			ways[wayNames[m.random.IntN(len(ways))]](m.w, m.column(i))
			m.added[i] = m.rotations
			break
		}
	case r < 82:
		m.w.Rotate()
		m.rotations++
	case r < 84:
		if err := m.w.Resize(300 + m.random.IntN(3000)); err != nil {
			m.t.Fatal(err)
		}
	case r < 86:
		m.load()
	case r < 90:
		m.check(m.w.Save())
		m.remember()
	case r < 92:
		m.restart()
	default:
		m.kill()
	}
	m.query()
}

func (m *folderModel) check(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

// remember keeps what a Save has saved.
func (m *folderModel) remember() {
	added := map[int]int{}
	for i, at := range m.added {
		if m.rotations-at < m.o.Generations {
			added[i] = at
		}
	}
	m.added = added
	copied := map[int]int{}
	for i, at := range added {
		copied[i] = at
	}
	m.saved = &folderModel{rotations: m.rotations, added: copied}
}

// load loads the window's own file, which changes nothing, or a new window's with keys of its own.
func (m *folderModel) load() {
	if m.random.IntN(2) == 0 {
		_, err := m.w.Load(bytes.NewReader(fileOf(m.t, m.w)))
		m.check(err)
		return
	}
	from := mustNew(m.t, Options{Generations: 3, Keys: 300 * (1 + m.random.IntN(3)), Rate: 1e-4})
	from.AddBatch(bloom.Integers(m.column(m.next)))
	_, err := m.w.Load(bytes.NewReader(fileOf(m.t, from)))
	m.check(err)
	m.added[m.next] = m.rotations
	m.next++
}

func (m *folderModel) restart() {
	m.check(m.w.Close())
	m.remember()
	m.open()
}

func (m *folderModel) open() {
	if _, err := os.Stat(filepath.Join(m.folder, windowFile)); err == nil && m.random.IntN(3) == 0 {
		setClock(m.t, m.folder, time.Duration(m.random.IntN(400)-200)*time.Hour) // while no process runs
	}
	o := m.o
	o.Keys = 300 + m.random.IntN(3000)
	var err error
	m.w, _, err = Open(m.folder, o)
	m.check(err)
}

// kill ends the process, within a Save or not. The folder has what that Save has saved if it has replaced the header.
func (m *folderModel) kill() {
	header := func() []byte {
		b, err := os.ReadFile(filepath.Join(m.folder, windowFile))
		m.check(err)
		return b
	}
	old := header()
	if m.random.IntN(4) == 0 {
		m.w.killed()
	} else {
		saveUntil(m.w, m.random.IntN(1+m.random.IntN(80)), m.kills)
	}
	if !bytes.Equal(header(), old) {
		m.kills["saved"]++
		m.remember()
	}
	m.rotations, m.added = m.saved.rotations, m.saved.added
	m.open()
	m.remember()
}

// query wants some of the columns to be found, or forgotten.
func (m *folderModel) query() {
	tries := 0
	for i, at := range m.added {
		if tries++; tries > 5 {
			return
		}
		m.steps += 2 * modelColumn
		n, age := m.w.MayContainBatch(bloom.Integers(m.column(i)), words(modelColumn)), m.rotations-at
		if age <= m.o.Generations-1 && n != modelColumn || age >= m.o.Generations && n > 20 {
			m.t.Fatalf("after %d steps: %d of %d keys that were added %d rotations ago", m.steps, n, modelColumn, age)
		}
		if age >= m.o.Generations {
			delete(m.added, i)
		}
	}
}

// TestModelFolder compares a window in a folder with a model, through saves, restarts with other sizes and another clock, kills within a
// Save, bursts, repeats, rotations, loads and changes of the size.
func TestModelFolder(t *testing.T) {
	defer func() { before = nil }()
	m := &folderModel{t: t, random: rand.New(rand.NewPCG(1, 2)), folder: t.TempDir(), added: map[int]int{}, kills: map[string]int{},
		o: Options{Generations: 5, Keys: 1000, Rate: 1e-4, MaxBytes: 1 << 20}}
	m.open()
	m.remember()
	for m.steps < max(*operations, 1_200_000) {
		m.step()
	}
	m.w.killed()
	t.Logf("%d steps, %d keys, killed before %v", m.steps, m.next*modelColumn, m.kills)
	if len(m.kills) < 4 || m.next < 100 {
		t.Error("too few kinds of kills, or too few keys")
	}
}
