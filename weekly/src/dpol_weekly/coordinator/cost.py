"""The noise of a deployment on the share of each entity, and on the answer to each question."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median_low

from dpol_weekly.deployment import Deployment
from dpol_weekly.memory import numbers_of, terms_of

USUAL_CAPACITY = 100.0
"""Capacity assumed where it is reported with every count."""


def capacities_of(deployment: Deployment) -> dict[str, float]:
    """The capacity of each entity, `USUAL_CAPACITY` where it is reported."""
    return {
        name: USUAL_CAPACITY if isinstance(it.capacity, str) else it.capacity
        for name, it in deployment.entities.items()
    }


def noise_on_shares(deployment: Deployment) -> dict[str, float]:
    """Standard deviation of the noise on the share of each entity, in the long run."""
    noise, memory = deployment.count_noise(), deployment.memory()
    capacity = capacities_of(deployment)
    if memory is None:
        return {name: noise.standard_deviation / beds for name, beds in capacity.items()}
    numbers = numbers_of(noise, memory, list(capacity.values()))
    return {
        name: terms_of(noise, own, memory).standard_deviation / beds
        for (name, beds), own in zip(capacity.items(), numbers, strict=True)
    }


def noise_by_question(noise: Mapping[str, float], capacity: Mapping[str, float]) -> dict[str, str]:
    """The noise on a report that an answer rests on, at most, by question.

    Args:
        noise: standard deviation of the noise on the share of each entity.
        capacity: of each entity.
    """
    middle = median_low(capacity.values())
    large = [noise[name] for name, beds in capacity.items() if beds >= middle]
    people = max(noise[name] * beds for name, beds in capacity.items())
    return {
        "the largest share": f"{100 * max(noise.values()):.3g} points",
        f"the largest share of those with at least {middle:g} beds": f"{100 * max(large):.3g}"
        " points",
        "the most people": f"{people:.3g} people",
    }
