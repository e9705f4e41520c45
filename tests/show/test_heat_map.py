"""A heat map of many columns shows the least usual ones."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.show.heat_map import least_usual


def most(numbers: np.ndarray) -> np.ndarray:
    return 50 * numbers


def nothing_at_first(numbers: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(numbers)) < 20, 0.0, numbers)


def turned_round(numbers: np.ndarray) -> np.ndarray:
    return numbers[::-1]


@pytest.mark.parametrize("change", [most, nothing_at_first, turned_round])
def test_a_column_unlike_the_others_comes_first(change) -> None:
    wave = 5 + np.sin(np.arange(40))[:, None] + 0.2 * np.arange(40)[:, None]
    numbers = wave + 0.1 * np.random.default_rng(1).random((40, 12))
    numbers[:, 7] = change(numbers[:, 7])
    assert least_usual(numbers)[0] == 7
