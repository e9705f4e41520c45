"""What every study keeps, whatever it computes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import yaml

from dpol.config.experiment import load_experiment
from dpol.core.imports import load
from dpol.studies.registry import STUDIES, load_study
from dpol.studies.study import code_of, schemas_of

ROOT = Path(__file__).parents[2]
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
EXPERIMENT = load_experiment(ROOT / "config/config.yaml")


@pytest.fixture(params=STUDIES)
def study(request: pytest.FixtureRequest):
    return load_study(request.param)


@pytest.fixture
def block(study):
    return EXPERIMENT.config.block(study.name)


def test_its_name_is_that_of_its_folder_and_its_block(study, block):
    assert study.folder.name == study.name
    assert isinstance(block, study.settings), "config/config.yaml runs every study"


def test_every_result_table_has_a_schema(study):
    assert tuple(schemas_of(study)) == study.results


def test_points_are_plain_and_have_labels_for_files(study, block):
    points = study.points(block, ["A", "B"])
    assert points
    for label, point in points.items():
        assert LABEL.fullmatch(label)
        assert yaml.safe_load(yaml.safe_dump(dict(point))) == dict(point)
        assert point.get("stream") in {None, "A", "B"}


def test_its_functions_are_there_and_take_what_the_jobs_give(study, block):
    taken = {study.run: 3, study.collect: 3}
    taken |= {figure.draw: 3 for figure in study.figures(block)}
    taken |= {table.build: 3 for table in study.tables}
    for reference, count in taken.items():
        if reference:
            parameters = inspect.signature(load(reference)).parameters
            assert len(parameters) == count, reference
            assert code_of(reference)


def test_names_of_files_are_its_own():
    every = [load_study(name) for name in STUDIES]
    blocks = [EXPERIMENT.config.block(study.name) for study in every]
    for names in (
        [name for study in every for name in study.results],
        [
            it.name
            for study, block in zip(every, blocks, strict=True)
            for it in study.figures(block)
        ],
        [table.name for study in every for table in study.tables],
    ):
        assert len(set(names)) == len(names)


def test_its_texts_are_sentences(study, block):
    assert study.about.endswith(".")
    for figure in study.figures(block):
        assert figure.description.endswith(".")
        assert figure.title[0].isupper()
