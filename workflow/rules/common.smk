import os
import sys
from pathlib import Path

import dpol
from dpol.errors import DpolError
from dpol.experiment import check_local_table, parse_experiment

# One thread a job: Snakemake runs jobs side by side, and numbers stay the same on any machine.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

try:
    experiment = parse_experiment(config, " + ".join(map(str, workflow.configfiles)))
    check_local_table(experiment.config)
except DpolError as error:
    sys.exit(f"error: {error}")

settings = experiment.config
RESULTS = f"results/{settings.run}"
RUNS = f"{RESULTS}/runs/{{stream}}/{{suite}}/{{calibration}}/{{level}}/block-{{block}}"

PACKAGE = Path(dpol.__file__).parent
CODE = {
    "data": ["*.py", "data/*.py"],
    "play": ["*.py", "privacy/*.py", "local/*.py", "experts/**/*.py", "evaluation/runs.py"],
    "summary": ["*.py", "privacy/*.py", "evaluation/*.py"],
    "tables": ["*.py", "tables/*"],
    "plots": ["*.py", "plots/*.py"],
}


def code(stage):
    """The files of dpol that a stage depends on: Snakemake itself does not look into imports."""
    found = (path for pattern in CODE[stage] for path in PACKAGE.glob(pattern))
    return sorted(str(path) for path in found if path.is_file())


def model_dump(part):
    """A part of the config as plain values, fit for params."""
    return part.model_dump(mode="json")


def run_files():
    """The files of all runs."""
    return [f"{RESULTS}/runs/{job.path.removesuffix('.parquet')}.parquet" for job in experiment.jobs()]


def announce_results():
    """Say where the things are that a person wants to open."""
    if os.path.exists(f"{RESULTS}/tables/average-gain.md"):
        print(f"\nTable:  {RESULTS}/tables/average-gain.md (also .html, .csv, .tex)")
        print(f"Figure: {RESULTS}/figures/cumulative-gain.png (also .svg, .pdf)")
