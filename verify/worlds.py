"""Record in which simulated worlds our method loses to the strongest rival, and whether by luck.

    python verify/worlds.py

Plays the local systems of config/config.yaml on 200 streams of each world, 15 hospitals over 100
weeks. Writes verify/runs/worlds.csv: the share of the possible gain, and how far each is from our
method. Takes five minutes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_with import asked, note, read_config, systems_of

import dpol
from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.noise import find_noise
from dpol.noise.noisy_gains import released
from dpol.noise.seeds import Seeds
from dpol.studies.comparison.names import OUR_METHOD, THE_LEVEL
from dpol.studies.comparison.standings import is_system, promised, strongest
from dpol.studies.games.levels import is_weaker
from dpol.studies.verdicts import verdicts_on

SEED, STREAMS, WEEKS, N = 1, 200, 100, 15
MUS = (1.0, 0.5, 0.25, 0.1)
CONFIG = read_config("central-texas")
SYSTEMS = [it for it in systems_of(CONFIG) if it[1].algorithm.model == "local"]
OURS = (CONFIG["comparison"]["ours"]["algorithm"], CONFIG["comparison"]["ours"]["noise"])
OUT = Path(__file__).parent / "runs" / "worlds.csv"
COLUMNS = [
    *("stream", "mu", "algorithm", "family", "noise", "role", "strongest"),
    *("gain_share", "to_ours", "to_ours_half_width", "to_ours_verdict"),
]

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


@cache
def streams_of(world: str) -> tuple[GainStream, Floats]:
    """Return a stream of a world without patients, and the gains of all, (STREAMS, WEEKS, N)."""
    shares, beds = WORLDS[world]
    beds = np.broadcast_to(beds, (WEEKS, N))
    rng = np.random.default_rng(seed_sequence(SEED, ("worlds", world)))
    patients = np.minimum(rng.poisson(np.minimum(shares(rng), 1) * beds), beds)
    empty = GainStream(
        label=world,
        gains=np.zeros((WEEKS, N)),
        capacity=beds,
        entities=tuple(map(str, range(N))),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(WEEKS),
    )
    return empty, patients / beds


def game(world: str, mu: float, noise: str = "capacity") -> dpol.NoisyGains:
    """Return the noisy gains of a world: a run is a stream."""
    empty, gains = streams_of(world)
    noisy = dpol.privatize(empty, noise, mu, seed=SEED, replicates=STREAMS)
    mechanism = find_noise(noise).mechanism
    if mechanism is None:  # Gaussian noise does not depend on gains
        return dataclasses.replace(noisy, gains=noisy.gains + gains)
    own = []
    for run, raw in enumerate(gains):
        seeds = Seeds(seed=SEED, stream=world, noise=noise, mu=mu, replicates=(run,))
        stream = dataclasses.replace(empty, gains=raw)
        own.append(released(stream, mechanism, mu, seeds.local_noise())[1][:, 0])
    return dataclasses.replace(noisy, gains=np.stack(own))


def rows_of(world: str, mu: float) -> pd.DataFrame:
    """Return a row for each system that promises the level: its share, and its lead on ours."""
    empty, gains = streams_of(world)
    noises = dict.fromkeys(noise for noise, _ in SYSTEMS)
    made = {it: dpol.privatize(empty, it, mu, seed=SEED, replicates=1).guarantee for it in noises}
    rows = pd.DataFrame(
        {"stream": world, "mu": mu, "algorithm": it.label, "family": it.family, "noise": noise}
        | {"sees": "noisy", "keeps_level": not is_weaker(made[noise].mu, mu), "member": it}
        | made[noise].stay_columns()
        for noise, it in SYSTEMS
    ).assign(promise=promised)
    rows = rows[rows["promise"] == THE_LEVEL]
    games = {noise: game(world, mu, noise) for noise in rows["noise"].unique()}
    uniform, best = gains.mean(axis=2).sum(axis=1), gains.max(axis=2).sum(axis=1)
    kept = []
    for noise, member in rows[["noise", "member"]].itertuples(index=False):
        actions = dpol.play(member.algorithm, games[noise], label=member.label).actions
        own = np.take_along_axis(gains, actions[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        kept.append((own - uniform) / (best - uniform).mean())
    ours, shares = is_system(rows, OURS).to_numpy(), np.array(kept)
    ahead = (shares - shares[ours]).T
    half = half_width(ahead, 0.95, len(WORLDS) * len(MUS) * (len(rows) - 1))
    rows = rows.assign(
        role=np.where(ours, OUR_METHOD, ""),
        gain_share=shares.mean(axis=1),
        strongest=strongest,
        to_ours=ahead.mean(axis=0),
        to_ours_half_width=half,
        to_ours_verdict=verdicts_on(ahead.mean(axis=0), half, [False] * len(half)),
    )
    return rows[COLUMNS]


def plays() -> dict[str, Any]:
    """Return the labels and settings that this plays."""
    settings = [SEED, STREAMS, WEEKS, N, MUS, [*WORLDS], OURS, SYSTEMS]
    return asked([member.label for _, member in SYSTEMS], settings)


if __name__ == "__main__":
    rows = [rows_of(world, mu) for world in WORLDS for mu in MUS]
    pd.concat(rows).to_csv(OUT, index=False, float_format="%.6g")
    note("worlds", plays())
