"""RW-AdaBatch: follow the leader in batches that grow with its lead."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpol.core.arguments import check_choice, check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.batches import BOUNDS, BatchRule, BatchSizes, Bound
from dpol.experts.interface import Actions, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.play import rounds
from dpol.noise import CONSTANT, NoisyGains
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True, kw_only=True)
class AdaBatchState:
    """State that RW-AdaBatch carries from round to round.

    Args:
        rule: rule for the sizes of batches.
        started: number of rounds begun.
        cumulative: (R, n) initial noise plus all noisy gains so far.
        actions: (R,) leader of the current batch.
        planned: (R,) planned size of the current batch; it may run past the last round.
        left: (R,) rounds of the current batch still to come.
    """

    rule: BatchRule
    started: int = 0
    cumulative: Floats
    actions: Actions
    planned: BatchSizes
    left: BatchSizes


@dataclass(frozen=True)
class RWAdaBatch(LocalAlgorithm[AdaBatchState]):
    """RW-FTPL that looks at its noisy gains only between batches.

    While the leader is far ahead, it is unlikely to change within the next B rounds, so these
    rounds are played as one batch. The output does not depend on the order of rounds in a batch, so
    the noise of the whole batch protects each round in it: the central guarantee is mu / sqrt(B).
    The regret is at most 1 + alpha/2 times the regret of RW-FTPL. The local guarantee is inherited
    from the noisy gains. Without noise (mu = inf), a batch lasts while its gap exceeds the gains
    that could close it. Source: "Prediction with Expert Advice under Local Differential Privacy",
    section 3.1; the bound `reflection` is not in the paper.

    Args:
        alpha: tolerance for batching.
        bound: switching bound, `borell-tis` (Theorem 1) or `reflection` (not in the paper).

    Raises:
        ValueError: alpha is not above 0, or the bound is unknown.

    >>> import dpol
    >>> gains, days = np.zeros((100, 2)), np.datetime64("2000-01-01") + np.arange(100)
    >>> whole_round = np.full(100, np.sqrt(2))
    >>> stream = dpol.GainStream(
    ...     label="x",
    ...     gains=gains,
    ...     capacity=None,
    ...     entities=("a", "b"),
    ...     periods=days,
    ...     given_sensitivity=whole_round,
    ... )
    >>> noisy = dpol.privatize(stream, "isotropic-constant", mu=0.1, seed=1, replicates=5)
    >>> generators = noisy.seeds.algorithm("rw-adabatch")
    >>> actions, sizes = play_batches(RWAdaBatch(bound="reflection"), noisy, generators)
    >>> actions.shape, int(sizes.min()), int(sizes.max())
    ((5, 100), 1, 21)
    """

    alpha: float = 0.01
    bound: Bound = "borell-tis"

    constant_noise = True

    def __post_init__(self) -> None:
        check_choice("bound", self.bound, BOUNDS)
        check_number("alpha", self.alpha, "(0, 1e6]")

    @property
    def origin(self) -> Origin:
        return "dpol" if BOUNDS[self.bound].beyond else "paper"

    def init(self, setup: LocalSetup) -> AdaBatchState:
        """Return the state before round 1. Raises as `rule`."""
        none = np.zeros(setup.n_replicates, dtype=np.int64)
        return AdaBatchState(
            rule=self.rule(setup),
            cumulative=setup.initial,
            actions=none.astype(np.int32),
            planned=none,
            left=none,
        )

    def rule(self, setup: LocalSetup) -> BatchRule:
        """Return the rule for batch sizes in a game.

        Raises:
            ValueError: the noise varies over rounds or experts, or n is below 2.
        """
        scale = float(setup.noise_scale.flat[0])
        if (setup.noise_scale != scale).any():
            raise ValueError(
                "RW-AdaBatch needs noise of one scale for all rounds and experts;"
                f" use the noise {CONSTANT.name}"
            )
        return BatchRule(
            bound=self.bound,
            alpha=self.alpha,
            n_experts=setup.n_experts,
            longest=setup.n_rounds,
            gain_range=setup.gain_range,
            noise_scale=scale,
        )

    def step(
        self, state: AdaBatchState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[AdaBatchState, Actions]:
        t = state.started + 1
        cumulative = state.cumulative
        if observation is not None:
            cumulative = cumulative + observation.gains
        actions, planned, left = state.actions, state.planned, state.left
        due = np.flatnonzero(left == 0)
        if len(due):
            rows = cumulative[due]
            two = np.partition(rows, rows.shape[1] - 2, axis=1)[:, -2:]
            sizes = state.rule.batch_sizes(two[:, 1] - two[:, 0], t)
            actions, planned, left = actions.copy(), planned.copy(), left.copy()
            actions[due] = rows.argmax(axis=1)
            planned[due] = left[due] = sizes
        left = left - 1
        return replace(
            state, started=t, cumulative=cumulative, actions=actions, planned=planned, left=left
        ), actions


def play_batches(
    algorithm: RWAdaBatch, noisy: NoisyGains, generators: ReplicateGenerators
) -> tuple[Actions, BatchSizes]:
    """Return the (R, T) actions, and the (R, T) planned size of the batch that each round is in."""
    actions = np.empty((noisy.n_replicates, noisy.n_rounds), dtype=np.int32)
    sizes = np.empty(actions.shape, dtype=np.int64)
    for t, (state, chosen) in enumerate(rounds(algorithm, noisy, generators)):
        actions[:, t] = chosen
        sizes[:, t] = state.planned
    return actions, sizes
