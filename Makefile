# Developer commands. `make` alone lists them; CONTRIBUTING.md says when to use which.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO        ?= go
BIN       ?= bin
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
FUZZTIME  ?= 30s
BENCH     ?= .
BENCHTIME ?= 1s
COUNT     ?= 1
DOCKER    ?= docker
IMAGE     ?= leveret

# test/interop drives the built binary with foreign clients; all else is tested by itself.
PACKAGES = $(shell $(GO) list ./... | grep -v /test/interop)

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the static binary bin/broker
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/broker ./cmd/broker

.PHONY: test
test: race memory interop ## all tests: the packages under the race detector, memory without it, then the clients

.PHONY: race
race: ## test the packages under the race detector
	$(GO) test -race -timeout 30m $(PACKAGES)

.PHONY: memory
memory: ## measure what long queues cost in memory, from one to five million messages
	$(GO) test -count=1 -timeout 10m -run TestMemoryOfALongQueue ./queue

.PHONY: interop
interop: ## test the built binary with pika, amqplib and amqp091-go (installs the clients)
	@if [ -x test/interop/setup.sh ]; then timeout 600 test/interop/setup.sh; fi
	@if [ -d test/interop ]; then $(GO) test -count=1 -timeout 30m ./test/interop/...; fi

.PHONY: test-crash
test-crash: ## kill the broker 200 times in the middle of publishing and look for what was confirmed
	LEVERET_CRASH_ROUNDS=200 $(GO) test -count=1 -timeout 60m -run TestKillLoop -v ./test/interop

.PHONY: conformance
conformance: build ## run the conformance checks (LEVERET_CONFORMANCE names their folder)
	test/conformance/run.sh

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (30s)
	@failed=; \
	while IFS=: read -r file _ target; do \
		dir=$$(dirname "$$file") name=$${target#func }; \
		echo "$$dir $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$dir" || failed="$$failed $$dir:$$name"; \
	done < <(grep -rno --include='*_test.go' --exclude-dir=testdata -E '^func Fuzz[A-Za-z0-9_]+' .); \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

.PHONY: bench
bench: ## run the benchmarks (BENCH=pattern BENCHTIME=1s COUNT=1)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(COUNT) -benchmem $(PACKAGES)

.PHONY: generate
generate: ## write the generated code anew
	$(GO) generate ./...

.PHONY: fmt
fmt: ## format the code and bring it to today's Go
	$(GO) fix ./...
	git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -w

.PHONY: lint
lint: ## gofmt, go vet, go fix and staticcheck
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | while read -r f; do [ ! -e "$$f" ] || gofmt -l "$$f"; done); \
	[ -z "$$unformatted" ] || { echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	@old=$$($(GO) fix -diff ./... 2>&1) || true; [ -z "$$old" ] || { echo "not today's Go (make fmt):"; echo "$$old"; exit 1; }
	$(GO) tool staticcheck ./...

.PHONY: style
style: ## print the size figures of the tree beside the bars
	@$(GO) run ./internal/archtest/figures

.PHONY: cover
cover: ## test coverage, a line a function in coverage.out's report
	$(GO) test -coverprofile=coverage.out -coverpkg=./... $(PACKAGES)
	$(GO) tool cover -func=coverage.out

.PHONY: image
image: ## build the container image with docker (or DOCKER=podman)
	$(DOCKER) build --build-arg VERSION=$(VERSION) -t $(IMAGE) .

.PHONY: image-test
image-test: ## build and run the image without a container engine (root, Debian's buildah)
	test/image.sh

.PHONY: check
check: lint check-generated check-modules check-dead check-tree check-vulnerable ## everything that reads the code without running it

# Generators run in a copy of the tree that has none of their output.
.PHONY: check-generated
check-generated: ## generated code is what the generators write now
	@tree=$$(mktemp -d); trap 'rm -rf "$$tree"' EXIT; \
	git ls-files -z --cached --others --exclude-standard ':!*_gen.go' \
		| tar --create --null --ignore-failed-read --files-from - 2>/dev/null | tar --extract --directory "$$tree"; \
	(cd "$$tree" && $(GO) generate ./...); \
	{ git ls-files --cached --others --exclude-standard '*_gen.go'; (cd "$$tree" && find . -name '*_gen.go' -printf '%P\n'); } | sort -u \
		| while read -r f; do diff -u --new-file "$$f" "$$tree/$$f" || { echo "$$f is stale: make generate"; exit 1; }; done

# Without the network, modules that only the tests of our dependencies need can be
# missing, and then nothing can be said.
.PHONY: check-modules
check-modules: ## go.mod and go.sum are tidy
	@if ! out=$$($(GO) mod tidy -diff 2>&1); then \
		echo "$$out"; \
		if grep -q '^diff ' <<<"$$out"; then echo "go.mod is not tidy: go mod tidy"; exit 1; fi; \
		echo "go.mod is not compared: not all modules are at hand"; \
	fi

# What nothing reaches at all is an error. What only tests reach is counted: it may be
# there for them, or for a caller to come (go tool deadcode ./cmd/broker lists it).
.PHONY: check-dead
check-dead: ## no code that nothing reaches
	@dead=$$($(GO) tool deadcode -test ./...); [ -z "$$dead" ] || { echo "$$dead"; exit 1; }
	@$(GO) tool deadcode ./cmd/broker | awk -F '/[^/]*:' '{ n[$$1]++ } END { for (p in n) print p ": only tests reach " n[p] " functions" }' | sort

# Uncached: the test asks the go command, whose answers the test cache does not know.
.PHONY: check-tree
check-tree: ## import ladder, package comments, bars on size, licences
	$(GO) test -count=1 ./internal/archtest

# The database of known vulnerabilities is on the network. Where it can't be reached, nothing can be said.
.PHONY: check-vulnerable
check-vulnerable: ## no known vulnerability that the code can reach
	@if out=$$($(GO) tool govulncheck ./... 2>&1); then echo "no known vulnerabilities"; else \
		if grep -qE 'fetching vulnerabilities|dial tcp|no such host|connection refused|i/o timeout|proxyconnect|Forbidden|vuln.go.dev.*: ' <<<"$$out"; then \
			echo "vulnerabilities are not looked for: the database can't be reached"; \
		else echo "$$out"; exit 1; fi; \
	fi
