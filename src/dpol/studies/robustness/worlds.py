"""Simulated worlds, in some of which our method loses: hospitals whose best one changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.noise import find_noise
from dpol.noise.noisy_gains import NoisyGains, privatize
from dpol.studies.comparison.standings import OUR_METHOD, strongest
from dpol.studies.robustness.settings import Part, RobustnessPoint
from dpol.studies.robustness.systems import gained_by, local_systems
from dpol.studies.study import Inputs
from dpol.studies.verdicts import verdicts_on

SEED, WEEKS, N = 1, 100, 15
"""Seed of the streams and their noise, which a run's seed does not change; rounds; hospitals."""

Maker = Callable[[np.random.Generator, int], Floats]
"""Returns the mean shares of some streams, (n_streams, WEEKS, N)."""
BEDS = np.geomspace(13, 400, N).round()
"""Beds of the hospitals of most worlds, the smallest first."""


def hospitals(
    rng: np.random.Generator,
    n_streams: int,
    *,
    wave: float = 0.35,
    lasting: float = 0.2,
    fading: float = 0.3,
) -> Floats:
    """Return the mean share of beds with COVID patients, (n_streams, WEEKS, N), near 0.12.

    Args:
        rng: generator.
        n_streams: number of streams.
        wave: standard deviation of the log of the level that all hospitals share.
        lasting: standard deviation of each hospital's lasting effect on the log of its share.
        fading: standard deviation of a deviation of this log, of which 0.85 is left a week later.
    """
    week, periods = np.arange(WEEKS), rng.uniform(15, 60, (n_streams, 3, 1))
    cycles = np.sin(2 * np.pi * (week / periods + rng.random((n_streams, 3, 1)))).sum(axis=1)
    level = wave * np.sqrt(2 / 3) * cycles[:, :, None]
    effect = lasting * rng.standard_normal((n_streams, 1, N))
    deviation = fading * rng.standard_normal((n_streams, WEEKS, N))
    for t in range(1, WEEKS):
        deviation[:, t] = 0.85 * deviation[:, t - 1] + np.sqrt(1 - 0.85**2) * deviation[:, t]
    return np.asarray(0.12 * np.exp(level + effect + deviation))


def with_best(who: Callable[[int], int | None]) -> Maker:
    """Return a maker of worlds in which `who(week)`, if anybody, is 0.1 to 0.3 above the others."""

    def made(rng: np.random.Generator, n_streams: int) -> Floats:
        shares, advantage = hospitals(rng, n_streams), rng.uniform(0.1, 0.3, n_streams)
        for week in range(WEEKS):
            best = who(week)
            if best is not None:
                shares[:, week, best] += advantage
        return shares

    return made


def falling(rng: np.random.Generator, n_streams: int) -> Floats:
    """Return shares that fall to a tenth in the second half."""
    return hospitals(rng, n_streams) * np.where(np.arange(WEEKS) < WEEKS // 2, 1.0, 0.1)[:, None]


def full(rng: np.random.Generator, n_streams: int) -> Floats:
    """Return shares of a hospital that is full as long as it is small (`SHRINKING`)."""
    shares = hospitals(rng, n_streams)
    shares[:, SHRUNK, SHRINKS] = 1.0
    return shares


SHRINKS, SHRUNK = 4, slice(40, 80)
SHRINKING = np.tile(BEDS, (WEEKS, 1))
SHRINKING[SHRUNK, SHRINKS] = 3
"""Beds, (WEEKS, N), of hospitals of which one has 3 beds for a while."""

smallest = with_best(lambda week: 0)
WORLDS: dict[str, tuple[Maker, Floats]] = {
    "beds from 13 to 400": (hospitals, BEDS),
    "beds from 5 to 3,000": (hospitals, np.geomspace(5, 3000, N).round()),
    "heavy waves": (lambda rng, n: hospitals(rng, n, wave=1.0), BEDS),
    "levels fall to a tenth": (falling, BEDS),
    "all hospitals alike": (lambda rng, n: hospitals(rng, n, lasting=0, fading=0), BEDS),
    "the largest stays best": (with_best(lambda week: N - 1), BEDS),
    "the middle one stays best": (with_best(lambda week: N // 2), BEDS),
    "the best changes twice": (with_best(lambda week: (0, N // 2, N - 1)[3 * week // WEEKS]), BEDS),
    "the smallest is best in the second half": (
        with_best(lambda week: 0 if week >= WEEKS // 2 else None),
        BEDS,
    ),
    "the smallest stays best": (smallest, BEDS),
    "the smallest, of 3 beds, stays best": (smallest, np.append(3.0, BEDS[1:])),
    "one shrinks to 3 beds": (hospitals, SHRINKING),
    "one shrinks to 3 beds, and is full": (full, SHRINKING),
}
"""Makers of mean shares, and beds, (N,) or (WEEKS, N), by the name of the world."""


@cache
def streams_of(world: str, n_streams: int) -> tuple[GainStream, Floats]:
    """Return a stream of a world without patients, and the gains of all, (n_streams, WEEKS, N)."""
    shares, beds = WORLDS[world]
    beds = np.broadcast_to(beds, (WEEKS, N))
    rng = np.random.default_rng(seed_sequence(SEED, ("worlds", world)))
    patients = np.minimum(rng.poisson(np.minimum(shares(rng, n_streams), 1) * beds), beds)
    empty = GainStream(
        label=world,
        gains=np.zeros((WEEKS, N)),
        capacity=beds,
        entities=tuple(map(str, range(N))),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(WEEKS),
    )
    return empty, patients / beds


def noisy_world(world: str, mu: float, n_streams: int, noise: str = "capacity") -> NoisyGains:
    """Return the noisy gains of a world: a run is a stream."""
    empty, gains = streams_of(world, n_streams)
    noisy = privatize(empty, noise, mu, seed=SEED, replicates=n_streams)
    if find_noise(noise).mechanism is None:  # noise by its scale does not depend on gains
        return dataclasses.replace(noisy, gains=noisy.gains + gains)
    own = [
        privatize(dataclasses.replace(empty, gains=raw), noise, mu, seed=SEED, replicates=[run])
        for run, raw in enumerate(gains)
    ]
    return dataclasses.replace(noisy, gains=np.concatenate([each.gains for each in own]))


def play_worlds(block: Part, point: RobustnessPoint, inputs: Inputs) -> pd.DataFrame:
    """Play the local systems of a level in all worlds; a row for each system and world."""
    tables = []
    for world in WORLDS:
        empty, gains = streams_of(world, block.replicates)
        rows = local_systems(point.settings, empty, point.mu).assign(stream=world)
        names = rows["noise"].unique()
        games = {it: noisy_world(world, point.mu, block.replicates, it) for it in names}
        gained, possible = gained_by(rows, games, gains)
        shares = gained / possible.mean()
        ahead = (shares - shares[rows["role"] == OUR_METHOD]).T
        lead = ahead.mean(axis=0)
        half = half_width(ahead, point.confidence, len(WORLDS) * len(block.mus) * (len(rows) - 1))
        tables.append(
            rows.drop(columns="member").assign(
                gain_share=shares.mean(axis=1),
                strongest=strongest,
                to_ours=lead,
                to_ours_half_width=half,
                to_ours_verdict=verdicts_on(lead, half, [False] * len(half)),
            )
        )
    return pd.concat(tables, ignore_index=True)
