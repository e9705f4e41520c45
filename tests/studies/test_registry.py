"""Laws of every study and every section, whatever they compute."""

from __future__ import annotations

import inspect
import re
from itertools import chain
from pathlib import Path, PurePosixPath

import pytest
import yaml

from dpol.config.experiment import load_experiment
from dpol.core.imports import load
from dpol.studies.registry import STUDIES, load_study
from dpol.studies.study import code_of_shown, codes_of_points, schemas_of

ROOT = Path(__file__).parents[2]
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
CONFIGS = [load_experiment(ROOT / "config/beyond.yaml").config]
CONFIGS += [load_experiment(path).config for path in sorted(ROOT.glob("config/*.yaml"))]
ASKED = {name: next(it for it in CONFIGS if it.block(name) is not None) for name in STUDIES}
"""A shipped config that asks for a study; beyond.yaml asks most of the main experiment."""
SECTIONS = [(name, it) for name in STUDIES for it in load_study(name).every_section()]


def block(name):
    return ASKED[name].block(name)


def blocks(name):
    """The settings of a study in all shipped configs that ask for it."""
    return [it.block(name) for it in CONFIGS if it.block(name) is not None]


@pytest.fixture(params=STUDIES)
def study(request: pytest.FixtureRequest):
    return load_study(request.param)


@pytest.fixture(params=SECTIONS, ids=lambda it: it[1].name)
def shown(request: pytest.FixtureRequest):
    """A section, its study and the settings of that."""
    name, section = request.param
    study = load_study(name)
    return section, study, next((it for it in blocks(name) if _shows(study, it, section)), None)


def _shows(study, settings, section):
    return section in study.sections_of(settings)


def functions_of(section, settings):
    figures = [figure.draw for figure in section.figures]
    return [*figures, *(table.build for table in section.tables)]


def test_its_name_is_that_of_its_folder_and_its_block(study):
    assert study.folder.name == study.name
    assert load(f"{study.module}:STUDY") is study
    assert isinstance(block(study.name), study.settings)


def test_every_result_table_has_a_schema_and_is_asked_for(study):
    assert study.results == tuple(schemas_of(study))
    asked = {name for it in blocks(study.name) for name in study.results_of(it)}
    assert asked == set(study.results)


def test_points_are_plain_and_have_labels_for_files(study):
    points = study.points(block(study.name), ["A", "B"])
    assert points
    for label, point in points.items():
        assert LABEL.fullmatch(label)
        assert yaml.safe_load(yaml.safe_dump(dict(point))) == dict(point)
        for path in point.get("inputs", {}).values():
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in PurePosixPath(path).parts
    assert all("{point}" in path for path in study.files_of_points().values())
    codes = codes_of_points(study, points)
    assert set(codes) == {point.get("plays", f"study {study.name}") for point in points.values()}


def test_its_functions_are_there_and_take_what_the_jobs_give(study):
    for reference in filter(None, (study.run, study.collect)):
        assert len(inspect.signature(load(reference)).parameters) == 3, reference
    assert len(inspect.signature(load(study.read)).parameters) == 1


def test_what_shows_a_section_is_there_and_takes_what_its_job_gives(shown):
    section, study, settings = shown
    assert settings is not None, "no shipped config shows it"
    seen = {figure.draw for figure in section.figures if figure.place != "file"}
    for reference in functions_of(section, settings):
        taken = list(inspect.signature(load(reference)).parameters)
        assert taken[3:] == ["narrow"] * (reference in seen), reference
    assert set(section.results) <= set(study.results)
    assert code_of_shown(study, section)


def test_names_of_files_and_sections_are_its_own():
    results = chain.from_iterable(load_study(name).results for name in STUDIES)
    sections = [(section, block(name)) for name, section in SECTIONS]
    figures = (it.name for section, settings in sections for it in section.figures)
    tables = (it.name for section, _ in sections for it in section.tables)
    for names in map(list, (results, figures, tables, (it.name for it, _ in sections))):
        assert len(set(names)) == len(names)


def test_its_texts_are_sentences(shown):
    section, *_ = shown
    assert section.about.endswith(".")
    for figure in section.figures:
        assert figure.description.endswith(".")
        assert figure.title[0].isupper()


def test_a_section_is_shown_only_where_its_results_are_asked_for():
    main = load_study("hospitals")
    plain = block("hospitals").model_copy(update={"comparison": None, "replayed": False})
    assert main.results_of(plain) == ("summary", "ranking", "cumulative")
    names = [section.name for section in main.sections_of(plain)]
    assert names == ["privacy-utility", "noise-costs", "average-gain"]
