package main

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
)

// errStopped ends a job whose rest nobody needs.
var errStopped = errors.New("stopped")

// handOn hands on a step to be done in the order of the jobs. A job waits until it is its turn, except for
// one step, and ends if the error is errStopped.
type handOn func(step func() error) error

// sideBySide calls job for each item on all cores. The steps that the jobs hand on are done one at a time by the
// goroutine that called it: first those of the first item, in their order, then those of the second. So the outcome is
// the same as on one core. The first error in this order ends all. No more jobs run or wait than there are cores.
func sideBySide[T any](items iter.Seq[T], job func(item T, then handOn) error) error {
	type running struct {
		steps chan func() error
		err   error // when steps is closed
	}
	cores := runtime.GOMAXPROCS(0)
	cpus, queue, stop := make(chan struct{}, cores), make(chan *running, cores), make(chan struct{})
	var all sync.WaitGroup
	then := func(r *running) handOn {
		return func(step func() error) error {
			select {
			case <-stop:
				return errStopped
			case r.steps <- step:
				return nil
			}
		}
	}
	start := func(item T) bool {
		r := &running{steps: make(chan func() error, 1)}
		select {
		case <-stop:
			return false
		case cpus <- struct{}{}:
		}
		select {
		case <-stop:
			return false
		case queue <- r:
		}
		all.Go(func() {
			defer func() { <-cpus }()
			defer close(r.steps)
			r.err = guarded(func() error { return job(item, then(r)) })
		})
		return true
	}
	all.Go(func() {
		defer close(queue)
		for item := range items {
			if !start(item) {
				return
			}
		}
	})
	err := inTurn(queue, func(r *running) error {
		for step := range r.steps {
			if err := step(); err != nil {
				return err
			}
		}
		return r.err
	})
	close(stop)
	all.Wait()
	return err
}

// inTurn calls do for what comes, until it fails.
func inTurn[T any](queue <-chan T, do func(T) error) error {
	for item := range queue {
		if err := do(item); err != nil {
			return err
		}
	}
	return nil
}

// guarded calls a function on a goroutine of its own. parquet-go panics for some bytes that are not of the
// format: that is an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed: %v", p)
		}
	}()
	debug.SetPanicOnFault(true)
	return do()
}

// ahead calls do for items on all cores, and yields the results in the order of the items. Whoever takes them
// works beside it.
func ahead[T, R any](items iter.Seq[T], do func(T) (R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		err := sideBySide(items, func(item T, then handOn) error {
			result, err := do(item)
			return then(func() error {
				if !yield(result, err) {
					return errStopped
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errStopped) {
			var none R
			yield(none, err)
		}
	}
}
