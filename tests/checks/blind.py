"""Faults that somebody planted who had not seen the checks: one each, in the form of `planted`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from checks.broken import faults_of
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import (
    Actions,
    CentralAlgorithm,
    CuratorSetup,
    LocalAlgorithm,
    LocalSetup,
    Observation,
)
from dpol.experts.limited_updates import BlocksState, LimitedUpdates
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.released_sums import SumsState
from dpol.experts.tree_ftpl import TreeFTPL, TreeState
from dpol.privacy.factorizations import Factorization, fresh_window_sums
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.tree_noise import next_nodes, tree_levels


@dataclass(frozen=True)
class TreeShort(TreeFTPL):
    """the noise of a node is for one level fewer than a round enters, and prefixes are not padded:
    sqrt(L / (L - 1)), 15% too little at 16 rounds, 10% at 40.
    """

    def init(self, setup: CuratorSetup) -> TreeState:
        state, levels = super().init(setup), tree_levels(setup.n_rounds)
        node = state.node_scale * math.sqrt(max(levels - 1, 0) / max(levels, 1))
        return replace(state, total_scale=0.0, node_scale=node)


@dataclass(frozen=True)
class _Levels(TreeState):
    levels: dict[int, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class LevelsOnce(TreeFTPL):
    """the noise of a level is drawn once and is that of all its nodes: two nodes of a level differ
    by their exact sums, mu = inf (prefixes are not padded).
    """

    def init(self, setup: CuratorSetup) -> TreeState:
        return _Levels(**{**vars(super().init(setup)), "total_scale": 0.0})

    def step(self, state: Any, observation: Any, generators: ReplicateGenerators) -> Any:
        if observation is not None:
            noise = state.node_scale * generators.standard_normal(observation.gains.shape[1])
            nodes = next_nodes(state.nodes, state.relative * noise)
            nodes |= {level: state.levels.get(level, own) for level, own in nodes.items()}
            prefix = state.prefix + observation.gains
            state = replace(state, prefix=prefix, nodes=nodes, levels={**nodes, **state.levels})
        return super().step(state, None, generators)


@dataclass(frozen=True)
class WindowShort(NoisyMax):
    """the noise is for one round fewer than the window sums: a round enters three releases, and two
    are paid, 22% too little.
    """

    window: int = 3

    def factorization(self, n_rounds: int) -> Factorization:
        return fresh_window_sums(n_rounds, max(self.window - 1, 1))


@dataclass(frozen=True)
class Undiscounted(MatrixFTPL):
    """sums of all rounds with the noise of discounted sums: an old round still counts whole where
    the noise has forgotten it, mu 1.3 times in 10 rounds and 1.9 times in 40.
    """

    decay: float = 0.9

    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        return replace(state, sums=state.sums + gains)


@dataclass(frozen=True)
class BlocksKept(LimitedUpdates):
    """sums go on over all blocks, and the loss is that of one draw: round 1 enters every later
    draw, four of them in 31 rounds, 1.9 times mu.
    """

    def step(
        self, state: BlocksState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[BlocksState, Actions]:
        after, played = super().step(state, observation, generators)
        gains = 0.0 if observation is None else observation.gains
        return replace(after, sums=state.sums + gains), played


@dataclass(frozen=True)
class RoundedWeights(LimitedUpdates):
    """the probabilities of the exponential mechanism are rounded to percents: an expert below half
    a percent is never played, so one person makes an action possible, mu = inf.
    """

    def step(
        self, state: BlocksState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[BlocksState, Actions]:
        rounds, sums = state.rounds, state.sums
        if observation is not None:
            rounds, sums = rounds + 1, sums + observation.gains
        state = replace(state, rounds=rounds, sums=sums)
        uniform_number = generators.uniform()
        if rounds & (rounds + 1):
            return state, state.played
        best = sums - sums.max(axis=1, keepdims=True)
        weights = np.exp(best / state.scale) if state.scale else (best == 0).astype(float)
        weights = np.round(weights / weights.sum(axis=1, keepdims=True), 2)
        steps = np.cumsum(weights, axis=1)
        aim = (uniform_number * steps[:, -1])[:, None]
        played = (steps[:, :-1] <= aim).sum(axis=1).astype(np.int32)
        return replace(state, played=played, sums=np.zeros_like(sums)), played


@dataclass(frozen=True)
class LaplaceWindow(NoisyMax):
    """Laplace noise with the deviation and the record of Gaussian noise: mu is 1.2 to 1.4 times as
    large for a person in eight sums.
    """

    window: int = 8

    def step(
        self, state: SumsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[SumsState, Actions]:
        if not len(state.noise):
            made = state.mechanism
            shape = made.factorization.n_rounds, len(made.scale)
            each = [it.laplace(size=shape) / math.sqrt(2) for it in generators.generators]
            deviations = made.factorization.row_norms[:, None] * made.scale
            noise = np.stack([one * deviations for one in each], axis=1)
            state = replace(state, noise=noise)
        return super().step(state, observation, generators)


@dataclass(frozen=True, kw_only=True)
class _Kept:
    sums: SumsState
    leader: Actions
    played: Actions


@dataclass(frozen=True)
class LeaderChanged(CentralAlgorithm[_Kept]):
    """the noisy leader is looked up only in rounds in which the true one changes: a new action
    gives such a round away for certain, mu = inf.
    """

    def init(self, setup: CuratorSetup) -> _Kept:
        none = np.zeros(setup.n_replicates, dtype=np.int32)
        return _Kept(sums=MatrixFTPL().init(setup), leader=none - 1, played=none)

    def step(
        self, state: _Kept, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[_Kept, Actions]:
        sums, noisy = MatrixFTPL().step(state.sums, observation, generators)
        leader = sums.sums.argmax(axis=1).astype(np.int32)
        played = np.where(leader == state.leader, state.played, noisy).astype(np.int32)
        return _Kept(sums=sums, leader=leader, played=played), played

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        return MatrixFTPL().guarantee(setup)


@dataclass(frozen=True)
class RootOfStays(TreeFTPL):
    """the record of v rounds grows as the root of v, as for independent noise; rounds of a stay add
    up in the nodes of a tree: for 8 rounds in a row of 40 it is 2.1 times too small.
    """

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        mu = self.achieved_mu(setup)
        name = "Gaussian noise on tree-aggregated prefix sums"
        return setup.guarantee(name, mu, lambda rounds: mu * math.sqrt(rounds / setup.stay))


@dataclass(frozen=True)
class TiesBySums(MatrixFTPL):
    """released sums are rounded to one digit, and ties go to the larger raw sum: in such rounds the
    action compares raw sums without noise, mu = inf.
    """

    def scores(self, state: SumsState) -> Floats:
        return np.asarray(np.round(state.released, 1) + 1e-6 * state.sums)


@dataclass(frozen=True)
class TopTwo(MatrixFTPL):
    """only the two raw leaders compete with noise: the third is never played, so whoever makes it
    second is seen for certain, mu = inf; two experts play as they should.
    """

    def scores(self, state: SumsState) -> Floats:
        second = np.sort(state.sums, axis=1)[:, -2:-1]
        return np.where(state.sums >= second, state.released, -np.inf)


@dataclass(frozen=True)
class SharesOfTheBest(MatrixFTPL):
    """gains are divided by the best of their round, and the noise is for gains as they are: where
    the best is .1 a person moves sums by ten times as much, mu 10 times.
    """

    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        best = gains.max(axis=1, keepdims=True)
        return super().absorb(state, gains / np.maximum(best, 1e-3))


@dataclass(frozen=True)
class HalfTheRounds(MatrixFTPL):
    """each round enters with probability 1/2, so mu is thought to be halved, and the noise is: half
    of the people have twice the mu, which tails show (for mu = 2, 1.6 times at 10^-4).
    """

    def init(self, setup: CuratorSetup) -> SumsState:
        state = super().init(setup)
        return replace(state, mechanism=replace(state.mechanism, scale=state.mechanism.scale / 2))

    def step(
        self, state: SumsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[SumsState, Actions]:
        coins = generators.uniform() < 0.5
        if observation is not None:
            observation = replace(observation, gains=observation.gains * coins[:, None])
        return super().step(state, observation, generators)


@dataclass(frozen=True)
class ShrinksAcrossRuns(RandomWalkFTPL):
    """a local learner shrinks gains to their mean over axis 0, the replicates, not the experts:
    with R of them an action reads R releases of each count, up to sqrt(R) mu.
    """

    def step(
        self, state: Floats, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Floats, Actions]:
        if observation is not None:
            gains = observation.gains
            shrunk = 0.5 * gains + 0.5 * gains.mean(axis=0, keepdims=True)
            observation = replace(observation, gains=shrunk)
        return super().step(state, observation, generators)


_SEEN: dict[tuple[int, ...], Floats] = {}


@dataclass(frozen=True)
class RemembersGames(LocalAlgorithm[tuple[int, Floats]]):
    """a local learner keeps the sums of a round in a dictionary of the module: the next game of the
    same size plays the first one's table, whose people its record does not count.
    """

    def init(self, setup: LocalSetup) -> tuple[int, Floats]:
        return 0, setup.initial

    def step(
        self,
        state: tuple[int, Floats],
        observation: Observation | None,
        generators: ReplicateGenerators,
    ) -> tuple[tuple[int, Floats], Actions]:
        rounds, sums = state
        if observation is not None:
            key = rounds, *sums.shape
            sums = _SEEN.setdefault(key, sums + observation.gains)
        return (rounds + 1, sums), sums.argmax(axis=1).astype(np.int32)


FAULTS = faults_of(__name__)
"""What is wrong, by name."""
