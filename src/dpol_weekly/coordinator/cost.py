"""Noise on each share of a deployment, and the quality of its decisions.

Decisions are those of the deployment's algorithm on simulated epidemics: a level with waves, and a
share of each entity of it that is partly permanent and partly drifts; patients are Poisson. They
show what to expect, not what will be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpol.core.intervals import mean_interval
from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.experts.games import play
from dpol.noise import privatize
from dpol_weekly.deployment import Deployment, algorithm_of
from dpol_weekly.memory import numbers_of, terms_of

WEEKS, REPLICATES, CONFIDENCE = 52, 20, 0.95
USUAL_CAPACITY = 100.0
"""Capacity assumed where it is reported with every count."""
_PERMANENT, _DRIFT, _PERSISTENCE = 0.35, 0.35, 0.87  # of the log share, as in dpol.data.simulator


@dataclass(frozen=True)
class Cost:
    """The cost of a deployment.

    Args:
        deviations: standard deviation of the noise on the share of each entity.
        gain: mean share of the possible gain between chance and foresight.
        low: lower end of its 95% interval over the simulated epidemics.
        high: upper end.
    """

    deviations: Mapping[str, float]
    gain: float
    low: float
    high: float


def cost_of(deployment: Deployment) -> Cost:
    """Compute the noise, and simulate the decisions."""
    capacities = np.array([_capacity(it.capacity) for it in deployment.entities.values()])
    deviations = noise_deviations(deployment, capacities) / capacities
    gains = [_share_of_gain(deployment, capacities, number) for number in range(REPLICATES)]
    low, high = mean_interval(np.array(gains), CONFIDENCE)
    named = dict(zip(deployment.entities, deviations.tolist(), strict=True))
    return Cost(named, float(np.mean(gains)), low, high)


def noise_deviations(deployment: Deployment, capacities: Floats) -> Floats:
    """(n,) standard deviation of the noise on a count, in people, in the long run."""
    noise, memory = deployment.count_noise(), deployment.memory()
    if memory is None:
        return np.full(len(capacities), noise.standard_deviation)
    numbers = numbers_of(noise, memory, capacities.tolist())
    return np.array([terms_of(noise, it, memory).standard_deviation for it in numbers])


def _share_of_gain(deployment: Deployment, capacities: Floats, number: int) -> float:
    stream = _epidemic(deployment, capacities, number)
    designed_memory = deployment.noise.memory == "designed"
    noise = "capacity-memory" if designed_memory else "capacity"
    noisy = privatize(stream, noise, deployment.mu, seed=number, replicates=1)
    own = play(algorithm_of(deployment), noisy).gains(stream).mean()
    chance, foresight = stream.gains.mean(), stream.gains.max(axis=1).mean()
    return float((own - chance) / (foresight - chance))


def _epidemic(deployment: Deployment, capacities: Floats, number: int) -> GainStream:
    rng = np.random.default_rng((deployment.seed, number))
    shape = WEEKS, len(capacities)
    level = np.full(WEEKS, 0.02)
    for _ in range(2):
        after = np.arange(WEEKS) - rng.uniform(0, WEEKS)
        height, up, down = rng.uniform(0.05, 0.25), rng.uniform(2, 5), rng.uniform(2, 5)
        level += height * np.where(after < 0, np.exp(after / up), np.exp(-after / down))
    drift = _DRIFT * rng.standard_normal(shape)
    for week in range(1, WEEKS):
        drift[week] *= math.sqrt(1 - _PERSISTENCE**2)
        drift[week] += _PERSISTENCE * drift[week - 1]
    share = level[:, None] * np.exp(_PERMANENT * rng.standard_normal(shape[1]) + drift)
    patients = rng.poisson(np.minimum(share, 1) * capacities)
    days = deployment.periods.days * np.arange(WEEKS)
    return GainStream(
        label=f"simulated-{number}",
        gains=np.minimum(patients / capacities, 1),
        capacity=np.tile(capacities, (WEEKS, 1)),
        entities=tuple(deployment.entities),
        periods=np.datetime64(deployment.periods.first) + days,
        count_sensitivity=deployment.count_sensitivity,
        stay=deployment.unit_weeks,
    )


def _capacity(given: float | str) -> float:
    return USUAL_CAPACITY if isinstance(given, str) else given
