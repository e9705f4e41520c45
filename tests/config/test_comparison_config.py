"""What a `comparison` block may name: systems that are played, and levels that are there."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from dpol.config.experiment import parse_experiment
from dpol.core.errors import ConfigError

GOOD: dict[str, Any] = yaml.safe_load("""
run: small
seed: 1
dataset:
  source: {kind: simulated, hospitals: {A: 5}, weeks: 10}
  columns: {entity: hospital, period: week, group: state, count: patients, capacity: beds}
streams: {one: {groups: [A]}}
privacy: {levels: {none: .inf, high: 0.25}}
suites:
  paper: {algorithms: [rw-meta, ridge]}
  ours: {noises: [capacity], algorithms: [empirical-bayes, kalman, rw-ftpl]}
  both:
    noises: [capacity, isotropic-worst-case]
    algorithms: [{algorithm: ridge, windows: [5]}, {algorithm: rw-meta, label: careful}]
  trusted: {algorithms: [tree-ftpl-min-noise]}
  open: {algorithms: [follow-the-leader]}
comparison:
  paper: {algorithm: rw-meta, noise: isotropic, learners: ridge}
  ours: {algorithm: empirical-bayes, noise: capacity, learners: kalman}
  ablations: [{algorithm: rw-ftpl, noise: capacity, learners: kalman}]
  aims:
    - {ours: high, against: paper, at: none}
    - {ours: high, against: best-learner, at: none}
report: {algorithms: [rw-ftpl], noise: capacity}
""")


def problems(*path: str | int, value: object) -> list[str]:
    """The lines of the message about GOOD with one value of its comparison changed."""
    raw = copy.deepcopy(GOOD)
    inner: Any = raw["comparison"]
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return problems_of(raw)


def problems_of(raw: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_experiment(raw, "my.yaml")
    return [line.strip() for line in str(caught.value).splitlines()[1:-1]]


def test_a_good_comparison_is_accepted() -> None:
    comparison = parse_experiment(GOOD, "my.yaml").config.comparison
    assert comparison is not None
    assert comparison.ours.learners == "kalman"
    assert [aim.against for aim in comparison.aims] == ["paper", "best-learner"]


def test_without_the_block_there_is_none() -> None:
    raw = {key: value for key, value in GOOD.items() if key != "comparison"}
    assert parse_experiment(raw, "my.yaml").config.comparison is None


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (
            ("paper", "algorithm"),
            "rw-mta",
            "comparison.paper.algorithm = 'rw-mta': no private suite plays it with isotropic"
            " noise; did you mean rw-meta?",
        ),
        (
            ("ours", "algorithm"),
            "rw-meta",
            "comparison.ours.algorithm = 'rw-meta': no private suite plays it with capacity noise",
        ),
        (
            ("ours", "algorithm"),
            "follow-the-leader",
            "comparison.ours.algorithm = 'follow-the-leader': no private suite plays it with"
            " capacity noise",
        ),
        (
            ("ours", "algorithm"),
            "family kalman",
            "comparison.ours.algorithm = 'family kalman': ",
        ),
        (
            ("ablations", 0, "learners"),
            "rw-meta-kalman",
            "comparison.ablations[0].learners = 'rw-meta-kalman': no private suite plays this"
            " family with capacity noise",
        ),
        (
            ("paper", "learners"),
            "kalman",
            "comparison.paper.learners = 'kalman': no private suite plays this family with"
            " isotropic noise",
        ),
        (
            ("aims", 1, "at"),
            "mu-1",
            "comparison.aims[1].at = 'mu-1': must be a level of privacy: none, high",
        ),
        (
            ("aims", 0, "ours"),
            "low",
            "comparison.aims[0].ours = 'low': must be a level of privacy: none, high",
        ),
        (
            ("aims", 0, "against"),
            "tree",
            "comparison.aims[0].against = 'tree': must be 'paper' or 'best-learner'",
        ),
    ],
    ids=str,
)
def test_what_is_not_played_or_not_there_is_named(
    path: tuple[str | int, ...], value: object, line: str
) -> None:
    (found,) = problems(*path, value=value)
    assert found.startswith(line)


def test_the_papers_learners_are_needed_under_the_noise_of_every_system() -> None:
    raw = copy.deepcopy(GOOD)
    raw["suites"]["both"]["noises"] = ["isotropic-worst-case"]
    lines = [
        f"comparison.{place}.learners = 'ridge': no private suite plays this family with capacity"
        " noise"
        for place in ("ours", "ablations[0]")
    ]
    assert problems_of(raw) == lines


def test_noise_that_is_there_without_privacy_is_refused() -> None:
    system = {"algorithm": "careful", "noise": "isotropic-worst-case", "learners": "ridge"}
    assert problems("ablations", value=[system]) == [
        "comparison.ablations[0].noise = 'isotropic-worst-case': must have no noise at the"
        " level .inf"
    ]


def test_ours_must_not_be_the_papers_way() -> None:
    (line,) = problems("ours", value=GOOD["comparison"]["paper"])
    assert line == "comparison.ours = 'rw-meta': must differ from comparison.paper"


def test_a_level_without_noise_is_needed() -> None:
    raw = copy.deepcopy(GOOD)
    del raw["suites"]["open"]
    raw["privacy"]["levels"] = {"high": 0.25}
    raw["comparison"]["aims"] = []
    (line,) = problems_of(raw)
    assert line.startswith("privacy.levels = {'high': 0.25}: must have a level .inf: comparison")
