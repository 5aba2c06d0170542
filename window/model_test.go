package window

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lanebloom/bloom"
)

var operations = flag.Int("operations", 400_000, "`number` of additions and queries in TestModel")

var burstKeys = flag.Int("burst-keys", 10_000_000, "`number` of keys in TestRateInBursts")

// seen is what the model compares: a Window, or one with a fault.
type seen interface {
	AddUint64(key uint64)
	AddBatch(keys bloom.Keys)
	TestAndAddUint64(key uint64) bool
	TestAndAddBatch(keys bloom.Keys, hits []uint64) int
	MayContainUint64(key uint64) bool
	MayContainBatch(keys bloom.Keys, hits []uint64) int
	Rotate()
}

// model knows which keys must be found. An adder publishes the keys that it has added, with the number of rotations that had
// begun before. An asker takes such keys: if fewer than Generations-1 rotations have begun up to the end of its query, the key
// must have been found. Of several goroutines that rotate, each but one may have called Rotate before that, and still be
// about to do it.
type model struct {
	w           seen
	generations int64
	rotators    int64

	begun      atomic.Int64 // rotations
	operations atomic.Int64
	most       int64

	numbers atomic.Int64 // of keys: no number is added twice but by a refresh
	added   [64]atomic.Pointer[addition]

	certain, lost, saved atomic.Int64 // queries of keys that must be found, those that did not find them, and files
	absent, passed       atomic.Int64 // queries of keys that nobody has added, and those that found them
}

// addition is keys with successive numbers.
type addition struct {
	from, n int
	begun   int64
}

const (
	mostColumn  = 500
	perRotation = 3000 // keys
)

// run adds, asks and rotates until there were as many operations as wanted.
func (m *model) run() {
	var group sync.WaitGroup
	for g := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for m.operations.Load() < m.most && m.lost.Load() == 0 {
				if g%2 == 0 {
					m.add(random)
				} else {
					m.ask(random)
				}
			}
		}()
	}
	for range m.rotators {
		group.Add(1)
		go func() {
			defer group.Done()
			for m.operations.Load() < m.most && m.lost.Load() == 0 {
				if m.numbers.Load() < m.begun.Load()*perRotation {
					runtime.Gosched()
					continue
				}
				m.begun.Add(1)
				m.w.Rotate()
			}
		}()
	}
	group.Wait()
}

// keys returns those of an addition.
func (a addition) keys() []uint64 {
	keys := make([]uint64, a.n)
	for i := range keys {
		keys[i] = key(a.from + i)
	}
	return keys
}

func (m *model) add(random *rand.Rand) {
	if m.numbers.Load() > (m.begun.Load()+1)*perRotation { // full filters would have every key
		runtime.Gosched()
		return
	}
	a := addition{n: 1, begun: m.begun.Load()}
	way := random.IntN(20)
	if way < 4 {
		a.n = 1 + random.IntN(mostColumn)
	}
	a.from = int(m.numbers.Add(int64(a.n))) - a.n
	switch {
	case way < 2:
		m.w.AddBatch(bloom.Integers(a.keys()))
	case way < 4:
		m.w.TestAndAddBatch(bloom.Integers(a.keys()), words(a.n))
	case way < 12:
		m.w.AddUint64(key(a.from))
	default:
		m.w.TestAndAddUint64(key(a.from))
	}
	m.added[random.IntN(len(m.added))].Store(&a)
	m.operations.Add(int64(a.n))
}

// ask asks for keys that were added. Now and then it adds one again, which keeps it as long again.
func (m *model) ask(random *rand.Rand) {
	slot := &m.added[random.IntN(len(m.added))]
	a := slot.Load()
	if a == nil {
		return
	}
	one, found, begun := a.from+random.IntN(a.n), true, m.begun.Load()
	switch way := random.IntN(20); {
	case way < 2:
		found = m.w.MayContainBatch(bloom.Integers(a.keys()), words(a.n)) == a.n
		m.operations.Add(int64(a.n))
	case way < 4:
		found = m.w.TestAndAddUint64(key(one))
	default:
		found = m.w.MayContainUint64(key(one))
	}
	m.check(a, found)
	if random.IntN(50) == 0 {
		m.w.AddUint64(key(one))
		slot.Store(&addition{one, 1, begun})
	}
	m.operations.Add(1)
	switch random.IntN(10_000) {
	case 0:
		m.save(random)
		m.disturb(random)
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15:
		runtime.Gosched()
	default:
		if random.IntN(100) == 0 {
			m.askAbsent(random)
		}
	}
}

// askAbsent asks for a key that nobody has added.
func (m *model) askAbsent(random *rand.Rand) {
	m.absent.Add(1)
	if m.w.MayContainUint64(random.Uint64()) {
		m.passed.Add(1)
	}
}

// check counts a query that has ended.
func (m *model) check(a *addition, found bool) {
	if m.begun.Load()-a.begun+m.rotators-1 >= m.generations-1 {
		return // it may be forgotten
	}
	m.certain.Add(1)
	if !found {
		m.lost.Add(1)
	}
}

// save asks the file that is written meanwhile.
func (m *model) save(random *rand.Rand) {
	w, ok := m.w.(*Window)
	a := m.added[random.IntN(len(m.added))].Load()
	if !ok || a == nil {
		return
	}
	var file bytes.Buffer
	_, err := w.WriteTo(&file)
	var read Window
	if err == nil {
		_, err = read.ReadFrom(&file)
	}
	m.check(a, err == nil && read.MayContainBatch(bloom.Integers(a.keys()), words(a.n)) == a.n)
	m.saved.Add(1)
}

// disturb changes the size of the sets that begin, so that some generations have several, saves the window to its folder, or loads
// its own file. No key may be lost by that.
func (m *model) disturb(random *rand.Rand) {
	w, ok := m.w.(*Window)
	if !ok {
		return
	}
	var err error
	switch random.IntN(3) {
	case 0:
		err = w.Resize(perRotation * (1 + random.IntN(6)) / 2)
	case 1:
		err = w.Save()
	case 2:
		var file bytes.Buffer
		if _, err = w.WriteTo(&file); err == nil {
			_, err = w.Load(&file)
		}
	}
	if err != nil {
		panic(err)
	}
}

// modelOptions are the options of the model's windows: with so low a rate, hardly a false positive hides a lost key.
var modelOptions = Options{Generations: 4, Keys: 3 * perRotation, Rate: 1e-4}

// TestModel wants every key as long as the window promises it, from goroutines that add, ask, rotate and save at once.
func TestModel(t *testing.T) {
	for _, rotators := range []int64{1, 2} {
		w, _ := mustOpen(t, t.TempDir(), modelOptions)
		defer w.killed()
		m := model{w: w, generations: int64(modelOptions.Generations), rotators: rotators, most: int64(*operations) / 2}
		m.run()
		t.Logf("%d operations, %d rotations by %d goroutines, %d queries of keys that must be found, %d files, %d of %d absent keys pass",
			m.operations.Load(), m.begun.Load(), rotators, m.certain.Load(), m.saved.Load(), m.passed.Load(), m.absent.Load())
		if n := m.lost.Load(); n > 0 {
			t.Errorf("%d keys are lost", n)
		}
		if m.begun.Load() < m.most/20_000 || m.certain.Load() < m.most/200 || m.saved.Load() == 0 || m.passed.Load()*50 > m.absent.Load() {
			t.Error("too few rotations, files, or queries of keys that must be found, or too many keys pass")
		}
	}
}

// hasty is a window as one is written at first: Rotate waits a moment for goroutines that still add to the old set, and then
// keeps a copy of it.
type hasty struct {
	*Window // its policy
	now     atomic.Pointer[hastyState]
	mu      sync.Mutex
}

type hastyState struct {
	newest, closing *bloom.AtomicSet
	closed          []*bloom.Filter
}

func newHasty(t *testing.T) *hasty {
	h := &hasty{Window: mustNew(t, modelOptions)}
	h.now.Store(&hastyState{newest: h.set()})
	return h
}

func (h *hasty) set() *bloom.AtomicSet {
	return mustMake(h.state.Load().plan).AtomicSet
}

func (h *hasty) Rotate() {
	h.mu.Lock()
	defer h.mu.Unlock()
	old, newest := h.now.Load(), h.set()
	h.now.Store(&hastyState{newest, old.newest, old.closed})
	runtime.Gosched() // a moment
	closed := append([]*bloom.Filter{old.newest.Snapshot().Filter()}, old.closed...)
	h.now.Store(&hastyState{newest, nil, closed[:min(len(closed), h.Options().Generations-1)]})
}

func (h *hasty) AddBatch(keys bloom.Keys) {
	newest := h.now.Load().newest
	runtime.Gosched() // as the system may do it
	newest.AddBatch(keys)
}

func (h *hasty) AddUint64(key uint64) { h.AddBatch(bloom.Integers([]uint64{key})) }
func (h *hasty) MayContainUint64(k uint64) bool {
	return h.MayContainBatch(bloom.Integers([]uint64{k}), words(1)) > 0
}

func (h *hasty) TestAndAddUint64(key uint64) bool {
	was := h.MayContainUint64(key)
	h.AddUint64(key)
	return was
}

func (h *hasty) TestAndAddBatch(keys bloom.Keys, _ []uint64) int {
	h.AddBatch(keys)
	return 0
}

func (h *hasty) MayContainBatch(keys bloom.Keys, hits []uint64) int {
	s, some := h.now.Load(), words(keys.Len())
	s.newest.MayContainBatch(keys, hits)
	filters := s.closed
	if s.closing != nil {
		filters = append([]*bloom.Filter{s.closing.Filter()}, s.closed...)
	}
	for _, f := range filters {
		f.MayContainBatch(keys, some)
		for i, word := range some {
			hits[i] |= word
		}
	}
	return count(hits)
}

// TestModelSees wants the model to see the keys that a hasty window loses.
func TestModelSees(t *testing.T) {
	m := model{w: newHasty(t), generations: int64(modelOptions.Generations), rotators: 1, most: 20_000_000}
	m.run()
	if m.lost.Load() == 0 {
		t.Errorf("%d operations and %d rotations, and no key is lost", m.operations.Load(), m.begun.Load())
	}
	t.Logf("a key is lost after %d operations and %d rotations", m.operations.Load(), m.begun.Load())
}
