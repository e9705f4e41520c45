"""The commands decide as the pipeline does, from the same noisy numbers."""

from __future__ import annotations

import numpy as np

from dpol.core.randomness import replicate_generators
from dpol.experts.play import play_rounds
from dpol.experts.registry import make_members
from dpol.noise import NoisyGains
from dpol.privacy.guarantee import NO_PRIVACY
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.noise import CountNoise
from weekly import MU, agreed, date, released


def panel(weeks=12, n=9, seed=3):
    """(T, n) counts and capacities of hospitals that differ and move."""
    rng = np.random.default_rng(seed)
    capacity = np.round(rng.uniform(15, 300, n)) * np.ones((weeks, 1))
    capacity[weeks // 2 :, 0] *= 3
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


def compared(folder, noisy, capacity, weeks):
    """Decisions of the commands and of the pipeline, for some weeks from the second on."""
    names, state = NAMES[: capacity.shape[1]], folder / "coordinator"
    (member,) = make_members("random-effects")
    generators = replicate_generators(1, ("unused",), [0], "unused")
    played = play_rounds(member.algorithm, noisy_gains(noisy, capacity), generators)[0]
    named = [names.index(decide(state, date(week)).named[0]) for week in weeks]
    assert len(set(named)) > 1, "a test that any constant passes"
    return named, [played[week] for week in weeks]


def test_decisions_are_the_pipelines(tmp_path):
    noisy = collected(tmp_path, *panel(), holders=2)
    named, played = compared(tmp_path, noisy, panel()[1], range(1, 12))
    assert named == played
    check(tmp_path / "coordinator", date(11))
