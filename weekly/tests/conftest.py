"""Fixtures that several test files share, and statistical tests whose errors are known."""

from __future__ import annotations

import math

import hypothesis
import numpy as np
import pytest
from scipy import special

hypothesis.settings.register_profile("dpol", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("dpol")

# A sound sample is rejected with at most this probability, in every statistical test.
ERROR = 1e-6


class Checks:
    """Tests of hypotheses; each rejects a sound sample with probability at most `ERROR`."""

    @staticmethod
    def unit_variance(sample, comparisons=1):
        """Two-sided chi-squared test that independent normals of mean 0 have variance 1."""
        sample = np.asarray(sample)
        total, tail = float((sample**2).sum()), ERROR / (2 * comparisons)
        return min(special.chdtr(sample.size, total), special.chdtrc(sample.size, total)) > tail

    @staticmethod
    def columns_are_unit_normals(sample):
        """Variance 1 in each column (half of the error), no correlation between any two (half).

        The statistic of a pair is the mean product times sqrt(rows), about standard normal.
        """
        sample = np.asarray(sample)
        rows, columns = sample.shape
        pairs = columns * (columns - 1) // 2
        products = sample.T @ sample / math.sqrt(rows)
        limit = -special.ndtri(ERROR / (4 * max(pairs, 1)))
        off = np.abs(products[np.triu_indices(columns, 1)])
        variances = all(Checks.unit_variance(column, 2 * columns) for column in sample.T)
        return variances and bool((off < limit).all())

    @staticmethod
    def frequencies(counts, probabilities):
        """Pearson's chi-squared test of counts against probabilities."""
        counts = np.asarray(counts)
        expected = counts.sum() * np.asarray(probabilities)
        statistic = float(((counts - expected) ** 2 / expected).sum())
        return special.chdtrc(counts.size - 1, statistic) > ERROR


@pytest.fixture
def checks():
    return Checks


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
