"""The grid of jobs that a config stands for, and the configs that are shipped."""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpol.config.experiment import Job, load_experiment, parse_experiment

CONFIG = Path(__file__).parents[2] / "config"
SHIPPED = sorted(CONFIG.glob("*.yaml"))
DEMO = yaml.safe_load((CONFIG / "demo.yaml").read_text(encoding="utf-8"))


def experiment(**changes):
    """The demo with some blocks replaced."""
    return parse_experiment({**copy.deepcopy(DEMO), **changes}, "demo")


def tiny(**changes):
    """One stream, one local suite of two noises, one without privacy, two levels."""
    blocks = {
        "streams": {"NM": {"groups": ["NM"]}},
        "privacy": {"levels": {"none": math.inf, "high": 0.25}},
        "suites": {
            "noisy": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-ftpl", "ridge"]},
            "open": {"algorithms": ["follow-the-leader"]},
        },
        "report": {"algorithms": ["rw-ftpl"]},
    }
    return experiment(**{**blocks, **changes})


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_config_is_good_and_has_jobs(path):
    jobs = list(load_experiment(path).jobs())
    assert 0 < len(jobs) < 2_000
    assert len(set(jobs)) == len(jobs)


def test_the_demo_has_87_jobs():
    # A stream: 3 noises x 4 levels, 1 x 4 batched, 2 x 4 central, 1 x 4 lazy, 1 at .inf only.
    demo = load_experiment(CONFIG / "demo.yaml")
    by_suite = Counter((job.stream, job.suite) for job in demo.jobs())
    sizes = {"local": 12, "batched": 4, "central": 8, "lazy": 4, "non-private": 1}
    expected = {(s, suite): k for s in ("NM", "PA", "CA") for suite, k in sizes.items()}
    assert by_suite == expected
    assert sum(by_suite.values()) == 87


def test_jobs_come_in_the_order_of_the_config():
    assert list(tiny().jobs()) == [
        Job(stream="NM", suite="noisy", noise="isotropic", level="none", block=0),
        Job(stream="NM", suite="noisy", noise="isotropic", level="high", block=0),
        Job(stream="NM", suite="noisy", noise="capacity", level="none", block=0),
        Job(stream="NM", suite="noisy", noise="capacity", level="high", block=0),
        Job(stream="NM", suite="open", noise="none", level="none", block=0),
    ]


def test_a_suite_without_privacy_runs_at_the_level_without_noise_only():
    levels = {"low": 2, "off": math.inf, "high": 0.5}
    jobs = tiny(privacy={"levels": levels}).jobs()
    assert [job.level for job in jobs if job.suite == "open"] == ["off"]


def test_noises_are_ignored_without_privacy():
    suites = tiny().config.model_dump()["suites"]
    suites["open"]["noises"] = ["isotropic", "capacity"]
    assert sum(job.suite == "open" for job in tiny(suites=suites).jobs()) == 1


def test_the_model_of_a_suite_is_that_of_its_algorithms():
    demo = experiment()
    models = {suite: demo.model(suite) for suite in ("local", "central", "non-private")}
    assert models == {"local": "local", "central": "central", "non-private": "none"}


def test_replicates_10_in_blocks_of_3_are_0_to_2_3_to_5_6_to_8_and_9():
    made = tiny(replicates=10, block_replicates=3)
    blocks = sorted({job.block for job in made.jobs()})
    held = [list(made.replicates(block)) for block in blocks]
    assert held == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert len(list(made.jobs())) == 5 * 4


@pytest.mark.parametrize("block", [None, 10, 1_000])
def test_one_block_holds_all_replicates_if_it_can(block):
    made = tiny(replicates=10, block_replicates=block)
    assert {job.block for job in made.jobs()} == {0}
    assert made.replicates(0) == range(10)


@given(replicates=st.integers(1, 300), block=st.integers(1, 400))
def test_blocks_hold_every_replicate_once_and_none_is_empty(replicates, block):
    made = tiny(replicates=replicates, block_replicates=block)
    blocks = [job.block for job in made.jobs() if job.suite == "open"]
    held = [list(made.replicates(number)) for number in blocks]
    assert list(itertools.chain(*held)) == list(range(replicates))
    assert all(0 < len(numbers) <= block for numbers in held)


def test_members_carry_their_label_family_and_algorithm():
    spec = {"algorithm": "rw-meta", "label": "careful", "exploration_floor": 0.5}
    made = tiny(
        suites={"noisy": {"algorithms": ["ridge", spec]}}, report={"algorithms": ["careful"]}
    )
    members = {member.label: member for member in made.members["noisy"]}
    assert members["careful"].family == "rw-meta"
    assert members["careful"].algorithm.exploration_floor == 0.5
    assert {member.family for label, member in members.items() if label != "careful"} == {"ridge"}
    assert len(members) > 2, "a family has several members"


def test_the_benchmark_runs_all_of_the_papers_config_on_the_panel():
    paper, panel, full = (
        yaml.safe_load((CONFIG.parent / path).read_text(encoding="utf-8"))
        for path in ("config/config.yaml", "config/panel.yaml", "benchmarks/full.yaml")
    )
    assert full == {**paper, "run": "full", "dataset": panel["dataset"]}
    load_experiment(CONFIG.parent / "benchmarks/full.yaml")
