# Everything a person does with the suite. Needs Python 3.11 or newer and make; the rest is set up on first use.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
NATIVE := $(PYTHON) -m native
# Containers where a Docker engine answers, else the native stack; FENCEPOST_RUNNER=native overrules it.
SUITE = $(PYTHON) -m $(shell infra/runner.sh)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Make the environment (every other target does it when needed)
	@infra/setup.sh

.PHONY: up
up: setup ## Start what is down, walk one order through, leave it running (SCALE="order-relay=3")
	@$(SUITE) up --scale "$(SCALE)"

.PHONY: down
down: setup ## Stop everything, keep the data
	@$(SUITE) down

.PHONY: ps
ps: setup ## List the processes
	@$(SUITE) ps

.PHONY: logs
logs: setup ## Follow logs: S=order-relay, or S=order for all of a service, or nothing for all
	@$(SUITE) logs $(S)

.PHONY: clean
clean: setup ## Stop everything and delete data, logs and secrets, also of the tests' stacks
	@$(SUITE) clean
	@$(NATIVE) clean --stack test
	@for state in .fencepost/test-* .fencepost/platform-test* .fencepost/chaos*; do [ ! -d $$state ] || $(NATIVE) clean --state $$state; done
	@$(NATIVE) clean --state .fencepost/bench/stack --port-base 26000

.PHONY: dev
dev: setup ## Run one service's API here and reload it on changes: S=order
	@$(SUITE) dev $(or $(S),$(error Say which service: make dev S=order))

.PHONY: ops
ops: setup ## See and mend what a service could not do by itself: S=order A="dead-letters list"
	@$(SUITE) ops $(or $(S),$(error Say which service: make ops S=order A="dead-letters list")) $(A)

.PHONY: token
token: setup ## Print a bearer token: SUB=customer-1 SCOPES="orders:write orders:read"
	@$(PYTHON) -m demo token --sub "$(or $(SUB),$(error Say who: make token SUB=customer-1 SCOPES="orders:read"))" --scopes "$(SCOPES)"

.PHONY: replay
replay: setup ## Play the real purchases through the API and reconcile: all, or the first N=200
	@$(PYTHON) -m demo replay $(if $(N),--count $(N))

.PHONY: test
test: lint types contracts-check ## All checks: lint, types, contracts, unit tests, scenarios on a stack of their own
	@$(PYTHON) -m pytest -n 4 --dist loadscope --no-loadscope-reorder --durations=20 --durations-min=5

.PHONY: lint
lint: setup ## Check style, formatting, what deploys the suite, CI, and the rules of the architecture
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m deploy_lint
	@.venv/bin/zizmor --offline --quiet --persona pedantic .github
	@$(PYTHON) -m architecture
	@.venv/bin/lint-imports infra/architecture/imports.toml --no-logo --no-cache

.PHONY: format
format: setup ## Mend style and formatting
	@$(PYTHON) -m ruff check --fix-only --quiet .
	@$(PYTHON) -m ruff format .

.PHONY: types
types: setup ## Check types
	@$(PYTHON) -m mypy

.PHONY: unit
unit: setup ## Tests that need no stack, in seconds
	@$(PYTHON) -m pytest -m "not needs_stack" platform/tests services

.PHONY: db-drift
db-drift: setup ## Compare the tables in code with those of the migrations (part of make test)
	@$(PYTHON) -m pytest -k the_tables_in_code_are_those_of_the_migrations services

.PHONY: scenarios
scenarios: setup ## List the guarantees and what their last run said
	@$(PYTHON) -m world list

.PHONY: scenario
scenario: setup ## Prove one guarantee: NAME=event-bus/duplicate-delivery-is-a-noop
	@$(PYTHON) -m world run "$(or $(NAME),$(error Say which: make scenario NAME=suite/order-to-invoice))"

.PHONY: chaos
chaos: setup ## Play purchases while everything is struck, then judge: DURATION=120 SEED=7 RATE=3
	@$(PYTHON) -m chaos --duration $(or $(DURATION),120) --seed $(or $(SEED),7) --rate $(or $(RATE),3)

.PHONY: contracts
contracts: setup ## Write contracts/ anew from the code, unless that breaks a reader
	@$(PYTHON) -m contract_writer write --base "$(CONTRACTS_BASE)"

.PHONY: contracts-check
contracts-check: setup ## Check contracts/, readers and changes: against the main line, or CONTRACTS_BASE=origin/main
	@$(PYTHON) -m contract_writer check --base "$(CONTRACTS_BASE)"

.PHONY: bench
bench: setup ## Measure against limits and peers: all, or ONLY=relay-drain; QUICK=1 ROWS=500000 SENT=5000000 REPEATS=5
	@$(PYTHON) -m bench run --only "$(ONLY)" --contestants "$(CONTESTANTS)" $(if $(QUICK),--quick) \
	    $(if $(ROWS),--rows $(ROWS)) $(if $(SENT),--sent $(SENT)) $(if $(REPEATS),--repeats $(REPEATS))

.PHONY: stack
stack: setup ## Write what Docker Swarm deploys (infra/stack/README.md); with a site's own overlay: SITE=site.yaml
	@$(PYTHON) -m stack $(if $(SITE),--site $(SITE))

.PHONY: lock
lock: setup ## Resolve all dependencies anew into requirements.lock (UPGRADE=1: to their newest versions)
	@.venv/bin/uv pip compile $(if $(UPGRADE),--upgrade) --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-emit-package fencepost-platform --custom-compile-command "make lock" \
	    --group pyproject.toml:dev pyproject.toml platform/pyproject.toml services/*/pyproject.toml \
	    --output-file requirements.lock

.PHONY: lock-peers
lock-peers: setup ## Resolve the bench's public peers anew into their locks (UPGRADE=1 as for lock)
	@.venv/bin/uv pip compile $(if $(UPGRADE),--upgrade) --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --custom-compile-command "make lock-peers" infra/bench/peers.in --output-file infra/bench/peers.lock
	@$(PYTHON) -m bench lock-debezium

.PHONY: lock-kafka
lock-kafka: setup ## Resolve Kafka's jars anew into infra/native/kafka.lock.toml
	@$(NATIVE) lock-kafka
