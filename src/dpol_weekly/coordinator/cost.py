"""The noise of a deployment on the share of each entity."""

from __future__ import annotations

from dpol_weekly.deployment import Deployment
from dpol_weekly.memory import numbers_of, terms_of

USUAL_CAPACITY = 100.0
"""Capacity assumed where it is reported with every count."""


def noise_on_shares(deployment: Deployment) -> dict[str, float]:
    """Standard deviation of the noise on the share of each entity, in the long run."""
    noise, memory = deployment.count_noise(), deployment.memory()
    capacity = {
        name: USUAL_CAPACITY if isinstance(it.capacity, str) else it.capacity
        for name, it in deployment.entities.items()
    }
    if memory is None:
        return {name: noise.standard_deviation / beds for name, beds in capacity.items()}
    numbers = numbers_of(noise, memory, list(capacity.values()))
    return {
        name: terms_of(noise, own, memory).standard_deviation / beds
        for (name, beds), own in zip(capacity.items(), numbers, strict=True)
    }
