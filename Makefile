# Hearth. `make` alone prints what there is.
SWIFT ?= swift
BUILD ?= debug
HEARTH = .build/$(BUILD)/hearth
PREFIX ?= /usr/local

.DEFAULT_GOAL := help
.PHONY: help run up build release install uninstall test test-release lint format bench fuzz fuzz-build flood kill simulate scenarios realtime example interop dnssd clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: build ## install what is missing, build, and show the whole product on the loopback interface
	@HEARTH=$(HEARTH) scripts/demo

up: build ## the devices of devices/demo.yaml, running until you press Ctrl-C
	@$(HEARTH) run devices/demo.yaml

build: ## build everything (BUILD=release for the optimized build)
	@scripts/bootstrap
	@$(SWIFT) build -c $(BUILD)

release: ## build everything, optimized
	@$(MAKE) --no-print-directory build BUILD=release

install: release ## install hearth, its completions and manual pages (PREFIX=/usr/local, DESTDIR=)
	@SWIFT="$(SWIFT)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install

uninstall: ## remove what `make install` has installed (PREFIX=)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install --uninstall

test: ## all tests; no root, no network beyond loopback
	@scripts/bootstrap
	@SWIFT="$(SWIFT)" scripts/test

test-release: release ## run the tests of the command line with the optimized executable
	@HEARTH=$(CURDIR)/.build/release/hearth SWIFT="$(SWIFT)" scripts/test --filter '^hearthTests\.'

lint: ## style, as swift format sees it
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests

format: ## put the style right
	@$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

bench: release ## figures, with a blocking-socket UDP echo as the floor
	@.build/release/hearth-bench

fuzz: ## hostile input to every decoder and engine, SECONDS=60 for each target
	@scripts/bootstrap
	@scripts/fuzz $(or $(SECONDS),60) $(TARGETS)

fuzz-build: # what `make fuzz` builds first, alone
	@scripts/bootstrap
	@scripts/fuzz --build

flood: build ## 20,000 hostile packets a second at a light, on the loopback interface, for a few seconds
	@.build/$(BUILD)/hearth-bench flood 8

kill: build ## devices and commands killed with -9 at random moments: what was acknowledged is there afterwards (KILLS=20, SEED=)
	@.build/$(BUILD)/hearth-bench kill $(or $(KILLS),20) $(SEED)
	@.build/$(BUILD)/hearth-bench log $(or $(SECONDS),20) $(or $(KILLS),20) $(SEED)

scenarios: build ## the scenarios of devices/scenarios, and their traces played again
	@HEARTH=$(HEARTH) scripts/scenarios

realtime: build ## the scenarios that don't wait for long on real sockets (5 min)
	@HEARTH=$(HEARTH) scripts/realtime

example: ## a package that tests a home with this one, built as its user would
	@scripts/bootstrap
	@$(SWIFT) test --package-path Tests/Example --scratch-path .build/example

simulate: build ## random homes in which everything goes wrong, heals, and has to agree again (SEEDS=200, FIRST=1)
	@.build/$(BUILD)/hearth-bench random $(or $(SEEDS),200) $(FIRST)

interop: build ## our devices and our controller against other people's Matter (root: it makes network namespaces)
	@scripts/bootstrap --interop
	@HEARTH=$(HEARTH) scripts/interop

dnssd: build ## our DNS-SD and Avahi's, both ways (root: it makes network namespaces)
	@HEARTH=$(HEARTH) scripts/dnssd

clean: ## remove what was built
	@rm -rf .build .build-fuzz .venv-interop
