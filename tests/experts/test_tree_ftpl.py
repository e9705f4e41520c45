from __future__ import annotations

import math

import numpy as np
import pytest

import experts_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import CuratorSetup
from dpol.experts.play import RawGains, play_rounds
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.privacy.tree_noise import tree_levels

LEVELS = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 40: 6, 148: 8}
LARGEST = math.sqrt(2) / 10  # Sensitivity of ten beds.


@pytest.mark.parametrize(("rounds", "levels"), LEVELS.items())
def test_levels_are_the_most_nodes_that_a_round_really_enters(rounds, levels):
    most, entered = plain.most_nodes_of_a_round(rounds)
    assert tree_levels(rounds) == most == levels
    assert entered[:1] == ([levels] if levels else [])


@pytest.mark.parametrize("noise", ["isotropic", "capacity"])
@pytest.mark.parametrize("objective", ["min-noise", "min-regret"])
@pytest.mark.parametrize("rounds", [1, 2, 5, 9, 40])
def test_fast_equals_plain(random_stream, objective, rounds, noise):
    """The plain game draws nodes one by one; prefixes share nodes and are padded."""
    stream, replicates = random_stream(rounds, 5), 20
    generators = ReplicateGenerators(tuple(map(np.random.default_rng, range(replicates))))
    source = RawGains(stream, 0.7, replicates, noise=noise)
    fast = play_rounds(TreeFTPL(objective), source, generators)
    moved = math.sqrt(2) / stream.capacity.min(axis=0)
    if noise == "isotropic":
        moved = np.full(5, moved.max())
    least = 0 if objective == "min-noise" else math.sqrt(rounds)
    total = np.maximum(moved * LEVELS[rounds] / 0.7, least)
    for seed in range(replicates):
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
    tree, facts = TreeFTPL(objective), {"n_rounds": rounds, "mu": mu, "gain_range": gain_range}
    moved = {"sensitivity": LARGEST, "largest_change": LARGEST}
    setup = CuratorSetup(n_replicates=1, n_experts=3, **facts, **moved)
    assert tree.init(setup).total_scale == pytest.approx(scale)
    assert tree.achieved_mu(setup) == pytest.approx(achieved)
