package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// vetted are the systems that are vetted, this one by test/unit and prove/long. They compile every file of the public modules
// (prove/vet/files checks that), with int of 64 and of 32 bits. Only the modules in ported have files of one system or of
// one architecture.
var (
	vetted = []string{"linux/amd64", "darwin/arm64", "windows/386", "js/wasm"}
	ported = []string{".", "cmd"}
)

// steps returns those of make test and of make prove, in the order in which they start: what takes the longest first.
func (t tree) steps(host []string) []step {
	promised := []string{}
	if host != nil {
		promised = []string{"BLOOM_TEST_KERNELS=" + strings.Join(host, " ")}
	}
	return slices.Concat(t.test(promised), t.prove(host, promised), t.all())
}

// heavy is a module with 450 packages that no other module needs: a third of what make test would compile. prove/long tests it.
const heavy = "adapter/beam"

// test returns what a change can break and this machine can show at once, with Go, git and a C compiler.
func (t tree) test(promised []string) []step {
	light := slices.DeleteFunc(slices.Clone(t.modules), func(m string) bool { return m == heavy })
	return []step{
		// One command, so that nothing is compiled twice.
		{"test/unit", promised, "go test -vet=all -short " + packages(append(light, "asm", "release")...)},
		// Is portable Go the kernel that is found without assembly, and does it run? No other package knows the tag.
		{"test/purego", []string{"BLOOM_TEST_KERNELS=generic"}, fmt.Sprintf("go test -vet=all -short -tags purego -run %q .", cpuTests)},
		{"test/generated", nil, generated},
		{"test/format", nil, `files=$(gofmt -l .); [ -z "$files" ] || { echo "$files"; false; }`},
	}
}

// generated writes the assembly and its declarations anew, elsewhere, and wants what is committed. The generator reads
// the package in the directory above its own.
const generated = `new=$(mktemp -d); trap 'rm -r "$new"' EXIT; mkdir "$new/asm"
cp -r *.go internal "$new"; rm "$new"/probe_*
go build -C asm -o "$new/asm/asm" .
(cd "$new/asm" && ./asm $(sed -n 's|^//go:generate go -C asm run \. ||p' "$OLDPWD"/*.go))
for f in $(grep -l "^// Code generated" probe_* "$new"/probe_*); do diff "${f##*/}" "$new/${f##*/}"; done`

// prove returns what takes emulators, engines, other compilers, a browser and minutes.
func (t tree) prove(host, promised []string) (steps []step) {
	add := func(name string, env []string, format string, a ...any) {
		steps = append(steps, step{"prove/" + name, env, fmt.Sprintf(format, a...)})
	}
	for _, m := range machines {
		if m.runsHere() {
			steps = append(steps, m.step("prove/emulated", host))
		}
	}
	// The detector makes a test ten times as long, so it watches those that have goroutines. It lets a program sleep for
	// a second when main has returned; the scripts run many programs, and no user's program lives on.
	race := append([]string{"GORACE=atexit_sleep_ms=20"}, promised...)
	add("race/root", race, "go test -race -run %q .", concurrentTests)
	add("race/bloom", race, "cd cmd && go test -short -race -run %q ./bloom ./internal/records",
		"^Test(Explore.*|Pipeline.*|FilterAgainstLoop|Signals|IgnoredSignals)$|^TestScripts$/^(build|explore|file|filter|progress|streams|tables)$")
	add("race/window", race, "go test -short -race -run '^Test(Model|ModelSees|TestAndAdd|Columns|ReadFrom|LoadBeside|LoadAgain|Over)$' ./window")
	add("window", nil, "go test -timeout 30m -run '^Test(Model|ModelFolder|RateInBursts)$' ./window -operations 100000000 -burst-keys 100000000")
	add("long", append([]string{"BLOOM_TEST_WHOLE=1"}, promised...), "go test -vet=all %s", packages(t.modules...)) // without -short
	add("workers", nil, "adapter/beam/processes/run")                                                               // Beam's transforms, in worker processes
	add("browser", nil, "cd cmd/bloom/browser && go test -vet=all ./...")
	add("release", nil, "release/publish %s", strings.Join(t.modules, " ")) // what a user of the tags would get
	add("compare", []string{"CGO_CFLAGS=-O0"}, "go test -vet=all ./compare/... ./compare/duckdb/...")
	add("redpanda", nil, "go test -vet=all ./examples/redpanda")
	add("writers", []string{fmt.Sprintf("%s=%d", writersTables, 40)}, writers, 40)
	for _, which := range []string{"oldest", "newest"} {
		add("other-go/"+which, promised, ".ci/with-go %s %s", which, strings.Join(t.modules, " "))
	}
	here := runtime.GOOS + "/" + runtime.GOARCH
	for _, system := range vetted {
		if goos, arch, _ := strings.Cut(system, "/"); system != here {
			// go vet would compile first whatever they import; asm/vet reads it from source.
			add("vet/"+system, []string{"GOOS=" + goos, "GOARCH=" + arch},
				`vet=$(mktemp); trap 'rm "$vet"' EXIT; GOOS= GOARCH= go build -C asm -o "$vet" ./vet; "$vet" %s`, packages(ported...))
		}
	}
	others := slices.DeleteFunc(slices.Clone(t.modules), func(m string) bool { return slices.Contains(ported, m) })
	add("vet/files", nil, ".ci/unvetted %q %q && .ci/unvetted %s %q", strings.Join(vetted, " "), strings.Join(ported, " "), here, strings.Join(others, " "))
	// The system's kernel may refuse 32-bit programs of this CPU, so one is tried. The Go runtime crashes under qemu-i386.
	add("32-bit", []string{"CGO_ENABLED=0", "GOARCH=386", "BLOOM_TEST_KERNELS=generic"},
		`d=$(mktemp -d); trap 'rm -r "$d"' EXIT; echo 'package main; func main() {}' >"$d/main.go"; go build -o "$d/main" "$d/main.go"
if "$d/main"; then go test %[1]s; else GOARCH=arm go test -exec qemu-arm-static %[1]s; fi`, library)
	// One round of the benchmarks that take no minutes, with filters of two sizes: do they work?
	add("benchmarks", nil, `go test -run '^$' -bench '^Benchmark(Columns|Forms|Hash|Loads|Tables)$/^(filter=(16KiB|1MiB)|[^f].*)$' -benchtime 1x .`)
	for _, f := range t.fuzz {
		add("fuzz/"+f.name, nil, fuzz, f.folder, f.name)
	}
	return steps
}

// writers filters random tables by bloom-parquet, a number of each writer's, and compares the rows with a scan. The writers are three
// releases of arrow-go, parquet-go and DuckDB.
const (
	writersTables = "BLOOM_PARQUET_TABLES"
	writers       = "go test -C cmd/bloom-parquet -run '^TestWriters$' . && go test -C compare/duckdb -run '^TestFilter$' . -filter-tables %d"
)

// fuzz runs new executions of a target, a fixed count and not a time; go test alone replays the corpora. go test -fuzz would
// compile every package once more, to count its coverage. Here, coverage counts this repository's packages. Without a
// bound, the fuzzer may spend a minute to make an input of new coverage smaller, and counts no execution meanwhile.
const fuzz = `cd %s && go test -run '^$' -gcflags=github.com/lanebloom/bloom/...=-d=libfuzzer . -args -test.fuzz='^%s$' \
	-test.fuzztime=10000x -test.fuzzminimizetime=20x -test.fuzzcachedir="$(go env GOCACHE)/fuzz/$(go list .)"`

// all returns the whole matrices: make prove runs samples of them.
func (t tree) all() (steps []step) {
	for _, m := range machines {
		if m.runsHere() && m.tests == "" {
			steps = append(steps, m.step("prove/all", nil))
		}
	}
	const tables = 200
	return append(steps, step{"prove/all/writers", []string{fmt.Sprintf("%s=%d", writersTables, tables)}, fmt.Sprintf(writers, tables)})
}
