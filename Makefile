# The commands of this repository. `make help` lists them.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO      ?= go
# Nothing that is built depends on the folder it is built in, so that all checkouts of this machine share Go's build cache.
export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath
# As in the images: what is built for them, for the linter and for the soak is then the same, and compiled once. The race detector alone needs cgo.
export CGO_ENABLED := 0
BIN     := $(CURDIR)/bin
MODULES := libs charts/test k8s/e2e k8s/images services/catalog/sdk/go $(sort $(patsubst %/go.mod,%,$(wildcard services/*/go.mod)))

# Built once for all checkouts, beside Go's own build cache.
GOLANGCI_VERSION := v2.15.0
GOLANGCI         := $(dir $(shell $(GO) env GOCACHE))slotmesh/golangci-lint-$(GOLANGCI_VERSION)

STRIPE_MOCK_VERSION := v0.203.0
STRIPE_MOCK         := $(dir $(shell $(GO) env GOCACHE))slotmesh/stripe-mock-$(STRIPE_MOCK_VERSION)

# An identity provider for tests. Its tags are none that Go takes for versions: this is v2.45.1.
DEX_VERSION := v2.45.1
DEX_COMMIT  := v0.0.0-20260303133905-11d2eeb52b42
DEX         := $(dir $(shell $(GO) env GOCACHE))slotmesh/dex-$(DEX_VERSION)

# The race detector makes tests five times as slow. A tenth of that is garbage collection, which under it happens when four times as
# much garbage is there. It runs with the tests of all packages in which things happen at the same time, and with the end-to-end
# tests of raced_test.go. Without it run:
#   - the other end-to-end tests: the packages that they run through have tests of their own with it
#   - what renders and packs, and shares nothing: Kubernetes' libraries alone take long to build with it
#   - the packages that .golangci.yaml holds to be pure: nothing in them runs concurrently; their callers are tested with it
#   - files that say `//go:build !race`, and why
UNRACED    := charts/test k8s/e2e
PURE       := $(shell sed -nE 's|^ +- "\*\*/(.*)/\*\.go"$$|\1|p' .golangci.yaml)
RACED      := $(addprefix ./,$(addsuffix /...,$(filter-out $(UNRACED),$(MODULES))))
E2E        := services/allinone/e2e

# Go keeps the result of a package until the package, or something that its tests read, changes. CI runs every test, in random
# order.
TEST := -timeout 40m $(if $(filter true,$(CI)),-shuffle=on)

FUZZTIME  ?= 10s
BENCHTIME ?= 1s

.PHONY: help
help: ## list these targets
	@echo 'make run    starts everything in one process; make test checks everything. All targets:'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: ## start everything in one process, with a demo business; Ctrl-C stops it
	@echo 'building, which takes minutes the first time and seconds then'
	@$(GO) build -o $(BIN)/slotmesh-allinone ./services/allinone/cmd/allinone
	@$(GO) build -o $(BIN)/slotmesh ./services/console/cmd/slotmesh
	@exec $(BIN)/slotmesh-allinone

.PHONY: build
build: ## build every command into bin/
	$(GO) build -o $(BIN)/ $(addsuffix /cmd/...,$(addprefix ./,$(patsubst %/cmd,%,$(wildcard services/*/cmd))))

IMAGE_TAG ?= dev

.PHONY: images
images: ## every service's image as a tar in bin/images/, without a container engine (IMAGE_TAG=dev)
	@cd k8s/images && GOWORK=off $(GO) run ./cmd/images -out $(BIN)/images -tag $(IMAGE_TAG)

.PHONY: release
release: ## images of two architectures and the chart into a registry, signed (VERSION=v1.2.0 REGISTRY=ghcr.io/slotmesh KEY=cosign.key)
	@VERSION='$(VERSION)' REGISTRY='$(REGISTRY)' KEY='$(KEY)' BUILDER='$(BUILDER)' k8s/images/release

.PHONY: release-test
release-test: ## a release of this checkout into a registry of its own, verified, and installed from there (20 minutes where nothing is built yet)
	@echo '== release'
	@k8s/images/test-release

.PHONY: store-images
store-images: ## trial images of PostgreSQL and Redis in bin/images/, made of this machine's Debian packages
	@cd k8s/images && GOWORK=off $(GO) run ./cmd/images -out $(BIN)/images postgres redis

.PHONY: test
test: lint check-generated check-tidy test-go check-modules ## everything that must hold before a change lands

.PHONY: test-go
test-go: $(BIN)/withstores $(STRIPE_MOCK) $(DEX) ## unit, store and end-to-end tests, on a PostgreSQL, a Redis, a stripe-mock and a Dex of their own
	@echo '== tests'
	@# Tests begin in the order of their packages: the longest first, and the others beside it, one package more than there are
	@# processors, as some wait.
	@raced=$$($(GO) list $(RACED) | grep -vxF $(addprefix -e github.com/slotmesh/slotmesh/,$(PURE)) | grep -v /$(E2E)); \
	SLOTMESH_TEST_STRIPE_MOCK=$(STRIPE_MOCK) SLOTMESH_TEST_DEX=$(DEX) $(BIN)/withstores -race sh -c ' \
	  several="-p $$(($$(getconf _NPROCESSORS_ONLN) + 1))"; \
	  (unset CGO_ENABLED; GOGC=400 GOMEMLIMIT=2GiB $(GO) test $$several $$SLOTMESH_TEST_RACE $(TEST) ./$(E2E) "$$@") && \
	  $(GO) test $$several $(TEST) ./$(E2E)/... ./k8s/images $(addprefix ./,$(PURE) $(addsuffix /...,$(UNRACED)))' raced $$raced
	@$(MAKE) --no-print-directory -j2 -Otarget test-soak $(if $(filter true,$(CI)),soak SOAKFLAGS=-quiet)

# The soak takes its time, whatever runs at the same time.
.PHONY: test-soak
test-soak: $(BIN)/withstores
	@$(BIN)/withstores $(GO) test $(TEST) ./services/allinone/test/soak

.PHONY: cluster-tools
cluster-tools: ## build what `make cluster` and `make e2e` are made of, once, beside Go's build cache (20 minutes)
	@k8s/cluster/tools/build kubernetes helm coredns pause traefik skipper kube-router metrics-server kwok istio kubeconform tilt crane jaeger

.PHONY: cluster
cluster: ## a shell on a Kubernetes of its own, of one node, which ends with the shell (Linux, root)
	@k8s/cluster/run --with crds --with traefik --with skipper --with kube-router bash

.PHONY: e2e
e2e: ## prove chart and images on a cluster: that of KUBECONFIG, else one made for it and taken away again
	@echo '== on a cluster'
	@k8s/e2e/run
	@[ -n "$${KUBECONFIG:-}" ] || E2E_IMAGES=kept tilt/e2e

.PHONY: bench
bench: ## everything beside bare programs in one run: a table of figures and ratios (BENCHFLAGS="-for 10s")
	@$(MAKE) --no-print-directory build
	@$(GO) build -o $(BIN)/slotmesh-bench ./services/allinone/test/bench/cmd/bench
	@$(BIN)/slotmesh-bench -programs $(BIN) $(BENCHFLAGS)

SOAK ?= 2m

.PHONY: soak
soak: ## two replicas of everything through faults, every answer held against the tables (SOAK=30m SEED=7)
	@echo '== soak'
	@$(MAKE) --no-print-directory build
	@$(GO) build -o $(BIN)/slotmesh-soak ./services/allinone/test/soak/cmd/soak
	@$(BIN)/slotmesh-soak -programs $(BIN) -for $(SOAK) -seed $(or $(SEED),0) $(SOAKFLAGS)

# The tests that attack, in the packages that hold them. `make test` runs them too, with fewer generated requests.
ATTACKS  := TestGeneratedRequests|TestSchemathesis|TestDesync|TestServersResist|Framing|TestHeadParsing|TestStopUnderLoad|TestParseRejectsExpanding|TestMergeKe|TestReadsOfLargest
ATTACKED := ./libs/platform/server ./libs/contracts/manifest ./services/allinone/e2e

.PHONY: attack
attack: $(BIN)/withstores ## requests made of both OpenAPI documents (ATTACK=20000 SEED=7), desync, 500 stops, what costs dear
	@echo '== attack'
	@ATTACK=$(or $(ATTACK),20000) STOPS=$(or $(STOPS),500) SEED=$(or $(SEED),$(shell echo $$RANDOM)) $(BIN)/withstores \
	  $(GO) test -count=1 -timeout 60m -v -run '$(ATTACKS)' $(ATTACKED) | grep -vE '^(=== |\? |PASS$$)'

.PHONY: events
events: $(BIN)/withstores ## a million events of writers and readers that die at random, read exactly once (EVENTS=1000000)
	@SLOTMESH_TEST_EVENTS=$(or $(EVENTS),1000000) $(BIN)/withstores \
	  $(GO) test -count=1 -timeout 90m -v -run TestNoReaderMissesAnEventOrSeesOneTwice ./services/booking/internal/store

.PHONY: away
away: $(BIN)/withstores ## bookings while notifications is away, and all that is told of then, with figures (AWAY=10000)
	@SLOTMESH_TEST_AWAY=$(or $(AWAY),10000) $(BIN)/withstores \
	  $(GO) test -count=1 -timeout 90m -v -run TestBookingContinuesWithoutNotifications ./services/allinone/e2e

# What the READMEs show of the pages, of all that a test keeps.
SCREENSHOTS := phone-3-when phone-5-done desk-dark-4-details ar-3-when phone-event-2-event phone-rental-2-rental
OWNER_SCREENSHOTS := owner-phone-1-today owner-desk-dark-3-booking

.PHONY: screenshots
screenshots: $(BIN)/withstores $(STRIPE_MOCK) ## the pages in Chromium, as the READMEs of pages and console show them
	@rm -rf $(BIN)/screenshots
	@SLOTMESH_TEST_SCREENSHOTS=$(BIN)/screenshots SLOTMESH_TEST_STRIPE_MOCK=$(STRIPE_MOCK) $(BIN)/withstores \
	  sh -c '$(GO) test ./services/allinone/e2e -count=1 -run "^TestCustomersUsePagesInABrowser$$/^(book|tickets|rentals)_in_every_way$$" && \
	    $(GO) test ./services/allinone/e2e -count=1 -run "^TestOwnersUsePagesInABrowser$$/^every_page_(phone|ar-desk-dark)$$"'
	@mkdir -p services/pages/docs/screenshots services/console/docs/screenshots
	@cp $(foreach name,$(SCREENSHOTS),$(BIN)/screenshots/$(name).png) services/pages/docs/screenshots/
	@cp $(foreach name,$(OWNER_SCREENSHOTS),$(BIN)/screenshots/$(name).png) services/console/docs/screenshots/

.PHONY: profile
profile: ## CPU and allocation profiles of every path in bin/profiles/ (go tool pprof -top FILE)
	@$(MAKE) --no-print-directory bench BENCHFLAGS="-engine=false -views 0 -profiles $(BIN)/profiles $(BENCHFLAGS)"

.PHONY: microbench
microbench: $(BIN)/withstores ## Go's benchmarks of all packages, with allocations (BENCHTIME=1s)
	@$(BIN)/withstores $(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) work

.PHONY: fuzz
fuzz: $(BIN)/withstores ## every fuzz target for FUZZTIME (10s) each
	@$(BIN)/withstores bash -eu -c ' \
	  grep -rlE "^func Fuzz" --include="*_test.go" libs services | while read -r file; do \
	    for target in $$(sed -nE "s/^func (Fuzz[A-Za-z0-9_]*).*/\1/p" "$$file"); do \
	      $(GO) test "./$$(dirname "$$file")" -run "^$$" -fuzz "^$$target\$$" -fuzztime $(FUZZTIME); \
	    done; \
	  done'

.PHONY: lint
lint: $(GOLANGCI) ## format, imports, vet, the house's rules (.golangci.yaml) and plain language
	@echo '== lint'
	@$(GOLANGCI) run $(addprefix ./,$(addsuffix /...,$(MODULES)))
	@$(GO) run ./libs/testkit/language/cmd/language -since $(PLAIN_SINCE)

# The commit after which the subjects of commits are checked (libs/testkit/language).
PLAIN_SINCE := 47f7aa57

.PHONY: fmt
fmt: $(GOLANGCI) ## format all Go code
	@$(GOLANGCI) fmt $(addprefix ./,$(MODULES))

.PHONY: generate
generate: ## make all generated files again
	@$(GO) generate work

.PHONY: tidy
tidy: ## bring go.work.sum and every go.mod in order
	@$(GO) work sync
	@for module in $(MODULES); do (cd $$module && GOWORK=off $(GO) mod tidy) || exit 1; done

# What the checkout looks like, changes not committed yet included.
STATE := git diff HEAD | cksum; git status --porcelain

.PHONY: check-generated
check-generated:
	@echo '== generated files'
	@before=$$($(STATE)); $(MAKE) --no-print-directory generate || exit 1; \
	if [ "$$before" != "$$($(STATE))" ]; then \
	  git status --short; echo 'generated files are not up to date: commit what `make generate` makes'; exit 1; \
	fi

.PHONY: check-tidy
check-tidy:
	@echo '== go.mod files'
	@for module in $(MODULES); do \
	  (cd $$module && GOWORK=off $(GO) mod tidy -diff) || { echo "$$module/go.mod is not in order: run \`make tidy\`"; exit 1; }; \
	done
	@before=$$($(STATE)); $(GO) work sync || exit 1; \
	if [ "$$before" != "$$($(STATE))" ]; then \
	  git status --short; echo 'the modules of the workspace disagree: commit what `make tidy` makes'; exit 1; \
	fi

# A package that a module imports, with the version of the package's module unless that module is in this repository.
IMPORTED := "{{.ImportPath}}{{with .Module}}{{if not (or .Main .Replace)}} {{.Version}}{{end}}{{end}}"

# Images are built outside the workspace.
.PHONY: check-modules
check-modules:
	@echo '== each module by itself'
	@# A module that imports the same packages in the same versions as in the workspace compiles by itself too: the linter and the tests
	@# have compiled it there. Only a module with other versions is compiled here, and not linked.
	@printf '%s\n' $(MODULES) | xargs -P $$(getconf _NPROCESSORS_ONLN) -I {} bash -eo pipefail -c 'cd {}; \
	  alone=$$(GOWORK=off $(GO) list -deps -f $(IMPORTED) ./... | sort); \
	  together=$$($(GO) list -deps -f $(IMPORTED) ./... | sort); \
	  [ "$$alone" = "$$together" ] || GOWORK=off $(GO) list -export ./... > /dev/null || { echo "{} does not compile by itself"; exit 1; }'

.PHONY: clean
clean: ## remove what was built; data under .slotmesh/ stays
	@rm -rf $(BIN)

# Go decides whether there is something to build.
.PHONY: $(BIN)/withstores
$(BIN)/withstores:
	@$(GO) build -o $@ ./services/allinone/cmd/withstores

$(GOLANGCI):
	@echo "== building golangci-lint $(GOLANGCI_VERSION), once (a few minutes)"
	@mkdir -p $(dir $@)
	@dir=$$(mktemp -d); GOWORK=off GOBIN=$$dir $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION); \
	mv $$dir/golangci-lint $@; rmdir $$dir

$(STRIPE_MOCK):
	@echo "== building stripe-mock $(STRIPE_MOCK_VERSION), once"
	@mkdir -p $(dir $@)
	@dir=$$(mktemp -d); GOWORK=off GOBIN=$$dir $(GO) install github.com/stripe/stripe-mock@$(STRIPE_MOCK_VERSION); \
	mv $$dir/stripe-mock $@; rmdir $$dir

# Dex replaces a module of its own by a folder, which `go install` refuses; required by an empty module it builds.
$(DEX):
	@echo "== building dex $(DEX_VERSION), once"
	@mkdir -p $(dir $@)
	@dir=$$(mktemp -d); cd $$dir && export GOWORK=off && $(GO) mod init tool 2>/dev/null && $(GO) get github.com/dexidp/dex/cmd/dex@$(DEX_COMMIT) 2>/dev/null && \
	CGO_ENABLED=0 $(GO) build -o dex github.com/dexidp/dex/cmd/dex && mv dex $@ && cd / && rm -r $$dir
