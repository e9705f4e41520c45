"""Arguments of public functions: wrong ones are refused by name, and NumPy's are as Python's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpol
from dpol import labels, lazy
from dpol.core.randomness import replicate_generators
from dpol.lazy import convex
from dpol.privacy import account, auditing, chains, gaussian_dp, losses, stays
from dpol.privacy.noise_laws import LAWS

SHELTERS = Path(__file__).parents[1] / "data/examples/shelters.csv"
GAINS, BEDS = np.full((6, 3), 0.2), np.full((6, 3), 50.0)
stream = partial(
    dpol.GainStream,
    label="town",
    gains=GAINS,
    capacity=BEDS,
    entities=("a", "b", "c"),
    periods=np.datetime64("2021-01-01") + 7 * np.arange(6),
)
drawn = partial(dpol.privatize, noise="capacity", mu=1.0, seed=1, replicates=2)
noisy = partial(drawn, stream())
correlated = partial(noisy, noise="capacity-memory")
raw = partial(dpol.RawGains, stream(), mu=1.0, replicates=2, seed=1)
audit = partial(auditing.audit_runs, second=GAINS + 0.1, parameter="mu", claimed=1.0)

# ---- wrong numbers -------------------------------------------------------------------------------

LAZILY = {"batch_size": 2, "eta": 0.1, "fake_switch": 0.1}
game = partial(lazy.LazyGame, n_rounds=6, delta=1e-6, largest_change=1.0, normaliser=2.0)
planar = partial(
    convex.ConvexGame, n_rounds=6, dimension=2, diameter=2.0, lipschitz=1.0, delta=1e-6
)
steps = np.eye(6, 2)
COINS = replicate_generators(1, ("arguments",), range(2), "coins")
DRIFT = convex.drifting_losses(n_rounds=6, dimension=2, lipschitz=1.0, seed=1)
PAIRED = lazy.PairedLosses(
    tuple(lazy.GapLosses(n_rounds=6, n_experts=3, gap=0.1, seed=1, replicate=it) for it in (0, 1)),
    replicates=2,
)
CALLS: list[partial[Any]] = [
    *(raw, game, planar),
    partial(stream, gain_range=1.0, count_sensitivity=1.0, stay=2),
    partial(correlated, memory=(0.0, 0.5)),
    partial(noisy().guarantee.epsilon, delta=1e-6),
    partial(dpol.LazyWeights, delta=1e-6, largest_batch=2),
    partial(dpol.LearnerAlone, dpol.RidgeBank(), place=0),
    partial(dpol.RWAdaBatch, alpha=1.0),
    partial(dpol.RWMeta, exploration_floor=1.0),
    partial(dpol.RidgeBank, windows=(4, 8), penalties={"weak": 0.1}),
    partial(dpol.account, kept=1.0, weeks=2, delta=1e-6, memory=(0.0, 0.5)),
    partial(dpol.league, ["rw-ftpl"], stream(), levels=[1.0], replicates=2, seed=1, confidence=0.9),
    partial(
        dpol.read_table,
        SHELTERS,
        **{"entity": "shelter", "period": "week_of", "count": "guests", "capacity": "places"},
        cleaning={"missing_markers": ["-"], "suppressed_markers": ["<5"]},
        **{"capacity_per": 1.0, "count_sensitivity": 1.0, "stay": 2},
    ),
    partial(lazy.LazyParameters, **LAZILY, normaliser=2.0, limit=3.0),
    partial(lazy.ShrinkingDartboard, delta=1e-6, largest_batch=2),
    *(partial(it, game(), **LAZILY) for it in (lazy.published_epsilon, lazy.sound_epsilon)),
    partial(lazy.play_blocks, [*PAIRED.between([0, 6])], epsilon=1.0, generators=COINS),
    partial(lazy.play_leaders, "mf-ftpl", games=[(PAIRED, 1.0)], generators=COINS),
    partial(convex.convex_epsilon, planar(), **LAZILY, beta=1.0, regulariser=1.0, normaliser=2.0),
    partial(convex.best_regulariser, DRIFT, convex.Ball(2, 2.0), convex.NOISES["dp-ftrl"], mu=1.0),
    *(partial(it, steps, lipschitz=1.0) for it in (convex.LinearLosses, convex.LogisticLosses)),
    partial(labels.Clipping, labels.random_class(3, 4, seed=1), n_rounds=6),
    partial(labels.Terms, n_rounds=6, epsilon=1.0, delta=1e-6),
    partial(account.best_guess, mu=1.0),
    partial(losses.Promise, epsilon=1.0, delta=1e-6),
    partial(losses.pure, epsilon=1.0, delta=1e-6),
    partial(audit, GAINS, parameter="epsilon", claimed=1.0, confidence=0.9, delta=0.0),
    partial(auditing.audit_covariance, [np.eye(4, 2)] * 2, np.eye(2), claimed=1.0, confidence=0.9),
    partial(chains.chain_norm, a=0.0, b=0.5, stay=2),
    partial(chains.designed, np.ones(3), stay=2),
    partial(stays.stay_norm, np.eye(6), stay=2),
    partial(stays.mu_of_stays, np.ones((6, 3)), None, stay=2),
    partial(stays.mu_of_rounds, np.ones((6, 3)), None, count=2),
    partial(gaussian_dp.delta_of_epsilon, epsilon=1.0, mu=1.0),
    partial(gaussian_dp.epsilon_of_delta, delta=1e-6, mu=1.0),
    partial(gaussian_dp.mu_of_epsilon, epsilon=1.0, delta=1e-6),
    partial(gaussian_dp.pure_epsilon, mu=1.0),
    partial(gaussian_dp.implied_mu, epsilon=1.0),
    *(partial(law.deviation, e=0.5) for law in LAWS.values()),
    *(partial(law.loss, e=0.5, releases=2) for law in LAWS.values()),
    *(partial(law.largest, losses.Promise(mu=1.0), releases=2) for law in LAWS.values()),
]
"""Valid calls of public functions, of those of `dpol.privacy` that other packages may use, and of
the facts of games in `dpol.lazy` and `dpol.labels`."""
NEVER = -1, math.nan, -math.inf, True
"""Numbers that none of these arguments takes."""
SOMETIMES = 0, math.inf, 1e308, 10**400
CALLED = {
    **dict.fromkeys(("kept", "games", "levels"), "mu"),
    **{"memory": "memory|a|b", "replicates": "replicates?"},
}
"""Names in messages of an argument that holds several numbers."""


def changed(value: object, change: Callable[[Any], object]) -> Iterator[object]:
    """Yield a valid value with each of its numbers changed in turn."""
    if isinstance(value, int | float):
        yield change(value)
    elif isinstance(value, Mapping):
        yield from ({**value, key: new} for key in value for new in changed(value[key], change))
    elif isinstance(value, tuple | list):
        for place, part in enumerate(value):
            for new in changed(part, change):
                yield type(value)([*value[:place], new, *value[place + 1 :]])


def answer(call: partial[Any], **changes: object) -> str:
    """Return the fields or the value of an answer, as text."""
    made = call(**changes)
    return repr([*made] if isinstance(made, Iterator) else getattr(made, "__dict__", made))


def answer_or_refusal(call: partial[Any], **changes: object) -> tuple[str, str]:
    """Return the answer as text, or else the words of its refusal."""
    try:
        return answer(call, **changes), ""
    except (ValueError, TypeError, dpol.DpolError) as error:
        return "", str(error)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.func.__qualname__)
def test_a_wrong_number_is_refused_by_name_or_answered_by_numbers(call: partial[Any]) -> None:
    """Infinity may be answered by infinity where the docstring has `inf`."""
    usual, about = answer(call), call.func.__doc__ or ""
    for name, value in call.keywords.items():
        for wrong in (*NEVER, *SOMETIMES):
            for asked in changed(value, lambda _, wrong=wrong: wrong):
                told, refused = answer_or_refusal(call, **{name: asked})
                if not told:
                    assert re.search(rf"\b({CALLED.get(name, name)})\b", refused)
                else:
                    assert str(wrong) not in map(str, NEVER)
                    assert "nan" not in told or "nan" in usual
                    assert "inf" not in told or "inf" in usual + about


# ---- what is no number, or no argument -----------------------------------------------------------

FLAT, HOLED = stream(gains=0 * GAINS), np.where(np.eye(6, 3), np.nan, GAINS)
MASKED = np.ma.masked_greater(GAINS, 0)
PLAYED = dpol.play("rw-ftpl", noisy())
TWO = stream(gains=GAINS[:, :2], capacity=BEDS[:, :2], entities=("a", "b"))
MU = "mu must be a number in (0, 1e100], got "
REFUSED: list[tuple[Callable[[], object], str]] = [
    (partial(noisy, mu="0.5"), f"{MU}'0.5'; 1 is usual, and math.inf means no noise"),
    (partial(noisy, mu=10**400), f"{MU}1{56 * '0'}...; 1 is usual, and math.inf means no noise"),
    (partial(noisy, mu=np.array(0.5)), f"{MU}array(0.5)"),
    (partial(raw, mu=None), f"{MU}None"),
    (partial(raw, mu=np.True_), f"{MU}np.True_"),
    (partial(raw, mu=1j), f"{MU}1j"),
    (partial(noisy, seed=None), "seed must be a whole number of at least 0, got None"),
    (partial(raw, seed="1"), "seed must be a whole number of at least 0, got '1'"),
    (partial(dpol.check, "capacity", seed=-1), "seed must be a whole number of at least 0, got -1"),
    (partial(noisy, replicates=2.5), "replicates must be a whole number of at least 1, got 2.5"),
    (partial(noisy, replicates=[3, 5, 3]), "a replicate is given twice; its games are equal, so"),
    (partial(noisy, replicates=[]), "replicates must not be empty; give their number, such as 100"),
    (partial(noisy, replicates=[0.5]), "the number of a replicate must be a whole number of at le"),
    (partial(noisy, noise="capcity"), "noise 'capcity' is not one of isotropic, "),
    (partial(noisy, noise="capcity"), "; did you mean capacity?"),
    (partial(raw, noise="capacity-memory"), "noise must be isotropic or capacity, got 'capacity-m"),
    (partial(correlated, memory="desgned"), "memory must be designed, none, or [a, b] with both"),
    (partial(correlated, memory=(0, False)), "memory must be designed, none, or [a, b] with both"),
    (partial(drawn, GAINS), "stream must be a GainStream, got ndarray; make one with dpol"),
    (partial(dpol.RawGains, noisy(), 1.0), "stream must be a GainStream, got NoisyGains; make one"),
    (partial(stream, gains=MASKED), "gains must not have masked cells; fill or drop them"),
    (partial(stream, gains=[*MASKED]), "gains must not have masked cells"),
    (partial(stream, capacity=np.ma.masked_greater(BEDS, 0)), "capacity must not have masked"),
    (partial(stream, gains=GAINS + 0j), "gains must be real numbers, not complex ones; take .real"),
    (partial(stream, gains=GAINS > 0), "gains must be numbers, not true and false; take .astype"),
    (partial(stream, capacity=None, given_sensitivity=np.ones(6) + 0j), "not complex ones"),
    (partial(stream, gains=HOLED), "gain of a in round 1 (2021-01-01) is nan, not a number"),
    (partial(stream, gains=GAINS + 1), "gain of a in round 1 (2021-01-01) is 1.2"),
    (partial(stream, gains=GAINS[0]), "gains have shape (3,), not (rounds, experts)"),
    (partial(stream, entities=(1, 2, 3)), "entities and names must be texts, got 1"),
    (partial(stream, label=None), "the label of a stream must be text, got None"),
    (partial(gaussian_dp.delta_of_epsilon, MASKED, 1.0), "epsilon must not have masked"),
    (partial(gaussian_dp.delta_of_epsilon, 1.0, GAINS > 0), "mu must be numbers, not true and"),
    (partial(chains.chain_norm, 0.1, 1j, 2), "b must be real numbers, not complex ones"),
    (partial(chains.chain_norm, 1.0, 0.5, 1), "a and b must be between -1 and 1, got 1.0 and 0.5"),
    (partial(dpol.TreeFTPL, "min_noise"), "objective must be min-noise or min-regret, got 'min_n"),
    (partial(audit, MASKED), "statistics must not have masked"),
    (partial(audit, GAINS * math.inf), "statistics must be finite; clip those that are infinite"),
    (partial(gaussian_dp.epsilon_of_delta, 1.0, 1.0), "delta must be a number in (0, 1), got 1.0"),
    (partial(losses.pure, 1.0, 1.5), "delta must be a number from 0 to 1, got 1.5"),
    (partial(dpol.account, 1.0, memory=(0, np.float32(1))), "a and b must be between -1 and 1"),
    (partial(losses.Promise, delta=1e-301), "delta must be 0 or at least 1e-300, got 1e-301"),
    (partial(dpol.play, "rw-fptl", noisy()), "; did you mean rw-ftpl?"),
    (partial(dpol.play, "rw-ftpl", noisy(), label=5), "label must be a str, got int; such as"),
    (partial(PLAYED.gains, GAINS), "stream must be a GainStream, got ndarray; pass the one that"),
    (partial(PLAYED.gains, TWO), "town with 6 rounds and 2 experts was given; pass the stream"),
    (partial(PLAYED.share, FLAT), "stream town: all experts gain the same in every round, so no"),
    (partial(dpol.RWMeta, learners=["ridge"]), "a learner must be a LearnerBank, got str; such as"),
    (partial(dpol.LearnerAlone, "ridge"), "bank must be a LearnerBank, got str; such as dpol."),
    (partial(dpol.RidgeBank, windows=8), "windows must be whole numbers from 1 to 10000, such as"),
    (partial(dpol.check, 5), "name must be a str, got int; such as 'rw-ftpl' or 'package.module:C"),
]


def test_a_wrong_argument_is_named_with_the_remedy() -> None:
    said = [(message, answer_or_refusal(call)[1]) for call, message in REFUSED]
    assert [it for it in said if it[0] not in it[1] or "\n" in it[1]] == []


# ---- numbers of NumPy ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_numbers_of_any_precision_are_computed_in_double_precision(kind: type) -> None:
    """A level of single precision once gave records of single precision, above the level."""
    of_privacy = "dpol.privacy.gaussian_dp", "dpol.privacy.noise_laws"
    for call in (
        *(partial(drawn, stream(stay=3), noise=noise, mu=0.1) for noise in dpol.NOISES),
        *(partial(stream, gain_range=1.1, count_sensitivity=1.1), partial(raw, mu=0.1)),
        *(partial(dpol.account, kept=0.1, delta=0.1), partial(losses.Promise, mu=0.1)),
        *(call for call in CALLS if call.func.__module__ in of_privacy),
    ):
        numbers = {name: it for name, it in call.keywords.items() if isinstance(it, float)}
        given = {name: kind(number) for name, number in numbers.items()}
        plain = {name: float(number) for name, number in given.items()}
        assert answer(call, **given) == answer(call, **plain)


def test_whole_numbers_of_numpy_are_taken() -> None:
    given = noisy(mu=np.int64(2), seed=np.int64(7), replicates=np.int32(3))
    same = noisy(mu=2.0, seed=7, replicates=[0, 1, 2])
    assert given.gains.tolist() == same.gains.tolist()
