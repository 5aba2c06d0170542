# make help prints what people run; CONTRIBUTING.md tells what it is.

SHELL  := bash
PUBLIC = $(shell release/modules)

.PHONY: help
help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST))

#: make test             what a change can break, with Go, git and a C compiler: minutes
#: make prove            the rest, on Debian: emulated CPUs, engines, other releases of Go, a browser
#: make STEP             a step of them, or a folder of steps: make test/format, make prove/emulated
#: make prove/all        whole matrices, of which make prove runs samples
#: make mutants          plants bugs in the assembly and prints which test saw each
#: make lint             golangci-lint; make vulnerabilities and make api need the network, too
#: make coverage         which share of each module's statements its own tests run
#: make bench            all benchmarks of the library
#: make figures CPU=NAME takes the figures of docs on this CPU; make pages writes their tables anew
#: make dist             builds the files of a release
.PHONY: test prove
prove: deps
test prove:
	@go run ./internal/prove $@
test/% prove/%:
	@go run ./internal/prove $@

# deps installs the Debian packages that make prove needs, when it may, and else names what is missing and fails.
.PHONY: deps
deps:
	@.ci/deps

# mutants is no step, for some of what it changes decides about speed alone. MUTANTS are its flags.
.PHONY: mutants
mutants:
	@cd asm && printf '%s\n' "$$MUTANTS" | xargs go run ./mutants

# lint is no step: the linter is a large download.
.PHONY: lint
lint:
	go work edit -json | sed -n 's/.*"DiskPath": "\(.*\)".*/\1/p' | while read -r m; do \
		(cd $$m && go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...) || exit; done

# vulnerabilities asks the Go vulnerability database about what users build.
.PHONY: vulnerabilities
vulnerabilities:
	for m in $(PUBLIC); do (cd $$m && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...) || exit; done

# api wants a version that allows what the exported names have lost since the last tag.
.PHONY: api
api:
	@.ci/api

# Assembly has no statements: what the kernels do is in make mutants.
.PHONY: coverage
coverage:
	@file=$$(mktemp); trap 'rm "$$file"' EXIT; for m in $(PUBLIC); do \
		(cd $$m && go test -short -coverpkg=./... -coverprofile=$$file ./... >/dev/null && \
		echo "$$m: $$(go tool cover -func=$$file | sed -n 's/^total:[^0-9]*//p') of its statements") || exit; done

# golden writes testdata/ anew with the oracles.
.PHONY: golden
golden: deps
	cd compare && go test -run '^TestGolden$$' -update .

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

# demo finds the rows of few keys in a Parquet file, and compares with DuckDB: docs/parquet.md.
.PHONY: demo
demo:
	cd compare/duckdb && for n in 10 100 1000; do go run ./rowsof -keys $$n -there $$n || exit; done

# figures takes the figures of docs on this CPU, as in make figures CPU="Zen 5", or some PARTS of them: see
# compare/figures. It then compares the tables of false-positive rates, which are the same on every CPU. pages
# writes the tables of docs anew, from the figures that are there.
.PHONY: figures pages
figures:
	cd compare && go run ./figures measure --name "$(CPU)" $(PARTS) && go run ./figures pages && go test -count 1 ./falsepositives -all
pages:
	cd compare && go run ./figures pages
