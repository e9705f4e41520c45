"""Wrong arguments of newcomers: a message has the argument, its value, and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

import dpol
from dpol.labels import Terms
from dpol.lazy import LazyGame

GAINS, BEDS = np.full((6, 3), 0.2), np.full((6, 3), 50.0)
DAYS = np.datetime64("2021-01-01") + 7 * np.arange(6)
NAMES = ("a", "b", "c")


def stream(**changes):
    given = {"gains": GAINS, "capacity": BEDS, "entities": NAMES, "periods": DAYS}
    return dpol.GainStream(**{"label": "town", **given, **changes})


def noisy(given=None, noise="capacity", mu=1.0, **changes):
    given = stream() if given is None else given
    return dpol.privatize(given, noise, mu, **{"seed": 1, "replicates": 4, **changes})


def raw(**changes):
    return dpol.RawGains(**{"stream": stream(), "mu": 1.0, "replicates": 4, "seed": 1, **changes})


HOLED = np.where(np.eye(6, 3), np.nan, GAINS)
WRONG = [
    (lambda: noisy(mu="0.5"), "mu must be a number above 0, such as 1, got '0.5'; math.inf means"),
    (lambda: noisy(mu=0), "mu must be a number above 0, such as 1, got 0;"),
    (lambda: raw(mu=None), "mu must be a number above 0, such as 1, got None;"),
    (lambda: noisy(seed=None), "seed must be a whole number of at least 0, got None"),
    (lambda: raw(seed="1"), "seed must be a whole number of at least 0, got '1'"),
    (lambda: noisy(replicates=2.5), "replicates must be a whole number of at least 1, got 2.5"),
    (lambda: raw(replicates=0), "replicates must be a whole number of at least 1, got 0"),
    (lambda: noisy(replicates=[]), "replicates must not be empty; give their number, such as 100"),
    (lambda: noisy(replicates=[0.5]),
     "the number of a replicate must be a whole number of at least 0, got 0.5"),
    (lambda: noisy(noise="capcity"), "noise 'capcity' is not one of isotropic, "),
    (lambda: noisy(noise="capcity"), "; did you mean capacity?"),
    (lambda: raw(noise="capacity-memory"), "noise must be isotropic or capacity, got 'capacity-m"),
    (lambda: noisy(noise="capacity-memory", memory="desgned"),
     "memory must be designed, none, or [a, b] with both between -1 and 1, got 'desgned'"),
    (lambda: noisy(GAINS), "stream must be a GainStream, got ndarray; make one with dpol"),
    (lambda: raw(stream=noisy()), "stream must be a GainStream, got NoisyGains; make one"),
    (lambda: stream(gains=HOLED), "gain of a in round 1 (2021-01-01) is nan, not a number"),
    (lambda: stream(gains=GAINS + 1), "gain of a in round 1 (2021-01-01) is 1.2"),
    (lambda: stream(gains=GAINS[0]), "gains have shape (3,), not (rounds, experts)"),
    (lambda: stream(capacity=BEDS[0]), "capacity has shape (3,), not (6, 3)"),
    (lambda: stream(capacity=None), "needs either capacity, (rounds, experts), or given_sens"),
    (lambda: stream(entities=(1, 2, 3)), "entities and names must be texts, got 1"),
    (lambda: stream(label=None), "the label of a stream must be text, got None"),
    (lambda: stream(count_sensitivity=0), "count_sensitivity must be a number in (0, inf), got 0"),
    (lambda: stream(stay=1.5), "stay must be a whole number of at least 1, got 1.5"),
    (lambda: dpol.play("rw-fptl", noisy()), "; did you mean rw-ftpl?"),
    (lambda: dpol.play("rw-ftpl", noisy(), label=5), "label must be a str, got int; such as"),
    (lambda: dpol.RWMeta(learners=["ridge"]), "a learner must be a LearnerBank, got str; such as"),
    (lambda: dpol.LearnerAlone("ridge"), "bank must be a LearnerBank, got str; such as dpol.Ridge"),
    (lambda: dpol.RidgeBank(windows=8), "windows must be whole numbers from 1 to 10000, such as"),
    (lambda: dpol.LazyWeights(delta="1e-6"), "delta must be a number in (0, 1), got '1e-6'"),
    (lambda: noisy().guarantee.epsilon("1e-6"), "delta must be a number in (0, 1), got '1e-6'"),
    (lambda: Terms(n_rounds="10", epsilon=1.0), "n_rounds must be a whole number of at least 1"),
    (lambda: LazyGame(10, None), "delta must be a number in (0, 1), got None"),
    (lambda: dpol.check(5), "name must be a str, got int; such as 'rw-ftpl' or 'package.module:C"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "message"), WRONG, ids=lambda value: value if type(value) is str else ""
)
def test_a_wrong_argument_is_named_with_the_remedy(call, message):
    with pytest.raises((ValueError, TypeError, dpol.DpolError)) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numpy_numbers_are_accepted():
    ours = noisy(mu=np.float32(0.5), seed=np.int64(7), replicates=np.int32(3))
    same = noisy(mu=0.5, seed=7, replicates=[0, 1, 2])
    np.testing.assert_array_equal(ours.gains, same.gains)
