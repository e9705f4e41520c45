"""Decisions of the commands are those of the pipeline, from the same noisy numbers."""

from __future__ import annotations

import datetime
import shutil
from dataclasses import replace

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.meta import RWMeta
from dpol.experts.play import observations, play_rounds, setup_of
from dpol.experts.registry import make_members
from dpol.noise import NoisyGains
from dpol.privacy.chains import Chains
from dpol.privacy.guarantee import NO_PRIVACY
from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.noise import CountNoise
from releases import output, record
from weekly import MU, agreed, coordinates, day, released

RIDGE = {"algorithm": "ridge", "windows": [8], "penalties": {"medium": 1.0}}
LEVEL = {"algorithm": "kalman", "models": [{"process_variance": 1e-3, "persistence": 0.9}]}
LOCAL = ["empirical-bayes", "random-effects", "rw-ftpl", RIDGE, "rw-meta"]
READS_MEMORY = ["empirical-bayes", "random-effects", "rw-ftpl"]
PLAYED = [*((it, False) for it in LOCAL), *((it, True) for it in READS_MEMORY)]
"""Algorithms, and whether the noise has memory."""


def panel(weeks=12, n=9, seed=3):
    """(T, n) counts and capacities of hospitals that differ and move."""
    rng = np.random.default_rng(seed)
    capacity = np.round(rng.uniform(15, 300, n)) * np.ones((weeks, 1))
    capacity[weeks // 2 :, 0] += 3
    level = 0.15 + 0.1 * np.sin(np.arange(weeks) / 5)[:, None]
    share = level + rng.normal(0, 0.005, n) + rng.normal(0, 0.04, (weeks, n)).cumsum(axis=0) / 2
    return np.round(np.clip(share, 0, 1) * capacity), capacity


def noisy_gains(folder, names, capacity, memory):
    """The noisy numbers as the pipeline has them."""
    weeks, n = capacity.shape
    gains, chains = np.full((weeks, n), np.nan), {}
    for holder in folder.glob("holder-*"):
        for row in output(holder):
            number = [day(it) for it in range(weeks)].index(row["period"])
            gains[number, names.index(row["entity"])] = float(row["noisy_share"])
        for part in record(holder).get("chains", ()):
            chains[part["entity"]] = part
    scale, kept = CountNoise(MU).standard_deviation / capacity, None
    fresh = None
    if memory:
        parts = [chains[name] for name in names]
        kept = Chains(*(np.array([part[key] for part in parts]) for key in "ab"))
        steps = np.array([part["scale"] / 10.0 ** part["decimals"] for part in parts])
        fresh = steps / capacity
        scale = fresh * kept.deviations(weeks, n)
    z = replicate_generators(0, ("test",), [0], "initial noise").standard_normal(n)
    gains = gains[None]
    more = {"memory": kept, "fresh_scale": fresh, "capacity": capacity}
    return NoisyGains(
        initial=z * scale[0],
        gains=gains,
        noise_scale=scale,
        gain_range=1.0,
        guarantee=NO_PRIVACY,
        **more,
    )


NAMES = [f"H{it:03}" for it in range(400)]


def collected(folder, counts, capacity, memory, **options):
    """A folder with the coordinator's, into which holders have reported."""
    kind = {"memory": "designed"} if memory else {}
    names = NAMES[: capacity.shape[1]]
    deployment = agreed(folder, names, noise=kind)
    list(released(folder, deployment, counts, capacity, names, **options))
    return folder


def compared(template, folder, algorithm, capacity, memory):
    """Decisions of the commands and of the pipeline, for each week from the second on."""
    names = NAMES[: capacity.shape[1]]
    shutil.copytree(template, folder, dirs_exist_ok=True)
    state = folder / "coordinator"
    kind = {"memory": "designed"} if memory else {}
    collect([], state, agreed(folder, names, noise=kind))
    coordinates(state, algorithm=algorithm)
    (member,) = make_members(algorithm)
    played = played_by(member.algorithm, noisy_gains(folder, names, capacity, memory))
    days = [datetime.date.fromisoformat(day(it)) for it in range(1, len(capacity))]
    return [names.index(decide(state, it).named[0]) for it in days], list(played[1:])


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
def templates(tmp_path_factory):
    """Folders of two holders' weekly reports, without and with memory of the noise."""
    return [
        collected(tmp_path_factory.mktemp("template"), *panel(), memory, holders=2)
        for memory in (False, True)
    ]


@pytest.mark.parametrize(
    ("algorithm", "memory"),
    [*PLAYED, *((it, False) for it in (LEVEL, "bayesian-average", "persistence"))],
    ids=str,
)
def test_decisions_are_the_pipelines(templates, tmp_path, algorithm, memory):
    named, played = compared(templates[memory], tmp_path, algorithm, panel()[1], memory)
    assert len(played) == 11
    assert named == played
    assert len(set(played)) > 1, "a test that any constant passes"
    check(tmp_path / "coordinator", datetime.date.fromisoformat(day(11)))
