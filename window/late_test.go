package window

import (
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// TestLateAdders forgets the set that a goroutine adds to before the call returns. The key must be there then, as long as that of
// a call that was not late.
func TestLateAdders(t *testing.T) {
	defer func() { pause = nil }()
	for name, add := range adders {
		for rotations := range 6 {
			w := mustNew(t, Options{Generations: 3, Keys: 100, Rate: 1e-4})
			one := []byte("late by " + name)
			calls := 0
			pause = func() {
				calls++
				for range rotations {
					w.Rotate()
				}
			}
			if add(w, one); calls != 1 {
				t.Fatalf("%s has looked %d times whether it was late", name, calls)
			}
			for age := range 3 {
				if !w.MayContain(one) {
					t.Fatalf("%s: %d rotations during the call, and the key is lost at %d after it", name, rotations, age)
				}
				w.Rotate()
			}
			if w.MayContain(one) {
				t.Errorf("%s: the key is there for too long", name)
			}
		}
	}
}

// TestLateAddersWait replaces all generations while a goroutine wants to add its key once more. It must wait for that: the set to
// which it would add is forgotten.
func TestLateAddersWait(t *testing.T) {
	defer func() { pause = nil }()
	o := Options{Generations: 2, Keys: 100, Rate: 1e-4}
	for name, add := range adders {
		w, next := mustNew(t, o), mustNew(t, o)
		one := []byte("waits in " + name)
		replaced := make(chan struct{})
		pause = func() {
			w.Rotate()
			w.mu.Lock() // as a Rotate that has begun
			go func() {
				time.Sleep(time.Millisecond)
				w.state.Store(next.state.Load())
				w.mu.Unlock()
				close(replaced)
			}()
		}
		add(w, one)
		if <-replaced; !w.MayContain(one) {
			t.Errorf("%s adds a key to a set that is forgotten", name)
		}
	}
}

// TestLateColumn rotates while a column of several chunks is added: of each chunk, the keys are there.
func TestLateColumn(t *testing.T) {
	defer func() { pause = nil }()
	w := mustNew(t, Options{Generations: 4, Keys: 32 * chunk, Rate: 1e-4})
	keys := bloom.Integers(addition{n: 3*chunk + 7}.keys())
	chunks := 0
	pause = func() {
		chunks++
		w.Rotate()
	}
	for i := range 2 {
		chunks = 0
		if n := w.TestAndAddBatch(keys, words(keys.Len())); (n > keys.Len()/100) != (i > 0) || chunks != 4 {
			t.Errorf("time %d: %d of %d keys were there, in %d chunks", i, n, keys.Len(), chunks)
		}
	}
	if n := w.MayContainBatch(keys.Slice(chunk, keys.Len()), words(keys.Len())); n != 2*chunk+7 {
		t.Errorf("%d of %d keys are there", n, 2*chunk+7)
	}
}
