# make test runs everything; CONTRIBUTING.md tells what that is.

PACKAGES := bsdutils fonts-dejavu-core gcc g++ libc6-dev libleveldb-dev libxxhash-dev qemu-user-static make git
MODULES  := . adapter/goleveldb asm cmd/bloom cmd/bloom/browser compare
# Those that users build.
PUBLIC   := . adapter/goleveldb cmd/bloom
FUZZ     := FuzzOpen FuzzKeys FuzzKernels FuzzKernels64 FuzzBuild
# New executions of each fuzz target: a fixed count, not a time.
FUZZ_EXECUTIONS := 20000
SHELL    := bash
# Debian's browser, unless there is one.
PACKAGES += $(if $(shell command -v chromium chromium-browser google-chrome),,chromium)
# The kernels that each job must find, or fail: here those of the host.
HOST_KERNELS := $(shell \
	if [ "$$(uname -m)" = x86_64 ]; then \
		if grep -qw avx512f /proc/cpuinfo; then printf 'avx512 '; fi; \
		if grep -qw avx2 /proc/cpuinfo; then printf 'avx2 '; fi; \
	elif [ "$$(uname -m)" = aarch64 ]; then printf 'neon '; \
	fi; echo generic)

.PHONY: test
test: deps format generated vet unit benchmarks race purego fuzz emulated
	@echo "all tests passed"
	@case "$(HOST_KERNELS)" in *avx512*) ;; *) echo "not tested: the AVX-512 kernel, which this CPU does not run";; esac

# deps installs what is missing when it may, and else names it and fails.
.PHONY: deps
deps:
	@missing=(); \
	for p in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing+=($$p); \
	done; \
	if [ $${#missing[@]} = 0 ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}"; \
	else \
		echo "missing Debian packages: $${missing[*]} (make deps as root installs them)" >&2; exit 1; \
	fi

.PHONY: format
format:
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt: $$files" >&2; exit 1; }

# generated writes the assembly anew and wants what is committed.
.PHONY: generated
generated:
	@old=$$(mktemp -d) && trap 'rm -r "$$old"' EXIT && \
	mv probe_*.s "$$old" && \
	if ! go generate .; then cp "$$old"/* .; exit 1; fi && \
	for f in "$$old"/*; do diff "$$f" "$$(basename "$$f")" || exit; done

# vet checks every module for this machine, and the ones that users build for
# every system and architecture in use.
.PHONY: vet
vet:
	for m in $(MODULES); do (cd $$m && go vet ./...) || exit; done
	for target in linux/amd64 linux/arm64 linux/386 linux/s390x darwin/arm64 darwin/amd64 windows/amd64 windows/arm64; do \
		for m in $(PUBLIC); do \
			(cd $$m && GOOS=$${target%/*} GOARCH=$${target#*/} go vet ./...) || exit; \
		done; \
	done

.PHONY: unit
unit:
	export BLOOM_TEST_KERNELS="$(HOST_KERNELS)"; \
	for m in $(MODULES); do (cd $$m && go test ./...) || exit; done

# benchmarks runs one round of those that take no minutes: do they work?
.PHONY: benchmarks
benchmarks:
	go test -run '^$$' -bench 'Columns|Forms|Hash$$|Loads|Tables' -benchtime 1x . >/dev/null

.PHONY: race
race:
	export BLOOM_TEST_KERNELS="$(HOST_KERNELS)"; \
	for m in $(PUBLIC); do (cd $$m && go test -short -race ./...) || exit; done

.PHONY: purego
purego:
	export BLOOM_TEST_KERNELS=generic; \
	for m in $(PUBLIC); do (cd $$m && go vet -tags purego ./... && go test -short -tags purego ./...) || exit; done

# fuzz runs new executions of each target; go test alone replays the corpora.
.PHONY: fuzz
fuzz:
	for f in $(FUZZ); do go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZ_EXECUTIONS)x . || exit; done
	cd cmd/bloom && go test -run '^$$' -fuzz FuzzExplore -fuzztime $(FUZZ_EXECUTIONS)x .

# emulated runs the tests as other machines, two at a time, those first that take the
# longest: amd64 CPUs without AVX-512 and without AVX, three generations of arm64, and
# other architectures, one of them big-endian. qemu's warnings of features that it
# lacks are dropped. qemu-i386 mishandles the signals by which the Go runtime preempts.
EMULATED := amd64-Haswell 386 arm64-cortex-a53 arm64-neoverse-n1 arm64-max s390x amd64-Nehalem
.PHONY: emulated
emulated:
	@$(MAKE) --no-print-directory -j2 -O $(EMULATED:%=emulated-%)

emulated-amd64-Haswell: kernels := avx2 generic
emulated-amd64-Nehalem: kernels := generic
emulated-amd64-%:
	BLOOM_TEST_KERNELS="$(kernels)" GOARCH=amd64 go test -short -exec "qemu-x86_64-static -cpu $*" . \
		2> >(grep -v 'qemu-x86_64-static: warning: TCG' >&2)

emulated-arm64-%:
	BLOOM_TEST_KERNELS='neon generic' GOARCH=arm64 go test -short -exec "qemu-aarch64-static -cpu $*" .

emulated-s390x:
	BLOOM_TEST_KERNELS=generic GOARCH=s390x go test -short -exec qemu-s390x-static .

emulated-386:
	BLOOM_TEST_KERNELS=generic GODEBUG=asyncpreemptoff=1 GOARCH=386 go test -short -exec qemu-i386-static .

# golden writes testdata/ anew with the oracles.
.PHONY: golden
golden: deps
	cd compare && go run ./golden ../testdata

# lint is not part of make test: the linter is a large download.
.PHONY: lint
lint:
	for m in $(MODULES); do (cd $$m && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...) || exit; done

# arm64 tells what the arm64 kernels may gain, without an arm64 machine.
.PHONY: arm64
arm64: PACKAGES += llvm-19
arm64: deps
	cd compare && go run ./emulated

.PHONY: bench
bench:
	go test -run '^$$' -bench . .
