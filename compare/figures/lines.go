package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// lineTool writes lines to the file out.
type lineTool struct {
	words   string
	command string // for a shell in the folder of the files
	runs    int
	exact   bool
}

// lineJob is what tools do with the lines of the file stream. Tools that are not exact are wrong about some of them.
type lineJob struct {
	name  string
	words string // about the lines that are wrong
	wrong func(written, exact float64) float64
	tools []lineTool
}

const knownLines, streamLines = 2_000_000, 5_000_000

var (
	filterLines = lineJob{"filter", "of the unknown lines pass", func(written, exact float64) float64 { return (written - exact) / (streamLines - exact) }, []lineTool{
		{"`bloom build` and `bloom filter`", "./bloom build -o known.bloom known && ./bloom filter known.bloom stream > out", 5, false},
		{"`sort`, `sort`, `join`", "sort known > a && sort stream > b && join a b > out", 1, true},
		{"`awk` (mawk) with an array", "awk 'NR == FNR { known[$0]; next } $0 in known' known stream > out", 1, true},
		{"`grep -F -x -f`", "grep -F -x -f known stream > out", 1, true},
	}}
	uniqueLines = lineJob{"unique", "of the different lines are lost", func(written, exact float64) float64 { return (exact - written) / exact }, []lineTool{
		{"`bloom unique`", "./bloom unique stream > out", 3, false},
		{"`bloom unique --verify`", "./bloom unique --verify stream > out", 3, true},
		{"`sort -u`, in the locale C", "LC_ALL=C sort -u stream > out", 1, true},
		{"`awk` (mawk), `!s[$0]++`", "awk '!s[$0]++' stream > out", 1, true},
	}}
)

// timeLines makes lines, and times the tools.
func timeLines() (figures []figure, err error) {
	dir, err := os.MkdirTemp("", "lines")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeLines(dir, knownLines, streamLines); err != nil {
		return nil, err
	}
	if _, err := output("go", "build", "-C", "../cmd/bloom", "-o", filepath.Join(dir, "bloom"), "."); err != nil {
		return nil, err
	}
	for _, job := range []lineJob{filterLines, uniqueLines} {
		timed, err := job.time(dir)
		if err != nil {
			return nil, err
		}
		figures = append(figures, timed...)
	}
	return figures, nil
}

// time runs the tools of a job. Those that are exact must write equally many lines.
func (j lineJob) time(dir string) (figures []figure, err error) {
	written, exact := make([]int, len(j.tools)), 0
	for i, t := range j.tools {
		f, err := t.time(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.words, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil {
			return nil, err
		}
		if written[i] = bytes.Count(text, []byte("\n")); t.exact {
			exact = written[i]
		}
		f.Name = j.figure(t.words, "run")
		figures = append(figures, f)
	}
	for i, t := range j.tools {
		if !t.exact {
			figures = append(figures, figure{Name: j.figure(t.words, "wrong"), Rate: race.Three(j.wrong(float64(written[i]), float64(exact)))})
		} else if written[i] != exact {
			return nil, fmt.Errorf("%s writes %d lines, and another exact tool %d", t.words, written[i], exact)
		}
	}
	return figures, nil
}

// figure returns the name of a figure.
func (j lineJob) figure(tool, what string) string {
	return fmt.Sprintf("Lines/job=%s/tool=%s/%s", j.name, tool, what)
}

// time runs a tool some times, and tells the most memory of its largest process.
func (t lineTool) time(dir string) (f figure, err error) {
	way := &race.Way{Name: t.words, Run: func(int) (int, error) {
		c := exec.Command("bash", "-c", t.command)
		c.Dir = dir
		_, mb, err := race.Output(c)
		f.MB = max(f.MB, mb)
		return 0, err
	}}
	err = race.Race{Rounds: t.runs, Operations: 1, Cold: true}.Run(way)
	if err == nil {
		f.Ns, f.Low, f.High = race.Spread(way.Ns)
	}
	return f, err
}

// linesTable has the time and the memory of the tools of a job.
func linesTable(j lineJob) table {
	return table{part: "lines", rows: j.figure("*", "run"), columns: []column{
		ns("seconds", func(ns float64) string { return digits(ns / 1e9) }, j.figure("*", "run")),
		one("MB", func(f figure) string { return digits(f.MB) }, j.figure("*", "run")),
		optional(column{head: "<exact", names: []string{j.figure("*", "wrong")}, cell: func(f []figure) string {
			if len(f) == 0 {
				return "yes"
			}
			return fmt.Sprintf("no: %s %s", percent(f[0].Rate), j.words)
		}}),
	}}
}

// line returns line i: 8 hexadecimal digits that no other has, and up to 16 random ones. This program keeps no lines in memory,
// because the system counts the most memory of a program as that of those that it starts, too.
func line(b []byte, i int) []byte {
	random := rand.NewPCG(1, uint64(i))
	digits := fmt.Appendf(b, "%08x%016x", uint32(i)*2654435761, random.Uint64())
	return append(digits[:len(digits)-int(random.Uint64()%17)], '\n')
}

// writeLines writes the files known and stream. Half of the lines of stream are known.
func writeLines(dir string, known, stream int) error {
	write := func(name string, n int, number func(i int) int) error {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		out := bufio.NewWriter(file)
		for i := range n {
			if _, err := out.Write(line(nil, number(i))); err != nil {
				return errors.Join(err, file.Close())
			}
		}
		return errors.Join(out.Flush(), file.Close())
	}
	random := rand.New(rand.NewPCG(1, 2))
	return errors.Join(write("known", known, func(i int) int { return i }),
		write("stream", stream, func(i int) int {
			if random.IntN(2) == 0 {
				return random.IntN(known)
			}
			return known + i
		}))
}
