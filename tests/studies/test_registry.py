"""Checks of every study and every section, whatever they compute."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from dpol.checks.studies import CHECKS, points_are_plain
from dpol.config.experiment import load_experiment
from dpol.studies.registry import STUDIES, load_study

ROOT = Path(__file__).parents[2]
CONFIGS = [load_experiment(ROOT / "config/beyond.yaml").config]
CONFIGS += [load_experiment(path).config for path in sorted(ROOT.glob("config/*.yaml"))]
ASKED = {name: next(it for it in CONFIGS if it.block(name) is not None) for name in STUDIES}
"""A shipped config that asks for a study; beyond.yaml asks most of the main experiment."""
SECTIONS = [(name, it) for name in STUDIES for it in load_study(name).every_section()]


def block(name):
    return ASKED[name].block(name)


def runs_of(name):
    """The settings of a study, and the facts, in all shipped configs that ask for it."""
    return [(it.block(name), it.facts) for it in CONFIGS if it.block(name) is not None]


@pytest.fixture(params=STUDIES)
def study(request: pytest.FixtureRequest):
    return load_study(request.param)


@pytest.fixture(params=SECTIONS, ids=lambda it: it[1].name)
def shown(request: pytest.FixtureRequest):
    """A section and its study."""
    name, section = request.param
    return section, load_study(name)


def test_its_name_is_that_of_its_folder_and_its_block(study):
    assert study.folder.name == study.name
    assert isinstance(block(study.name), study.settings)


@pytest.mark.parametrize("check", CHECKS)
def test_it_passes_the_checks(study, check):
    CHECKS[check](study)


def test_every_result_table_is_asked_for(study):
    asked = {it for asked in runs_of(study.name) for it in study.results_of(*asked)}
    assert asked == set(study.results)


def test_points_are_plain_and_have_labels_for_files(study):
    points_are_plain(study, block(study.name))
    assert study.points(block(study.name), ASKED[study.name].facts)


def test_every_section_is_shown_by_a_config(shown):
    section, study = shown
    found = [it for asked in runs_of(study.name) for it in study.sections_of(*asked)]
    assert section in found, "no shipped config shows it"


def test_names_of_files_and_sections_are_its_own():
    results = chain.from_iterable(load_study(name).results for name in STUDIES)
    sections = [(section, block(name)) for name, section in SECTIONS]
    figures = (it.name for section, settings in sections for it in section.figures)
    tables = (it.name for section, _ in sections for it in section.tables)
    for names in map(list, (results, figures, tables, (it.name for it, _ in sections))):
        assert len(set(names)) == len(names)


def test_a_section_is_shown_only_where_its_results_are_asked_for():
    main = load_study("games")
    plain, facts = block("games"), replace(ASKED["games"].facts, replayed=False)
    assert main.results_of(plain, facts) == ("summary", "totals", "ranking", "cumulative")
    names = [section.name for section in main.sections_of(plain, facts)]
    assert names == ["privacy-utility", "noise-costs", "average-gain"]
