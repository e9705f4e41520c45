"""Laws of every study and every section of the main experiment, whatever they compute."""

from __future__ import annotations

import inspect
import re
from itertools import chain
from pathlib import Path

import pytest
import yaml

from dpol.config.experiment import load_experiment
from dpol.core.imports import load
from dpol.studies.hospitals.sections import SECTIONS
from dpol.studies.registry import STUDIES, load_study
from dpol.studies.study import code_of_shown, load_section, schemas_of

ROOT = Path(__file__).parents[2]
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
EXPERIMENT, BEYOND = (load_experiment(ROOT / f"config/{it}.yaml") for it in ("config", "beyond"))
EVERY = [*SECTIONS, *map(load_study, STUDIES)]


def block(section):
    if section in SECTIONS:
        return EXPERIMENT.main()
    return EXPERIMENT.config.block(section.name) or BEYOND.config.block(section.name)


@pytest.fixture(params=STUDIES)
def study(request: pytest.FixtureRequest):
    return load_study(request.param)


@pytest.fixture(params=EVERY, ids=lambda it: it.name)
def section(request: pytest.FixtureRequest):
    return request.param


def test_its_name_is_that_of_its_folder_and_its_block(study):
    assert study.folder.name == study.name
    assert isinstance(block(study), study.settings), "config.yaml or beyond.yaml runs every study"


def test_every_result_table_has_a_schema(section):
    assert load_section(section.module, section.name) is section
    names = tuple(schemas_of(section))
    assert set(section.results) <= set(names) if section in SECTIONS else section.results == names


def test_points_are_plain_and_have_labels_for_files(study):
    points = study.points(block(study), ["A", "B"])
    assert points
    for label, point in points.items():
        assert LABEL.fullmatch(label)
        assert yaml.safe_load(yaml.safe_dump(dict(point))) == dict(point)
        assert point.get("stream") in {None, "A", "B"}


def test_its_functions_are_there_and_take_what_the_jobs_give(section):
    references = [getattr(section, name, "") for name in ("run", "collect")]
    references += [figure.draw for figure in section.figures(block(section))]
    references += [table.build for table in section.tables]
    for reference in filter(None, references):
        assert len(inspect.signature(load(reference)).parameters) == 3, reference
    assert code_of_shown(section, block(section))


def test_names_of_files_and_sections_are_its_own():
    results = chain.from_iterable(study.results for study in EVERY[len(SECTIONS) :])
    figures = (it.name for section in EVERY for it in section.figures(block(section)))
    tables = (it.name for section in EVERY for it in section.tables)
    for names in map(list, (results, figures, tables, (section.name for section in EVERY))):
        assert len(set(names)) == len(names)


def test_its_texts_are_sentences(section):
    assert section.about.endswith(".")
    for figure in section.figures(block(section)):
        assert figure.description.endswith(".")
        assert figure.title[0].isupper()
