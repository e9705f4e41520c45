from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import experts_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import CuratorSetup
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.privacy.tree_noise import tree_levels

LEVELS = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 40: 6, 148: 8}
LARGEST = math.sqrt(2) / 10  # Sensitivity of ten beds.


class Seen(np.ndarray):
    """Normals; what is made of them keeps every array whose argmax is asked for."""

    prefixes: ClassVar[list[np.ndarray]] = []

    def argmax(self, axis=None):
        self.prefixes.append(np.array(self))
        return np.asarray(self).argmax(axis)


class UnitDraws:
    """Draw k is 1 in replicate k and 0 in all others: noise shows its coefficients by draw."""

    def __init__(self, n_replicates):
        self.n_replicates = n_replicates
        self.drawn = 0

    def standard_normal(self, *shape):
        out = np.zeros((self.n_replicates, *shape))
        out[self.drawn] = 1.0
        self.drawn += 1
        return out


def noise_of(algorithm, stream, mu, generators, noise="isotropic"):
    """(T, R, n) noise on every prefix that an algorithm compares."""
    seen = SimpleNamespace(
        n_replicates=generators.n_replicates,
        standard_normal=lambda *shape: generators.standard_normal(*shape).view(Seen),
    )
    Seen.prefixes.clear()
    play_rounds(algorithm, RawGains(stream, mu, generators.n_replicates, noise=noise), seen)
    raw = np.concatenate([np.zeros((1, stream.n_experts)), stream.gains.cumsum(axis=0)])
    return np.stack(Seen.prefixes) - raw[:-1, None]


def scale_of(objective, stream, mu):
    """The standard deviation of the noise on every prefix."""
    least = stream.sensitivity.max() * LEVELS[stream.n_rounds] / mu
    return least if objective == "min-noise" else max(least, math.sqrt(stream.n_rounds))


def setup_for(rounds, mu, gain_range=1.0):
    return CuratorSetup(
        n_replicates=1,
        n_rounds=rounds,
        n_experts=3,
        gain_range=gain_range,
        sensitivity=LARGEST,
        largest_change=LARGEST,
        mu=mu,
    )


@pytest.mark.parametrize(("rounds", "levels"), LEVELS.items())
def test_levels_are_the_most_nodes_that_a_round_really_enters(rounds, levels):
    most, entered = plain.most_nodes_of_a_round(rounds)
    assert tree_levels(rounds) == most == levels
    assert entered[:1] == ([levels] if levels else [])


@pytest.mark.parametrize("rounds", LEVELS)
@pytest.mark.parametrize("objective", ["min-noise", "min-regret"])
def test_prefixes_share_exactly_their_nodes_and_all_carry_the_same_variance(
    random_stream, rounds, objective
):
    stream = random_stream(rounds, 2)
    algorithm = TreeFTPL(objective)
    coefficients = noise_of(algorithm, stream, 0.5, UnitDraws(2 * rounds))[:, :, 0]
    levels, total = LEVELS[rounds], scale_of(objective, stream, 0.5)
    nodes = [set(plain.prefix_nodes(t)) for t in range(rounds)]
    shared = np.array([[len(one & other) for other in nodes] for one in nodes], dtype=float)
    np.fill_diagonal(shared, levels or 1)
    expected = total**2 / (levels or 1) * shared
    np.testing.assert_allclose(coefficients @ coefficients.T, expected, atol=1e-9 * total**2)


@pytest.mark.parametrize("objective", ["min-noise", "min-regret"])
@pytest.mark.parametrize("rounds", [1, 2, 5, 40])
def test_fast_equals_plain(random_stream, objective, rounds):
    stream = random_stream(rounds, 5)
    generators = ReplicateGenerators(tuple(np.random.default_rng(seed) for seed in range(4)))
    fast = play_rounds(TreeFTPL(objective), RawGains(stream, 0.7, 4), generators)
    total = scale_of(objective, stream, 0.7)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        expected = plain.tree_ftpl(stream.gains, total, LEVELS[rounds], rng)
        assert fast[seed].tolist() == expected


@pytest.mark.parametrize(
    ("objective", "rounds", "mu", "gain_range", "scale", "achieved"),
    [
        ("min-noise", 148, 0.5, 1.0, 8 * LARGEST / 0.5, 0.5),
        ("min-noise", 148, math.inf, 1.0, 0.0, math.inf),
        ("min-noise", 1, 0.5, 1.0, 0.0, 0.0),
        ("min-regret", 148, 0.5, 1.0, math.sqrt(148), 8 * LARGEST / math.sqrt(148)),
        ("min-regret", 148, math.inf, 1.0, math.sqrt(148), 8 * LARGEST / math.sqrt(148)),
        ("min-regret", 148, 0.05, 1.0, 8 * LARGEST / 0.05, 0.05),
        ("min-regret", 148, 0.5, 3.0, 3 * math.sqrt(148), 8 * LARGEST / (3 * math.sqrt(148))),
        ("min-regret", 1, math.inf, 1.0, 1.0, 0.0),
    ],
)
def test_scale_and_mu_by_hand(objective, rounds, mu, gain_range, scale, achieved):
    tree, setup = TreeFTPL(objective), setup_for(rounds, mu, gain_range)
    assert tree.init(setup).total_scale == pytest.approx(scale)
    assert tree.achieved_mu(setup) == pytest.approx(achieved)


def test_min_regret_minimises_the_regret_bound():
    """No scale that is private enough has a smaller S + r^2 T / S."""

    def bound(scale, setup):
        return scale + setup.gain_range**2 * setup.n_rounds / scale

    for mu in (0.02, 0.05, 0.5, 5.0):
        setup = setup_for(148, mu, 2.0)
        chosen = TreeFTPL("min-regret").init(setup).total_scale
        least = TreeFTPL("min-noise").init(setup).total_scale
        others = bound(least * np.geomspace(1, 1e4, 2000), setup)
        assert bound(chosen, setup) <= others.min() * (1 + 1e-12)


@pytest.mark.parametrize("noise", ["isotropic", "capacity"])
@pytest.mark.parametrize("objective", ["min-noise", "min-regret"])
@pytest.mark.parametrize("rounds", [2, 5, 21])
def test_achieved_mu_is_that_of_the_noise_that_is_really_drawn(
    random_stream, objective, rounds, noise
):
    """The largest change of all released node sums by one round, over their noise scale.

    With capacities that of the worst pair of experts: one person moves each by 1 over its beds.
    The first draw after round 1 is the noise of node (1, 1), the only node of prefix 1.
    """
    stream = random_stream(rounds, 3)
    algorithm, source = TreeFTPL(objective), RawGains(stream, 0.5, 2 * rounds, noise=noise)
    node_scale = noise_of(algorithm, stream, 0.5, UnitDraws(2 * rounds), noise)[1, 1]
    most, _ = plain.most_nodes_of_a_round(rounds)
    if noise == "capacity":
        shifts = math.sqrt(most) / stream.capacity.min(axis=0) / node_scale
        mu = max(math.hypot(shifts[i], shifts[j]) for i in range(3) for j in range(i))
    else:
        mu = stream.sensitivity.max() * math.sqrt(most) / node_scale.min()
        assert algorithm.guarantee(setup_of(source)).sensitivity == stream.sensitivity.max()
    assert guarantee_of(algorithm, source).mu == pytest.approx(mu)
    assert mu <= 0.5 * (1 + 1e-12)
    if objective == "min-noise":
        assert mu == pytest.approx(0.5)


def test_experts_have_independent_noise(random_stream, crowd, checks):
    """Error probability 1e-6; the same noise for two experts is rejected."""
    stream = random_stream(4, 3)
    noise = noise_of(TreeFTPL("min-noise"), stream, 0.5, crowd(20_000))[3]
    noise = noise / (stream.sensitivity.max() * 2 / 0.5)
    assert checks.columns_are_unit_normals(noise)
    assert not checks.columns_are_unit_normals(noise[:, [0, 1, 1]])


@pytest.mark.parametrize("objective", ["min_noise", "", None])
def test_an_unknown_objective_is_refused(objective):
    with pytest.raises(ValueError, match="objective must be min-noise or min-regret"):
        TreeFTPL(objective)


# --- Capacity noise ---


def own_setup(changes, gain_range=1.0):
    setup = setup_for(5, 0.5, gain_range)
    return dataclasses.replace(setup, changes=np.tile(changes, (5, 1)), noise="capacity")


def test_capacity_scales_by_hand():
    """L = 3 levels for 5 rounds; 2, 5 and 10 beds; mu = 0.5."""
    changes = np.array([0.5, 0.2, 0.1])
    state = TreeFTPL().init(own_setup(changes))
    expected = math.sqrt(2) * 3 * changes / 0.5
    np.testing.assert_allclose(state.relative * state.total_scale, expected)
    np.testing.assert_allclose(state.relative * state.node_scale, expected / math.sqrt(3))
    for gain_range, root in ((2.0, math.sqrt(20)), (0.5, math.sqrt(1.25))):
        state = TreeFTPL("min-regret").init(own_setup(changes, gain_range))
        np.testing.assert_allclose(state.relative * state.total_scale, np.maximum(expected, root))


def test_the_capacity_noise_says_what_it_lacks_and_what_it_is():
    with pytest.raises(ValueError, match="the noise capacity needs gains with capacities"):
        TreeFTPL().init(dataclasses.replace(setup_for(5, 0.5), noise="capacity"))
    guarantee = TreeFTPL().guarantee(own_setup([0.5, 0.2, 0.1]))
    assert guarantee.sensitivity == pytest.approx(math.sqrt(2))
    assert "capacity" in guarantee.mechanism
    assert TreeFTPL().guarantee(own_setup([0.5])).mu == pytest.approx(0.5 / math.sqrt(2))
