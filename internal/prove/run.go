package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// step is a command of make test or of make prove.
type step struct {
	name   string
	env    []string // NAME=VALUE
	script string   // for bash, in the directory of the repository
}

// is reports whether the step has the name, or lies in the folder of that name. What takes very long lies in prove/all
// alone.
func (s step) is(name string) bool {
	if name == "prove" && s.is("prove/all") {
		return false
	}
	return s.name == name || strings.HasPrefix(s.name, strings.TrimSuffix(name, "/")+"/")
}

// runAll starts the steps in order, some at a time, and returns the names of those that failed. Where ctx ends, so do
// the steps that run, and no other is started.
func runAll(ctx context.Context, steps []step, atOnce int, out io.Writer) (failed []string) {
	var mutex sync.Mutex // of out and of failed
	var running sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, s := range steps {
		places <- struct{}{}
		running.Add(1)
		go func() {
			defer func() { <-places; running.Done() }()
			start := time.Now()
			output, cpu, err := s.run(ctx)
			mutex.Lock()
			defer mutex.Unlock()
			result := ""
			if err != nil {
				out.Write(output)
				result = fmt.Sprintf(" FAILED (%v); make %s runs it alone", err, s.name)
				failed = append(failed, s.name)
			}
			fmt.Fprintf(out, "%5.0f s %5.0f s of CPU  %s%s\n", time.Since(start).Seconds(), cpu.Seconds(), s.name, result)
		}()
	}
	running.Wait()
	return failed
}

// run runs the step and all that it starts, and ends them with ctx.
func (s step) run(ctx context.Context) (output []byte, cpu time.Duration, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	var both bytes.Buffer
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", s.script)
	c.Stdout, c.Stderr = &both, &both
	c.Env = append(os.Environ(), s.env...)
	leadGroup(c)
	err = c.Run()
	if c.ProcessState != nil {
		cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return both.Bytes(), cpu, err
}
