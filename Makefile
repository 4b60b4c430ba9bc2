# Plimsoll. `make run` measures the engines of this machine, `make test` runs
# every test; both set up what they need first (asking, unless ASSUME_YES=1).

SHELL       := /bin/bash
GO          ?= go
BIN         := bin/plimsoll
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS     := -s -w -X plimsoll/internal/cli.Version=$(VERSION)
TEST_FLAGS  ?= -count=1
TEST_TIME   ?= 20m
# By count and not by time: at the end of a time the go command now and then
# takes its own deadline for a failure. FUZZ_TIME=1m fuzzes longer.
FUZZ_TIME   ?=
fuzztime     = $(or $(FUZZ_TIME),$(1)x)
STUDY       ?= quick
RUN_FLAGS   ?=
AA_TIMES    ?= 100

# The linter is built from its pinned source once and kept outside the tree.
LINT_VERSION := v2.15.0
TOOLS        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plimsoll/tools
LINT         := $(TOOLS)/golangci-lint-$(LINT_VERSION)

.PHONY: help build run test fuzz setup-run setup-test check fmt lint generate cross probe bench-truth bench-cost bench-drivers bench-collect bench-aa bench-plan bench-read clean

help: ## print what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

build: ## build bin/plimsoll (needs only Go)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/plimsoll

run: setup-run build ## set up engines, then measure them and print the table
	$(BIN) run $(STUDY) $(RUN_FLAGS)

test: setup-test check ## set up engines, then run every check and every test
	# One package at a time and never from the cache: they measure, and share the
	# engines of this machine.
	$(GO) test -p 1 -timeout $(TEST_TIME) $(TEST_FLAGS) ./...
	$(MAKE) fuzz

fuzz: ## fuzz what reads input from outside, some seconds each
	$(GO) test -run '^$$' -fuzz '^FuzzRead$$' -fuzztime $(call fuzztime,10000) ./internal/study
	$(GO) test -run '^$$' -fuzz '^FuzzValues$$' -fuzztime $(call fuzztime,5000) ./internal/workload
	$(GO) test -run '^$$' -fuzz '^FuzzParsePayload$$' -fuzztime $(call fuzztime,200000) ./internal/probe
	$(GO) test -run '^$$' -fuzz '^FuzzParseTask$$' -fuzztime $(call fuzztime,200000) ./internal/probe
	$(GO) test -run '^$$' -fuzz '^FuzzDecodeResult$$' -fuzztime $(call fuzztime,200000) ./internal/probe
	$(GO) test -run '^$$' -fuzz '^FuzzDecoder$$' -fuzztime $(call fuzztime,150000) ./internal/record
	$(GO) test -run '^$$' -fuzz '^FuzzParsers$$' -fuzztime $(call fuzztime,100000) ./internal/host
	$(GO) test -run '^$$' -fuzz '^FuzzParsers$$' -fuzztime $(call fuzztime,50000) ./internal/collect
	$(GO) test -run '^$$' -fuzz '^FuzzReadSeries$$' -fuzztime $(call fuzztime,50000) ./internal/record
	$(GO) test -run '^$$' -fuzz '^FuzzParsers$$' -fuzztime $(call fuzztime,50000) ./internal/workload
	$(GO) test -run '^$$' -fuzz '^FuzzVariance$$' -fuzztime $(call fuzztime,30000) ./internal/stats
	$(GO) test -run '^$$' -fuzz '^FuzzLogParser$$' -fuzztime $(call fuzztime,50000) ./internal/engine/cri
	$(GO) test -run '^$$' -fuzz '^FuzzHyperfine$$' -fuzztime $(call fuzztime,20000) ./internal/importer
	$(GO) test -run '^$$' -fuzz '^FuzzBenchfmt$$' -fuzztime $(call fuzztime,50000) ./internal/importer
	$(GO) test -run '^$$' -fuzz '^FuzzThresholds$$' -fuzztime $(call fuzztime,20000) ./internal/threshold

setup-run:
	@lab/setup run

setup-test:
	@lab/setup test

check: fmt lint cross ## format, vet, lint, cross-compilation

fmt:
	@bad=$$(gofmt -l cmd internal studies lab 2>/dev/null); if [ -n "$$bad" ]; then echo "not formatted (gofmt -w mends it):"; echo "$$bad"; exit 1; fi

lint: $(LINT)
	$(GO) vet ./...
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(TOOLS)/build
	GOBIN=$(TOOLS)/build GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(TOOLS)/build/golangci-lint $@

cross: ## everything compiles for arm64, the reading half on other systems too
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./internal/record/... ./internal/stats/... ./internal/published/... ./internal/analyze/... ./internal/report/... ./internal/export/... ./internal/importer/...
	GOOS=windows GOARCH=amd64 $(GO) vet ./internal/record/... ./internal/stats/... ./internal/published/... ./internal/analyze/... ./internal/report/... ./internal/export/... ./internal/importer/...

bench-truth: setup-test ## our stopwatch beside hyperfine's and a plain C loop; injected delays; A/A
	$(GO) run ./internal/bench truth
	$(GO) test -run '^$$' -bench Truth -benchtime 2000x ./internal/probe
	$(GO) run ./cmd/plimsoll selftest --runtime runc --blocks 500 --progress plain

bench-cost: ## what a trial costs us: CPU time, memory, record
	$(GO) run ./internal/bench cost

bench-drivers: setup-test ## our adapters beside the least that a client of the same engine can do
	$(GO) run ./internal/bench drivers

bench-collect: setup-test ## what watching containers costs, beside the engines' own "stats"
	$(GO) run ./internal/bench collect

bench-aa: setup-test build ## three engines, each beside itself: how often are the two told apart?
	$(GO) run ./internal/bench aa $(BIN) internal/bench/testdata/aa.yaml $(AA_TIMES)

bench-plan: ## a plan of 100 000 combinations: under a second
	$(GO) test -run '^$$' -bench Plan100k -benchtime 5x ./internal/study

bench-read: ## reading and analysing a million trials: about 3 s on two processors
	$(GO) test -run '^$$' -bench Read1M -benchtime 2x ./internal/analyze

clean: ## remove what was built
	rm -rf bin dist
