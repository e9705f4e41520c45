"""Record in which simulated worlds our learner loses to simpler ones, and whether by luck.

    python verify/worlds.py

Plays 200 streams of each world, 15 hospitals over 100 weeks, with `capacity` noise. Writes
verify/runs/worlds.csv: the share of the possible gain, and how often the smallest hospital is
named. Takes half a minute.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import dpol
from dpol.core.intervals import student_factor
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.experts.interface import Actions

SEED, STREAMS, WEEKS, N = 1, 200, 100, 15
MUS = (1.0, 0.5, 0.25, 0.1)
ALGORITHMS = ["random-effects", "rw-meta", "window-mean", "persistence", "rw-ftpl"]
SWITCH_AT = 1.5
"""Lead of RW-FTPL over ours, in standard errors of the noise, at which `switching` follows it."""
OURS, LEADER, SWITCHING = "random-effects", "rw-ftpl", "switching"
OUT = Path(__file__).parent / "runs" / "worlds.csv"

BEDS = np.geomspace(13, 400, N).round()
"""Beds of the hospitals of most worlds, the smallest first."""


def hospitals(
    rng: np.random.Generator, *, wave: float = 0.35, lasting: float = 0.2, fading: float = 0.3
) -> Floats:
    """Return the mean share of beds with COVID patients, (STREAMS, WEEKS, N), near 0.12.

    Args:
        rng: generator.
        wave: standard deviation of the log of the level that all hospitals share.
        lasting: standard deviation of each hospital's lasting effect on the log of its share.
        fading: standard deviation of a deviation of this log, of which 0.85 is left a week later.
    """
    week, periods = np.arange(WEEKS), rng.uniform(15, 60, (STREAMS, 3, 1))
    cycles = np.sin(2 * np.pi * (week / periods + rng.random((STREAMS, 3, 1)))).sum(axis=1)
    level = wave * np.sqrt(2 / 3) * cycles[:, :, None]
    effect = lasting * rng.standard_normal((STREAMS, 1, N))
    deviation = fading * rng.standard_normal((STREAMS, WEEKS, N))
    for t in range(1, WEEKS):
        deviation[:, t] = 0.85 * deviation[:, t - 1] + np.sqrt(1 - 0.85**2) * deviation[:, t]
    return np.asarray(0.12 * np.exp(level + effect + deviation))


def with_best(who: Callable[[int], int | None]) -> Callable[[np.random.Generator], Floats]:
    """Return a maker of worlds in which `who(week)`, if anybody, is 0.1 to 0.3 above the others."""

    def made(rng: np.random.Generator) -> Floats:
        shares, advantage = hospitals(rng), rng.uniform(0.1, 0.3, STREAMS)
        for week in range(WEEKS):
            best = who(week)
            if best is not None:
                shares[:, week, best] += advantage
        return shares

    return made


def falling(rng: np.random.Generator) -> Floats:
    """Return shares that fall to a tenth in the second half."""
    return hospitals(rng) * np.where(np.arange(WEEKS) < WEEKS // 2, 1.0, 0.1)[:, None]


def full(rng: np.random.Generator) -> Floats:
    """Return shares of a hospital that is full as long as it is small (`SHRINKING`)."""
    shares = hospitals(rng)
    shares[:, SHRUNK, SHRINKS] = 1.0
    return shares


SHRINKS, SHRUNK = 4, slice(40, 80)
SHRINKING = np.tile(BEDS, (WEEKS, 1))
SHRINKING[SHRUNK, SHRINKS] = 3
"""Beds, (WEEKS, N), of hospitals of which one has 3 beds for a while."""

smallest = with_best(lambda week: 0)
WORLDS: dict[str, tuple[Callable[[np.random.Generator], Floats], Floats]] = {
    "beds from 13 to 400": (hospitals, BEDS),
    "beds from 5 to 3,000": (hospitals, np.geomspace(5, 3000, N).round()),
    "heavy waves": (lambda rng: hospitals(rng, wave=1.0), BEDS),
    "levels fall to a tenth": (falling, BEDS),
    "all hospitals alike": (lambda rng: hospitals(rng, lasting=0, fading=0), BEDS),
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


def game(world: str, mu: float) -> tuple[dpol.NoisyGains, Floats]:
    """Return the noisy gains of a world and its gains, (STREAMS, WEEKS, N): a run is a stream."""
    shares, beds = WORLDS[world]
    beds = np.broadcast_to(beds, (WEEKS, N))
    rng = np.random.default_rng(seed_sequence(SEED, ("worlds", world)))
    patients = np.minimum(rng.poisson(np.minimum(shares(rng), 1) * beds), beds)
    gains = patients / beds
    # Noise does not depend on gains, so a stream of zeros has the noise of all 200 streams.
    zeros = GainStream(
        label=world,
        gains=np.zeros((WEEKS, N)),
        capacity=beds,
        entities=tuple(map(str, range(N))),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(WEEKS),
    )
    noisy = dpol.privatize(zeros, "capacity", mu, seed=SEED, replicates=STREAMS)
    return dataclasses.replace(noisy, gains=noisy.gains + gains), gains


def rows_of(world: str, mu: float) -> pd.DataFrame:
    """Return a row for each algorithm: its share of the possible gain, and what it names."""
    noisy, gains = game(world, mu)
    beds = np.broadcast_to(WORLDS[world][1], (WEEKS, N))
    uniform, best = gains.mean(axis=2).sum(axis=1), gains.max(axis=2).sum(axis=1)
    possible, gained, rows = (best - uniform).mean(), {}, []
    played = {name: dpol.play(name, noisy).actions for name in ALGORITHMS}
    played[SWITCHING] = switched(played[OURS], played[LEADER], noisy)
    for name, actions in played.items():
        own = np.take_along_axis(gains, actions[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        gained[name] = own
        share = (own - uniform).mean() / possible
        ahead = gained[OURS] - own
        # Beyond the start, when nothing is known, this is what a learner believes in.
        smallest_named = (actions == beds.argmin(axis=1))[:, WEEKS // 5 :].mean()
        rows.append(
            {
                "world": world,
                "mu": mu,
                "algorithm": name,
                "gain_share": share,
                "smallest_named": smallest_named,
                "ours_ahead": ahead.mean() / possible,
                "ours_ahead_half_width": _half_width(ahead) / possible,
            }
        )
    return pd.DataFrame(rows)


def switched(ours: Actions, leader: Actions, noisy: dpol.NoisyGains) -> Actions:
    """Return (R, T) actions: the leader's once its noisy gains are far ahead of ours, else ours."""
    differ, both = ours != leader, np.stack([leader, ours])[..., None]
    theirs, own = np.take_along_axis(noisy.gains[None], both, axis=3)[..., 0]
    scales = np.broadcast_to(noisy.noise_scale, noisy.gains.shape)[None]
    variance = (np.take_along_axis(scales, both, axis=3)[..., 0] ** 2).sum(axis=0)
    lead = np.where(differ, theirs - own, 0).cumsum(axis=1)
    error = np.sqrt(np.where(differ, variance, 0).cumsum(axis=1))
    ahead = np.zeros_like(differ)
    ahead[:, 1:] = (lead > SWITCH_AT * error)[:, :-1]
    return np.where(ahead, leader, ours)


def _half_width(values: Floats) -> float:
    """Half the width of an interval that holds jointly with those of all worlds and levels."""
    comparisons = len(WORLDS) * len(MUS) * len(ALGORITHMS)
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(student_factor(0.95, comparisons, len(values)) * error)


if __name__ == "__main__":
    rows = [rows_of(world, mu) for world in WORLDS for mu in MUS]
    pd.concat(rows).to_csv(OUT, index=False, float_format="%.6g")
