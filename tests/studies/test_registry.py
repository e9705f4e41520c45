"""Checks of every study and every section."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import get_origin

import pytest
from pydantic import AfterValidator

from dpol.config.experiment import load_experiment
from dpol.core.settings import Settings, all_different
from dpol.data.stream import write_stream
from dpol.studies.jobs import settings_from
from dpol.studies.registry import EVERY_RUN, STUDIES, load_studies, load_study
from dpol.studies.study import schemas_in

ROOT = Path(__file__).parents[2]
CONFIGS = [load_experiment(ROOT / "config/beyond.yaml")]
CONFIGS += [load_experiment(path) for path in sorted(ROOT.glob("config/*.yaml"))]
ASKED = {
    name: next(config for config in CONFIGS if config.block(name) is not None) for name in STUDIES
}
"""A shipped config that asks for a study; beyond.yaml asks most of the main experiment."""


def block(name):
    return ASKED[name].block(name)


def runs_of(name):
    """Return the settings of a study, and the facts, in all shipped configs that ask for it."""
    asking = (config for config in CONFIGS if config.block(name) is not None)
    return [(config.block(name), config.facts) for config in asking]


@pytest.fixture(params=STUDIES)
def study(request: pytest.FixtureRequest):
    return load_study(request.param)


def test_its_results_are_those_with_columns_in_their_order(study):
    """The schemas of tables that points write come before them, named as their files."""
    schemas = schemas_in(study.package)
    assert study.results == tuple(name for name in schemas if "/" not in name)


def test_shipped_configs_ask_for_every_result_table_and_show_every_section(study):
    runs = runs_of(study.name)
    assert {it for run in runs for it in study.results_of(*run)} == set(study.results)
    shown = [section for run in runs for section in study.sections_of(*run)]
    assert [section.name for section in study.sections if section not in shown] == []
    known = {result for name in (study.name, *EVERY_RUN) for result in load_study(name).results}
    assert {result for section in study.sections for result in section.results} <= known


def test_jobs_get_the_settings_of_points_whose_places_and_inputs_can_be_files(study):
    jobs = study.jobs(block(study.name), ASKED[study.name].facts)
    assert jobs
    for place, job in jobs.items():
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@/-]{0,199}", place)
        assert tuple(settings_from(study.package, it) for it in job.plain) == job.points != ()
        assert job.inputs.keys().isdisjoint({*study.written, *study.results})
        for path in map(PurePosixPath, job.inputs.values()):
            assert not path.is_absolute()
            assert ".." not in path.parts


def test_names_of_files_and_sections_are_unique():
    results = chain.from_iterable(load_study(name).results for name in STUDIES)
    sections = [section for name in STUDIES for section in load_study(name).sections]
    figures = (figure.name for section in sections for figure in section.figures)
    tables = (table.name for section in sections for table in section.tables)
    for names in map(list, (results, figures, tables, (section.name for section in sections))):
        assert len(set(names)) == len(names)


def test_a_section_is_shown_only_where_its_results_are_asked_for():
    main = load_study("games")
    plain, facts = block("games"), replace(ASKED["games"].facts, replayed=False)
    asked = ("summary", "totals", "cumulative", "switches")
    assert main.results_of(plain, facts) == asked
    names = [section.name for section in main.sections_of(plain, facts)]
    assert names == ["paper", "switches"]
    several = replace(facts, questions={"one": "One", "two": "Two"})
    assert main.results_of(plain, several) == ("summary", "totals")


# Lists of settings --------------------------------------------------------------------------------

BY_LABEL = {"Suite.algorithms"}
"""One algorithm may play under two labels; `dpol.config.rules.labels` refuses a label twice."""


def blocks(kind: type[Settings]) -> Iterator[type[Settings]]:
    """Yield all kinds of blocks of configs of a kind."""
    for own in kind.__subclasses__():
        yield own
        yield from blocks(own)


LISTS = {
    f"{model.__name__}.{name}": field
    for model in blocks(Settings)
    for name, field in model.model_fields.items()
    if get_origin(field.annotation) is list and model.__module__.startswith("dpol.studies.")
}
"""Lists of the studies; those of a table, which a study may read too, are not of the grid."""


def test_no_list_of_settings_takes_a_value_twice():
    """A value twice would give a row twice, or a table whose rows do not fit its layout."""
    refused = AfterValidator(all_different)
    assert {name for name, field in LISTS.items() if refused not in field.metadata} == BY_LABEL
    with pytest.raises(ValueError, match="must not hold 2.0 twice"):
        all_different([2, 2.0])  # one number


# ---- what jobs import and are given --------------------------------------------------------------

ALGORITHMS = "dpol.experts", "dpol.labels", "dpol.lazy", "dpol.noise"
EVERY = load_studies().values()
DRAWING = [
    "dpol.studies.showing",
    *(study.showing for study in EVERY),
    *{it for study in EVERY for section in study.sections for it in section.drawing},
]


def test_what_draws_imports_no_algorithm() -> None:
    code = (
        f"import sys, {', '.join(DRAWING)};"
        f"print(*(name for name in sys.modules if name.startswith({ALGORITHMS})))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


PLAYS = """
import sys
from pathlib import Path
from dpol.studies.jobs import write_points
from dpol.studies.study import Inputs

point = {"suite": "local", "algorithms": ["rw-ftpl", "rw-meta", "random-effects"],
         "noise": "capacity", "mu": 0.5, "block": [100, 101], "memory": "designed",
         "keep_rounds": True}
inputs = Inputs(seed=1, files={"stream": Path("stream.parquet")})
files = {name: f"{name}.parquet" for name in ("scores", "curves", "rounds")}
write_points("dpol.studies.games", [point], inputs, files)
assert "pandas" not in sys.modules
"""


def test_a_job_that_plays_does_not_import_pandas(random_stream, tmp_path: Path) -> None:
    """The import takes longer than the games."""
    write_stream(random_stream(9, 4), tmp_path / "stream.parquet")
    ran = subprocess.run(
        [sys.executable, "-c", PLAYS], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
