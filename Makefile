# vmtax. `make demo` measures this machine in some minutes; `make test` runs every test.
.DEFAULT_GOAL := help
CARGO ?= cargo
TARGET := x86_64-unknown-linux-musl
# CARGO_TARGET_DIR is cargo's own variable; where it is not set cargo uses ./target.
VMTAX := $(or $(CARGO_TARGET_DIR),target)/$(TARGET)/debug/vmtax
DIST := $(or $(CARGO_TARGET_DIR),target)/$(TARGET)/dist/vmtax
PORTABLE := vmtax-model vmtax-stats vmtax-validity vmtax-workloads vmtax-drivers vmtax-probes vmtax-study vmtax-report vmtax-agent

.PHONY: help build demo test test-statistics lint portable bench dist clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

build: ## Build the static binary
	$(CARGO) build --locked -p vmtax

demo: ## Install what is missing, build, measure this machine in three rounds
	./setup.sh demo
	$(MAKE) --no-print-directory build
	./setup.sh kernel $(VMTAX)
	@study=vmtax-demo-$$(date +%Y%m%d-%H%M%S); \
	$(VMTAX) run --suite quick --rounds 3 --output $$study || exit $$?; \
	echo; echo "Report:     $$PWD/$$study/report.html"; \
	echo "Full study: $(VMTAX) run --suite quick"

test: ## Run every test (guests are really booted)
	./setup.sh test
	$(MAKE) --no-print-directory build
	./setup.sh kernel $(VMTAX)
	$(CARGO) test --locked --workspace

test-statistics: ## Simulate every cell of docs/statistics.md (about a minute; prints its tables)
	$(CARGO) test --locked -p vmtax-stats --test validation -- --ignored --nocapture

lint: ## Check format, lints and the portable rooms on other systems
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(MAKE) --no-print-directory portable

portable:
	$(CARGO) check --locked --target aarch64-unknown-linux-musl $(addprefix -p ,$(PORTABLE))
	$(CARGO) check --locked --target x86_64-pc-windows-gnu $(addprefix -p ,$(PORTABLE))

bench: ## Measure vmtax itself (each figure from one run, with its spread)
	./setup.sh test
	$(MAKE) --no-print-directory build
	./setup.sh kernel $(VMTAX)
	$(CARGO) bench --locked --profile dev -p vmtax-workloads -p vmtax --bench copy --bench harness

dist: ## Build the file that is shipped
	$(CARGO) build --locked --profile dist -p vmtax
	@ls -l $(DIST)

clean: ## Remove what the build made
	$(CARGO) clean
