// Command redpanda is Redpanda's stream processor with one more cache: bloom_window remembers message ids for dedupe (dedupe.yaml).
package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lanebloom/bloom/window"
	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func main() { service.RunCLI(context.Background()) }
func init() {
	spec := service.NewConfigSpec().Summary("Remembers keys for a limited time, in a few bytes each. It stores no values.").Fields(
		service.NewIntField("keys").Description("Number of different keys that you expect within the ttl."),
		service.NewDurationField("ttl").Description("How long a key is remembered, at least. It may be remembered up to a sixth longer.").
			LintRule(`root = if this.parse_duration() < 1000000000 { ["the ttl must be at least a second"] }`),
		service.NewFloatField("rate").Description("The fraction of new keys that are mistaken for seen keys.").Default(0.0001),
		service.NewStringField("folder").Description("The folder in which the keys survive a restart."))
	if err := service.RegisterCache("bloom_window", spec, open); err != nil {
		panic(err)
	}
}

// opened has a function for each label that opens its cache once: before release 4.70, the engine may open a cache twice at the same time.
var opened sync.Map

func open(c *service.ParsedConfig, r *service.Resources) (service.Cache, error) {
	once, _ := opened.LoadOrStore(r.Label(), sync.OnceValues(func() (service.Cache, error) { return newSeen(c, r) }))
	return once.(func() (service.Cache, error))()
}

type seen struct {
	*window.Window
	close func() error
	locks [256]sync.Mutex // if two goroutines add a key at the same time, only one of them may learn that it is new
}

func newSeen(c *service.ParsedConfig, r *service.Resources) (*seen, error) {
	const parts = 6 // intervals in the ttl; one more generation has the keys of the current interval
	keys, err1 := c.FieldInt("keys")
	ttl, err2 := c.FieldDuration("ttl")
	rate, err3 := c.FieldFloat("rate")
	folder, err4 := c.FieldString("folder")
	w, _, err5 := window.Open(folder, window.Options{Generations: parts + 1, Keys: (keys + parts - 1) / parts, Rate: rate})
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		opened.Delete(r.Label())
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	go w.Run(ctx, ttl/parts)
	go func() {
		for err := w.Save(); !errors.Is(err, window.ErrNoFolder); err = w.Save() { // until Close
			if err != nil {
				r.Logger().Errorf("bloom_window: %v", err)
			}
			time.Sleep(time.Minute)
		}
	}()
	return &seen{Window: w, close: func() error { stop(); opened.Delete(r.Label()); return w.Close() }}, nil
}

func (s *seen) Add(_ context.Context, key string, _ []byte, _ *time.Duration) error {
	h := s.Options().Format.HashString(key)
	lock := &s.locks[h.Words()[0]%uint64(len(s.locks))]
	lock.Lock()
	defer lock.Unlock()
	if s.TestAndAddHash(h) {
		return service.ErrKeyAlreadyExists
	}
	return nil
}

func (s *seen) Get(_ context.Context, key string) ([]byte, error) {
	if s.MayContainString(key) {
		return nil, nil // a window has no values
	}
	return nil, service.ErrKeyNotFound
}

func (s *seen) Set(_ context.Context, key string, _ []byte, _ *time.Duration) error {
	s.AddString(key)
	return nil
}
func (s *seen) Delete(context.Context, string) error { return errors.ErrUnsupported }
func (s *seen) Close(context.Context) error          { return s.close() }
