"""Fixtures shared by several test files."""

import dataclasses
import math
import os
import pickle

# Matrices are small, and every core has a worker: more threads would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import numpy as np
import pytest
from filelock import FileLock
from scipy import special

from dpol.data.stream import GainStream
from dpol.noise import NoisyGains
from dpol.privacy.guarantee import NO_PRIVACY
from replicates import many

hypothesis.settings.register_profile("dpol", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("dpol")

# Largest probability with which any statistical test rejects a sound sample.
ERROR = 1e-6


def pytest_collection_modifyitems(items):
    """Put the whole run first and other runs of the pipeline next, so that workers end together.

    A worker steals the last tests of another, and the tests of the whole run share its result.
    """
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)
    items.sort(key=lambda item: item.path.name != "test_whole.py")


class Checks:
    """Hypothesis tests; each rejects a sound sample with probability at most `ERROR`."""

    @staticmethod
    def unit_variance(sample, comparisons=1):
        """Test by chi-squared, two-sided, that independent normals of mean 0 have variance 1."""
        sample = np.asarray(sample)
        total = float((sample**2).sum())
        tail = ERROR / (2 * comparisons)
        return min(special.chdtr(sample.size, total), special.chdtrc(sample.size, total)) > tail

    @staticmethod
    def columns_are_unit_normals(sample):
        """Test that each column has variance 1 and no two correlate, with half the error each.

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
        """Test counts against probabilities by Pearson's chi-squared."""
        counts = np.asarray(counts)
        expected = counts.sum() * np.asarray(probabilities)
        statistic = float(((counts - expected) ** 2 / expected).sum())
        return bool(special.chdtrc(len(counts) - 1, statistic) > ERROR)


@pytest.fixture(scope="session")
def make_stream():
    """Make a stream from gains (T, n) and capacities."""

    def make(gains, capacity=10.0, **fields):
        gains = np.asarray(gains, dtype=float)
        rounds, n = gains.shape
        facts = {
            "label": "test",
            "entities": tuple(f"h{i}" for i in range(n)),
            "periods": np.datetime64("2020-01-05") + 7 * np.arange(rounds),
            **fields,
        }
        return GainStream(gains=gains, capacity=np.broadcast_to(capacity, gains.shape), **facts)

    return make


@pytest.fixture(scope="session")
def random_stream(make_stream):
    """Make a stream of uniform gains and capacities of 5 to 49 beds."""

    def make(rounds, n, seed=0, **fields):
        rng = np.random.default_rng(seed)
        capacity = rng.integers(5, 50, size=(rounds, n))
        return make_stream(rng.random((rounds, n)), capacity, **fields)

    return make


@pytest.fixture(scope="session")
def make_noisy():
    """Make noisy gains (R, T, n) from given numbers."""

    def make(gains, noise_scale=0.0, initial=0.0):
        gains = np.asarray(gains, dtype=float)
        replicates, rounds, n = gains.shape
        return NoisyGains(
            initial=np.broadcast_to(np.asarray(initial, dtype=float), (replicates, n)),
            gains=gains,
            noise_scale=np.broadcast_to(np.asarray(noise_scale, dtype=float), (rounds, n)),
            gain_range=1.0,
            guarantee=dataclasses.replace(NO_PRIVACY, model="local"),
        )

    return make


@pytest.fixture(scope="session")
def draw_noisy(make_noisy):
    """Draw noisy gains of many replicates from one generator, with constant noise scale."""

    def draw(gains, noise_scale, replicates, seed=0):
        raw = np.asarray(gains, dtype=float)
        rng = np.random.default_rng(seed)
        noise = noise_scale * rng.standard_normal((replicates, len(raw) + 1, raw.shape[1]))
        return make_noisy(raw + noise[:, 1:], noise_scale, noise[:, 0])

    return draw


@pytest.fixture(scope="session")
def crowd():
    """Generators of many replicates at once."""
    return many


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Call a function once per test run and pass its pickled result to all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def call(name, make):
        path = folder / f"{name}.pickle"
        with FileLock(f"{path}.lock"):
            if not path.exists():
                path.write_bytes(pickle.dumps(make()))
        return pickle.loads(path.read_bytes())

    return call


@pytest.fixture(scope="session")
def whole_ledger(once):
    """Findings and seed uses of the whole claims ledger; see `ledger.compute`."""
    from ledger import compute

    return once("claims", compute)


@pytest.fixture(scope="session")
def checks():
    """Statistical tests."""
    return Checks
