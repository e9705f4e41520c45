"""Exponential weights over learners, from the noisy gains that the learners learn from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, LearnerBank, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.learners.joined import JoinedBank
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True, kw_only=True)
class WeightsState:
    """State that exponential weights carry from round to round.

    Args:
        learners: states of the banks.
        actions: (R, m) actions of the learners in the current round.
        scores: (R, m) noisy cumulative gains of the learners, pulled together by the share.
        variance: (R,) sum over rounds of the weighted variance of the learners' noisy gains.
    """

    learners: tuple[Any, ...]
    actions: Actions
    scores: Floats
    variance: Floats

    @property
    def rate(self) -> Floats:
        """Learning rates, (R,); 0 as long as all learners have gained the same."""
        some = self.variance > 0
        twice_log = 2 * math.log(self.scores.shape[1])
        return np.sqrt(np.divide(twice_log, self.variance, out=0 * self.variance, where=some))

    @property
    def weights(self) -> Floats:
        """Probabilities of the learners, (R, m)."""
        exponents = self.rate[:, None] * self.scores
        weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ExponentialWeights(LocalAlgorithm[WeightsState]):
    """Draw a learner with probability exponential in its noisy gains, at a rate set by the noise.

    The rate is sqrt(2 log(m) / V), where V sums over rounds the weighted variance of the learners'
    noisy gains. A round adds at least the variance that the known local noise alone gives; noise
    that learners share, because they act alike, adds nothing. So the rate follows the scale of
    gains and noise: Cesa-Bianchi, Mansour and Stoltz, "Improved second-order bounds for prediction
    with expert advice" (2007), section 4. Every round a share of the weight is spread evenly over
    the learners, so that another learner can take the lead after a drift: Herbster and Warmuth,
    "Tracking the best expert" (1998), fixed share. The actions are post-processing of the noisy
    gains, whose guarantee holds for them.

    Args:
        share: share of the weight that is spread every round, in [0, 1); 0 looks for one best
            learner over all rounds.
        learners: banks of learners.

    Raises:
        ValueError: share is out of range, or there is no bank.
    """

    share: float = 0.0
    learners: tuple[LearnerBank[Any], ...] = (RidgeBank(), LeaderBank())

    origin: ClassVar[Origin] = "ours"

    def __post_init__(self) -> None:
        check_number("share", self.share, "[0, 1)")
        JoinedBank(self.learners)  # refuses an empty tuple

    @property
    def n_learners(self) -> int:
        """Number of learners m."""
        return len(JoinedBank(self.learners).labels)

    def init(self, setup: LocalSetup) -> WeightsState:
        replicates, m = setup.n_replicates, self.n_learners
        return WeightsState(
            learners=JoinedBank(self.learners).init(setup),
            actions=np.zeros((replicates, m), dtype=np.int32),
            scores=np.zeros((replicates, m)),
            variance=np.zeros(replicates),
        )

    def step(
        self, state: WeightsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[WeightsState, Actions]:
        if observation is not None:
            state = self._score(state, observation)
        learners, actions = JoinedBank(self.learners).step(state.learners, observation)
        state = replace(state, learners=learners, actions=actions)
        # The last learner takes the rest: rounding may leave the sum of all weights below 1.
        passed = state.weights.cumsum(axis=1)[:, :-1] <= generators.uniform()[:, None]
        return state, actions[np.arange(len(actions)), passed.sum(axis=1)]

    def _score(self, state: WeightsState, seen: Observation) -> WeightsState:
        gains = np.take_along_axis(seen.gains, state.actions, axis=1)
        spread = weighted_variance(gains, state.weights)
        noise = unshared_noise(state.actions, state.weights, seen.noise_scale)
        variance = state.variance + np.maximum(spread, noise)
        scored = replace(state, scores=state.scores + gains, variance=variance)
        if self.share == 0:
            return scored
        weights = (1 - self.share) * scored.weights + self.share / self.n_learners
        rate = scored.rate[:, None]
        scores = np.divide(np.log(weights), rate, out=0 * weights, where=rate > 0)
        return replace(scored, scores=scores)


def weighted_variance(values: Floats, weights: Floats) -> Floats:
    """Return the (R,) variances of the rows of `values` under `weights`, both (R, m)."""
    centred = values - (weights * values).sum(axis=1, keepdims=True)
    return np.asarray((weights * centred**2).sum(axis=1))


def unshared_noise(actions: Actions, weights: Floats, noise_scale: Floats) -> Floats:
    """Return the (R,) expected weighted variances of noise, from (R, m), (R, m) and (n,) arrays.

    This is sum_a W_a (1 - W_a) eta_a^2, where W_a is the weight of all learners on expert a.
    """
    same = actions[:, :, None] == actions[:, None, :]
    others = 1 - (same * weights[:, None, :]).sum(axis=2)
    return np.asarray((weights * others * (noise_scale**2)[actions]).sum(axis=1))
