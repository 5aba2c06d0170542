package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
)

var messages = flag.Int("messages", 300_000, "number of messages in TestDedupe")

const rate = 0.0001

// TestDedupe sends messages through the dedupe processor, all within one interval of the window. A tenth of them are repeats.
// No repeat may get through. Compared with the exact cache in memory, few other messages may be lost.
func TestDedupe(t *testing.T) {
	exact := dedupe(t, "memory:\n  default_ttl: 1h\n")
	t.Logf("memory: %v a message, a heap of %d bytes", exact.each, exact.heap)
	window := dedupe(t, fmt.Sprintf("bloom_window:\n  keys: %d\n  ttl: 1h\n  rate: %v\n  folder: %q\n", *messages, rate, t.TempDir()))
	t.Logf("bloom_window: %v a message, a heap of %d bytes, %d messages lost", window.each, window.heap, exact.kept-window.kept)
	lost := exact.kept - window.kept
	expected := rate * float64(exact.kept)
	if lost < 0 || float64(lost) > 1.2*expected+6*math.Sqrt(expected) {
		t.Errorf("%d of %d messages were lost, want about %.0f", lost, exact.kept, expected)
	}
	if window.heap > exact.heap/5 {
		t.Errorf("the heap has %d bytes, and %d with the cache in memory", window.heap, exact.heap)
	}
}

// TestShortTTL wants an error for a ttl so short that a window would rotate all the time and remember nothing.
func TestShortTTL(t *testing.T) {
	for ttl, right := range map[string]bool{"-1h": false, "0s": false, "1ms": false, "1s": true, "24h": true} {
		err := service.NewStreamBuilder().AddCacheYAML("label: seen\nbloom_window:\n  keys: 100\n  folder: unused\n  ttl: " + ttl + "\n")
		if right != (err == nil) {
			t.Errorf("a ttl of %s: %v", ttl, err)
		}
	}
}

type outcome struct {
	kept int
	heap int64 // bytes that the cache takes
	each time.Duration
}

// dedupe sends all messages through a dedupe processor with the given cache, and returns the outcome.
func dedupe(t *testing.T, cache string) (o outcome) {
	builder := service.NewStreamBuilder()
	must(t, builder.AddCacheYAML("label: seen\n"+cache))
	must(t, builder.AddProcessorYAML("dedupe:\n  cache: seen\n  key: ${! content() }\n"))
	must(t, builder.SetLoggerYAML("level: NONE"))
	builder.SetThreads(1) // because the consumer counts without a lock
	push, err := builder.AddBatchProducerFunc()
	must(t, err)
	must(t, builder.AddBatchConsumerFunc(func(_ context.Context, batch service.MessageBatch) error {
		o.kept += len(batch)
		return nil
	}))
	stream, err := builder.Build()
	must(t, err)
	ended := make(chan error)
	go func() { ended <- stream.Run(context.Background()) }()
	before, start := heap(), time.Now()
	for i := 0; i < *messages; i += 1000 {
		must(t, push(t.Context(), batch(i)))
	}
	o.each = time.Since(start) / time.Duration(*messages)
	o.heap = heap() - before
	must(t, stream.Stop(context.Background()))
	must(t, <-ended)
	return o
}

// batch returns a thousand messages of 36 bytes. Every tenth message repeats an earlier one.
func batch(first int) (all service.MessageBatch) {
	for i := first; i < first+1000; i++ {
		id := i
		if i%10 == 9 {
			id = i / 20 * 10 // never a repeat itself
		}
		all = append(all, service.NewMessage(fmt.Appendf(nil, "%08x-0000-4000-8000-%012x", id, id*7919)))
	}
	return all
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
