"""Each part of the benchmarks once, at a tiny size, and the page that shows them."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpol.config.experiment import load_experiment
from dpol.plan import Plan
from dpol.reruns.notes import Note, write_note
from pipeline import ROOT, SMALL


@pytest.fixture(autouse=True)
def at_a_tiny_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import the benchmarks, and make them small."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import far
    import matrix
    import run
    import scale

    monkeypatch.setattr(far, "PAPER", ROOT / ".test/config/config.yaml")
    monkeypatch.setattr(far, "REPLICATES", (1, 2))
    monkeypatch.setattr(far, "HOSPITALS", {"A": 2})
    monkeypatch.setattr(far, "WEEKS", 5)
    monkeypatch.setattr(far, "in_own_process", lambda work: work())
    monkeypatch.setattr(far, "JOBS", (2,))
    monkeypatch.setattr(matrix, "_REPEATS", 1)
    monkeypatch.setattr(run, "REPEATS", 1)
    monkeypatch.setattr(scale, "SWEEPS", {"experts n": ((3, 4, 2), (6, 4, 2))})
    monkeypatch.setattr(scale, "BANKS", {13: scale.BANKS[13]})
    monkeypatch.setattr(scale, "ROUNDS", 3)
    monkeypatch.setattr(scale, "REPLICATES", 2)
    monkeypatch.setattr(scale, "_start", imported)


def imported(code: str) -> float:
    """Run the imports of a script here, and say that they take a second."""
    exec(code, {})
    return 1.0


def planned(folder: str, config: Mapping[str, Any], command: Sequence[str]) -> str:
    """Plan a run that writes only what Snakemake notes of the time of its jobs."""
    import whole

    file = Path(folder, "config.yaml")
    whole.write_config(folder, config)
    settings = load_experiment(file).config
    plan = Plan(config=settings, place="", name="", text="")
    jobs = [f"{study}/{place}" for study, places in plan.jobs.items() for place in places]
    for name in ["read_rows", "clean_stream", *(f"{study}_results" for study in plan.jobs), *jobs]:
        path = Path(folder, "results", settings.run, "logs", f"{name}.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        times = {"began": 0, "ended": 5_500_000_000, "peak_mb": 90.0}
        write_note(path, Note(asked={}, read={}, wrote={}, **times))
    subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)  # some processor time
    return f"total {len(jobs)}"


def test_each_part_runs_and_the_page_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import exp3
    import far
    import page
    import run
    import scale
    import whole

    monkeypatch.setattr(whole, "run", planned)
    monkeypatch.setattr(far, "run", planned)
    stream = scale.simulated(4, 12)
    country = partial(scale.time_country, 4, 5)
    tiny = {
        "rw_meta": lambda: {"0.25": run.time_meta(stream, 0.25, 2)},
        "adabatch": lambda: run.time_adabatch(1_000),
        "lazy": lambda: run.time_lazy(2_000),
        "labels": lambda: exp3.time_labels(200),
        "learners": lambda: scale.time_learners(stream),
        "country": country,
        "largest": country,
    }
    found = {name: tiny.get(name, part)() for name, part in {**run.PARTS, **run.LONG}.items()}
    assert run.simulated_california().gains.shape == (148, 293)
    text = page.page(
        {**found, "dates": {"all": "2026-01-01"}, "cores": 1, "python": "", "numpy": ""}
    )
    assert "nan" not in text
    assert found["grid"]["rules"]["games_point"]["jobs"] > 50
    assert all(row["read_mb"] > 0 for row in found["collecting"])


@pytest.mark.workflow
def test_what_snakemake_writes_of_a_run_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    import far
    import whole

    monkeypatch.setattr(far, "config_of", lambda _: SMALL)
    measured = whole.time_run(SMALL, "data")
    assert measured["rules"].keys() == {
        *("simulate_dataset", "read_rows", "clean_stream", "report_cleaning", "draw_table")
    }
    assert math.isfinite(measured["free_wall_over_half_cpu"])
    assert far.time_planning()[0]["jobs"] > 2
