"""Wrong arguments of newcomers: a message has the argument, its value, and the remedy.

`test_every_number.py` gives wrong numbers to all public functions.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from pydantic import TypeAdapter

import dpol
from dpol.labels import Terms
from dpol.lazy import LazyGame
from dpol.privacy.account import account, best_guess
from dpol.privacy.auditing import audit_runs
from dpol.privacy.chains import chain_norm
from dpol.privacy.gaussian_dp import (
    delta_of_epsilon,
    epsilon_of_delta,
    implied_mu,
    mu_of_epsilon,
    pure_epsilon,
)
from dpol.privacy.losses import Promise, pure
from dpol.privacy.noise_laws import LAWS
from dpol.privacy.settings import Mu

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


def one_expert():
    return stream(gains=GAINS[:, :1], capacity=BEDS[:, :1], entities=("a",))


FLAT = stream(gains=0 * GAINS)
MASKED = np.ma.masked_greater(GAINS, 0)
HOLED = np.where(np.eye(6, 3), np.nan, GAINS)
WRONG = [
    (lambda: noisy(mu="0.5"), "mu must be a number in (0, 1e100], got '0.5'; 1 is usual"),
    (lambda: raw(mu=None), "mu must be a number in (0, 1e100], got None;"),
    (lambda: noisy(seed=None), "seed must be a whole number of at least 0, got None"),
    (lambda: raw(seed="1"), "seed must be a whole number of at least 0, got '1'"),
    (lambda: noisy(replicates=2.5), "replicates must be a whole number of at least 1, got 2.5"),
    (lambda: noisy(replicates=[3, 5, 3]), "a replicate is given twice; its games are equal, so"),
    (lambda: noisy(mu=1j), "mu must be a number in (0, 1e100], got 1j"),
    (lambda: noisy(mu=np.array(0.5)), "mu must be a number in (0, 1e100], got array(0.5)"),
    (lambda: raw(mu=np.True_), "mu must be a number in (0, 1e100], got np.True_"),
    (lambda: noisy(noise="capacity-memory", memory=(0, False)), "memory must be designed, none"),
    (lambda: noisy(mu=1e200), "mu must be a number in (0, 1e100], got 1e+200; 1 is usual, and ma"),
    (lambda: noisy(mu=10**400), f"got 1{56 * '0'}...; 1 is usual, and math.inf means no noise"),
    (lambda: stream(gains=np.ma.masked_greater(GAINS, 0)),
     "gains must not have masked cells; fill or drop them"),
    (lambda: stream(capacity=np.ma.masked_greater(BEDS, 0)), "capacity must not have masked cells"),
    (lambda: stream(gains=[np.ma.masked_greater(row, 0) for row in GAINS]), "masked cells"),
    (lambda: stream(gains=GAINS + 0j), "gains must be real numbers, not complex ones; take .real"),
    (lambda: stream(gains=GAINS > 0), "gains must be numbers, not true and false; take .astype"),
    (lambda: stream(capacity=None, given_sensitivity=np.ones(6) + 0j), "not complex ones"),
    (lambda: delta_of_epsilon([1.0, -0.1], 1.0), "epsilon must not be negative, got -0.1"),
    (lambda: delta_of_epsilon(1.0, [True]), "mu must be numbers, not true and false"),
    (lambda: delta_of_epsilon(np.ma.masked_greater([1.0], 0), 1.0), "epsilon must not have masked"),
    (lambda: chain_norm(0.1, 1j, 2), "b must be real numbers, not complex ones"),
    (lambda: epsilon_of_delta(1.0, 1.0), "delta must be a number in (0, 1), got 1.0"),
    (lambda: noisy().guarantee.epsilon(1.0), "delta must be a number in [0, 1), got 1.0"),
    (lambda: pure(1.0, 1.5), "delta must be a number from 0 to 1, got 1.5"),
    (lambda: Promise(delta=1e-301), "delta must be 0 or at least 1e-300, got 1e-301"),
    (lambda: account(1.0, memory=(0, np.float32(1))), "a and b must be between -1 and 1"),
    (lambda: audit_runs(MASKED, GAINS, parameter="mu", claimed=1.0), "statistics must not have m"),
    (lambda: audit_runs(GAINS, GAINS + 0j, parameter="mu", claimed=1.0), "not complex ones"),
    (lambda: audit_runs(BEDS, np.full((6, 3), np.inf), parameter="mu", claimed=1.0),
     "statistics must be finite; clip those that are infinite"),
    (lambda: dpol.play("rw-ftpl", noisy(one_expert())).share(one_expert()),
     "all experts gain the same in every round"),
    (lambda: dpol.play("follow-the-leader", raw(stream=FLAT)).share(FLAT),
     "stream town: all experts gain the same in every round, so no share of a possible gain"),
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
    (lambda: stream(entities=(1, 2, 3)), "entities and names must be texts, got 1"),
    (lambda: stream(label=None), "the label of a stream must be text, got None"),
    (lambda: dpol.play("rw-fptl", noisy()), "; did you mean rw-ftpl?"),
    (lambda: dpol.play("rw-ftpl", noisy(), label=5), "label must be a str, got int; such as"),
    (lambda: dpol.RWMeta(learners=["ridge"]), "a learner must be a LearnerBank, got str; such as"),
    (lambda: dpol.LearnerAlone("ridge"), "bank must be a LearnerBank, got str; such as dpol.Ridge"),
    (lambda: dpol.RidgeBank(windows=8), "windows must be whole numbers from 1 to 10000, such as"),
    (lambda: dpol.LazyWeights(delta="1e-6"), "delta must be a number in (0, 1), got '1e-6'"),
    (lambda: noisy().guarantee.epsilon("1e-6"), "delta must be a number in [0, 1), got '1e-6'"),
    (lambda: Terms(n_rounds="10", epsilon=1.0), "n_rounds must be a whole number of at least 1"),
    (lambda: LazyGame(10, None), "delta must be a number in (0, 1), got None"),
    (lambda: dpol.check(5), "name must be a str, got int; such as 'rw-ftpl' or 'package.module:C"),
]  # fmt: skip


def refusal(call):
    """Return the message of the error of a call; empty if there is none."""
    try:
        call()
    except (ValueError, TypeError, dpol.DpolError) as error:
        return str(error)
    return ""


def test_a_wrong_argument_is_named_with_the_remedy():
    refused = [(message, refusal(call)) for call, message in WRONG]
    assert [it for it in refused if it[0] not in it[1] or "\n" in it[1]] == []


def test_numpy_numbers_are_accepted():
    ours = noisy(mu=np.float32(0.5), seed=np.int64(7), replicates=np.int32(3))
    same = noisy(mu=0.5, seed=7, replicates=[0, 1, 2])
    np.testing.assert_array_equal(ours.gains, same.gains)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int64])
def test_numbers_of_any_precision_are_computed_in_double_precision(kind):
    """A level of single precision once gave records of single precision, above the level."""
    mu = kind(1) if kind is np.int64 else kind(0.1)
    for noise, stay in itertools.product(dpol.NOISES, (1, 3)):
        made = stream(stay=stay, gain_range=kind(1), count_sensitivity=kind(1))
        assert type(made.gain_range) is type(made.count_sensitivity) is float
        ours, same = noisy(made, noise, mu), noisy(stream(stay=stay), noise, float(mu))
        assert ours.guarantee == same.guarantee
        assert type(ours.guarantee.mu) is float
        assert ours.guarantee.mu <= float(mu) * (1 + 1e-12)
        np.testing.assert_array_equal(ours.gains, same.gains)
    assert type(raw(mu=mu).mu) is float
    assert account(mu, delta=kind(0.25) if kind is not np.int64 else 0.25).mu == float(mu)
    assert Promise(mu=mu) == Promise(mu=float(mu))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_privacy_is_computed_in_double_precision(kind):
    number, same = kind(0.1), float(kind(0.1))
    functions = [pure_epsilon, implied_mu, best_guess]
    functions += [lambda x, f=f: f(x, x) for f in (epsilon_of_delta,)]
    functions += [lambda x: mu_of_epsilon(x, x), lambda x: float(delta_of_epsilon(x, x))]
    for law in LAWS.values():
        functions += [law.deviation, lambda x, law=law: law.loss(x, 2).mu]
        functions += [lambda x, law=law: law.loss(x, 2).delta(x)]
    for function in functions:
        assert type(function(number)) is float
        assert function(number) == function(same)


def test_an_all_zero_stream_is_noised_and_played():
    assert np.isfinite(noisy(FLAT).gains).all()
    assert (dpol.play("rw-ftpl", noisy(FLAT)).gains(FLAT) == 0).all()


@pytest.mark.parametrize("level", [True, False])
def test_a_boolean_is_no_level_of_a_config(level):
    with pytest.raises(ValueError, match="must be from 0.001 to 1000"):
        TypeAdapter(Mu).validate_python(level)
