# Everything a person types. Set-up (virtual environment, locked packages) happens by itself.
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
IMAGE ?= localhost/dpol
VENV = .venv
DOCS_TESTS = tests/docs/test_build.py tests/docs/test_code_blocks.py
COMPILE = uv pip compile pyproject.toml requirements/build.in --universal --fork-strategy fewest \
    --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url \
    --no-emit-find-links --quiet

.DEFAULT_GOAL := help
.PHONY: help setup demo paper verify cluster image docs test test-docs test-slurm lint format bench \
    lock clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST)

setup: $(VENV)/.run ## set up .venv, as the next three do by themselves

demo: $(VENV)/.run ## the paper's experiment on its own weeks in Central Texas: 3 minutes on two cores; network only for packages, once
	$(VENV)/bin/dpol demo --cores $(CORES)

paper: $(VENV)/.run ## the same in the paper's three states, at full size; fetches the HHS table
	$(VENV)/bin/dpol run config/paper.yaml --cores $(CORES)

verify: $(VENV)/.run ## compare a cut of the experiments with the values expected of them (4 minutes on two cores; network only for packages, once)
	$(VENV)/bin/dpol verify

cluster: $(VENV)/.cluster ## add what runs jobs on a Slurm cluster (docs/how-to/elsewhere.md)

image: ## build the container image localhost/dpol (3 minutes; podman, buildah or docker)
	@engine=$$(command -v podman || command -v buildah || command -v docker) || { \
	    echo "error: no podman, buildah or docker here; install podman" >&2; exit 1; }; \
	"$$engine" build --tag $(IMAGE) --build-arg REVISION=$$(git rev-parse HEAD) \
	    --file Containerfile .

docs: $(VENV)/.dev ## the documentation as web pages, with the page of the default run if that is finished: docs/_build/index.html
	$(VENV)/bin/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build
	@echo "Done: docs/_build/index.html"

test: $(VENV)/.dev ## the tests of the code (4 minutes on two cores)
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist worksteal \
	    $(addprefix --ignore=,tests/workflow $(DOCS_TESTS))

test-docs: $(VENV)/.dev ## build the documentation and run all code in it (about 4 minutes on two cores)
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist load $(DOCS_TESTS)

test-slurm: $(VENV)/.dev $(VENV)/.cluster ## run, and fail, on a Slurm of one node (Debian, root; about 9 minutes on two cores)
	tests/slurm/install.sh
	$(VENV)/bin/python -m pytest --numprocesses $(CORES) --dist worksteal tests/slurm

lint: $(VENV)/.dev ## formatting, lint, types, import rules, workflow lint
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/snakefmt --check Snakefile workflow .test
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/snakemake --lint

format: $(VENV)/.dev ## format the code, renew the generated parts of pages and configs
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/snakefmt Snakefile workflow .test
	$(VENV)/bin/python tools/manual.py
	$(VENV)/bin/python tools/contributing.py
	$(VENV)/bin/python tools/exhibits.py
	$(VENV)/bin/python tools/references.py
	$(VENV)/bin/python tools/recorded_numbers.py
	$(VENV)/bin/python tools/sentences.py
	$(VENV)/bin/python tools/run_notebook.py

bench: $(VENV)/.dev ## speed as ratios, measured side by side: benchmarks/results.json
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python benchmarks/run.py

lock: ## renew requirements/*.txt, workflow/envs (needs uv); make lock UPGRADE=--upgrade takes the newest versions
	$(COMPILE) $(UPGRADE) --extra dev --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/base.txt
	$(COMPILE) --constraint requirements/dev.txt --extra pipeline --output-file requirements/run.txt
	$(COMPILE) $(UPGRADE) --constraint requirements/dev.txt --extra cluster --output-file requirements/cluster.txt
	$(PYTHON) tools/conda_env.py

clean: ## remove results and the environment; fetched tables in data/raw stay
	rm -rf $(VENV) .snakemake results/*/ docs/_build

$(addprefix $(VENV)/.,run dev cluster): $(VENV)/.%: requirements/%.txt requirements/setup.sh pyproject.toml
	PYTHON=$(PYTHON) requirements/setup.sh $(VENV) $*
