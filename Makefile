# The entry points of the project; the work is in scripts/. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export PATH := $(shell . scripts/path.sh; printf '%s' "$$PATH")

.PHONY: help demo test fleet-demo fleet-test fleet-bench kernel-test setup setup-test setup-fleet setup-dist setup-page build manual site dist crates reproducible page page-test fmt lint web bench fuzz package-machine matrix fresh-machine clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## run the encryption experiment on real OpenZFS, explain it, write the report
	@scripts/demo.sh

test: setup-test ## all checks and tests; BLESS=1 rewrites golden files
	@scripts/test.sh

fleet-test: setup-fleet ## build zwhy-fleet, a workspace of its own, and run its checks and tests
	@scripts/fleet-test.sh

fleet-bench: setup-fleet ## time queries over simulated hosts beside DuckDB on the same files; HOSTS=100 HOURS=1 RATE=51
	@benches/fleet.sh

fleet-demo: setup ## three simulated hosts, a store of them and its page, in the browser; PORT=9935
	@scripts/fleet-demo.sh

kernel-test: setup-test ## tests with the real module in a VM, VERSIONS="2.4 2.3 2.1"; KEEP=FOLDER keeps its captures
	@scripts/kernel-test.sh

setup: ## install what building and running needs (Debian packages)
	@scripts/setup.sh demo

setup-test: ## also install what only the tests need (browser, perf, Node, web packages)
	@scripts/setup.sh test

setup-fleet: ## also install what only tests of zwhy-fleet need (pandas, pyarrow and DuckDB for Python)
	@scripts/setup.sh test
	@scripts/setup.sh fleet

setup-dist: ## also install what only packaging needs (compilers for musl and arm64, lintian)
	@scripts/setup.sh dist

setup-page: ## also install what only the page without installation needs (clang for WebAssembly, Node)
	@scripts/setup.sh page

build: setup ## build target/release/zwhy
	ZWHY_COMMIT=$$(scripts/commit.sh) cargo build --locked --release --package zwhy

manual: setup ## write man pages and completions of the shells to target/manual
	cargo run --locked --quiet --package zwhy --example manual -- target/manual

site: ## the documentation as one book in target/site, for reading offline
	scripts/site.sh

dist: setup-dist ## packages for other machines in target/dist: .deb, static archive, SBOM, checksums
	scripts/dist.sh

crates: setup ## pack each crate, and install the program from what was packed alone, in an empty folder
	scripts/crates.sh

reproducible: setup-dist ## build the packages twice in different folders and compare every byte
	scripts/reproducible.sh

page: setup-page ## the page that needs no installation: target/page/zwhy.html
	scripts/page.sh

page-test: setup-test page ## hold that page against the program, on every fixture, in a browser
	cargo build --locked --package zwhy
	ZWHY=$${CARGO_TARGET_DIR:-target}/debug/zwhy ZWHY_PAGE=target/page/zwhy.html node --test tests/page/*.test.mjs

fmt: ## format the Rust and web sources
	cargo fmt --all
	cargo fmt --manifest-path fleet/Cargo.toml
	if [ -f web/package.json ]; then cd web && npm run --silent format; fi

lint: ## the checks that need no build of the tests
	scripts/check-shell.sh
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

web: setup-test ## rebuild the report page template from web/
	cd web && npm run --silent build

bench: build ## reading a perf.data, and recording, beside perf and inferno, as ratios; the page over a million boxes
	@benches/import.sh
	@benches/record.sh
	@benches/lab.sh
	@if [ -d web/node_modules ]; then cd web && npm run --silent bench; else echo "page: not measured, run make setup-test first"; fi

fuzz: setup-test ## feed mutated files to every importer, FUZZ_SECONDS=600
	ZWHY_FUZZ_SECONDS=$${FUZZ_SECONDS:-600} cargo test --locked --release --package zwhy-formats --test fuzz

package-machine: dist ## install, use and remove the packages in a bare Debian in a temporary folder (root)
	PACKAGE="$$(ls target/dist/*_$$(dpkg --print-architecture).deb target/dist/*_all.deb | tr '\n' ' ')" scripts/fresh-machine.sh

matrix: dist ## try the package in every combination of docs/SYSTEMS.md and write its table; CELLS="debian12-zfs2.1 …" (root)
	scripts/matrix.sh $(CELLS)

fresh-machine: ## try `make demo` and `make test` on a bare Debian in a temporary folder (root)
	scripts/fresh-machine.sh

clean: ## remove everything that was built or downloaded into the project
	rm -rf target fleet/target web/node_modules web/dist .tools
