# make test runs everything; CONTRIBUTING.md tells what that is.

ifeq ($(filter output-sync,$(.FEATURES)),)
$(error GNU make 4.0 or later is needed, not $(MAKE_VERSION); without it, run go test ./... in each folder that release/modules prints)
endif

SHELL    := bash
ADAPTERS := adapter/arrow adapter/beam adapter/bitsandblooms adapter/goleveldb adapter/parquet adapter/parquet/arrowgo adapter/parquet/parquetgo adapter/pebble
# Those that users build.
PUBLIC   := . $(ADAPTERS) cmd/bloom cmd/bloom-parquet cmd/internal
MODULES  := $(PUBLIC) asm cmd/bloom/browser compare compare/duckdb release
# The steps vet/* vet everything: go test need not vet once more. What is compiled here is run a
# few times and never debugged: no debugging information, a compiler that collects its garbage only
# beyond 1 GiB and, in the steps, no optimization of C.
TOOL := env GOGC=off GOMEMLIMIT=1GiB
export GOFLAGS := $(shell go env GOFLAGS) -vet=off -gcflags=all=-dwarf=false '-toolexec=$(TOOL)'
# A sum of all documents and their figures: go test runs those tests again that read them.
export BLOOM_TEST_DOCUMENTS := $(shell find . \( -name '*.md' -o -path './docs/measurements/*.json' -o -path './docs/*.svg' \) -exec cat {} + | cksum)
# New executions of each fuzz target: a fixed count, not a time.
FUZZ_EXECUTIONS := 10000
# The systems that are vetted, this one by the steps of the modules. They compile every file of the
# public modules (vet/files checks that), with int of 64 and of 32 bits. Only the modules in PORTED
# have files of one system or of one architecture.
VET      := linux/amd64 darwin/arm64 windows/386 js/wasm
PORTED   := . cmd/bloom cmd/internal
HOST     := $(shell go env GOOS)/$(shell go env GOARCH)
FOREIGN  := $(filter-out $(HOST),$(VET))

# The tests of the root that prove that assembly does what portable Go does, those that prove that the
# kernels of a CPU are found and run, those that have goroutines to watch, and those whose rates, sizes and
# tables are in portable Go: big-endian CPUs compute them like others.
KERNEL_TESTS     := ^(Test|Fuzz)(Kernel|CPU)
CPU_TESTS        := ^(TestCPU.*|TestKernelGolden|FuzzKernels)$$
CONCURRENT_TESTS := ^Test(Add|Atomic.*|BatchesAtOnce|BuildOnAnyCores|ConcurrentQueries|KernelFirstWindow|KeysOnStack|PanicsOfWorkers|RowsShared)$$
PORTABLE_TESTS   := ^Test(BuildMemory|BuildOnAnyCores|Extreme(Capacities|Policies|Rates)|Fold(Often|Rule)|GuavaRate|Index|Interleaved(Damaged|Stats)|Kernel(InterleavedPairs)|PolicyFor.*|Rate.*|Remainders|Rows(Errors|Order|Reads)|Stats.*|Table.*)$$
FUZZ := $(shell grep -hoE '^func Fuzz[A-Za-z0-9]*' *_test.go | cut -c6-) FuzzArrays FuzzCSV FuzzExplore FuzzJSON FuzzHeader FuzzColumn FuzzParseKeys

PACKAGES := bsdutils fonts-dejavu-core gcc g++ iproute2 libc6-dev libguava-java libleveldb-dev librocksdb-dev libxxhash-dev make git openjdk-17-jdk-headless qemu-user-static util-linux
# Debian's browser, unless there is one.
PACKAGES += $(if $(shell command -v chromium chromium-browser google-chrome),,chromium)

# The CPUs that are emulated, and the kernels that each of them and this one must have, or
# the tests fail: amd64 with AVX-512, without it and without AVX, three generations of
# arm64, and s390x, which is big-endian.
#
# qemu lacks AVX-512. Bochs has it. Where this CPU has AVX-512, too, it runs the kernel tests itself, and
# Bochs only a sample: a job that runs elsewhere only breaks unseen. Elsewhere Bochs runs them all. What it
# boots has to be of this machine's architecture.
EMULATED := $(if $(filter x86_64,$(shell uname -m)),skylake-x) haswell cortex-a53 s390x nehalem neoverse-n1 max
KERNELS_skylake-x   := avx512 avx2 generic
KERNELS_haswell     := avx2 generic
KERNELS_nehalem     := generic
KERNELS_cortex-a53  := neon generic
KERNELS_neoverse-n1 := neon generic
KERNELS_max         := neon generic
KERNELS_s390x       := generic
KERNELS_host        := $(shell \
	if [ "$$(uname -m)" = x86_64 ]; then \
		if grep -qsw avx512f /proc/cpuinfo; then printf 'avx512 '; fi; \
		if grep -qsw avx2 /proc/cpuinfo; then printf 'avx2 '; fi; \
	elif [ "$$(uname -m)" = aarch64 ]; then printf 'neon '; \
	fi; echo generic)
PACKAGES += $(if $(filter skylake-x,$(EMULATED)),bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio busybox-static)

# What make test does, those steps first that take the longest, and one more at a time than there are
# cores, since steps wait for browsers and servers. Each prints one line when it ends. It is expanded
# late (=), because lists that it names are set below.
STEPS = $(EMULATED:%=emulated/%) $(RACED:%=race/%) workers unit/cmd/bloom/browser release unit/compare $(FOREIGN:%=vet/%) $(MODULES:%=vet/%) vet/files \
	unit/386 $(filter-out unit/cmd/bloom/browser unit/compare,$(MODULES:%=unit/%)) benchmarks purego $(FUZZ:%=fuzz/%) format generated
step = CGO_CFLAGS="$$CGO_CFLAGS -O0" .ci/step $@

.PHONY: test
test: deps
	@other=$$(.ci/other-go) || other=; \
	$(MAKE) --no-print-directory -O -j$$(($$(nproc) + 1)) $${other:+$$(printf 'other-go/%s ' $$other)} $(STEPS) && \
	echo "all tests passed in $$((SECONDS / 60)) min $$((SECONDS % 60)) s by $$(go env GOVERSION), those of the root by $${other:-no other release: none can be downloaded}" && \
	$(MAKE) --no-print-directory proved

# proved says on which CPUs the tests have run each kernel, once they have passed.
.PHONY: proved
proved:
	@$(foreach k,avx512 avx2 neon generic,echo "$(k): $(or $(strip $(call real,$(k)) $(call emulated,$(k))),NOT PROVED on this machine)";)
real     = $(if $(filter $(1),$(KERNELS_host)),real $(or $(shell sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo),$(shell uname -m));)
emulated = $(patsubst %,emulated %,$(firstword $(call having,$(1)))) $(wordlist 2,99,$(call having,$(1)))
having   = $(foreach m,$(EMULATED),$(if $(filter $(1),$(KERNELS_$(m))),$(m)))

# deps installs what is missing when it may, and else names it and fails.
.PHONY: deps
deps:
	@if ! command -v dpkg-query >/dev/null; then \
		echo "make test needs Debian, for its packages $(PACKAGES); elsewhere, run go test ./... in each of $(PUBLIC)" >&2; exit 1; \
	fi; \
	missing=(); \
	for p in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing+=($$p); \
	done; \
	if [ $${#missing[@]} = 0 ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$${missing[@]}"; \
	else \
		echo "missing Debian packages: $${missing[*]} (make deps as root installs them); without them, run go test ./... in each of $(PUBLIC)" >&2; exit 1; \
	fi

.PHONY: format
format:
	@$(step) 'files=$$(gofmt -l .); [ -z "$$files" ] || { echo "$$files"; false; }'

# generated writes the assembly and its declarations anew, elsewhere, and wants what is committed. The
# generator reads the package in the directory above its own.
.PHONY: generated
generated:
	@$(step) 'new=$$(mktemp -d); trap "rm -r $$new" EXIT; mkdir $$new/asm; \
		cp -r *.go internal $$new; rm $$new/probe_*; \
		go build -C asm -o $$new/asm/asm . && \
		(cd $$new/asm && ./asm $(shell sed -n 's|^//go:generate go -C asm run \. ||p' *.go)) && \
		for f in $$(grep -l "^// Code generated" probe_* "$$new"/probe_*); do diff "$${f##*/}" "$$new/$${f##*/}" || exit; done'

# vet checks every module for this machine, and those in PORTED for the others.
VETS := $(MODULES:%=vet/%) $(FOREIGN:%=vet/%)
.PHONY: vet $(VETS) vet/files
vet: $(VETS) vet/files
$(MODULES:%=vet/%): vet/%:
	@$(step) 'cd $* && go vet ./...'
# For another system, go vet would compile first whatever they import; asm/vet reads it from source.
$(FOREIGN:%=vet/%): vet/%:
	@$(step) 'vet=$$(mktemp); trap "rm $$vet" EXIT; go build -C asm -o $$vet ./vet; \
		GOOS=$(*D) GOARCH=$(*F) $(TOOL) $$vet $(PORTED:%=./%/...)'
vet/files:
	@$(step) '.ci/unvetted "$(VET)" "$(PORTED)" && .ci/unvetted "$(HOST)" "$(filter-out $(PORTED),$(PUBLIC))"'

.PHONY: unit $(MODULES:%=unit/%)
unit: $(MODULES:%=unit/%) unit/386
$(MODULES:%=unit/%): export BLOOM_TEST_KERNELS = $(KERNELS_host)
$(MODULES:%=unit/%): unit/%:
	@$(step) 'cd $* && go test ./...'

# workers runs Beam's transforms in worker processes, with 1 M known elements and 1 M others.
.PHONY: workers
workers:
	@$(step) 'adapter/beam/processes/run'

# unit/386 runs the root's tests as a 32-bit program: by the CPU, if the system lets it, and
# else by qemu, which mishandles the signals by which the Go runtime preempts.
.PHONY: unit/386
unit/386: export BLOOM_TEST_KERNELS = generic
unit/386:
	@$(step) 'export CGO_ENABLED=0 GOARCH=386; $(if $(wildcard /proc/sys/abi/vsyscall32),go test -short .,GODEBUG=asyncpreemptoff=1 go test -short -exec qemu-i386-static .)'

# other-go tests with the oldest and the newest release of Go the modules that allow the oldest.
.PHONY: other-go
other-go:
	@other=$$(.ci/other-go) && $(MAKE) --no-print-directory -O -j$$(nproc) $$(printf '$@/%s ' $$other)
other-go/%: export BLOOM_TEST_KERNELS = $(KERNELS_host)
other-go/%:
	@$(step) '.ci/with-go $* $(PUBLIC)'

# benchmarks runs one round of those that take no minutes, with filters of two sizes: do they work?
.PHONY: benchmarks
benchmarks:
	@$(step) 'go test -run "^$$" -bench "^Benchmark(Columns|Forms|Hash|Loads|Tables)$$/^(filter=(16KiB|1MiB)|[^f].*)$$" -benchtime 1x .'

# race runs the tests that have goroutines to watch. The detector makes a test ten times as long. other-go
# checks unsafe pointers, as the detector does. It lets a program sleep for a second when main has returned; the
# scripts run many programs, and no user's program lives on.
RACED := . cmd/bloom
race/.:         raced = -run "$(CONCURRENT_TESTS)"
race/cmd/bloom: raced = -run "^Test(Explore.*|Pipeline.*|FilterAgainstLoop|Signals|IgnoredSignals)$$|^TestScripts$$/^(build|explore|file|filter|progress|streams|tables)$$"
.PHONY: race $(RACED:%=race/%)
race: $(RACED:%=race/%)
$(RACED:%=race/%): export GORACE = atexit_sleep_ms=20
$(RACED:%=race/%): export BLOOM_TEST_KERNELS = $(KERNELS_host)
$(RACED:%=race/%): race/%:
	@$(step) 'cd $* && go test -short -race $(raced) -timeout 40m .'

# release tests what a user of the tags would get, from a remote on this machine.
.PHONY: release
release:
	@$(step) 'release/publish $(PUBLIC)'

# purego runs the root without assembly: is portable Go the kernel that is found, and does it run? unit/386
# and emulated/s390x run all that portable Go does. No other package knows that tag.
.PHONY: purego
purego: export BLOOM_TEST_KERNELS = generic
purego:
	@$(step) 'go vet -tags purego . && go test -short -tags purego -run "$(CPU_TESTS)" .'

# fuzz runs new executions of each target; go test alone replays the corpora. go test -fuzz would
# compile every package once more, to count its coverage. Here, coverage is that of this repository's
# packages. Without a bound, the fuzzer may spend a minute to make an input of new coverage smaller,
# and counts no execution meanwhile.
.PHONY: fuzz $(FUZZ:%=fuzz/%)
fuzz: $(FUZZ:%=fuzz/%)
fuzzed_FuzzArrays  := adapter/arrow
fuzzed_FuzzCSV := cmd/bloom
fuzzed_FuzzExplore := cmd/bloom/internal/answers
fuzzed_FuzzJSON := cmd/bloom
fuzzed_FuzzHeader := adapter/parquet
fuzzed_FuzzColumn := adapter/parquet
fuzzed_FuzzParseKeys := adapter/parquet
$(FUZZ:%=fuzz/%): fuzz/%:
	@$(step) 'cd $(or $(fuzzed_$*),.) && go test -run "^$$" -gcflags=github.com/lanebloom/bloom/...=-d=libfuzzer . -args \
		-test.fuzz="^$*$$" -test.fuzztime=$(FUZZ_EXECUTIONS)x -test.fuzzminimizetime=20x -test.fuzzcachedir="$$(go env GOCACHE)/fuzz/$$(go list .)"'

# emulated runs the tests as other machines.
.PHONY: emulated $(EMULATED:%=emulated/%)
emulated: $(EMULATED:%=emulated/%)
$(EMULATED:%=emulated/%): emulated/%:
	@$(step) 'export CGO_ENABLED=0 BLOOM_TEST_KERNELS="$(KERNELS_$*)"; $(emulate)'
emulated/skylake-x:   emulate = go test -short -timeout 30m -run "$(if $(filter avx512,$(KERNELS_host)),$(CPU_TESTS),$(KERNEL_TESTS))" -exec $(CURDIR)/internal/emulation/bochs-exec .
# Where this CPU has AVX2, all tests run with it there, and qemu runs a sample, as Bochs does. Elsewhere those of
# building run, too: what AVX2 has for it, AVX-512 shares. qemu 7.2 reads what a mask leaves out.
BUILD_TESTS := Test(Add|BatchLengths|LargeArrays|MergeInterleaved|MixedDensity|Put|PutFolds)$$
emulated/haswell:     export BLOOM_TEST_LACKS = masks
emulated/haswell:     emulate = GOARCH=amd64 go test -short -run "$(if $(filter avx2,$(KERNELS_host)),$(CPU_TESTS)|KernelLoads|KernelFirst,$(KERNEL_TESTS)|$(BUILD_TESTS))" -exec "qemu-x86_64-static -cpu Haswell" .
emulated/cortex-a53:  emulate = GOARCH=arm64 go test -short -run "$(KERNEL_TESTS)|$(BUILD_TESTS)" -exec "qemu-aarch64-static -cpu cortex-a53" .
# An amd64 without AVX, and other generations of arm64: which kernels are found, and do they run? The
# instructions of a kernel do the same on every CPU that qemu makes.
emulated/nehalem:     emulate = GOARCH=amd64 go test -short -run "$(CPU_TESTS)" -exec "qemu-x86_64-static -cpu Nehalem" .
emulated/neoverse-n1: emulate = GOARCH=arm64 go test -short -run "$(CPU_TESTS)" -exec "qemu-aarch64-static -cpu neoverse-n1" .
emulated/max:         emulate = GOARCH=arm64 go test -short -run "$(CPU_TESTS)" -exec "qemu-aarch64-static -cpu max" .
# The order of bytes: all but what has none.
emulated/s390x:       emulate = GOARCH=s390x go test -short -skip "$(PORTABLE_TESTS)" -exec qemu-s390x-static .

# mutants plants bugs in the assembly and wants the kernel tests to see them. It is not part
# of make test, for some of what it changes decides about speed alone.
.PHONY: mutants
mutants:
	@cd asm && printf '%s\n' "$$MUTANTS" | xargs go run ./mutants

# golden writes testdata/ anew with the oracles.
.PHONY: golden
golden: deps
	cd compare && go run ./golden ../testdata

# lint is not part of make test: the linter is a large download.
.PHONY: lint
lint:
	for m in $(MODULES); do (cd $$m && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...) || exit; done

# vulnerabilities asks the Go vulnerability database about what users build.
.PHONY: vulnerabilities
vulnerabilities:
	for m in $(PUBLIC); do (cd $$m && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...) || exit; done

# api wants a version that allows what the exported names have lost since the last tag.
.PHONY: api
api:
	@.ci/api

# coverage prints, of each module that users build, which share of its statements its own tests run.
# Assembly has no statements: what the kernels do is in make mutants.
.PHONY: coverage
coverage:
	@file=$$(mktemp); trap "rm $$file" EXIT; for m in $(PUBLIC); do \
		(cd $$m && go test -short -coverpkg=./... -coverprofile=$$file ./... >/dev/null && \
		echo "$$m: $$(go tool cover -func=$$file | sed -n 's/^total:[^0-9]*//p') of its statements") || exit; done

# arm64 tells what the arm64 kernels may gain, without an arm64 machine, in docs/measurements/arm64.md.
.PHONY: arm64
arm64: PACKAGES += llvm-19
arm64: deps
	cd compare && go run ./figures measure --name arm64 emulated && go run ./figures pages

# dist builds both commands for six systems, twice, and wants equal bytes: a release attaches them.
.PHONY: dist
dist:
	release/dist dist

# site writes the page of bloom explore as a folder that any web server can serve.
SITE := dist/site
.PHONY: site
site:
	cmd/bloom/site/build $(SITE)

.PHONY: bench
bench:
	go test -run '^$$' -bench . .

# demo finds rows of a Parquet file by keys of another, and compares with DuckDB: docs/parquet.md.
.PHONY: demo
demo:
	cd compare/duckdb && for n in 10 100 1000; do go run ./semijoin -orders $$n -rounds 15 || exit; done

# figures takes the figures of docs on this CPU, as in make figures CPU="Zen 5", or some PARTS of them: see
# compare/figures. It then compares the tables of false-positive rates, which are the same on every CPU. pages
# writes the tables of docs anew, from the figures that are there.
.PHONY: figures pages
figures:
	cd compare && go run ./figures measure --name "$(CPU)" $(PARTS) && go run ./figures pages && go test -count 1 ./falsepositives -all
pages:
	cd compare && go run ./figures pages
