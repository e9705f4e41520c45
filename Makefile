# Everything a person types. Set-up (virtual environment, locked packages) happens by itself.
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
VENV = .venv
DOCS_TESTS = tests/docs/test_build.py tests/docs/test_code_blocks.py
# What sums, products of matrices and searches decide, and the small runs of verify/.
KERNEL_TESTS = tests/privacy tests/experts tests/noise tests/lazy tests/studies/claims \
    tests/test_verify.py tests/workflow/test_whole.py::test_values_of_the_whole_run_are_as_expected

.DEFAULT_GOAL := help
.PHONY: help setup demo paper cluster docs pictures wheel test test-docs test-wheel test-kernels test-slurm test-report test-panel test-real verify bench bench-full sbom lint format clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST)

setup: $(VENV)/.runtime ## set up .venv, as the next two do by themselves

demo: $(VENV)/.runtime ## real hospitals, no network: tables and figures in three minutes on two cores
	$(VENV)/bin/dpol demo --cores $(CORES)

paper: $(VENV)/.runtime ## fetch the HHS table and reproduce the paper's Table 2 and Figure 2
	$(VENV)/bin/dpol run config/config.yaml --cores $(CORES)

cluster: $(VENV)/.cluster ## add what runs jobs on a Slurm cluster (docs/how-to/slurm.md)

docs: $(VENV)/.dev ## the documentation as web pages: docs/_build/index.html
	$(VENV)/bin/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build
	@echo "Done: docs/_build/index.html"

pictures: $(VENV)/.dev ## renew docs/images from finished runs: make pictures RUNS="demo panel beyond"
	$(VENV)/bin/python tools/pictures.py $(addprefix results/,$(RUNS))

verify: $(VENV)/.runtime ## compare a cut of the experiments with the values expected of them (4 minutes, no network)
	$(VENV)/bin/dpol verify

test: $(VENV)/.dev ## all tests but those below, real snakemake runs included (about 15 minutes)
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist loadfile --no-loadscope-reorder \
	    $(addprefix --ignore=,$(DOCS_TESTS))

test-kernels: $(VENV)/.dev ## the numerical tests under two kernels of BLAS and NumPy, without and with AVX-512 (about 10 minutes)
	$(VENV)/bin/python tools/kernels.py --numprocesses $(CORES) --dist loadfile $(KERNEL_TESTS)

test-docs: $(VENV)/.dev ## build the documentation and run all code in it (about 4 minutes)
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist load $(DOCS_TESTS)

test-wheel: $(VENV)/.dev ## a stranger's walk: install the wheel in a new environment, run it in an empty folder (3 minutes)
	$(VENV)/bin/python -m pytest tests/wheel

wheel: $(VENV)/.dev ## the package with the pipeline in it, and its sources: dist/
	rm -rf dist
	$(VENV)/bin/python -m hatchling build

test-slurm: $(VENV)/.dev $(VENV)/.cluster ## real runs and failures on a Slurm of one node (Debian, root; about 10 minutes)
	tests/slurm/install.sh
	$(VENV)/bin/python -m pytest tests/slurm

test-report: $(VENV)/.dev ## the reports of results/ in a real browser (needs chromium, npm; half a minute a report)
	npm install --prefix tests/browser --no-package-lock --no-audit --no-fund
	$(VENV)/bin/python -m pytest tests/browser

test-real: $(VENV)/.dev $(VENV)/.peers ## real tables of public indexes, from fetch to report: dengue (PyPI), influenza (Debian); jax-privacy beside ours (needs the network)
	$(VENV)/bin/python -m pytest tests/real

test-panel: $(VENV)/.dev ## play the tuned forms of RW-Meta on the real hospitals, against the totals of another program (seconds)
	$(VENV)/bin/python -m pytest tests/panel

bench: $(VENV)/.dev ## speed as ratios, measured side by side: benchmarks/results.json
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python benchmarks/run.py

bench-full: $(VENV)/.dev ## the whole paper at full size on the real hospitals, then its largest job (about 15 minutes)
	PYTHONPATH=src OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python benchmarks/full.py

sbom: $(VENV)/.dev ## the software bill of materials (CycloneDX) of what dpol needs to run: sbom.cdx.json
	requirements/packages.sh runtime | $(VENV)/bin/cyclonedx-py requirements --pyproject pyproject.toml \
	    --output-reproducible --output-file sbom.cdx.json -

lint: $(VENV)/.dev ## formatting, lint, types, import rules, workflow lint
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/snakefmt --check Snakefile workflow .test
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	workflow/lint.sh $(VENV)/bin/snakemake

format: $(VENV)/.dev ## format the code, renew what is generated from the config models
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/snakefmt Snakefile workflow .test
	$(VENV)/bin/dpol config write
	$(VENV)/bin/python tools/contributing.py

clean: ## remove results and the environment; fetched tables in data/raw stay
	rm -rf $(VENV) .snakemake results/*/ docs/_build

$(addprefix $(VENV)/.,runtime dev cluster): $(VENV)/.%: requirements/lock.txt requirements/packages.sh requirements/setup.sh pyproject.toml
	PYTHON=$(PYTHON) requirements/setup.sh $(VENV) $*

$(VENV)/.peers: $(VENV)/.dev requirements/peers.txt
	$(VENV)/bin/python -m pip --quiet install --no-deps --upgrade --target $(VENV)/peers --requirement requirements/peers.txt
	touch $@
