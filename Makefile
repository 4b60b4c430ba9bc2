# Plimsoll. `make run` measures the engines of this machine, `make test` runs
# every test; both set up what they need first (asking, unless ASSUME_YES=1).

SHELL   := /bin/bash
GO      ?= go
BIN     := bin/plimsoll
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# As the released program is compiled; -trimpath stands at each command: a machine's own GOFLAGS stay.
export CGO_ENABLED := 0

# What packages say of their origin: it has no public address yet, and who publishes it gives these.
export MAINTAINER ?= The Plimsoll authors <plimsoll@localhost>
export HOMEPAGE   ?=

# What is vetted for every system: what understands, and what measures by the engines' interfaces alone.
ANYWHERE := ./internal/record/... ./internal/understand/... ./internal/common/... ./internal/measure/portable

# Pinned: tools in a go.mod of their own, Python's packages in an environment of their own.
TOOL := $(GO) tool -modfile=$(CURDIR)/tools/go.mod
export PYTHON := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plimsoll/tools/python-$(shell cksum tools/requirements.txt | cut -d' ' -f1)

# Without the page's bundled script the program builds too, and its pages have their tables only.
WEB  := internal/understand/page/web
PAGE := internal/understand/page/dist/plimsoll.js

.PHONY: help page axe build site python run test unit slowest tested fuzz setup-run setup-test check fmt lint cross dist dist-check bin/bench screenshots clean

help: ## print what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

page: $(PAGE) ## bundle the script of the HTML report (needs Node.js and npm)
$(PAGE): $(WEB)/node_modules/.package-lock.json $(WEB)/package.json $(wildcard $(WEB)/src/*.js $(WEB)/src/*/*.js)
	cd $(WEB) && npm run --silent build

axe: internal/understand/page/browsertest/node_modules/.package-lock.json ## install what the report's accessibility is tested with (needs npm)
%/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

build: ## build bin/plimsoll (needs Go; for the report's charts Node.js and npm)
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then \
		[ -f $(PAGE) ] || echo "building without the report's charts: node or npm is missing (on Debian: apt install nodejs npm)"; \
	elif ! $(MAKE) --no-print-directory page; then \
		echo "building without new charts for the report: they could not be bundled, see above"; fi
	@command -v $(GO) >/dev/null || { echo "no Go here: get it from https://go.dev/dl/ and put its bin folder on PATH (1.21 or newer fetches the version wanted by itself)"; exit 1; }
	$(GO) build -trimpath -ldflags '-s -w -X plimsoll/internal/cli.Version=$(VERSION)' -o $(BIN) ./cmd/plimsoll

site: python ## the documentation as pages that open from disk: dist/site (needs python3)
	NO_MKDOCS_2_WARNING=1 $(PYTHON)/bin/mkdocs build --strict
	@echo dist/site/index.html

python: $(PYTHON)/ready ## the Python packages of make site and make test-site, with Spark half a gigabyte (needs python3)
$(PYTHON)/ready:
	rm -rf $(@D) && python3 -m venv $(@D) && $(@D)/bin/pip install --quiet --disable-pip-version-check -r tools/requirements.txt && touch $@

run: setup-run build ## set up engines, then measure them and print the table
	$(BIN) run $(or $(STUDY),quick) $(RUN_FLAGS)

# Next to what asks engines runs what asks none. An emulated machine is too slow for that.
test: setup-test ## set up engines, then run every test (what only reads the source: make check)
	@$(MAKE) --no-print-directory -j3 page axe test-compile
	@rm -f bin/again-*.txt bin/times-*.json; status=0; \
	$(MAKE) --no-print-directory -k -j2 test-engines test-beside || status=$$?; \
	$(MAKE) --no-print-directory -k -j2 test-whole test-vm || status=$$?; \
	$(MAKE) --no-print-directory test-repeated slowest; exit $$status

# tools/test has each part of the tests, and the lists of packages.
unit slowest tested fuzz:
	@tools/test $@
test-%:
	@tools/test $*
unit: ## no engine, no root, no network: most of the tests within a minute, with the race detector (needs a C compiler)
test-race: ## the race detector's half of make unit, as CI runs it: what fails is tried again, but for a data race
test-engine: ## the tests of one adapter, on the real engine: ENGINE=docker, or on the lab's newer ones: LAB="containerd-2 runc-1.5"
test-newer: ## the conformance suite on the lab's newer engines: half an hour
test-vm: ## what needs another kernel's control groups, in a small virtual machine
test-site: setup-test ## lost nodes, time limits and full disks on the lab's Slurm, file systems with servers, a fleet by Ansible, an engine in a virtual machine: a quarter of an hour
test-platforms: ## drive Plimsoll in virtual machines of today's distributions (PLATFORM="trixie sid", KILLS=3, DEEP=1 for what takes hours)
test-platform-quick: ## a part of that on User-Mode Linux, which boots in seconds
test-kill: setup-test ## kill KILLS=200 runs of all engines and protocols at moments drawn from KILLSEED: half an hour
test-delays: setup-test ## put delays into one of two equal builds, which ab, explain and ablate must find: a quarter of an hour on a quiet machine
fuzz: ## fuzz what reads input from outside, some seconds each (FUZZ_TIME=1m for longer)
tested: ## write down with which versions the conformance suite passes here, and on PLATFORM, then the docs' table
slowest: ## which tests of the last make test took longest

setup-run setup-test: setup-%:
	@lab/setup $*

check: fmt lint cross ## format, vet, lint, cross-compilation
fmt:
	@bad=$$(gofmt -l cmd internal studies lab tools 2>/dev/null); if [ -n "$$bad" ]; then echo "not formatted (gofmt -w mends it):"; echo "$$bad"; exit 1; fi
lint:
	export GOFLAGS="$$($(GO) env GOFLAGS) -trimpath"; for m in . tools/bench; do \
	(cd $$m && $(GO) vet ./... && $(TOOL) golangci-lint run ./...) || exit 1; done
cross: ## everything compiles for arm64, the reading half and the portable one on other systems too
	GOOS=linux GOARCH=arm64 $(GO) build ./...
	set -ex; for s in darwin/arm64 windows/amd64; do export GOOS=$${s%/*} GOARCH=$${s#*/}; $(GO) vet $(ANYWHERE); $(GO) build -o /dev/null ./cmd/plimsoll; done

dist: page ## programs, packages, man pages, parts list and checksums for a release, in dist/
	NFPM=$$($(TOOL) -n nfpm) VERSION=$(VERSION) internal/dist/build.sh dist
dist-check: dist ## is dist/ what it says, and does a second build give the same bytes? (minutes)
	NFPM=$$($(TOOL) -n nfpm) VERSION=$(VERSION) internal/dist/check.sh dist

# Benchmarks of Plimsoll itself, a module of their own.
bench-%: bin/bench
	bin/bench $* $(ARGS)
bin/bench:
	$(GO) -C tools/bench build -trimpath -o ../../bin/bench .
bench-truth: setup-test ## our stopwatch and hyperfine's
bench-cost: ## what a trial costs us: CPU time, memory, record
bench-drivers: setup-test ## our adapters and the least that a client of the same engine can do
bench-calibration: ## how often intervals, verdicts and groups are right; ARGS="-reps 10000 -json"
bench-sharp: setup-test ## how small a change of an engine's start a gate finds, and how soon, and hyperfine with benchstat; ARGS="-engines runc,crun -tuned both -minutes 10"
bench-aa: setup-test build ## engines, each compared with itself: how often are the two told apart? ARGS="-minutes 20 -runs 8 -tuned both"
bench-aa: override ARGS := $(or $(ARGS),-minutes 20) $(BIN) tools/bench/testdata/aa.yaml
screenshots: page bin/bench ## take the pictures of README and docs of a run's report: RUN=dir (needs Chromium)
	@[ -n "$(RUN)" ] || { echo "say of which run: make screenshots RUN=plimsoll-run-1"; exit 2; }
	bin/bench screenshots $(RUN) docs/pictures
clean: ## remove what was built
	rm -rf bin dist $(PAGE) $(WEB)/node_modules
