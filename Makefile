# Everything a person types. Set-up (virtual environment, locked packages) happens by itself.
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
IMAGE ?= localhost/dpol
VENV = .venv
DOCS_TESTS = tests/docs/test_build.py tests/docs/test_code_blocks.py
LEDGER_TESTS = tests/studies/ledger tests/checks tests/test_seed_tree.py
COMPILE = uv pip compile pyproject.toml requirements/build.in --universal --fork-strategy fewest \
    --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url \
    --no-emit-find-links --quiet
# Some images forbid bytecode; then each of the many processes compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup paper ledger verify cluster image docs test test-ledger test-docs test-slurm \
    lint format pages bench lock clean

help: ## show this list
	@echo "The network is needed once, for packages. docs/how-to/verify.md has minutes."
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 17

setup: $(VENV)/.run ## create .venv (paper, ledger and verify do this automatically)

paper: $(VENV)/.run ## play it in the paper's three states (fetches the HHS table)
	$(VENV)/bin/dpol run config/paper.yaml --cores $(CORES)

ledger: $(VENV)/.run ## check what the papers state, row by row
	$(VENV)/bin/dpol run config/ledger.yaml --cores $(CORES)

verify: $(VENV)/.run ## compare small runs with recorded values
	$(VENV)/bin/dpol verify

cluster: $(VENV)/.cluster ## add the packages for clusters (docs/how-to/elsewhere.md)

image: ## build localhost/dpol with podman, buildah or docker
	@engine=$$(command -v podman || command -v buildah || command -v docker) || { \
	    echo "error: no podman, buildah or docker here; install podman" >&2; exit 1; }; \
	"$$engine" build --tag $(IMAGE) --build-arg REVISION=$$(git rev-parse HEAD) \
	    --file Containerfile .

docs: $(VENV)/.dev ## build docs/_build/index.html, with Play if that run is there
	$(VENV)/bin/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build
	@echo "Done: docs/_build/index.html"

test: $(VENV)/.dev ## test the code
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist worksteal \
	    $(addprefix --ignore=,tests/workflow $(LEDGER_TESTS) $(DOCS_TESTS))

test-ledger: $(VENV)/.dev ## test the ledger, the checks of algorithms and noises, and all seeds
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist worksteal $(LEDGER_TESTS)

test-docs: $(VENV)/.dev ## build the documentation and run its code
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist loadgroup $(DOCS_TESTS)

test-slurm: $(VENV)/.dev $(VENV)/.cluster ## run jobs on Slurm, and make some fail (Debian, as root)
	tests/slurm/install.sh
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist worksteal tests/slurm

lint: $(VENV)/.dev ## check format, style, types, imports and the workflow
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/snakefmt --check Snakefile workflow .test
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/snakemake --lint

format: $(VENV)/.dev ## format the code
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/snakefmt Snakefile workflow .test

pages: $(VENV)/.dev ## write all results and generated parts of pages again
	$(VENV)/bin/python tools/pages.py
	$(VENV)/bin/python tests/helpers/run_notebook.py

bench: $(VENV)/.peers ## measure speed as ratios: benchmarks/results.json
	OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python benchmarks/run.py

$(VENV)/.peers: $(VENV)/.dev requirements/peers.txt
	$(VENV)/bin/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/peers \
	    --requirement requirements/peers.txt
	touch $@

lock: ## renew locked packages (needs uv; UPGRADE=--upgrade for newest)
	$(COMPILE) $(UPGRADE) --extra dev --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/base.txt
	$(COMPILE) --constraint requirements/dev.txt --extra pipeline --output-file requirements/run.txt
	$(COMPILE) $(UPGRADE) --constraint requirements/dev.txt --extra cluster --output-file requirements/cluster.txt
	$(PYTHON) tools/conda_env.py

clean: ## remove results and .venv; tables in data/raw stay
	rm -rf $(VENV) .snakemake results/*/ docs/_build

$(addprefix $(VENV)/.,run dev cluster): $(VENV)/.%: requirements/%.txt requirements/setup.sh pyproject.toml
	PYTHON=$(PYTHON) requirements/setup.sh $(VENV) $*
