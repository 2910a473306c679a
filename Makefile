# A thin front for CMake and scripts/: `make help` lists what there is.
.DEFAULT_GOAL := release
.PHONY: all program release debug fuzz demo test bench peers format lint install clean help

CLANG_FORMAT ?= clang-format
PREFIX ?= /usr/local
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

all: release

configure = cmake --preset $(1) >build/$(1).log 2>&1 || \
	(cat build/$(1).log; echo "Is something missing? scripts/setup.sh installs it."; exit 1)

release: ## build everything: build/release/softscope is the program
debug:   ## the same with address and undefined-behaviour sanitizers: build/debug
fuzz:    ## the fuzz targets, with clang: build/fuzz
release debug fuzz:
	@$(call configure,$@)
	@cmake --build --preset $@
program: ## the program alone
	@$(call configure,release)
	@cmake --build --preset release --target softscope
release debug fuzz program: | build
build:
	@mkdir -p build

demo: ## set up, build, get a small real model, inspect a text with it
	@scripts/demo.sh
test: ## set up, then every test and check
	@scripts/test.sh
bench: release ## the speed of everything, correctness first
	@scripts/bench.sh
peers: ## the same work by PyTorch and transformers, timed (installs them: 5 GB)
	@scripts/peers.sh
format: ## rewrite the C files in the project's style
	@$(CLANG_FORMAT) -i $(SOURCES)
lint: ## the style and static checks alone
	@scripts/lint.sh
install: release ## install under PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)
clean: ## remove all that was built, models included
	@rm -rf build
help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile
