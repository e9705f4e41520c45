from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy import stats

from dpol.lazy import stochastic_losses
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses, TurnLosses
from lazy_plain import matrix

# A sound sample is rejected with at most this probability, in every statistical test.
ERROR = 1e-6


def gap(T: int = 50, d: int = 4, seed: int = 0, advantage: float = 0.1) -> GapLosses:
    return GapLosses(T, d, advantage, seed)


@pytest.mark.parametrize("size", [1, 2, 7, 49, 50, 51, 1000])
def test_losses_do_not_depend_on_the_batch_size(size: int) -> None:
    losses = gap()  # Losses can be read again.
    rounds, batches = matrix(losses), list(losses.batches(size))
    assert rounds.shape == (50, 4)
    assert set(np.unique(rounds)) == {0.0, 1.0}
    np.testing.assert_array_equal(np.concatenate(batches), rounds)
    whole, rest = divmod(50, size)
    assert [len(batch) for batch in batches] == [size] * whole + [rest] * (rest > 0)


def rate_is(ones: float, trials: int, rate: float) -> bool:
    return bool(stats.binomtest(int(ones), trials, rate).pvalue > ERROR)


@pytest.mark.parametrize("advantage", [0.0, 0.1, 0.3, 0.5])
def test_rates_of_the_stochastic_losses(advantage: float) -> None:
    """The error is at most 1e-6 for each of 5 experts and 10 pairs."""
    T, d = 40_000, 5
    rounds = matrix(gap(T, d, advantage=advantage))
    rates = [0.5 - advantage, *[0.5] * (d - 1)]
    for expert, rate in enumerate(rates):
        assert rate_is(rounds[:, expert].sum(), T, rate)
        # A rate that is off by 0.03 fails.
        assert not rate_is(rounds[:, expert].sum(), T, rate + 0.03)
        # Rounds are independent too.
        repeated = (rounds[1::2, expert] * rounds[::2, expert]).sum()
        assert rate_is(repeated, T // 2, rate**2)
    for first, second in itertools.combinations(range(d), 2):
        both = (rounds[:, first] * rounds[:, second]).sum()
        assert rate_is(both, T, rates[first] * rates[second])


# ---- two good experts that take turns ------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_two_experts_take_turns_to_lose(size: int) -> None:
    rounds = np.concatenate(list(TurnLosses(7, 4, turn=3).batches(size)))
    assert rounds.T.tolist() == [[1, 1, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1, 0], [1] * 7, [1] * 7]


# ---- replicates with losses of their own, or one sequence for all --------------------------------


@pytest.mark.parametrize("size", [1, 7, 300, 1000])
@pytest.mark.parametrize("room", [1, 100, 10**9])
@pytest.mark.parametrize(
    "made",
    [
        partial(PairedLosses, tuple(GapLosses(300, 3, 0.1, 4, r) for r in range(5))),
        partial(PairedLosses, (TurnLosses(300, 3, 20),), 4),
    ],
    ids=["own", "shared"],
)
def test_paired_losses_are_those_of_their_sequences(
    made: Callable[[], PairedLosses], size: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much memory there is: totals above 255 need more than one byte."""
    monkeypatch.setattr(stochastic_losses, "MOST_SUMS", room)
    own = np.stack([matrix(each) for each in made().sequences])
    rounds = np.broadcast_to(own, (made().replicates or len(own), *own.shape[1:]))
    sums = np.stack([rounds[:, :edge].sum(axis=1) for edge in [*range(0, 300, size), 300]], axis=1)
    first, *others = made().sums_of_batches(size)
    read = [first, *(it[:, 1:] for it in others)]
    np.testing.assert_array_equal(np.concatenate(read, axis=1), sums)
    np.testing.assert_array_equal(made().totals, rounds.sum(axis=1))
    edges = [0, 1, 150, 150, 299]
    for stretch, (first, end) in zip(made().between(edges), itertools.pairwise(edges), strict=True):
        np.testing.assert_array_equal(stretch, rounds[:, first:end].sum(axis=1))


def test_replicates_have_independent_losses() -> None:
    """Two sequences agree in half of 15,600 fair coins; the best expert's coins are left out."""
    first, second = (matrix(GapLosses(400, 40, 0.1, 4, r))[:, 1:] for r in (0, 1))
    assert rate_is((first == second).sum(), first.size, 0.5)
    assert not rate_is((first == first).sum(), first.size, 0.5)


def test_games_of_other_sizes_do_not_share_the_best_experts_losses() -> None:
    few, many = (matrix(gap(2000, d, advantage=0.0))[:, 0] for d in (3, 4))
    assert rate_is((few == many).sum(), 2000, 0.5)
