# `make` lists the targets.
SWIFT ?= swift
BUILD ?= debug
HEARTH = .build/$(BUILD)/hearth
PREFIX ?= /usr/local

.DEFAULT_GOAL := help
.PHONY: help run up build release install uninstall test test-release lint format bench fuzz fuzz-build flood kill simulate scenarios realtime example kubernetes interop dnssd remote docs clean

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: build ## install missing packages, build, and run a demonstration on the loopback interface
	@HEARTH=$(HEARTH) scripts/demo

up: build ## run the devices of devices/demo.yaml until Ctrl-C
	@$(HEARTH) run devices/demo.yaml

build: ## build all products (BUILD=release for an optimized build)
	@scripts/bootstrap
	@$(SWIFT) build -c $(BUILD)

release: ## build all products with optimization
	@$(MAKE) --no-print-directory build BUILD=release

install: release ## install hearth, shell completions and manual pages (PREFIX=/usr/local, DESTDIR=)
	@SWIFT="$(SWIFT)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install

uninstall: ## remove the files that `make install` installed (PREFIX=)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install --uninstall

test: ## run all tests (no root, no network beyond loopback)
	@scripts/bootstrap
	@SWIFT="$(SWIFT)" scripts/test

test-release: release ## run the command line tests with the optimized executable
	@HEARTH=$(CURDIR)/.build/release/hearth SWIFT="$(SWIFT)" scripts/test --filter '^hearthTests\.'

lint: ## check the format of the Swift files
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests

format: ## format the Swift files
	@$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

bench: release ## run the benchmarks, with a blocking UDP echo as the baseline, and those of the peers (as root)
	@.build/release/hearth-bench
	@if [ "$$(id -u)" = 0 ] && scripts/interop-data/find-python >/dev/null 2>&1; \
	then echo; HEARTH=.build/release/hearth scripts/interop --only '*: speed'; \
	else echo; echo "the peers (the SDK's controller, CircuitMatter) are not measured: that needs root and Python 3.11 or 3.12"; fi

fuzz: ## fuzz all decoders and engines (SECONDS=60 per target, TARGETS=)
	@scripts/bootstrap
	@scripts/fuzz $(or $(SECONDS),60) $(TARGETS)

fuzz-build: # build the fuzzer only
	@scripts/bootstrap
	@scripts/fuzz --build

flood: build ## send 20,000 hostile packets per second to a light on the loopback interface
	@.build/$(BUILD)/hearth-bench flood 8

kill: build ## kill devices and commands at random times and check that acknowledged changes persist (KILLS=20, SEED=)
	@.build/$(BUILD)/hearth-bench kill $(or $(KILLS),20) $(SEED)
	@.build/$(BUILD)/hearth-bench log $(or $(SECONDS),20) $(or $(KILLS),20) $(SEED)

scenarios: build ## run the scenarios of devices/scenarios and replay their traces
	@HEARTH=$(HEARTH) scripts/scenarios

realtime: build ## run the short scenarios on real sockets (5 min)
	@HEARTH=$(HEARTH) scripts/realtime

kubernetes: build ## check the Kubernetes jobs of scripts/kubernetes-data, whose containers run as processes
	@HEARTH=$(HEARTH) scripts/kubernetes

example: ## build and test the example package in Tests/Example
	@scripts/bootstrap
	@# With the same build directory, nothing but the example is compiled.
	@$(SWIFT) test --package-path Tests/Example --scratch-path .build

simulate: build ## run random homes with faults and check that they converge (SEEDS=200, FIRST=1)
	@.build/$(BUILD)/hearth-bench random $(or $(SEEDS),200) $(FIRST)

interop: build ## test against other Matter implementations (as root: creates network namespaces)
	@scripts/bootstrap --interop
	@HEARTH=$(HEARTH) scripts/interop

dnssd: build ## test DNS-SD against Avahi (as root: creates network namespaces)
	@HEARTH=$(HEARTH) scripts/dnssd

remote: build ## test access to a hub over TLS, also through a reverse proxy (nginx, loopback only)
	@scripts/bootstrap --interop
	@HEARTH=$(HEARTH) scripts/remote

docs: ## build the documentation of the libraries in .build/docs
	@scripts/bootstrap
	@SWIFT="$(SWIFT)" scripts/docs

clean: ## remove all build products
	@rm -rf .build .build-fuzz .venv-interop .venv-interop-client .venv-kubernetes
