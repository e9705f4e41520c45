"""Each part of the benchmarks once, at a tiny size, and the page that shows them.

That of other packages checks its numbers itself, and needs them: `make .venv/.peers`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pipeline import ROOT, SMALL


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Import the benchmarks, and make them small."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import games
    import run
    import runs

    monkeypatch.setattr(games, "REPEATS", 1)
    monkeypatch.setattr(games, "WEEKS", 5)
    monkeypatch.setattr(games, "SIZES", {"experts n": ((3, 4, 2), (6, 4, 2))})
    monkeypatch.setattr(games, "BANKS", {13: games.BANKS[13]})
    monkeypatch.setattr(runs, "PAPER", ROOT / ".test/config/config.yaml")
    monkeypatch.setattr(runs, "REPLICATES", (1, 2))
    monkeypatch.setattr(runs, "HOSPITALS", {"A": 2})
    monkeypatch.setattr(runs, "WEEKS", 5)
    monkeypatch.setattr(runs, "LEVELS", ())
    monkeypatch.setattr(runs, "in_own_process", lambda work: work())
    monkeypatch.setattr(runs, "_start", imported)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(run, "PARTS", run.PARTS)  # tests choose some
    return run


def imported(code: str) -> float:
    """Run the imports of a script here, and say that they take a second."""
    exec(code, {})
    return 1.0


def test_each_part_of_a_process_measures_and_the_page_shows_it(bench: Any) -> None:
    import games

    tiny = {
        "rw_meta": lambda: games.time_meta(4, 2),
        "adabatch": lambda: games.time_adabatch(400),
        "lazy": lambda: games.time_lazy(2_000),
        "learners": lambda: games.time_learners(4),
        "long": lambda: games.time_long(4, 20),
    }
    parts = ("scaling", "starts", "collecting")
    bench.PARTS = {
        name: (title, tiny.get(name, measure))
        for name, (title, measure) in bench.PARTS.items()
        if name in (*tiny, *parts)
    }
    bench.main([])
    found = json.loads(bench.RESULTS.read_text())
    assert {*found} == {*bench.PARTS}
    for part in found.values():
        assert part["rows"]
        assert all(math.isfinite(row["value"]) for row in part["rows"])
    assert bench.RESULTS.with_suffix(".md").read_text() == bench.page(found)


def test_the_page_marks_what_misses_its_aim(bench: Any) -> None:
    from machine import Measured

    rows = [Measured("fast", 2.0, least=1), Measured("slow", 0.5, least=1), Measured("few", 9.0)]
    bench.PARTS = {"starts": ("Start", lambda: rows)}
    bench.main(["starts"])
    shown = bench.RESULTS.with_suffix(".md").read_text().splitlines()[-3:]
    assert shown == [
        "| fast | 2 | at least 1 |",
        "| slow | **0.5** | at least 1 |",
        "| few | 9 |  |",
    ]


@pytest.mark.workflow
def test_a_run_and_its_planning_are_measured(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import runs

    kept = ("run", "seed", "dataset", "streams", "privacy", "suites", "replicates")
    monkeypatch.setattr(runs, "config_of", lambda _: {key: SMALL[key] for key in kept})
    whole = {it.what: it.value for it in runs.time_run()}
    assert whole["jobs"] > 5
    assert all(value > 0 for value in whole.values())
    assert len(runs.time_planning()) == 1
