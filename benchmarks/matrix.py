"""Cost of the noise of factorised sums over drawing it: 100 replicates of T = 148, n = 293."""

from __future__ import annotations

import statistics

import numpy as np
from scale import cpu_seconds

from dpol.core.randomness import replicate_generators
from dpol.privacy.factorizations import prefix_sums
from dpol.privacy.matrix_mechanism import scaled_to

_ROUNDS, _EXPERTS, _REPLICATES, _REPEATS = 148, 293, 100, 9


def time_matrix() -> dict[str, float]:
    """Return median CPU times of correlated prefix-sum noise and of its draws, with their ratio."""
    changes = np.full((_ROUNDS, _EXPERTS), 0.01)
    mechanism = scaled_to(prefix_sums(_ROUNDS), changes, _EXPERTS, 1.0, by_capacity=True)

    def generators():  # type: ignore[no-untyped-def]
        return replicate_generators(1, ("bench",), range(_REPLICATES), "own")

    def draws_alone() -> None:
        out = np.empty((_ROUNDS, _EXPERTS))
        for generator in generators().generators:
            generator.standard_normal(out=out)

    def whole() -> None:
        mechanism.noise(generators())

    times: dict[str, list[float]] = {"draws": [], "whole": []}
    for _ in range(_REPEATS):
        times["draws"].append(cpu_seconds(draws_alone, 1))
        times["whole"].append(cpu_seconds(whole, 1))
    draws, all_of_it = (statistics.median(times[name]) for name in ("draws", "whole"))
    return {"draws_ms": 1e3 * draws, "product_over_draws": all_of_it / draws - 1}
