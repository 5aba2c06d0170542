package oracle

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Timer is a running program that times an engine's filter on columns of keys. It
// takes the time inside the program, which keeps running between the calls.
type Timer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors bytes.Buffer
}

// Column has keys for a timer, one after the other, and where each key ends.
type Column struct {
	Keys []byte
	Ends []uint32
}

// Time starts the oracle of [bloom.LevelDB], [bloom.RocksDB] or [bloom.Pebble] with columns of keys.
func (o *Oracle) Time(bitsPerKey int, columns ...Column) (*Timer, error) {
	args := slices.Concat(o.command[1:], []string{"time", strconv.Itoa(bitsPerKey)})
	dir, err := os.MkdirTemp(o.dir, "columns")
	if err != nil {
		return nil, err
	}
	for i, column := range columns {
		file := filepath.Join(dir, strconv.Itoa(i))
		ends := make([]byte, 0, 4*len(column.Ends))
		for _, end := range column.Ends {
			ends = binary.LittleEndian.AppendUint32(ends, end)
		}
		if err := errors.Join(os.WriteFile(file, column.Keys, 0o644), os.WriteFile(file+".ends", ends, 0o644)); err != nil {
			return nil, err
		}
		args = append(args, file)
	}
	t := &Timer{cmd: exec.Command(o.command[0], args...)}
	t.cmd.Stderr = &t.errors
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.out = bufio.NewScanner(out)
	return t, t.cmd.Start()
}

// Build builds the filter of a column the given number of times, and returns how
// long these took together and the bytes of the filter.
func (t *Timer) Build(column, times int) (took time.Duration, size int, err error) {
	return t.run("build", column, times)
}

// Test asks the last filter about every key of a column, the given number of
// times, and returns how long these took together and the hits of one.
func (t *Timer) Test(column, times int) (took time.Duration, hits int, err error) {
	return t.run("test", column, times)
}

func (t *Timer) run(command string, column, times int) (took time.Duration, result int, err error) {
	if _, err := fmt.Fprintln(t.in, command, column, times); err != nil {
		return 0, 0, fmt.Errorf("oracle: %w", err)
	}
	if !t.out.Scan() {
		return 0, 0, errors.Join(errors.New("oracle: no answer"), t.out.Err(), t.Close())
	}
	if _, err := fmt.Sscan(t.out.Text(), (*int64)(&took), &result); err != nil {
		return 0, 0, fmt.Errorf("oracle: %q: %w", t.out.Text(), err)
	}
	return took, result, nil
}

// Close ends the program.
func (t *Timer) Close() error {
	t.in.Close()
	if err := t.cmd.Wait(); err != nil {
		return fmt.Errorf("oracle: %w: %s", err, t.errors.Bytes())
	}
	return nil
}
