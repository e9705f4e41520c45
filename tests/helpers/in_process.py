"""The command `dpol`, studies, and hashes of code, in the process of a test."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from dpol.cli import main
from dpol.core import plugins
from dpol.reruns import code_hashes
from dpol.studies.jobs import collect, write_points
from dpol.studies.study import Facts, Inputs, Study


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `dpol` and return its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def forget_code() -> None:
    """Read code again to hash it, as another process does, but parse no module of dpol again."""
    for it in (*vars(code_hashes).values(), *vars(plugins).values()):
        if hasattr(it, "cache_clear") and it is not code_hashes._parsed:
            it.cache_clear()


def compute(
    study: Study,
    settings: Any,
    *,
    seed: int,
    delta: float = 1e-6,
    streams: Sequence[str] = (),
    folder: Path = Path(),
) -> dict[str, pd.DataFrame]:
    """Compute the result tables of a study, without jobs whose input files are not there.

    Args:
        study: the study.
        settings: its settings.
        seed: root of all randomness.
        delta: delta at which epsilon is reported.
        streams: labels of the gain streams.
        folder: folder with the input files, laid out as results/<run>/.
    """
    facts = Facts({label: label for label in streams}, True, 0.95, delta=delta)
    with TemporaryDirectory() as made:
        written = study.written_by_jobs(settings, facts)
        files: dict[str, list[Path]] = {name: [] for name in written}
        for place, job in study.jobs(settings, facts).items():
            read = {name: folder / path for name, path in job.inputs.items()}
            if not all(path.exists() for path in read.values()):
                continue
            own = {name: Path(made, place, f"{name}.parquet") for name in written}
            write_points(study.package, job.plain, Inputs(seed=seed, files=read), own)
            for name, path in {**read, **own}.items():
                files.setdefault(name, []).append(path)
        return dict(collect(study, settings, facts, files))
