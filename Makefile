# Plimsoll. `make run` measures the engines of this machine, `make test` runs
# every test; both set up what they need first (asking, unless ASSUME_YES=1).

SHELL       := /bin/bash
GO          ?= go
BIN         := bin/plimsoll
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS     := -s -w -X plimsoll/internal/cli.Version=$(VERSION)
# What vet says, make check says.
TEST_FLAGS  ?= -count=1 -vet=off
TEST_TIME   ?= 30m
# By count and not by time: at the end of a time the go command now and then
# takes its own deadline for a failure. FUZZ_TIME=1m fuzzes longer.
export FUZZ_TIME ?=
STUDY       ?= quick
RUN_FLAGS   ?=
AA          ?= -minutes 20
BENCH_TIME  ?= 60s

# What packages say of where Plimsoll comes from: it has no public address yet,
# and who publishes it gives these.
export MAINTAINER ?= The Plimsoll authors <plimsoll@localhost>
export HOMEPAGE   ?=

# Tests, linters, fuzzing and the programs for virtual machines are compiled as
# the released program is, and so once. -trimpath stands at each command: a
# machine's own GOFLAGS stay.
export CGO_ENABLED := 0

# What measures nothing, and runs anywhere: the wing that understands, and what both stand on.
RIGHT := ./internal/record/... ./internal/understand/... ./internal/common/...

# What measures by the engines' interfaces alone, and what it stands on: built everywhere.
PORTABLE := ./internal/measure/portable
BUILT := ./internal/measure/engine ./internal/measure/engine/stamp ./internal/measure/workload ./internal/measure/study ./internal/measure/image ./internal/measure/imagestore ./internal/measure/probe

# It emulates a processor, and measures nothing here.
VM := ./internal/measure/vmtest/...

# What holds numbers against a load that it makes itself comes first, alone, and so does
# what plants in every engine; then what asks real engines, by the kit that these tests
# take, two at a time, those that take longest from the beginning.
MEASURING := ./internal/measure/collect ./internal/measure/trace ./internal/measure/run ./internal/measure/selftest ./internal/measure/engine/canary
ASKING = $(sort $(shell grep -rlE --include='*_test.go' 'enginetest\.(Kit|Conformance|Pulls)\>' internal | xargs -n1 dirname | sed 's|^|./|'))
LONG := ./internal/cli $(patsubst %,./internal/measure/engine/%,docker podman cri lxd containerd)
ENGINE_TESTS = $(MEASURING) $(LONG) $(filter-out $(LONG) $(MEASURING),$(ASKING))
OTHER_TESTS = ./internal/measure/imagestore $$($(GO) list ./... | grep -vxF "$$($(GO) list $(ENGINE_TESTS) $(VM) ./internal/measure/imagestore)")

# Where goroutines run: under the race detector in make unit, but for the command
# line, whose tests are mostly waiting for programs, and for what starts its
# goroutines only beside a real engine or a browser.
RACE = $(filter-out ./internal/cli ./internal/bench ./internal/measure/features ./internal/measure/portable% ./internal/understand/page/browsertest $(addprefix ./internal/measure/engine/,canary cni private $(ADAPTERS)),$(shell grep -rlE --include='*.go' --exclude='*_test.go' '^[[:space:]]*go [a-z]|\.Go\>[^,]' internal | sed 's|^|./|; s|/[^/]*$$||' | sort -u))

# What also simulates, which it leaves to the tests without the detector.
SIMULATE := ./internal/common/stats

# The adapters' folders.
ADAPTERS = $(shell sed -n 's|.*"plimsoll/internal/measure/engine/\([a-z]*\)"|\1|p' internal/measure/engine/catalogue/catalogue.go)

# The linter is built from its pinned source once and kept outside the tree.
LINT_VERSION := v2.15.0
TOOLS        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plimsoll/tools
LINT         := $(TOOLS)/golangci-lint-$(LINT_VERSION)

# So is what runs the tests and tries what failed AGAIN=1 times more, by itself:
# real engines on a busy machine. What passed only then is listed at the end, and so
# is what took longest.
SUM_VERSION := v1.13.0
SUM         := $(TOOLS)/gotestsum-$(SUM_VERSION)
AGAIN       ?= 1
SLOW        ?= 5s
GOTEST       = $(SUM) --format pkgname --format-icons text --no-color --rerun-fails=$(AGAIN) --rerun-fails-max-failures=40 --rerun-fails-report=$(CURDIR)/bin/again-$@.txt --jsonfile-timing-events=$(CURDIR)/bin/times-$@.json

# So is the packager of .deb and .rpm.
NFPM_VERSION := v2.43.4
NFPM         := $(TOOLS)/nfpm-$(NFPM_VERSION)

# Ansible and its linter, as pinned, in an environment of their own.
ANSIBLE = $(TOOLS)/ansible-$(shell cksum ansible/requirements.txt | cut -d' ' -f1)

# So are the databases that docs/queries.md is for.
database = $(TOOLS)/$(1)-$(shell cksum internal/cli/testdata/$(1)/requirements.txt | cut -d' ' -f1)
DUCKDB = $(call database,duckdb)
SPARK  = $(call database,spark)

# The page's script is bundled from its sources and a chart library; without it
# the program builds too, and its pages have their tables only.
WEB     := internal/understand/page/web
MODULES := $(WEB)/node_modules/.package-lock.json
PAGE    := internal/understand/page/dist/plimsoll.js
# What the page is judged by in a browser; no part of the program.
AXE     := internal/understand/page/browsertest/node_modules/.package-lock.json

.PHONY: help page axe build site ansible duckdb spark database run test compile test-engines test-measuring test-asking test-whole test-beside test-others test-vm slowest unit unit-race unit-rest test-race test-engine test-kill test-delays test-site fuzz setup-run setup-test check fmt lint generate cross dist dist-check probe bench-truth bench-cost bench-drivers bench-commands bench-collect bench-aa bench-calibration bench-sharp bench-long bench-plan bench-read bench-hosts bench-sequential bench-bisect bench-report bench-serve bench-mpi screenshots clean

help: ## print what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

page: $(PAGE) ## bundle the script of the HTML report (needs Node.js and npm)

$(PAGE): $(MODULES) $(WEB)/package.json $(wildcard $(WEB)/src/*.js $(WEB)/src/*/*.js)
	cd $(WEB) && npm run --silent build

axe: $(AXE) ## install what the report's accessibility is tested with (needs npm)

%/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

build: ## build bin/plimsoll (needs Go; for the report's charts Node.js and npm)
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then \
		[ -f $(PAGE) ] || echo "building without the report's charts: node or npm is missing (on Debian: apt install nodejs npm)"; \
	elif ! $(MAKE) --no-print-directory page; then \
		echo "building without new charts for the report: they could not be bundled, see above"; fi
	@command -v $(GO) >/dev/null || { echo "no Go here: get it from https://go.dev/dl/ and put its bin folder on PATH (1.21 or newer fetches the version wanted by itself)"; exit 1; }
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/plimsoll

# mkdocs, its theme and all that they need, as pinned, in an environment of
# their own beside the linter.
site: ## the documentation as pages that open from disk: dist/site (needs python3)
	@set -e; env=$(TOOLS)/site-$$(cksum docs/requirements.txt | cut -d' ' -f1); \
	if [ ! -e $$env/ready ]; then rm -rf $$env; python3 -m venv $$env; \
		$$env/bin/pip install --quiet --disable-pip-version-check -r docs/requirements.txt; touch $$env/ready; fi; \
	NO_MKDOCS_2_WARNING=1 $$env/bin/mkdocs build --strict
	@echo dist/site/index.html

ansible: ## what the Ansible collection is tested with, in an environment of its own (needs python3)
	@set -e; [ -e $(ANSIBLE)/ready ] || { rm -rf $(ANSIBLE); python3 -m venv $(ANSIBLE); \
		$(ANSIBLE)/bin/pip install --quiet --disable-pip-version-check -r ansible/requirements.txt; touch $(ANSIBLE)/ready; }

duckdb: ## what the queries of docs/queries.md are run with, in an environment of its own (needs python3)
	@$(MAKE) --no-print-directory database NAME=$@ DIR=$(DUCKDB)

spark: ## the other database of docs/queries.md, in an environment of its own: 370 MB (needs python3 and Java 17)
	@command -v java >/dev/null || lab/provide java:default-jre-headless
	@$(MAKE) --no-print-directory database NAME=$@ DIR=$(SPARK)

database:
	@set -e; [ -e $(DIR)/ready ] || { rm -rf $(DIR); python3 -m venv $(DIR); \
		$(DIR)/bin/pip install --quiet --disable-pip-version-check -r internal/cli/testdata/$(NAME)/requirements.txt; touch $(DIR)/ready; }

run: setup-run build ## set up engines, then measure them and print the table
	$(BIN) run $(STUDY) $(RUN_FLAGS)

test: setup-test ## set up engines, then run every test (what only reads the source: make check)
	# What is fetched, beside what can be compiled without.
	@$(MAKE) --no-print-directory -j4 page axe compile $(SUM)
	# Beside what asks engines runs what asks none. An emulated machine is too slow beside
	# those, and has one processor; what looks at the whole machine sees nothing of it.
	@mkdir -p bin; rm -f bin/again-*.txt bin/times-*.json; status=0; \
	$(MAKE) --no-print-directory -k -j3 NICE=nice test-engines test-beside || status=$$?; \
	$(MAKE) --no-print-directory -k -j2 test-whole test-vm || status=$$?; \
	if [ -n "$$(cat bin/again-*.txt 2>/dev/null)" ]; then echo "failed once, and were tried again by themselves:"; cat bin/again-*.txt; fi; \
	$(MAKE) --no-print-directory slowest; exit $$status

# Minutes each, of which nothing is timed: for hand and nights.
PLATFORM ?= trixie sid
KILLS ?= 3
# Tests enter what has passed into the table of tested versions.
tested: export PLIMSOLL_TESTED := $(CURDIR)/internal/common/tested/tested.json
tested: ## write down with which versions the conformance suite passes here, and on PLATFORM, then the docs' table
	$(GO) test -trimpath -count=1 -p 1 -parallel 1 -timeout 1h $(patsubst %,./internal/measure/engine/%,$(ADAPTERS))
	@$(MAKE) --no-print-directory test-platforms
	$(GO) test ./internal/common/tested -run TestDocs -update

test-platforms: ## drive Plimsoll in virtual machines of today's distributions (PLATFORM="trixie sid", KILLS=3, DEEP=1: with selftest, features, quick, conformance)
	@status=0; for p in $(PLATFORM); do PLIMSOLL_PLATFORM=$$p PLIMSOLL_PLATFORM_KILLS=$(KILLS) PLIMSOLL_PLATFORM_DEEP=$(DEEP) \
		$(GO) test -trimpath -count=1 -timeout 4h -v -run '^TestPlatform$$' ./internal/measure/vmtest || status=1; done; exit $$status

slowest: ## which tests of the last make test took longest
	@ls bin/times-*.json >/dev/null 2>&1 || { echo "make test has not run here yet"; exit 1; }
	@echo "took longest, each with its parts:"; cat bin/times-*.json | $(SUM) tool slowest --threshold $(SLOW) | head -n 40

compile:
	@$(GO) build -trimpath ./...

test-engines:
	@status=0; $(MAKE) --no-print-directory test-measuring || status=$$?; \
	$(MAKE) --no-print-directory test-asking || status=$$?; exit $$status

# First it compiles, but for the programs, what asks engines when what measures is done.
test-beside:
	@$(NICE) $(GO) list -trimpath -test -export $(filter-out $(MEASURING),$(ENGINE_TESTS)) >/dev/null || true
	@status=0; for t in test-others fuzz; do $(MAKE) --no-print-directory $$t || status=$$?; done; exit $$status

# Never from the cache. The next one is compiled while others run, and waits for its turn.
test-measuring: $(SUM)
	@mkdir -p bin
	@$(GOTEST) --packages="$(MEASURING)" -- -trimpath -p 2 -exec 'flock -o $(CURDIR)/bin/engines-1.lock' -timeout $(TEST_TIME) $(TEST_FLAGS)

test-asking: $(SUM)
	@mkdir -p bin
	@$(GOTEST) --packages="$(filter-out $(MEASURING),$(ENGINE_TESTS))" -- -trimpath -p 3 -exec '$(CURDIR)/lab/test-turn $(CURDIR)/bin' -timeout $(TEST_TIME) $(TEST_FLAGS) -skip '$(WHOLE)'

# What compares the whole machine before and after.
WHOLE := ^Test(Killed(Everywhere|Podman)|PoorConditions)$$

test-whole: $(SUM)
	@mkdir -p bin
	@$(GOTEST) --packages=./internal/cli -- -trimpath -timeout $(TEST_TIME) $(TEST_FLAGS) -run '$(WHOLE)'

test-others: $(SUM)
	@mkdir -p bin
	@$(NICE) $(GOTEST) --packages="$$(echo $(OTHER_TESTS))" -- -trimpath -timeout $(TEST_TIME) $(TEST_FLAGS)

test-vm: $(SUM) ## what needs another kernel's control groups, in a small virtual machine
	@mkdir -p bin
	@$(NICE) $(GOTEST) --packages="$(VM)" -- -trimpath -timeout $(TEST_TIME) $(TEST_FLAGS)

# Much of it is waiting, so that more packages than processors go on at once; compilers,
# linkers and tests live too shortly here to collect garbage often.
# unit leaves out of the tests' programs what none of them reaches with -short.
UNIT := -trimpath -tags unit -vet=off -short -p 4 -timeout 5m

unit: export GOGC := 1600
unit: export GOMEMLIMIT := 768MiB
unit: ## no engine, no root, no network: most of the tests within a minute, with the race detector (needs a C compiler)
	@room=$$($(ROOM)); [ -z "$$room" ] || { command exec 9<$$room && flock -n 9 && [ -d $$room ]; } 2>/dev/null || room=; \
	[ -z "$$room" ] || { find $$room $(EMPTY); export TMPDIR=$$room; }; \
	$(MAKE) --no-print-directory -k -j2 unit-race unit-rest 9<&-; status=$$?; \
	[ -z "$$room" ] || { find $$room $(EMPTY); rmdir $$room; }; exit $$status

# Who holds the lock has the room alone: what is there was left by one that was killed, and
# takes memory.
EMPTY := -xdev -mindepth 1 -delete

# Tests make and remove tens of thousands of files, and a disk's file system takes its time
# for that: where memory has room for them, and what lies there may be executed, they have
# theirs there, and linkers the programs. The name stays the same, so that Go keeps results.
ROOM = room=/dev/shm/plimsoll-$$(pwd | cksum | cut -d' ' -f1); \
	[ -z "$$TMPDIR$$GOTMPDIR" ] && [ -d /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'END { print $$4 }')" -gt 2000000 ] && \
	[ "$$(awk '/^MemAvailable/ { print $$2 }' /proc/meminfo)" -gt 6000000 ] && \
	{ mkdir -m 755 $$room 2>/dev/null || [ -O $$room -a ! -L $$room ]; } && try=$$room/try-$$$$ && \
	printf '\043!/bin/sh\n' >$$try && chmod +x $$try && { $$try 2>/dev/null; ran=$$?; rm $$try; [ $$ran = 0 ]; } && echo $$room

# What has tests, and of it what skips each of them with -short: that would be linked for nothing.
TESTED = $(shell grep -rlE --include='*_test.go' --exclude-dir=node_modules '^func (Test|Fuzz|Example)' internal | sed 's|^|./|; s|/[^/]*$$||' | sort -u)
IDLE := ./internal/measure/vmtest ./internal/measure/engine/bubblewrap ./internal/measure/engine/canary ./internal/understand/page/browsertest ./internal/understand/page/inbrowser ./internal/bench/sharp/measured

# Both begin with what takes longest, so that what is linked in a moment fills the end.
RACED = ./internal/measure/run ./internal/measure/probe $(RACE)
FIRST := ./internal/understand/report ./internal/cli ./internal/understand/view ./internal/dist
DETECT = if command -v "$$($(GO) env CC)" >/dev/null; then export CGO_ENABLED=1 detect=-race; else \
	echo "without the race detector: there is no C compiler here (on Debian: apt install gcc libc6-dev)"; fi

# A program under the detector waits for a second before it ends, in case that something
# still happens: CI does (make test-race).
unit-race:
	@$(DETECT); GORACE="atexit_sleep_ms=50 $$GORACE" $(GO) test $(UNIT) $$detect $(RACED)

test-race: $(SUM) ## the race detector's half of make unit, as CI runs it: what fails is tried again, but for a data race
	@mkdir -p bin; rm -f bin/again-$@.txt
	@$(DETECT); $(GOTEST) --rerun-fails-abort-on-data-race --packages="$(RACED)" -- $(UNIT) -p 2 -count=1 $$detect
	@[ ! -s bin/again-$@.txt ] || { echo "failed once, and were tried again by themselves:"; cat bin/again-$@.txt; }

unit-rest:
	@$(GO) test $(UNIT) $(FIRST) $(filter-out $(FIRST) $(IDLE) $(filter-out $(SIMULATE),$(RACE)),$(TESTED))

test-engine: ## the tests of one adapter, on the real engine: ENGINE=docker
	@[ -n "$(filter $(ENGINE),$(ADAPTERS))" ] || { echo "$(if $(ENGINE),there is no adapter $(ENGINE): make test-engine ENGINE=NAME,say which: make test-engine ENGINE=NAME) with one of $(ADAPTERS)"; exit 2; }
	@$(MAKE) --no-print-directory setup-test
	$(GO) test -trimpath -timeout $(TEST_TIME) $(TEST_FLAGS) ./internal/measure/engine/$(ENGINE)

KILLS    ?= 200
KILLSEED ?= 1

test-kill: setup-test ## kill KILLS=200 runs of all engines and protocols at moments drawn from KILLSEED: half an hour
	$(GO) test -trimpath -count=1 -timeout 3h -run '^TestKilledEverywhere$$' -v ./internal/cli -kills $(KILLS) -killseed $(KILLSEED)

test-delays: setup-test ## 1 ms in a runtime's create, and 5 % of a manager's start below four managers, put into one of two builds that are alike; pauses, mounts, fsyncs, a slow log and a lock that explain and ablate are to find: a quarter of an hour on a quiet machine
	PLIMSOLL_DELAYS=1 $(GO) test -trimpath -count=1 -timeout 1h -run '^TestDelays' -v ./internal/cli

test-site: setup-test $(SUM) ## what takes longer on a cluster: lost nodes, time limits, full disks, on the lab's Slurm; file systems with servers; a fleet by Ansible; an engine in a virtual machine: a quarter of an hour
	@mkdir -p bin; rm -f bin/again-$@.txt
	@$(MAKE) --no-print-directory ansible || echo "going on without Ansible: its tests are skipped"
	@$(MAKE) --no-print-directory duckdb || echo "going on without DuckDB: its test is skipped"
	@$(MAKE) --no-print-directory spark || echo "going on without Spark: its test is skipped"
	@PLIMSOLL_SITE=1 PLIMSOLL_ANSIBLE=$(ANSIBLE)/bin PLIMSOLL_DUCKDB=$$([ ! -e $(DUCKDB)/ready ] || echo $(DUCKDB)/bin) PLIMSOLL_SPARK=$$([ ! -e $(SPARK)/ready ] || echo $(SPARK)/bin) $(GOTEST) --packages="./internal/cli ./internal/measure/portable ./internal/measure/vmtest" -- -trimpath -p 1 -timeout $(TEST_TIME) $(TEST_FLAGS) -run '^TestSite'
	@[ ! -s bin/again-$@.txt ] || { echo "failed once, and were tried again by themselves:"; cat bin/again-$@.txt; }

# What reads input from outside: test, package, how many inputs; plain where most of
# what would be compiled anew, to follow the coverage, are engines' clients that
# the test never calls.
FUZZ := FuzzRead:measure/study:3000:plain FuzzProfile:understand/profile:1000 FuzzThresholds:understand/threshold:2500 \
	FuzzValues:measure/workload:1000 FuzzParsers:measure/workload:4000 FuzzParseSeen:measure/mpi:10000 FuzzParsers:measure/host:15000 FuzzParsers:measure/collect:10000 \
	FuzzParsePayload:measure/probe:30000 FuzzParseTask:measure/probe:30000 FuzzDecodeResult:measure/probe:30000 \
	FuzzParseSample:measure/trace:10000 FuzzReadTrace:record:5000 FuzzDecoder:record:25000 FuzzReadSeries:record:10000 FuzzTrials:record:1000 FuzzVariance:common/stats:5000 \
	FuzzLogParser:measure/engine/cri:30000:plain FuzzParsers:measure/slurm:20000 FuzzHyperfine:understand/importer:2500 FuzzBenchfmt:understand/importer:5000 \
	FuzzRequests:understand/web:2500 FuzzCounters:measure/storage:2500 FuzzDecode:measure/spans:10000 FuzzName:common/safepath:30000 FuzzQuote:common/csvfile:30000

fuzz: ## fuzz what reads input from outside, some seconds each
	@set -e; for f in $(FUZZ); do IFS=: read -r name package count plain <<<"$$f"; \
		echo "fuzzing $$package $$name"; \
		if [ "$$plain$$FUZZ_TIME" = plain ]; then \
			mkdir -p bin; $(NICE) $(GO) test -trimpath -c -o bin/fuzz.test ./internal/$$package; \
			(cd internal/$$package && $(NICE) $(CURDIR)/bin/fuzz.test -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $${count}x \
				-test.fuzzminimizetime 200x -test.fuzzcachedir $(CURDIR)/bin/fuzz); \
			continue; \
		fi; \
		$(NICE) $(GO) test -trimpath -run '^$$' -fuzz "^$$name\$$" -fuzztime "$${FUZZ_TIME:-$${count}x}" -fuzzminimizetime 200x ./internal/$$package; done

setup-run:
	@lab/setup run

setup-test:
	@lab/setup test

check: fmt lint cross ## format, vet, lint, cross-compilation

fmt:
	@bad=$$(gofmt -l cmd internal studies lab 2>/dev/null); if [ -n "$$bad" ]; then echo "not formatted (gofmt -w mends it):"; echo "$$bad"; exit 1; fi

lint: $(LINT)
	$(GO) vet -trimpath ./...
	GOFLAGS="$$($(GO) env GOFLAGS) -trimpath" $(LINT) run ./...

$(LINT):
	@mkdir -p $(TOOLS)/build
	GOBIN=$(TOOLS)/build GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(TOOLS)/build/golangci-lint $@

$(SUM):
	@mkdir -p $(TOOLS)/build
	GOBIN=$(TOOLS)/build GOFLAGS= $(GO) install gotest.tools/gotestsum@$(SUM_VERSION)
	mv $(TOOLS)/build/gotestsum $@

$(NFPM):
	@mkdir -p $(TOOLS)/build
	GOBIN=$(TOOLS)/build GOFLAGS= $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)
	mv $(TOOLS)/build/nfpm $@

cross: ## everything compiles for arm64, the reading half and the portable one on other systems too
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet $(RIGHT) $(PORTABLE)
	GOOS=windows GOARCH=amd64 $(GO) vet $(RIGHT) $(PORTABLE)
	GOOS=darwin GOARCH=arm64 $(GO) build $(BUILT)
	GOOS=windows GOARCH=amd64 $(GO) build $(BUILT)
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/plimsoll
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/plimsoll

dist: page $(NFPM) ## programs, packages, man pages, parts list and checksums for a release, in dist/
	NFPM=$(NFPM) VERSION=$(VERSION) internal/dist/build.sh dist

dist-check: dist ## is dist/ what it says, and does a second build give the same bytes? (minutes)
	NFPM=$(NFPM) VERSION=$(VERSION) internal/dist/check.sh dist

bench-truth: setup-test ## our stopwatch beside hyperfine's and a plain C loop; injected delays; A/A
	$(GO) run ./internal/bench truth
	$(GO) test -run '^$$' -bench Truth -benchtime 2000x ./internal/measure/probe
	$(GO) run ./cmd/plimsoll selftest --runtime runc --blocks 500 --progress plain

bench-cost: ## what a trial costs us: CPU time, memory, record
	$(GO) run ./internal/bench cost

bench-drivers: setup-test ## our adapters beside the least that a client of the same engine can do
	$(GO) run ./internal/bench drivers

bench-commands: setup-test ## docker create, start and exec in a shell loop, timed from outside, beside the workload echo
	$(GO) run ./internal/bench commands

bench-mpi: setup-test ## our MPI latency beside NetPIPE's (apt-get install netpipe-openmpi), in native and in a container
	$(GO) run ./internal/bench mpi

bench-collect: setup-test ## what watching containers costs, beside the engines' own "stats"
	$(GO) run ./internal/bench collect

bench-aa: setup-test build ## engines, each beside itself, in one run and in the next: how often are the two told apart? AA="-minutes 20 -runs 8 -tuned both"
	$(GO) run ./internal/bench aa $(AA) $(BIN) internal/bench/testdata/aa.yaml

bench-calibration: ## how often intervals, verdicts and groups are right; CALIBRATION="-reps 10000 -json"
	$(GO) run ./internal/bench calibration $(CALIBRATION)

bench-sharp: setup-test ## how small a change of an engine's start a gate finds, and how soon, beside hyperfine and benchstat; SHARP="-engines runc,crun -tuned both -minutes 10"
	$(GO) run ./internal/bench sharp $(SHARP)

bench-long: ## two runs of ten thousand blocks: what their shift, a pseudo-median, the pairs that weights are learnt from and a whole comparison take, and how many times as long the slow way took
	$(GO) test -run '^$$' -bench Long ./internal/common/stats ./internal/bench/sharp

bench-plan: ## a plan of 100 000 combinations: under a second
	$(GO) test -run '^$$' -bench Plan100k -benchtime 5x ./internal/measure/study

bench-read: ## reading and analysing a million trials: about 3 s on two processors
	$(GO) test -run '^$$' -bench Read1M -benchtime 2x ./internal/understand/analyze/evaluate

bench-hosts: ## reading a hundred hosts with a million trials together, and their page: about 4 s on two processors
	$(GO) test -run '^$$' -bench Hosts1M -benchtime 2x ./internal/understand/page

bench-sequential: ## how often runs err that end when they know enough: some minutes
	$(GO) test -count=1 -run 'TestUntilRates|TestSequentialGateRates|TestDetectable' -v ./internal/understand/analyze/sequential -more 40
	$(GO) test -count=1 -run 'TestClaimRates|TestFailureClaimRates' -v ./internal/understand/analyze/findings -more 20

bench-bisect: setup-test ## search twenty commits of a real crun for the one that is slower: some minutes; by 60 ms, or on a quiet machine by PLIMSOLL_BISECT_MS=1
	PLIMSOLL_SITE=1 $(GO) test -trimpath -count=1 -run '^TestSiteBisect$$' -v ./internal/cli

bench-serve: build ## what a viewer of a live run costs, and whether medians change by it; BENCH_TIME=10m
	$(GO) run ./internal/bench serve $(BIN) $(BENCH_TIME)

bench-report: page ## the report of a million trials: its size, and how soon it can be used (needs Chromium)
	$(GO) run ./internal/bench report

screenshots: page ## take the pictures of README and docs of a run's report: RUN=dir (needs Chromium)
	@[ -n "$(RUN)" ] || { echo "say of which run: make screenshots RUN=plimsoll-run-1"; exit 2; }
	$(GO) run ./internal/bench screenshots $(RUN) docs/pictures

clean: ## remove what was built
	rm -rf bin dist $(PAGE) $(WEB)/node_modules
