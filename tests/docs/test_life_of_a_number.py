"""The life of a number in CONTRIBUTING.md: every file that a count meets, in this order."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from code_blocks import ROOT
from dpol.config.experiment import load_experiment
from dpol.core.reach import ROOT as PACKAGE
from dpol.data.cleaning import clean_panel
from dpol.data.raw_table import read_counts
from dpol.data.stream import build_stream, write_stream
from dpol.plan import Plan
from dpol.studies.games.collect import collect
from dpol.studies.games.paper import table_2
from dpol.studies.jobs import write_points
from dpol.studies.study import Inputs

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLLOWED = ("data", "noise", "experts", "studies/games")
META = {"algorithm": "rw-meta", "learners": [{"learner": "ridge", "windows": [8]}]}
BESIDE = {
    "data/bad_cells.py": "refuses cells that are no numbers",
    "data/capacities.py": "reads the beds",
    "data/identifiers.py": "reads the names of hospitals",
    "data/panel.py": "describes the panel",
    "data/question.py": "says what is asked",
    "data/selection.py": "says which hospitals play",
    "data/setting_types.py": "checks settings",
    "data/settings.py": "holds settings",
    "data/several_rows.py": "finds that no week has two rows",
    "data/table_format.py": "describes how numbers are written",
    "experts/interface.py": "checks the algorithm",
    "experts/learners/joined.py": "learners of the algorithm",
    "experts/learners/leader.py": "learners of the algorithm",
    "experts/learners/ridge.py": "learners of the algorithm",
    "experts/registry.py": "finds the algorithm",
    "experts/cautious_mean.py": "another algorithm that the report knows",
    "experts/matrix_discounted.py": "another algorithm that the report knows",
    "experts/matrix_ftpl.py": "another algorithm that the report knows",
    "experts/private_blocks.py": "another algorithm that the report knows",
    "experts/tree_ftpl.py": "another algorithm that the report knows",
    "noise/neighbours.py": "says whom the noise protects",
    "noise/noises.py": "says how large the noise is",
    "noise/seeds.py": "says which noise is drawn",
    "studies/games/settings.py": "holds settings",
    "studies/games/systems.py": "says what is compared",
}
"""Files whose code runs, although no count passes them, with what it does."""


@contextmanager
def calls(met: dict[str, None]) -> Iterator[None]:
    """Note the files whose functions are called, in the order of their first calls."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        met[frame.f_code.co_filename] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files that run on the way from the raw table to Table 2."""
    folder, files = tmp_path_factory.mktemp("life"), dict[str, None]()
    config = load_experiment(ROOT / "config/config.yaml").config
    (label,) = config.streams
    point = next(
        point.settings | {"suite": [META], "replicates": [0, 1]}
        for name, point in Plan(config=config, place="", name="", text="").points["games"].items()
        if "/local/isotropic/mu-0.25/" in name
    )
    paths = {name: folder / f"{name}.parquet" for name in ("scores", "curves")}
    stream = folder / "stream.parquet"
    facts = replace(config.facts, replayed=False)
    settings = config.games
    with calls(files):
        raw = read_counts(config.raw_file, config.dataset)
        panel = clean_panel(raw, config.dataset, config.streams, at_most=config.at_most)
        write_stream(build_stream(panel.table, label, 1.0, {}), stream)
        inputs = Inputs(seed=1, memory_mb=1000, files={"stream": stream})
        write_points("dpol.studies.games", [point], inputs, paths)
        read = {"scores": [paths["scores"]], "curves": [paths["curves"]], "stream": [stream]}
        frames = collect(read, settings, facts)
        shown = table_2(frames, settings, facts)
    cell = shown.numbers[(shown.numbers["source"] == "run") & (shown.numbers["mu"] == 0.25)]
    assert cell["mean_gain"].tolist() == frames["summary"]["mean_gain"].tolist()
    ours = (Path(file) for file in files if Path(file).is_relative_to(PACKAGE))
    return [file.relative_to(PACKAGE).as_posix() for file in ours]


def test_the_page_names_the_files_that_a_count_meets(met: list[str]) -> None:
    life = PAGE[PAGE.index("## The life of a number") : PAGE.index("`src/dpol/noise/seeds.py`")]
    named = re.findall(r"`src/dpol/([\w/]+\.py)`", life)
    followed = [file for file in met if file.startswith(FOLLOWED) and file not in BESIDE]
    assert set(named) == set(followed)
    assert len(named) == len(set(named)) <= 15


def test_nothing_stands_beside_the_way_that_is_not_there(met: list[str]) -> None:
    assert BESIDE.keys() <= set(met)
