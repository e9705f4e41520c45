"""The grid of jobs that a config stands for, and the configs that are shipped."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from dpol.__main__ import main
from dpol.config.experiment import load_experiment, parse_experiment
from dpol.core.errors import ConfigError
from dpol.core.yaml_files import read_yaml
from dpol.noise import find_noise
from dpol.studies.games import study
from dpol.studies.games.settings import GamePoint
from small_config import changed

CONFIG = Path(__file__).parents[2] / "config"
SHIPPED = sorted(CONFIG.glob("*.yaml"))
SIMULATED = yaml.safe_load((CONFIG / "simulated.yaml").read_text(encoding="utf-8"))


def experiment(**changes):
    """The config of simulated hospitals with some blocks replaced."""
    return parse_experiment({**copy.deepcopy(SIMULATED), **changes}, "simulated")


def tiny(**changes):
    """One stream, one local suite of two noises, one without privacy, two levels."""
    blocks = {
        "streams": {"NM": {"groups": ["NM"]}},
        "privacy": {"levels": [math.inf, 0.25]},
        "suites": {
            "noisy": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-ftpl", "ridge"]},
            "open": {"algorithms": ["follow-the-leader"]},
        },
        "report": {"algorithms": ["rw-ftpl"]},
    }
    return experiment(**{**blocks, **changes})


def jobs(made):
    """The jobs of games: stream, level, suite and block, each with its points."""
    found = study.jobs(made.games, made.facts)
    return {tuple(place.split("/")): job for place, job in found.items()}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_config_is_good_for_editors_too_and_is_shown_as_a_whole(path, capsys):
    """Ours has the privacy of the baseline for every stay; the shown config makes the same run."""
    loaded = load_experiment(path)
    assert 0 < len(jobs(loaded)) < 2_000
    ours = loaded.comparison.ours
    assert ours is None or find_noise(ours.noise).memory == "none"
    schema = json.loads((CONFIG / "schema.json").read_text(encoding="utf-8"))
    written = json.loads(json.dumps(read_yaml(path), default=str))  # dates as texts
    assert not [*Draft202012Validator(schema).iter_errors(written)]
    main(["config", "show", str(path)])
    whole = yaml.safe_load(capsys.readouterr().out)
    assert "like" not in str(whole)
    assert parse_experiment(whole, "shown") == loaded


def test_a_dataset_is_completed_from_that_of_another_config():
    own = {"like": "states", "cleaning": {"capacity_zero": "error"}, "readings": {}}
    made = experiment(dataset=own, streams={"like": "states", "NM": {"title": "ours"}})
    states = load_experiment(CONFIG / "states.yaml")
    assert made.dataset.cleaning.capacity_zero == "error"
    assert made.dataset.cleaning.case_factor == states.dataset.cleaning.case_factor
    assert made.dataset.readings == {}
    assert made.dataset.columns == states.dataset.columns
    assert list(made.streams) == list(states.streams)
    assert made.streams["NM"].groups == ["NM"]
    assert made.streams["NM"].title == "ours"


def test_a_dataset_like_that_of_no_config_is_refused():
    with pytest.raises(ConfigError, match="dataset.*no config state comes with dpol; did you mean"):
        experiment(dataset={"like": "state"})


def test_jobs_come_in_the_order_of_the_config():
    """A suite without privacy runs once, at the level without noise, whatever noises it names."""
    suites = tiny().model_dump()["suites"]
    suites["open"]["noises"] = ["isotropic", "capacity"]
    assert list(jobs(tiny(privacy={"levels": [2, math.inf, 0.25]}, suites=suites))) == [
        ("NM", "mu-2", "noisy", "0-99"),
        ("NM", "mu-inf", "noisy", "0-99"),
        ("NM", "mu-0.25", "noisy", "0-99"),
        ("NM", "mu-inf", "open", "0-99"),
    ]


def test_a_job_holds_just_what_it_depends_on():
    made = tiny(replicates=10)
    job = jobs(made)["NM", "mu-0.25", "noisy", "0-9"]
    isotropic, capacity = job.points
    assert replace(isotropic, noise="capacity") == capacity
    assert capacity == GamePoint(
        suite="noisy",
        algorithms=("rw-ftpl", "ridge"),
        noise="capacity",
        mu=0.25,
        block=(0, 9),
        memory="designed",
        keep_rounds=False,
    )
    assert job.inputs == {"stream": "streams/NM.parquet"}
    assert {"dpol.experts.ftpl", "dpol.experts.learners.ridge"} <= {*job.code}


def test_each_stream_is_played_under_each_question():
    questions = {"share": {}, "large": {"min_capacity": 50, "title": "of the large"}}
    streams = {state: {"groups": [state], "reported_as": state} for state in ("NM", "PA")}
    made = tiny(streams=streams, questions=questions)
    assert list(made.played) == ["NM-share", "NM-large", "PA-share", "PA-large"]
    large = made.played["PA-large"]
    assert (large.stream, large.title, large.gain.min_capacity) == ("PA", "PA, of the large", 50)
    assert made.facts.reported == {"NM": "NM", "PA": "PA"}
    assert not made.facts.asks_the_papers
    assert {stream for stream, *_ in jobs(made)} == set(made.played)
    assert list(tiny().played) == ["NM"]


PAPERS = yaml.safe_load((CONFIG / "paper.yaml").read_text(encoding="utf-8"))


def papers_with(**changes):
    """The config of the paper's states, with other values at some places."""
    return parse_experiment(changed(changes, of=PAPERS), "paper.yaml")


@pytest.mark.parametrize(
    "changes",
    [
        {"gain": {"of": "count", "bound": 300}},
        {"gain": {"min_capacity": 20}},
        {"gain": {"at_most": 2}},
        {"questions": {"one": {}, "two": {"min_capacity": 20}}},
        {"dataset.columns.count": "adult_patients"},
        {"dataset.columns.capacity": "adult_beds"},
        {"dataset.columns.cases": None},
        {"dataset.cleaning.min_total_cases": 50},
        {"dataset.cleaning.case_factor": 7},
        {"privacy.count_sensitivity": 4},
        {"privacy.count_sensitivity": 0.5},
        {"privacy.unit.weeks": 4, "suites": {"local": {"algorithms": ["rw-ftpl"]}}, "report": {}},
    ],
)
def test_another_question_is_not_the_papers(changes):
    assert papers_with().facts.asks_the_papers
    same = {"gain": {"title": "Fullest"}, "dataset.cleaning.max_carry": 1}
    assert papers_with(**same).facts.asks_the_papers
    assert not papers_with(**changes).facts.asks_the_papers
