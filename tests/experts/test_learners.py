"""Banks of learners: what all of them do, and each beside a plain version; the typical level."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import experts_plain as plain
from dpol.checks.check import learners_play_their_columns
from dpol.experts.games import bank_actions
from dpol.experts.interface import Observation
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.fixed_share import FixedShareBank
from dpol.experts.learners.random_effects import BY_SIZE, GROWTH, LEVEL_FLOOR, RandomEffectsBank
from dpol.experts.learners.ridge import PENALTIES, WINDOWS, RidgeBank, slope_share
from dpol.experts.play import play_rounds
from dpol.experts.registry import LEARNERS, make_bank
from dpol.privacy.chains import Chains
from grids import each_and_corners
from steps import final_state, typical_levels

BANKS = {name: make_bank(name) for name in LEARNERS}
every_bank = pytest.mark.parametrize("name", BANKS)


@every_bank
def test_every_bank_passes_its_check(name):
    learners_play_their_columns(BANKS[name])


# ---- what the actions do not depend on -----------------------------------------------------------


@pytest.fixture
def game(make_noisy):
    """Return a game of 20 rounds, 6 experts and 3 replicates with noise of different scales."""
    rng = np.random.default_rng(4)
    scale = rng.uniform(0.01, 0.5, (20, 6))
    gains = 0.2 + scale * rng.standard_normal((3, 20, 6))
    return make_noisy(gains, noise_scale=scale, initial=scale[0] * rng.standard_normal((3, 6)))


@every_bank
def test_order_and_a_wave_that_lifts_everybody_change_nothing(name, game):
    def actions(**changes):
        return bank_actions(BANKS[name], dataclasses.replace(game, **changes))[:, 1:]

    before, wave = actions(), np.sin(np.arange(20))[:, None]
    # If the level tells how far apart experts lie, a wave is informative.
    of_level = name in ("random-effects", "fixed-share")
    assert (actions(gains=game.gains + wave) != before).any() == of_level
    order = np.array([3, 0, 5, 1, 4, 2])
    permuted = {key: getattr(game, key)[..., order] for key in ("initial", "gains", "noise_scale")}
    np.testing.assert_array_equal(order[actions(**permuted)], before)


@pytest.mark.parametrize(
    ("noise", "size"), each_and_corners((0.0, 1e-13, 1.0, 1e6), (0.0, 1.0, 1e4))
)
def test_extreme_gains_and_noise_give_numbers(make_noisy, noise, size):
    gains = size * np.random.default_rng(0).random((2, 60, 10))
    state = final_state(RandomEffectsBank(), make_noisy(gains, noise))
    for array in (state.predicted, state.fits, state.spread):
        assert np.isfinite(array).all()
    assert (state.shares > 0).all()


# ---- a learner alone -----------------------------------------------------------------------------


def test_only_learners_of_a_bank_can_be_played_alone():
    with pytest.raises(ValueError, match="place must be a whole number from 0 to 1, got 2"):
        LearnerAlone(RidgeBank((2, 3), {"weak": 0.1}), 2)


# ---- lines ---------------------------------------------------------------------------------------


def line_actions(make_noisy, gains, window, penalty):
    bank = RidgeBank((window,), {"only": penalty})
    return bank_actions(bank, make_noisy([gains]))[0, :, 0].tolist()


def test_ties_go_to_the_lowest_index_and_gains_that_left_the_window_do_not_break_them(make_noisy):
    """In the second game, the windows of both experts are all zero from round 12 on."""
    gains = np.repeat(np.random.default_rng(0).random((30, 1)), 3, axis=1)
    assert line_actions(make_noisy, gains, 8, 0.1) == [0] * 30
    gains = np.zeros((40, 2))
    gains[:7] = np.random.default_rng(0).random((7, 2))
    assert line_actions(make_noisy, gains, 4, 0.1)[11:] == [0] * 29


@given(
    st.integers(1, 100).flatmap(lambda w: st.tuples(st.just(w), st.integers(1, w))),
    st.floats(1e-3, 1e3),
)
def test_slope_share_is_the_ratio_of_a_penalised_least_squares_fit(sizes, penalty):
    window, rounds = sizes
    fitted = np.array(
        [plain.ridge_prediction(unit, window, penalty) for unit in np.eye(rounds).tolist()]
    )
    falling = 1 + slope_share(rounds, window, penalty) * np.arange(rounds, 0, -1)
    factor = fitted @ falling / (falling @ falling)
    assert factor > 0
    np.testing.assert_allclose(fitted, factor * falling, atol=1e-9 * np.abs(fitted).max())


def test_all_twelve_lines_equal_the_plain_ones(draw_noisy):
    raw = np.random.default_rng(1).random((70, 4))
    noisy = draw_noisy(raw, 0.3, 2)
    fast = bank_actions(RidgeBank(), noisy)
    settings = [(window, penalty) for window in WINDOWS for penalty in PENALTIES.values()]
    assert fast.shape == (2, 70, 12)
    for column, (window, penalty) in enumerate(settings):
        learner = plain.paper_learners([window], [penalty])[0]
        for r in range(2):
            expected = plain.play_learner(learner, noisy.gains[r], noisy.initial[r])
            assert fast[r, :, column].tolist() == expected
            assert len(set(expected)) > 1
    assert len(np.unique(fast[0], axis=1).T) == 12


# ---- fixed share ---------------------------------------------------------------------------------


def test_fixed_share_equals_the_plain_one(draw_noisy):
    raw = np.random.default_rng(1).random((40, 5))
    noisy = draw_noisy(raw, 0.3, 3)
    for rate, share in ((30.0, 0.5), (5.0, 0.02)):
        fast = bank_actions(FixedShareBank(rate, share), noisy)[..., 0]
        for gains, actions in zip(noisy.gains, fast, strict=True):
            expected = plain.fixed_share(gains, noisy.noise_scale, rate=rate, share=share)
            assert actions.tolist() == expected
            assert len(set(expected)) > 1


def test_large_rates_of_fixed_share_do_not_overflow(draw_noisy, crowd):
    noisy = draw_noisy(np.random.default_rng(1).random((40, 5)), 0.3, 3)
    bank = FixedShareBank(1e6, 1e-9)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        play_rounds(LearnerAlone(bank), noisy, crowd(3))


# ---- the typical level ---------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, [[3.0, 0.0]] * 4])
def test_the_typical_level_is_the_mean_of_levels_or_its_standard_error(make_noisy, scale):
    """Exact gains weigh more, and the mean of two rounds is 0."""
    noisy = make_noisy([[(1, 3), (-1, -3), (6, 2), (6, 2)]], scale)
    expected = [plain.typical_level(noisy.gains[0, :t], noisy.noise_scale) for t in (1, 2, 3, 4)]
    assert [it.unit.item() for it in typical_levels(noisy)[1:]] == pytest.approx(expected)


def test_an_observation_is_divided_by_the_typical_level(make_noisy):
    """It is a tenth of the range at first, and 1 for gains of 0 without noise."""
    game = dataclasses.replace(make_noisy(np.zeros((1, 1, 2))), gain_range=5.0)
    before, after = typical_levels(game)
    told = {"noise_scale": np.array([0.5, 1.0]), "fresh_scale": np.array([0.25, 0.5])}
    seen = Observation(np.array([[1.0, 3.0]]), **told)
    assert after.relative(seen).gains.tolist() == [[1.0, 3.0]]
    relative = before.relative(seen)
    assert relative.gains.tolist() == [[2.0, 6.0]]
    assert relative.noise_scale.tolist() == [[1.0, 2.0]]
    assert relative.fresh.tolist() == [[0.5, 1.0]]


# ---- random effects ------------------------------------------------------------------------------


BANK = RandomEffectsBank(scales=(0.2, 0.9), effect=0.4, persistence=0.7, forgetting=0.9)
MODELS = tuple(itertools.product(GROWTH, BY_SIZE, BANK.scales))
CHAINS = Chains(np.array([0.0, 0.2, 0.0, -0.3, 0.5]), np.array([0.6, 0.6, 0.9, 0.4, 0.5]))


@pytest.fixture
def play_with(make_noisy):
    """Return a maker of games: 6 rounds, 5 hospitals, 2 replicates, capacities that change."""

    def made(memory=None):
        rng = np.random.default_rng(4)
        capacity = rng.uniform(20, 300, 5) * rng.uniform(0.5, 2, (6, 5))
        fresh = 10 / capacity
        law = memory or Chains(np.zeros(5), np.zeros(5))
        noise = np.stack([law.noise(rng.standard_normal((6, 5))) for _ in range(2)])
        level = np.array([[0.1], [0.3], [0.2], [0.02], [0.0], [0.1]])
        factors = np.exp(0.3 * rng.standard_normal(5) + 0.2 * rng.standard_normal((6, 5)))
        return dataclasses.replace(
            make_noisy(level * factors + fresh * noise, fresh * law.deviations(6, 5)),
            memory=memory,
            fresh_scale=None if memory is None else fresh,
            capacity=capacity,
        )

    return made


# A plain version: Gaussian conditioning on the whole history, loops over everything.


def scale_at(level, growth):
    return np.asarray(level, dtype=float) ** growth


def conditioned(model, sizes, levels, above, fresh, memory):
    """Return an expert's mean and variance of p + x, mean of u, log density, given rounds 1..t.

    `sizes` and `levels` are those of the t rounds.
    """
    growth, (power, brief), size = model
    t, (a, b) = len(above), memory
    lag = np.subtract.outer(np.arange(t + 1), np.arange(t))
    left = np.where(lag > 0, (a - b) * a ** np.maximum(lag - 1.0, 0), 0)  # u by draws
    noise = fresh[:, None] * (np.eye(t) + left[:t])
    of_noise, with_left = noise @ noise.T, noise @ left[t]
    lag = np.abs(np.subtract.outer(np.arange(t + 1), np.arange(t + 1)))
    law = BANK.effect**2 * size + size**2 * BANK.persistence**lag
    scale = scale_at(levels, growth) * np.asarray(sizes) ** -power
    seen = np.outer(scale, scale) * (law[:t, :t] + np.eye(t) * (size * brief) ** 2)
    seen += of_noise
    ahead, solved = scale * law[t, :t], np.linalg.solve(seen, above)
    variance = law[t, t] - ahead @ np.linalg.solve(seen, ahead)
    density = -0.5 * (above @ solved + np.linalg.slogdet(seen)[1])
    return ahead @ solved, variance, with_left @ solved, density


def by_loops(noisy, r):
    """Return a replicate's predicted, spread and noise, (n,), shares, (K,), level, and variance.

    All are those at the end. Level, predicted, spread and the variance of the next gain, (n,), are
    in units of the typical level.
    """
    relative = noisy.capacity / np.median(noisy.capacity[0])
    memory = noisy.memory or Chains(np.zeros(5), np.zeros(5))
    rounds, n, count = noisy.n_rounds, noisy.n_experts, len(MODELS)
    units = np.array([each.unit[r] for each in typical_levels(noisy)[1:]])
    whole = noisy.noise_scale / units
    fresh = whole if noisy.memory is None else noisy.fresh_scale / units
    gains, levels, densities = noisy.gains[r] / units, [], np.zeros((rounds + 1, count, n))
    predicted, noise, shares = np.zeros(n), np.zeros(n), np.full(count, 1 / count)
    priors = [
        conditioned(model, [], [], np.zeros(0), np.zeros(0), (0, 0))[1]
        * relative[0] ** (-2 * model[1][0])
        for model in MODELS
    ]
    first = np.full((count, n), 1 / count)
    spread = (np.array(priors) * first).sum(axis=0)  # before any data the level is 1
    for t in range(1, rounds + 1):
        precision = 1 / (whole[t - 1] ** 2 + spread)
        level = precision @ (gains[t - 1] - predicted - fresh[t - 1] * noise) / precision.sum()
        levels.append(max(level, LEVEL_FLOOR))
        means, variances, lefts = np.empty((3, count, n))
        for k, i in itertools.product(range(count), range(n)):
            above, law = gains[:t, i] - levels, (memory.a[i], memory.b[i])
            known = conditioned(MODELS[k], relative[:t, i], levels, above, fresh[:t, i], law)
            means[k, i], variances[k, i], lefts[k, i], densities[t, k, i] = known
        factors = BANK.forgetting ** np.arange(t)[::-1]
        logs = np.tensordot(factors, np.diff(densities[: t + 1], axis=0), 1)
        logs += np.log(shares)[:, None]
        weights = np.exp(logs - logs.max(axis=0))
        weights /= weights.sum(axis=0)
        shares = (weights.sum(axis=1) + 1) / (n + count)
        by_size = np.array([relative[t - 1] ** -model[1][0] for model in MODELS])
        scale = by_size * np.array([scale_at(levels[-1], model[0]) for model in MODELS])[:, None]
        predicted = (weights * scale * means).sum(axis=0)
        parts = scale**2 * variances + (scale * means - predicted) ** 2
        spread, noise = (weights * parts).sum(axis=0), (weights * lefts).sum(axis=0)
    return predicted, spread, noise, shares, levels[-1]


@pytest.mark.parametrize("memory", [None, CHAINS], ids=["independent", "chains"])
def test_random_effects_equal_conditioning_on_the_whole_history(play_with, memory):
    noisy = play_with(memory)
    state = final_state(BANK, noisy)
    for r in range(noisy.n_replicates):
        predicted, spread, noise, shares, level = by_loops(noisy, r)
        np.testing.assert_allclose(state.level[r], level, rtol=1e-8)
        np.testing.assert_allclose(state.predicted[r], predicted, rtol=1e-8)
        np.testing.assert_allclose(state.spread[r], spread, rtol=1e-8)
        np.testing.assert_allclose(state.noise[r], noise, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(state.shares[:, r, 0], shares, rtol=1e-8)
    assert state.shares.max() < 0.9


def test_without_capacities_all_hospitals_are_of_one_size(play_with):
    noisy = play_with()
    alike = dataclasses.replace(noisy, capacity=np.full_like(noisy.capacity, 50.0))
    unknown = dataclasses.replace(noisy, capacity=None)
    states = [final_state(RandomEffectsBank(), game) for game in (alike, unknown, noisy)]
    np.testing.assert_array_equal(states[0].predicted, states[1].predicted)
    assert (states[1].predicted != states[2].predicted).all()


def test_random_effects_of_a_replicate_are_the_same_alone(make_noisy):
    """With one expert, what NumPy could add up in another order is the numbers of the models."""
    gains = np.random.default_rng(6).random((2, 30, 1))
    both, alone = (final_state(BANK, make_noisy(some, 0.2)) for some in (gains, gains[:1]))
    for name in ("predicted", "spread"):
        np.testing.assert_array_equal(getattr(both, name)[:1], getattr(alone, name))


def test_random_effects_begin_with_the_first_and_follow_the_best_without_noise(make_noisy, crowd):
    gains = np.tile([0.1, 0.3, 0.2], (1, 10, 1))
    actions = play_rounds(LearnerAlone(RandomEffectsBank()), make_noisy(gains), crowd(1))
    assert actions.tolist() == [[0] + [1] * 9]
