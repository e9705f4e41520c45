"""Streams under w-event privacy: cases by hand, budgets, and as noises."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.noise import EVENT_STREAMS, NOISES, event_streams, privatize
from dpol.privacy.account import best_guess
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import AT_ONE_PLACE, STAY
from dpol.privacy.losses import Promise, pure
from dpol.privacy.noise_laws import LAPLACE
from dpol.show.entries import noise_entry

NAMES = [noise.name for noise in EVENT_STREAMS]
EACH = pytest.mark.parametrize("name", NAMES)
SCALED = [name for name in NAMES if name != "budget-absorption"]
"""Mechanisms whose noise is a multiple of a draw; `test_draws.py` has budget absorption."""
BEDS = 100.0
EXACT = {
    "laplace-uniform": lambda stay: 2 * stay,
    "laplace-sample": lambda stay: 2,
    "fast": lambda stay: 2 * math.ceil(0.15 * stay),
}
"""Number of releases that count a person of the unit, at two holders, where all are alike."""


def one_holder(name, counts, draws, epsilon, stay):
    """Return the (T,) releases of one holder; draws (T, k)."""
    x, own = (np.array(values, dtype=float) for values in (counts, draws))
    release = NOISES[name].mechanism.release
    return release(x[:, None], np.array([BEDS]), own[..., None, None], epsilon, stay)[:, 0, 0]


def sampled_by_fast(counts, draws, epsilon, stay):
    """Return the rounds of FAST's samples: those whose release moves with the round's draw."""
    made = one_holder("fast", counts, draws, epsilon, stay)
    moved = [
        one_holder("fast", counts, np.array(draws) + other[:, None], epsilon, stay)[t]
        for t, other in enumerate(np.eye(len(counts)))
    ]
    return np.flatnonzero(moved != made).tolist()


@pytest.mark.parametrize(
    ("name", "counts", "draws", "released"),
    [
        ("laplace-uniform", [3, 5], [[1], [-2]], [4, 3]),
        ("laplace-sample", [3, 5, 7], [[1], [9], [-1]], [3.5, 3.5, 6.5]),
        # The decision's noise of scale 2 keeps the first count back; the budget is left for later.
        ("budget-absorption", [3, 3], [[-0.6, 1], [0, 1]], [0, 4]),
        # Two rounds of budget make the scale 1 in round 2, which voids round 3.
        ("budget-absorption", [1, 3, 99, 99], [[0, 1]] * 4, [0, 4, 4, 101]),
        # At most w rounds are absorbed.
        ("budget-absorption", [0, 0, 0, 9], [[0, 1]] * 4, [0, 0, 0, 10]),
    ],
)
def test_releases_by_hand(name, counts, draws, released):
    made = one_holder(name, counts, draws, 2.0, 2)
    np.testing.assert_allclose(made, released, rtol=1e-12)


def test_fast_by_hand():
    """Round 1 is sampled whole, round 2 by the Kalman gain 27 / 29; then nothing is expected.

    With process variance 25 and noise variance 2. Without an error the interval is
    1 + 10 (1 - e^-0.8) = 6.5, so the next sample is in round 9.
    """
    counts = [50, 50, 80, 80, 80, 80, 80, 80, 80]
    released = one_holder("fast", counts, [[0]] * 9, 1.0, 1)
    assert sampled_by_fast(counts, [[0]] * 9, 1.0, 1) == [0, 1, 8]
    kept = 2 * 27 / 29 + 7 * 25
    gain = kept / (kept + 2)
    np.testing.assert_allclose(released, [50] * 8 + [50 + 30 * gain], rtol=1e-9)
    assert one_holder("fast", [50, 50], [[0], [2]], 1.0, 1)[1] == pytest.approx(50 + 2 * 27 / 29)


def test_fast_samples_a_share_of_a_window():
    """For 8 rounds 2 samples, each with half of epsilon; the first is released as it is."""
    counts = [50, 50, 80, 80, 80, 80, 80, 80, 80]
    draws = [[1]] + [[0]] * 8
    released = one_holder("fast", counts, draws, 1.0, 8)
    assert sampled_by_fast(counts, draws, 1.0, 8) == [0, 1, 8]
    # The noise has variance 2 x 2^2 = 8. No error: the interval of the first sample is 1.
    second = 33 / 41
    assert released[:2].tolist() == pytest.approx([52, 52 - 2 * second])
    kept = 8 * second + 7 * 25
    assert released[8] == pytest.approx(released[1] + kept / (kept + 8) * (80 - released[1]))


@given(seed=st.integers(0, 1000), stay=st.sampled_from([1, 4, 8]))
def test_fast_reads_its_noisy_samples_only(seed, stay):
    """So its samples reveal all that it does, and it decides by earlier releases when to sample.

    Other counts in rounds without a sample, and other counts with noise that makes the same sample,
    lead to the same releases in the same rounds.
    """
    rng = np.random.default_rng(seed)
    counts, draws = rng.integers(0, 90, 16), rng.laplace(size=(16, 1))
    made = one_holder("fast", counts, draws, 1.0, stay)
    moved = rng.integers(-5, 5, 16)
    scale = event_streams.samples_of(stay)
    sampled = sampled_by_fast(counts, draws, 1.0, stay)
    same = rng.laplace(size=(16, 1))
    same[sampled] = draws[sampled] - moved[sampled, None] / scale
    other = one_holder("fast", counts + moved, same, 1.0, stay)
    np.testing.assert_allclose(other, made, rtol=1e-9, atol=1e-9)
    assert sampled_by_fast(counts + moved, same, 1.0, stay) == sampled


def test_fast_measures_small_errors_in_persons():
    """Of an estimate below 1 the error is not relative.

    Round 1 moves the estimate to 0.5, round 2 by 0.04, so that the signal is 0.9 x 0.04 + 0.1 x
    0.54 / 5 = 0.0468 and the interval 1 + 10 (1 - e^-0.532) = 5.1. Relative errors of 1 and 0.074
    would give 2.1.
    """
    draws = [[0.5], [0.5 + 0.04 * 29 / 27]] + [[0]] * 6
    released = one_holder("fast", [0] * 8, draws, 1.0, 1)
    assert released[:2].tolist() == pytest.approx([0.5, 0.54])
    assert sampled_by_fast([0] * 8, draws, 1.0, 1) == [0, 1, 7]


def test_pegasus_by_hand():
    """The noise of counts has scale 1.25, so the threshold is 125; a closed group stands alone."""
    counts = [0, 10, 20, 400, 400, 400, 400]
    draws = np.zeros((7, 3))
    draws[1, 0], draws[5, 0] = 8, 8
    released = one_holder("pegasus", counts, draws, 1.0, 1)
    np.testing.assert_allclose(released, [0, 10, 20, 400, 400, 405, 400])
    # Deviations 10 and 20; thresholds 125 + 20 (-5.3) = 19 of the group, and 40 times a draw.
    draws[0, 1] = -5.3
    assert one_holder("pegasus", counts, draws, 1.0, 1)[2] == 20
    draws[1, 0], draws[2, 2] = 0, 0.2
    assert one_holder("pegasus", counts[:3], draws[:3], 1.0, 1).tolist() == [0, 5, 20]
    draws[2, 2] = -0.2
    assert one_holder("pegasus", counts[:3], draws[:3], 1.0, 1).tolist() == [0, 5, 10]
    # 20 - 0.03 x 40 = 18.8 joins; with half of this noise, 19.4 would not.
    draws[2, 2] = -0.03
    assert one_holder("pegasus", counts[:3], draws[:3], 1.0, 1).tolist() == [0, 5, 10]


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=8),
    st.integers(0, 7),
    st.sampled_from([-1, 1]),
)
def test_one_person_moves_a_deviation_by_less_than_two(counts, place, change):
    """The noise of the grouper is for 2: Laplace 4 / epsilon on thresholds, 8 on deviations."""
    x = np.array(counts, dtype=float)[:, None]
    moved = x + change * (np.arange(len(x)) == place % len(x))[:, None]
    one, other = event_streams._deviation(x), event_streams._deviation(moved)
    assert np.abs(one - other).max() < 2


# ---- budgets -------------------------------------------------------------------------------------


def largest_window(spent, stay):
    """Return the largest sum of w rounds in a row."""
    total = np.concatenate([np.zeros((1, *spent.shape[1:])), spent.cumsum(axis=0)])
    return (total[stay:] - total[:-stay]).max()


def accounted(name, stay, epsilon=2.0, rounds=24, replicates=40):
    """Run on jumping counts, and return what each round costs by its noise, (T, R, n).

    The scale of a release is its error over the draw that was put in, and a release of scale b
    costs 1 / b. A grouper's cost is given by its scales in `test_pegasus_by_hand`.
    """
    mechanism = NOISES[name].mechanism
    rng = np.random.default_rng(0)
    x = rng.choice([0.0, 30.0, 3000.0], (rounds, 3))
    draws = rng.laplace(size=(rounds, mechanism.draws, replicates, 3))
    made = mechanism.release(x, np.full(3, BEDS), draws, epsilon, stay)
    noise = made - x[:, None]
    if name == "pegasus":
        return np.broadcast_to(1.25 * (draws[:, 0] / noise)[0], noise.shape)
    if name == "fast":  # the first sample is released as it is; later ones are filtered
        moved = np.diff(made, axis=0, prepend=0) != 0
        return moved * (draws[:, 0] / noise)[0]
    drawn = np.isclose(noise, draws[:, 0] / epsilon) | (name == "laplace-uniform")
    return np.where(drawn, draws[:, 0] / noise, 0.0)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("stay", [1, 2, 5, 8])
def test_no_window_spends_more_than_epsilon(name, stay):
    cost = accounted(name, stay)
    assert largest_window(cost, stay) <= 2.0 * (1 + 1e-5)
    most = NOISES[name].mechanism.most(stay)
    assert cost.max() <= 2.0 * most * (1 + 1e-5)
    if name != "fast":  # nothing is wasted
        assert largest_window(cost, stay) > 1.9


# ---- as noises -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stream(random_stream):
    return random_stream(12, 4)


ONE_PLACE = "budget-absorption", "fast"
"""Mechanisms whose dear rounds depend on the data: those of several holders could add up."""


def window_of(name, mu, stay):
    """Return the epsilon of a window at one holder, by the releases that it is made of."""
    if name in EXACT:
        count = EXACT[name](stay)
        return count / 2 * LAPLACE.largest(Promise(mu=mu), count)
    if name != "pegasus":  # a window is one release for epsilon at each of two holders
        return LAPLACE.largest(Promise(mu=mu), 2)
    epsilon = stay * NOISES[name].mechanism.dearest(Promise(mu=mu), stay)
    assert rounds_of(name, epsilon, stay, stay).mu <= mu
    assert rounds_of(name, 1.001 * epsilon, stay, stay).mu > mu
    return epsilon


def rounds_of(name, epsilon, stay, rounds):
    """Return the loss of a person in v rounds, for the epsilon of a window."""
    most = epsilon * NOISES[name].mechanism.most(stay)
    if name == "pegasus":  # a fifth of epsilon decides on groups, which all rounds are in
        return LAPLACE.loss(0.8 * most, 2 * rounds) + pure(0.2 * most * rounds).times(2)
    return LAPLACE.loss(most, 2 * rounds)


@EACH
@pytest.mark.parametrize("stay", [1, 2, 4])
def test_the_record_says_what_is_protected(stream, name, stay):
    staying = dataclasses.replace(stream, stay=stay, count_sensitivity=2.0)
    record = privatize(staying, name, 0.5, seed=1, replicates=1).guarantee
    assert 0.5 * (1 - 1e-9) <= record.mu <= 0.5 * (1 + 1e-9)
    assert (record.sensitivity, record.sensitivity_unit) == (4.0, "L1, counts")
    assert record.mechanism == f"{name}, Laplace noise on counts"
    # A person in any v rounds, at any places, costs at most the dearest round v times.
    epsilon, rounds = window_of(name, 0.5, stay), (1, 2, 4, 8, 3, 30)
    expected = [rounds_of(name, epsilon, stay, v).mu for v in rounds]
    assert [record.of_rounds(v).mu for v in rounds] == pytest.approx(expected)
    assert [it.mu for it in record.stays] == pytest.approx(expected[:4])
    assert record.adjacency.endswith(AT_ONE_PLACE) == (name in ONE_PLACE and stay > 1)
    if stay > 1:
        told = STAY.format(stay).replace("person", "person who changes a count by up to 2")
        assert record.adjacency.removesuffix(AT_ONE_PLACE) == told


@EACH
def test_releases_are_the_mechanisms_on_counts(stream, name):
    """Half of epsilon for each of two holders; counts in units of what one person can change."""
    staying = dataclasses.replace(stream, stay=3, count_sensitivity=2.0)
    noisy = privatize(staying, name, 1.0, seed=1, replicates=[4, 2])
    generators, k = noisy.seeds.local_noise().generators, NOISES[name].mechanism.draws
    draws = np.stack([g.laplace(size=(12, k, 4)) for g in generators], axis=2)
    units = stream.capacity / 2.0
    epsilon = window_of(name, 1.0, 3)
    made = NOISES[name].mechanism.release(stream.gains * units, units[0], draws, epsilon, 3)
    np.testing.assert_allclose(noisy.gains.transpose(1, 0, 2), made / units[:, None])
    assert not noisy.initial.any()
    if name == "laplace-uniform":  # the scale says how far the noise goes
        expected = math.sqrt(2) * 3 / epsilon / units
        np.testing.assert_allclose(noisy.noise_scale, expected)


RUNS = 10_000


@pytest.mark.parametrize("name", EXACT)
def test_a_best_guess_is_that_of_the_releases(random_stream, name):
    """Simulated: a person stays at one of two holders, and the likelier of the two is guessed.

    A share of right guesses is within 5 standard deviations, but for a chance of 6e-7.
    """
    stay, mu = 4, 1.0
    stream = dataclasses.replace(random_stream(stay, 2), stay=stay)
    for level in (mu, 1.2 * mu):
        noisy = privatize(stream, name, level, seed=1, replicates=RUNS)
        noise = (noisy.gains - stream.gains) * stream.capacity
        if name != "laplace-uniform":  # of four rounds only the first has news
            noise = noise[:, :1]
        odds = (np.abs(noise + np.array([1, -1])) - np.abs(noise)).sum(axis=(1, 2)).round(9)
        share = (odds > 0).mean() + (odds == 0).mean() / 2
        assert abs(share - NOISES[name].best_guess(level, stay)) <= 2.5 / math.sqrt(RUNS)
        # Noise for half as much again is refused.
        assert abs(share - NOISES[name].best_guess(1.5 * level, stay)) > 2.5 / math.sqrt(RUNS)


@EACH
@given(seed=st.integers(0, 50), holder=st.integers(0, 3), first=st.integers(0, 11))
def test_a_holder_reads_its_own_counts_up_to_its_round_only(stream, name, seed, holder, first):
    changed, same = stream.gains.copy(), np.ones((12, 4), dtype=bool)
    changed[first:, holder] = np.random.default_rng(seed).random(12 - first)
    same[first:, holder] = False
    one, other = (
        privatize(dataclasses.replace(stream, gains=each, stay=2), name, 1.0, seed=1, replicates=3)
        for each in (stream.gains, changed)
    )
    np.testing.assert_array_equal(one.gains[:, same], other.gains[:, same])


@pytest.mark.parametrize("name", NOISES)
def test_tables_mark_a_noise_of_ours(name):
    """A noise without a display name is shown as its own, without a mark."""
    assert noise_entry(name).ours == (NOISES[name].origin == "ours")
