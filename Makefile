# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

.DEFAULT_GOAL := help
SETUP := tools/setup.sh
CHECK := python3 tools/check.py
VENV := .venv/bin
export PATH := $(CURDIR)/$(VENV):$(PATH)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Debian packages and Docker (as root), and every virtual environment, in the project folder
	@$(SETUP)

.PHONY: test
test: ## everything below down to package, several steps at a time; ends with where the time went and "N passed, N failed"
	@started=$$(date +%s); $(SETUP) && $(CHECK) --since $$started all

.PHONY: unit
unit: ## the library's own tests: tables, properties, golden files
	@$(SETUP) venv
	@$(CHECK) unit

.PHONY: consistency
consistency: ## what no tool checks: layers, purity, names, sizes, docs, public surface
	@$(SETUP) venv
	@$(CHECK) consistency

.PHONY: oracle
oracle: ## the rendered output against its real consumers, in containers
	@$(SETUP) debian docker venv
	@$(CHECK) oracle

.PHONY: molecule
molecule: ## the roles on containers that look like the images: check, converge, converge again, check, verify
	@$(SETUP) debian docker venv
	@$(CHECK) molecule

.PHONY: lab
lab: ## real kubelets join a real API server; the first time on a machine, its programs are built (12 minutes)
	@$(SETUP) debian docker venv
	@$(CHECK) lab

.PHONY: lint
lint: ## ruff, mypy, yamllint, shellcheck, codespell, REUSE, changelog, ansible-lint, antsibull-docs
	@$(SETUP) venv
	@$(CHECK) lint

.PHONY: sanity
sanity: ## ansible-test sanity on every tested ansible-core
	@$(SETUP) cores
	@$(CHECK) sanity

.PHONY: units
units: ## ansible-test units on every tested ansible-core
	@$(SETUP) cores
	@$(CHECK) units

.PHONY: package
package: ## build the artifact, install it, use it, and show it to galaxy-importer
	@$(SETUP) venv importer
	@$(CHECK) package

.PHONY: lab-up lab-down lab-status
lab-up lab-down lab-status:
	@$(SETUP) debian docker venv
	@PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.lab $(@:lab-%=%)
lab-up: ## start a control plane that stays, and say where its kubeconfig is
lab-down: ## stop it, and everything that belongs to it
lab-status: ## what runs of it

.PHONY: demo
demo: ## render every family from the examples into out/, and bootstrap a node in Docker where there is Docker
	@$(SETUP) venv
	@tools/demo.sh

.PHONY: fuzz
fuzz: ## 100,000 random examples for every property of a family
	@$(SETUP) venv
	HYPOTHESIS_PROFILE=fuzz $(VENV)/python -m pytest -q -n auto -m fuzz tests/unit tests/oracle/test_readback.py \
		tests/oracle/test_nodeadm_expressions.py tests/lab/test_nodeadm_parity.py

.PHONY: bench
bench: ## speed and size, side by side with the yardsticks
	@$(SETUP) venv
	$(VENV)/python benchmarks/run.py

.PHONY: golden
golden: ## write tests/golden and the outputs shown in README.md and docs anew; review the difference
	@$(SETUP) venv
	$(VENV)/python tools/golden.py
	PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.consistency.documented --write

.PHONY: surface
surface: ## write tests/consistency/public_surface.txt anew; a difference needs a changelog fragment
	@$(SETUP) venv
	PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.consistency.surface --write

.PHONY: clean
clean: ## everything that was made here: environments, caches, reports, output
	rm -rf .cache .venv .ansible .hypothesis .mypy_cache .pytest_cache .ruff_cache dist out tests/output
