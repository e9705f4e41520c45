"""The job that plays, run by its script in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from dpol.core.logs import error_in
from dpol.data.stream import write_stream
from dpol.reruns.notes import read_notes
from pipeline import ROOT

JOB = """
import runpy, sys
from types import SimpleNamespace as Facts

class Files(dict):
    __iter__ = lambda self: iter(self.values())

class Params(dict):
    __getattr__ = dict.__getitem__

point = {"suite": "local", "algorithms": ["rw-ftpl", "rw-meta", "random-effects"],
         "noise": "capacity", "mu": 0.5, "block": [100, 101], "memory": "designed",
         "keep_rounds": True}
snakemake = Facts(
    log=["results/run/logs/job.log"],
    input=Files(stream="stream.parquet"),
    output=Files({name: f"{name}.parquet" for name in ("scores", "curves", "rounds")}),
    params=Params(study="dpol.studies.games", seed=1, points=[point]),
)
runpy.run_path(sys.argv[1], {"snakemake": snakemake})
assert "pandas" not in sys.modules
"""


def test_a_job_that_plays_does_not_import_pandas(random_stream, tmp_path: Path) -> None:
    """The import takes longer than the games."""
    write_stream(random_stream(9, 4), tmp_path / "stream.parquet")
    script = ROOT / "workflow/scripts/study_point.py"
    done = subprocess.run(
        [sys.executable, "-c", JOB, script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + error_in(tmp_path / "results/run/logs/job.log")
    (note,) = read_notes(tmp_path / "results/run").values()
    assert {"Python", "dpol", "numpy"} <= note.versions.keys()
    assert pq.read_table(tmp_path / "rounds.parquet").num_rows == 3 * 2 * 9
