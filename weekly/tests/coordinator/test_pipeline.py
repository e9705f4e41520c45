"""The commands decide as the pipeline does, from the same noisy numbers."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.meta import RWMeta
from dpol.experts.play import observations, play_rounds, setup_of
from dpol.experts.registry import make_members
from dpol.noise import NoisyGains
from dpol.privacy.guarantee import NO_PRIVACY
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.noise import CountNoise
from weekly import MU, agreed, coordinates, date, released

RIDGE = {"algorithm": "ridge", "windows": [8], "penalties": {"medium": 1.0}}
LEVEL = {"algorithm": "kalman", "models": [{"process_variance": 1e-3, "persistence": 0.9}]}
PLAYED = ["empirical-bayes", "random-effects", "rw-ftpl", RIDGE, "rw-meta"]


def panel(weeks=12, n=9, seed=3):
    """(T, n) counts and capacities of hospitals that differ and move."""
    rng = np.random.default_rng(seed)
    capacity = np.round(rng.uniform(15, 300, n)) * np.ones((weeks, 1))
    capacity[weeks // 2 :, 0] += 3
    level = 0.15 + 0.1 * np.sin(np.arange(weeks) / 5)[:, None]
    share = level + rng.normal(0, 0.005, n) + rng.normal(0, 0.04, (weeks, n)).cumsum(axis=0) / 2
    return np.round(np.clip(share, 0, 1) * capacity), capacity


def noisy_gains(noisy, capacity):
    """The noisy numbers as the pipeline has them."""
    scale = CountNoise(MU).standard_deviation / capacity
    n = capacity.shape[1]
    z = replicate_generators(0, ("test",), [0], "initial noise").standard_normal(n)
    return NoisyGains(
        initial=z * scale[0],
        gains=(noisy / capacity)[None],
        noise_scale=scale,
        gain_range=1.0,
        guarantee=NO_PRIVACY,
        capacity=capacity,
    )


NAMES = [f"H{k:03}" for k in range(400)]


def collected(folder, counts, capacity, **options):
    """The noisy counts that a coordinator has collected in a folder."""
    names = NAMES[: capacity.shape[1]]
    return released(folder, agreed(folder, names), counts, capacity, names, **options)


def compared(template, folder, algorithm, noisy, capacity, weeks):
    """Decisions of the commands and of the pipeline, for some weeks from the second on."""
    names = NAMES[: capacity.shape[1]]
    shutil.copytree(template, folder, dirs_exist_ok=True)
    state = folder / "coordinator"
    coordinates(state, algorithm=algorithm)
    (member,) = make_members(algorithm)
    played = played_by(member.algorithm, noisy_gains(noisy, capacity))
    named = [names.index(decide(state, date(week)).named[0]) for week in weeks]
    return named, [played[week] for week in weeks]


def played_by(algorithm, source):
    """Actions of the pipeline; of RW-Meta, which draws some, from the keys that decisions state."""
    if not isinstance(algorithm, RWMeta):
        generators = replicate_generators(1, ("unused",), [0], "unused")
        return play_rounds(algorithm, source, generators)[0]
    # A live game does not know how long it will be, so it draws no numbers ahead.
    state, actions = algorithm.init(replace(setup_of(source), n_rounds=0)), []
    for number, seen in enumerate([None, *observations(source)][: source.n_rounds]):
        generators = replicate_generators(0, ("test", number), [0], "decision")
        state, chosen = algorithm.step(state, seen, generators)
        actions.append(int(chosen[0]))
    return actions


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder of two holders' weekly reports, and their noisy counts."""
    folder = tmp_path_factory.mktemp("template")
    return folder, collected(folder, *panel(), holders=2)


@pytest.mark.parametrize("algorithm", [*PLAYED, LEVEL, "bayesian-average", "persistence"], ids=str)
def test_decisions_are_the_pipelines(template, tmp_path, algorithm):
    folder, noisy = template
    named, played = compared(folder, tmp_path, algorithm, noisy, panel()[1], range(1, 12))
    assert named == played
    assert len(set(played)) > 1, "a test that any constant passes"
    check(tmp_path / "coordinator", date(11))
