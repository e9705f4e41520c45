"""Noise on a stream: its scale, its memory and its record."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import laplace_noise
from dpol.core.errors import DataError
from dpol.noise import NOISES, noise_scale, privatize
from dpol.noise.noises import memory_of
from dpol.noise.noisy_gains import Seeds, achieved_mu
from dpol.privacy.guarantee import ONE_PERSON
from dpol.privacy.losses import Loss
from dpol.privacy.noise_laws import LAPLACE

ROOT2 = math.sqrt(2.0)
BEDS = [[10.0, 20.0, 40.0], [5.0, 50.0, 100.0]]
GAINS = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]


@pytest.fixture
def hospitals(make_stream):
    return make_stream(GAINS, BEDS, count_sensitivity=3.0, gain_range=4.0)


@pytest.fixture(scope="module")
def given_gains(make_stream):
    """Return gains whose neighbours differ in one round by at most the given L2 sensitivity."""
    return dataclasses.replace(make_stream(GAINS), capacity=None, given_sensitivity=[0.2, 0.5])


def private(stream, noise="isotropic", mu=1.0, *, seed=7, replicates=(0, 1)):
    return privatize(stream, noise, mu, seed=seed, replicates=replicates)


@pytest.mark.parametrize(
    ("source", "noise", "mu", "expected"),
    [
        ("hospitals", "isotropic", 0.5, [[3 * ROOT2 / 5] * 3, [3 * ROOT2 / 2.5] * 3]),
        ("hospitals", "isotropic-constant", 0.5, [[3 * ROOT2 / 2.5] * 3] * 2),
        ("hospitals", "isotropic-worst-case", 0.5, [[4 * ROOT2] * 3] * 2),
        ("hospitals", "isotropic-worst-case", 0.05, [[6 * ROOT2] * 3, [12 * ROOT2] * 3]),
        ("hospitals", "isotropic-worst-case", math.inf, [[4 * ROOT2] * 3] * 2),
        (
            "hospitals",
            "capacity",
            0.5,
            [[3 * ROOT2 / (0.5 * beds) for beds in row] for row in BEDS],
        ),
        ("given_gains", "isotropic", 0.5, [[0.4] * 3, [1.0] * 3]),
        ("given_gains", "isotropic-constant", 0.5, [[1.0] * 3] * 2),
        ("given_gains", "isotropic-worst-case", 0.5, [[ROOT2] * 3] * 2),
        ("given_gains", "isotropic-worst-case", 0.25, [[ROOT2] * 3, [2.0] * 3]),
    ],
)
def test_noise_scale_by_hand(request, source, noise, mu, expected):
    """A person changes a count of a hospital by 3, and gains have the range 4."""
    stream = request.getfixturevalue(source)
    np.testing.assert_allclose(noise_scale(stream, noise, mu), expected, rtol=1e-14)


@pytest.mark.parametrize("noise", [name for name in NOISES if NOISES[name].none_at_infinity])
def test_mu_infinity_means_no_noise(hospitals, given_gains, noise):
    for stream in (hospitals, given_gains):
        if stream.capacity is None and NOISES[noise].needs_capacities:
            continue
        noisy = private(stream, noise, math.inf)
        np.testing.assert_array_equal(noisy.gains, [GAINS, GAINS])
        assert not noisy.initial.any()
        assert not noisy.noise_scale.any()
        assert noisy.guarantee.mu == math.inf


@pytest.mark.parametrize("usual", ["isotropic", laplace_noise.NAME])
def test_noise_depends_on_all_that_names_it_and_not_on_the_gains(make_stream, usual):
    def standard(gains=GAINS, label="test", noise=usual, mu=1.0, seed=7):
        stream = make_stream(gains, BEDS[:1] * 2, label=label)
        noisy = private(stream, noise, mu, seed=seed)
        return (noisy.gains - np.asarray(gains)) / noisy.noise_scale

    one = standard()
    np.testing.assert_array_equal(standard(), one)
    np.testing.assert_allclose(standard(np.zeros((2, 3))), one, atol=1e-14)
    changes = {"label": "other", "noise": "capacity", "mu": 2.0, "seed": 8}
    for name, value in changes.items():
        assert not np.isclose(standard(**{name: value}), one, atol=1e-6).any()


@pytest.mark.parametrize("noise", ["isotropic", "capacity-memory", laplace_noise.NAME])
@pytest.mark.parametrize("changed", [{"stay": 2}, {"count_sensitivity": 2.0}])
def test_two_releases_with_one_seed_share_their_draws(make_stream, noise, changed):
    """As `privatize` says: one secret seed is for one release."""

    def draws(**fields):
        noisy = private(make_stream(GAINS, BEDS[:1] * 2, **fields), noise)
        scale = noisy.noise_scale if noisy.fresh_scale is None else noisy.fresh_scale
        return (noisy.gains[:, 0] - GAINS[0]) / scale[0]

    np.testing.assert_allclose(draws(**changed), draws())


@pytest.mark.parametrize("change", [1, 3])
@pytest.mark.parametrize("noise", NOISES)
def test_the_guarantee_names_the_noise_and_what_a_person_moves(make_stream, noise, change):
    stream = make_stream(GAINS, BEDS, count_sensitivity=float(change))
    guarantee = private(stream, noise, 0.5).guarantee
    assert noise in guarantee.mechanism
    person = "person" if change == 1 else f"person who changes a count by up to {change}"
    assert guarantee.unit == f"one {person} in one round"
    assert guarantee.adjacency == ONE_PERSON.replace("person", person)
    assert guarantee.sampler == "seeded"
    in_counts = NOISES[noise].needs_capacities
    assert guarantee.sensitivity == pytest.approx(change * ROOT2 / (1 if in_counts else 5))
    moved = "L2, persons" if change == 1 else "L2, counts"
    assert guarantee.sensitivity_unit == (moved if in_counts else "L2, gain")


# ---- gains with a given sensitivity ----------------------------------------------------------


def test_the_noise_capacity_is_refused_without_capacities(given_gains):
    with pytest.raises(DataError, match="the noise capacity needs capacities"):
        private(given_gains, "capacity")


def test_achieved_mu_of_unequal_noise_is_that_of_the_least_noisy_expert(given_gains):
    scale = np.array([[1.0, 0.1, 2.0], [0.5, 0.4, 1.0]])
    assert achieved_mu(given_gains, scale) == pytest.approx(max(0.2 / 0.1, 0.5 / 0.4))
    assert achieved_mu(given_gains, np.zeros((2, 3))) == math.inf


def test_noisy_gains_say_what_they_were_drawn_from(hospitals):
    """And cannot be changed."""
    noisy = private(hospitals, "capacity", 0.5, seed=3, replicates=[4, 2])
    assert not noisy.gains.flags.writeable
    assert not noisy.noise_scale.flags.writeable
    assert noisy.seeds == Seeds(seed=3, stream="test", noise="capacity", mu=0.5, replicates=(4, 2))


# ---- Laplace noise of another package ------------------------------------------------------------


def test_laplace_noise_is_drawn_on_counts_at_its_strengths(hospitals):
    noisy = private(hospitals, laplace_noise.NAME, 1.0, replicates=[4, 2])
    generators = noisy.seeds.local_noise().generators
    draws = np.stack([each.laplace(size=(3, 3)) for each in generators])
    of_one = 3 / np.array(BEDS) / laplace_noise.strength_for(1.0, stay=1)
    np.testing.assert_allclose(noisy.initial, draws[:, 0] * of_one[0], rtol=1e-10)
    np.testing.assert_allclose(noisy.gains, GAINS + draws[:, 1:] * of_one, rtol=1e-9)
    np.testing.assert_allclose(noisy.noise_scale, ROOT2 * of_one, rtol=1e-10)


STRENGTHS = np.outer([0.1, 0.4, 0.3, 0.2], [1, 2, 4])
"""Strengths of four rounds and three places."""


def dearest(sets_of_rounds):
    """Return mu of the dearest stay, over sets of rounds and the two places of each round."""
    pairs = [*itertools.combinations(range(3), 2)]
    stays = {
        tuple(sorted(STRENGTHS[t, i] for t, pair in zip(rounds, moved, strict=True) for i in pair))
        for rounds in sets_of_rounds
        for moved in itertools.product(pairs, repeat=len(rounds))
    }
    return max(sum((LAPLACE.loss(e, 1) for e in stay), Loss()).mu for stay in stays)


def test_the_record_of_unequal_laplace_noise_is_that_of_the_dearest_stay(monkeypatch, make_stream):
    """The two dearest rounds are in a row."""
    stream = make_stream(np.full((4, 3), 0.5), [[10.0, 20.0, 40.0]] * 4, stay=2)
    unequal = dataclasses.replace(
        laplace_noise.NOISE, scale=lambda stream, mu: ROOT2 / (STRENGTHS * stream.capacity)
    )
    monkeypatch.setattr(laplace_noise, "UNEQUAL", unequal, raising=False)
    record = private(stream, "laplace_noise:UNEQUAL").guarantee
    assert record.mu == pytest.approx(dearest([(0, 1), (1, 2), (2, 3)]))
    for weeks in (1, 2):
        expected = dearest(itertools.combinations(range(4), weeks))
        assert record.of_rounds(weeks).mu == record.stays[weeks - 1].mu == pytest.approx(expected)
    assert (record.sensitivity, record.sensitivity_unit) == (2.0, "L1, persons")
    assert record.mechanism == "laplace_noise:UNEQUAL, Laplace noise on counts"


def test_a_best_guess_is_that_of_the_draws(random_stream):
    """A person stays at one of two places, and the likelier is guessed.

    A share of right guesses is within 5 standard deviations, but for a chance of 6e-7.
    """
    stream, error = dataclasses.replace(random_stream(4, 2), stay=4), 2.5 / math.sqrt(RUNS)
    noisy, less = (private(stream, laplace_noise.NAME, mu, replicates=RUNS) for mu in (1.0, 1.5))
    noise = (noisy.gains - stream.gains) * stream.capacity
    odds = (np.abs(noise + np.array([1, -1])) - np.abs(noise)).sum(axis=(1, 2)).round(9)
    right = (odds > 0).mean() + (odds == 0).mean() / 2
    assert abs(right - noisy.guarantee.loss.guess) <= error
    assert abs(right - less.guarantee.loss.guess) > error


# ---- correlated noise ----------------------------------------------------------------------------

MU = 0.25
ROUNDS, RUNS = 4, 20_000
PAIR = 0.2, 0.6


@pytest.fixture(scope="module")
def stream(random_stream):
    return random_stream(ROUNDS, 2)


def drawn_by(noise, a, b):
    """Return the (runs, T) fresh noise that `noise` is made of, if its memory is (a, b)."""
    u, fresh = 0.0, []
    for week in noise.T:
        fresh.append(week - u)
        u = b * u + (a - b) * week
    return np.column_stack(fresh)


def test_the_noise_has_its_law_and_no_other(stream, checks):
    """Error probability 1e-6; a wrong a or b, and a memory that is never used, are rejected.

    The initial noise is no noise of a round: otherwise an algorithm that adds z_0 to its sums takes
    the noise of a round out of them.
    """
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=RUNS, memory=PAIR)
    a, b = PAIR  # the fresh scale on counts, with the norm by hand
    fresh = math.sqrt(2) * stream.count_sensitivity / MU * math.sqrt(1 + (b - a) ** 2 / (1 - b**2))
    noise = np.concatenate([noisy.initial[:, None], noisy.gains - stream.gains], axis=1)
    noise *= np.concatenate([stream.capacity[:1], stream.capacity]) / fresh
    for hospital in range(2):
        initial, weeks = noise[:, 0, hospital], noise[:, 1:, hospital]
        drawn = drawn_by(weeks, *PAIR)
        assert checks.columns_are_unit_normals(np.column_stack([initial, drawn]))
        for wrong in ((0.3, 0.6), (0.2, 0.7), (0.2, 0.2)):
            assert not checks.columns_are_unit_normals(drawn_by(weeks, *wrong))
    assert checks.columns_are_unit_normals(noise[:, 1])


def designed(stream):
    """Return b of the memory that is designed for each hospital."""
    return memory_of(NOISES["capacity-memory"], stream, MU, "designed").b


@pytest.mark.parametrize("week", range(ROUNDS))
def test_memory_is_designed_from_the_capacities_of_the_first_week_alone(stream, week):
    """Later capacities are unknown when the memory is designed."""
    capacity = stream.capacity.copy()
    capacity[week] *= 3
    other = dataclasses.replace(stream, capacity=capacity)
    assert (designed(other) == designed(stream)).all() == (week > 0)


def test_memory_is_designed_for_gains_of_any_range(stream):
    per_100 = dataclasses.replace(
        stream, gains=100 * stream.gains, capacity=stream.capacity / 100, gain_range=100.0
    )
    np.testing.assert_array_equal(designed(per_100), designed(stream))


def test_no_memory_is_independent_noise_of_the_capacity_noise(stream):
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=2, memory="none")
    plain = privatize(stream, "capacity", MU, seed=1, replicates=2)
    np.testing.assert_array_equal(noisy.noise_scale, plain.noise_scale)
    assert noisy.guarantee.mu == plain.guarantee.mu


def test_the_scale_that_learners_see_is_that_of_the_noise(stream, checks):
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=range(RUNS))
    standard = (noisy.gains - stream.gains) / noisy.noise_scale
    # Weeks are not independent, so each week is tested by itself.
    assert all(checks.unit_variance(week, 2 * ROUNDS) for week in standard.reshape(RUNS, -1).T)
    fresh = (noisy.gains - stream.gains)[:, 1] / noisy.fresh_scale[1]
    assert not checks.unit_variance(fresh)


def test_the_record_names_the_memory(stream):
    told = privatize(stream, "capacity-memory", MU, seed=1, replicates=1, memory=PAIR).guarantee
    assert told.as_row()["memory"] == "a = 0.2, b = 0.6"
    assert told.mu == pytest.approx(MU, rel=0.01)
    designed = privatize(stream, "capacity-memory", MU, seed=1, replicates=1).guarantee
    assert designed.memory.startswith("a = 0, b = 0.")
    assert privatize(stream, "capacity", MU, seed=1, replicates=1).guarantee.memory == ""
