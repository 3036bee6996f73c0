# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

.DEFAULT_GOAL := help
SETUP := tools/setup.sh
CHECK := python3 tools/check.py
VENV := .venv/bin
export PATH := $(CURDIR)/$(VENV):$(PATH)

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install Debian packages and Docker (as root), and create all virtual environments below the project directory
	@$(SETUP)

.PHONY: test
test: ## run all layers below, several steps at a time; ends with a table of times and "N passed, N failed"
	@started=$$(date +%s); $(SETUP) debian docker venv importer outer_cores docs packer && $(CHECK) --since $$started all

.PHONY: matrix
matrix: ## repeat the checks on all ansible-core releases, with more random input and more nodes (up to two hours); [STEP=TEXT]
	@started=$$(date +%s); $(SETUP) && $(CHECK) --since $$started $(if $(STEP),--step "$(STEP)") matrix

.PHONY: unit
unit: ## tests that need no container: tables, properties, golden files, YAML and PowerShell parsers
	@$(SETUP) venv packer
	@$(CHECK) unit

.PHONY: consistency
consistency: ## check the project's own rules: layers, purity, names, sizes, docs, public surface
	@$(SETUP) venv
	@$(CHECK) consistency

.PHONY: oracle
oracle: ## run the rendered output through its real consumers, in containers
	@$(SETUP) debian docker venv outer_cores
	@$(CHECK) oracle

.PHONY: molecule
molecule: ## run the roles on containers that resemble the images: check, converge, converge again, check, verify
	@$(SETUP) debian docker venv
	@$(CHECK) molecule

.PHONY: lab
lab: ## real kubelets join a real API server; the first run on a machine builds the programs (15 minutes)
	@$(SETUP) debian docker venv outer_cores packer
	@$(CHECK) lab

.PHONY: lint
lint: ## run ruff, mypy, yamllint, shellcheck, actionlint, codespell, REUSE, changelog, ansible-lint, antsibull-docs
	@$(SETUP) venv
	@$(CHECK) lint

.PHONY: sanity
sanity: ## run ansible-test sanity: docs, compile and import on the newest ansible-core, compile and import with Python 3.7 on the oldest
	@$(SETUP) outer_cores
	@$(CHECK) sanity

.PHONY: units
units: ## run ansible-test units on the oldest ansible-core: modules, module_utils, actions, filters, roles
	@$(SETUP) outer_cores
	@$(CHECK) units

.PHONY: package
package: ## build the artifact, install it, render and bootstrap a node with it, and run galaxy-importer on it
	@$(SETUP) debian docker venv importer
	@$(CHECK) package

.PHONY: dist
dist: ## do the same, and write the artifact and its checksum to dist/
	@$(SETUP) debian docker venv importer
	@tools/check_package.sh dist

.PHONY: docs
docs: ## build the documentation site in out/site: guides, and the reference of all plugins and roles
	@$(SETUP) docs
	@$(CHECK) docs

.PHONY: docs-browser
docs-browser: ## open every page of the site in Chromium, as a desktop and as a phone, and run axe-core
	@$(SETUP) docs browser
	@$(CHECK) --step docs matrix

.PHONY: lab-up lab-down lab-status
lab-up lab-down lab-status:
	@$(SETUP) debian docker venv
	@PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.lab $(@:lab-%=%)
lab-up: ## start a persistent control plane, and print where its kubeconfig is
lab-down: ## stop it, and remove its nodes
lab-status: ## show what is running

.PHONY: lab-node lab-join-check
lab-node: ## add a node to the running lab: USER_DATA=FILE or SPEC=FILE [OPTIONS="--kubelet 1.36"]
	@PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.lab node \
		$(if $(USER_DATA),--user-data "$(USER_DATA)") $(if $(SPEC),--spec "$(SPEC)") $(OPTIONS)
lab-join-check: ## run join_check on a node of the running lab: NODE=NAME
	@PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.lab join-check "$(NODE)" $(OPTIONS)

.PHONY: anywhere anywhere-down
anywhere anywhere-down:
	@$(SETUP) debian docker venv
	@PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.anywhere $(if $(filter %-down,$@),down,run $(STEP))
anywhere: ## create and delete a cluster with real kind, kubeadm and Cluster API; builds them first (40 minutes); [STEP=build|create|kills]
anywhere-down: ## remove what it left

.PHONY: demo
demo: ## render every family from the examples into out/; with Docker, bootstrap a node, too
	@$(SETUP) venv
	@tools/demo.sh

.PHONY: fuzz
fuzz: ## try 100,000 random examples for every property of a family
	@$(SETUP) venv
	HYPOTHESIS_PROFILE=fuzz $(VENV)/python -m pytest -q -n auto -m fuzz tests/unit tests/oracle/test_readback.py \
		tests/oracle/test_nodeadm_expressions.py tests/oracle/test_kubelet_rules.py tests/oracle/test_apply_kills.py tests/lab/test_nodeadm_parity.py

.PHONY: bench
bench: ## measure speed and size, and compare them with other implementations
	@$(SETUP) venv
	$(VENV)/python benchmarks/run.py

.PHONY: golden
golden: ## write tests/golden, the generated reference of the input, and the outputs in README.md and docs; review the difference
	@$(SETUP) venv
	$(VENV)/python tools/golden.py
	$(VENV)/python tools/rules_page.py
	PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.consistency.documented --write

.PHONY: surface
surface: ## regenerate tests/consistency/public_surface.txt; a difference needs a changelog fragment
	@$(SETUP) venv
	PYTHONPATH=.cache $(VENV)/python -m ansible_collections.nodebootstrap.eks.tests.consistency.surface --write

.PHONY: clean
clean: ## delete everything that was generated: environments, caches, reports, output
	rm -rf .cache .venv .ansible .hypothesis .mypy_cache .pytest_cache .ruff_cache dist out tests/output
