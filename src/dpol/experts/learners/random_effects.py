"""Lasting effects and fading deviations of every expert, estimated through correlated noise.

The model is a linear mixed model, filtered round by round. Models of this kind: Laird and Ware,
"Random-effects models for longitudinal data" (1982); their filters: Harvey, "Forecasting,
Structural Time Series Models and the Kalman Filter" (1989), chapter 3. The estimates are a function
of the noisy gains and of public numbers, hence post-processing.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.typical_level import TypicalLevel, before_round_1
from dpol.privacy.chains import Chains

LEVEL_FLOOR = 0.03
"""Lower limit of the level of a round, as a share of the typical level."""

SMALLEST = 0.05
"""Smallest size assumed of an expert, as a share of the median capacity of round 1."""

GROWTH = (0.0, 0.5)
"""Powers of the shared level in the scale of deviations."""

BY_SIZE = ((0.0, 0.1), (0.5, 0.5))
"""Powers of 1 / size in the scale of deviations, each with the ratio of standard deviations of the
one-round part and of the deviation: for experts that are all alike, and for counts."""


@dataclass(frozen=True, kw_only=True)
class RandomEffectsState:
    """State of an average of K models with random effects.

    Gains are in units of the typical level. A model of an expert has two parts, its effect and its
    deviation, in units of the model's scale, and for correlated noise a third: the remainder of
    earlier noise, in units of fresh noise.

    Args:
        growth: (K, 1, 1) powers of the level in the scale of deviations.
        power: (K, 1, 1) powers of 1 / size in it.
        stationary: (K, 1, 1) long-run variances of the deviation.
        transient: (K, 1, 1) variances of the part that lasts one round only.
        mean: (K, R, n) mean of each part in the next round.
        covariance: (K, R, n) covariance of the parts i and j under (i, j), for i <= j.
        fits: (K, R, n) log likelihood of each expert's gains so far; with forgetting, older rounds
            count less.
        shares: (K, R, 1) estimated share of the experts that follow each model.
        typical: typical level, the unit of all other numbers.
        predicted: (R, n) averaged prediction of how far the next gains will lie above the level.
        level: (R, 1) shared level of the last round.
        spread: (R, n) variance of the averaged prediction.
        noise: (R, n) averaged prediction of the remainder of earlier noise, over fresh noise.
        memory: memory of the noise; None for independent noise.
        sizes: (T, n), or (1, n) if they are unknown, capacities over the median of round 1.
        observed: number of rounds so far.
    """

    growth: Floats
    power: Floats
    stationary: Floats
    transient: Floats
    mean: tuple[Floats, ...]
    covariance: dict[tuple[int, int], Floats]
    fits: Floats
    shares: Floats
    typical: TypicalLevel
    predicted: Floats
    level: Floats
    spread: Floats
    noise: Floats
    memory: Chains | None
    sizes: Floats
    observed: int = 0


@dataclass(frozen=True, kw_only=True)
class RandomEffectsBank(LearnerBank[RandomEffectsState]):
    """One learner: lasting effects and fading deviations, averaged over models of their size.

    A gain is modelled as m + s (p + x + r): a level m that all experts share, an effect p that
    lasts, a deviation x that shrinks by the factor `persistence` each round, and r, which lasts one
    round. The models differ in the size of x (`scales`), in whether s grows with the level
    (`GROWTH`), and in whether s is larger for small experts (`BY_SIZE`), by the capacity of the
    round. Each expert weighs the models by its own data, see `_weighed`. The level of a round is
    the precision-weighted mean of the noisy gains minus their predicted height above the level; the
    noise of that mean is neglected. For correlated noise (`Chains`), the remainder of earlier noise
    is part of the state. The bank plays the largest averaged prediction, action 0 in round 1.

    Args:
        scales: standard deviations of the deviation, one model for each, in units of s.
        effect: standard deviation of the effect where the deviation's is 1; it grows with the root
            of the latter.
        persistence: share of the deviation that is left a round later, in [0, 1).
        forgetting: factor in (0, 1]; 1 forgets nothing.

    Raises:
        ValueError: a parameter is out of range, or a scale is listed twice.
    """

    scales: tuple[float, ...] = (0.05, 0.15, 0.5, 1.5)
    effect: float = 0.5
    persistence: float = 0.85
    forgetting: float = 0.97

    labels = ("random-effects",)
    reads_noise = "chains"

    def __post_init__(self) -> None:
        if not isinstance(self.scales, tuple) or not self.scales:
            raise ValueError(f"scales must be a list of numbers above 0, got {self.scales!r}")
        for scale in self.scales:
            check_number("scales", scale, "(0, inf)")
        if len(set(self.scales)) < len(self.scales):
            raise ValueError(f"a scale is listed twice: {self.scales}")
        check_number("effect", self.effect, "(0, inf)")
        check_number("persistence", self.persistence, "[0, 1)")
        check_number("forgetting", self.forgetting, "(0, 1]")

    def init(self, setup: LocalSetup) -> RandomEffectsState:
        shape, sizes = (setup.n_replicates, setup.n_experts), np.ones((1, setup.n_experts))
        parts = 2 if setup.memory is None else 3
        if setup.capacity is not None:
            sizes = np.maximum(setup.capacity / np.median(setup.capacity[0]), SMALLEST)
        models = itertools.product(GROWTH, BY_SIZE, self.scales)
        rows = [(growth, *by_size, scale) for growth, by_size, scale in models]
        growth, power, brief, scale = np.array(rows).T[:, :, None, None]
        zeros = np.zeros((len(rows), *shape))
        covariance = {(i, j): zeros for i in range(parts) for j in range(i, parts)}
        covariance[0, 0] = zeros + self.effect**2 * scale
        covariance[1, 1] = zeros + scale**2
        mean, level = (zeros,) * parts, np.ones((shape[0], 1))
        weights = np.full_like(zeros, 1 / len(rows))
        first_scale = level**growth * sizes[0] ** -power
        predicted, spread, noise = _averages(mean, covariance, weights, first_scale)
        return RandomEffectsState(
            growth=growth,
            power=power,
            stationary=scale**2,
            transient=(brief * scale) ** 2,
            mean=mean,
            covariance=covariance,
            fits=zeros,
            shares=weights[:, :, :1],
            predicted=predicted,
            spread=spread,
            noise=noise,
            level=level,
            memory=setup.memory,
            sizes=sizes,
            typical=before_round_1(setup),
        )

    def step(
        self, state: RandomEffectsState, observation: Observation | None
    ) -> tuple[RandomEffectsState, Actions]:
        if observation is not None:
            state = self._learn(state, observation)
        return state, state.predicted.argmax(axis=1).astype(np.int32)[:, None]

    def _learn(self, state: RandomEffectsState, seen: Observation) -> RandomEffectsState:
        """Return the state after a round."""
        typical = state.typical.after(seen)
        seen = typical.relative(seen)
        level = _level(state, seen)
        sizes = state.sizes[min(state.observed, len(state.sizes) - 1)]
        scale = level**state.growth * sizes**-state.power
        state, fit = self._advance(state, seen.gains - level, scale, seen)
        fits = self.forgetting * state.fits + fit
        weights, shares = _weighed(fits, state.shares)
        predicted, spread, noise = _averages(state.mean, state.covariance, weights, scale)
        return replace(
            state,
            fits=fits,
            shares=shares,
            predicted=predicted,
            spread=spread,
            noise=noise,
            level=level,
            typical=typical,
            observed=state.observed + 1,
        )

    def _advance(
        self, old: RandomEffectsState, above: Floats, scale: Floats, seen: Observation
    ) -> tuple[RandomEffectsState, Floats]:
        """Return the next predictions, and the (K, R, n) log likelihood of the round's gains.

        In units of a model's scale, the gain lies p + x + r + noise (z + u) above the level,
        z ~ N(0, 1). z also moves u, the remainder of earlier noise: u' = a u + (a - b) z.
        """
        noise, pairs, memory = seen.fresh / scale, old.covariance, old.memory
        # Shares of the parts that are left a round later, and variances that are added then.
        kept: list[Floats | float] = [1.0, self.persistence]
        added = {(1, 1): (1 - self.persistence**2) * old.stationary}
        # Covariances of the parts and p + x, the gain's variance and its error.
        with_signal = [pairs[0, 0] + pairs[0, 1], pairs[0, 1] + pairs[1, 1]]
        variance = with_signal[0] + with_signal[1] + old.transient + noise**2
        error = above / scale - old.mean[0] - old.mean[1]
        if memory is not None:
            kept.append(memory.a)
            echo = memory.a - memory.b
            added[2, 2] = echo**2
            with_signal.append(pairs[0, 2] + pairs[1, 2])
            variance += noise * (2 * with_signal[2] + noise * pairs[2, 2])
            error -= noise * old.mean[2]
        deviation = np.sqrt(variance)
        error /= deviation
        fit = -(0.5 * error**2 + np.log(scale * deviation))
        # Covariances of the parts a round later and the gain.
        if memory is None:
            next_with_gain = [kept[i] * with_signal[i] for i in range(2)]
        else:
            next_with_gain = [kept[i] * (with_signal[i] + noise * pairs[i, 2]) for i in range(3)]
            next_with_gain[2] += echo * noise
        # The same for the error, which now has a variance of 1.
        with_error = [1 / deviation * each for each in next_with_gain]
        mean = tuple(kept[i] * old.mean[i] + with_error[i] * error for i in range(len(kept)))
        covariance = {
            (i, j): kept[i] * kept[j] * pair - with_error[i] * with_error[j]
            for (i, j), pair in pairs.items()
        }
        for place, more in added.items():
            covariance[place] += more
        return replace(old, mean=mean, covariance=covariance), fit


def _level(state: RandomEffectsState, seen: Observation) -> Floats:
    """Return the (R, 1) level of a round, from all noisy gains."""
    weights = 1 / (seen.noise_scale**2 + state.spread)
    weights /= weights.sum(axis=1, keepdims=True)
    left = seen.gains - state.predicted - seen.fresh * state.noise
    level = (weights * left).sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(level, LEVEL_FLOOR))


def _averages(
    mean: tuple[Floats, ...],
    pairs: dict[tuple[int, int], Floats],
    weights: Floats,
    scale: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return `predicted`, `spread` and `noise` of a state, (R, n) each, if the level stays."""
    effect, deviation, *left = mean
    means = scale * (effect + deviation)
    predicted = _over_models(weights * means)
    variances = scale**2 * (pairs[0, 0] + 2 * pairs[0, 1] + pairs[1, 1])
    spread = _over_models(weights * (variances + (means - predicted) ** 2))
    noise = _over_models(weights * left[0]) if left else np.zeros_like(predicted)
    return predicted, spread, noise


def _weighed(fits: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return the (K, R, n) weights of the models after a round, and the `shares` that follow.

    Every expert follows its own model. The posterior weights come from its own likelihood and
    from the shares of the models among all experts, estimated from the same noisy gains by one
    step of expectation maximisation a round (empirical Bayes; Efron and Morris, "Stein's
    estimation rule and its competitors", 1973). Each share counts one extra expert, so that no
    model is ever lost. Every round later, a round's log likelihood counts `forgetting` times as
    much, because the speed of an expert changes with time (Raftery, Karny and Ettler, "Online
    prediction under model uncertainty via dynamic model averaging", 2010).
    """
    weights = fits + np.log(shares)
    weights -= weights.max(axis=0)
    np.exp(weights, out=weights)
    weights /= _over_models(weights)
    count, _, n = weights.shape
    return weights, (weights.sum(axis=2, keepdims=True) + 1) / (n + count)


def _over_models(values: Floats) -> Floats:
    """Return the (R, n) sums of (K, R, n) values."""
    # Summed one by one: NumPy's order of summation depends on the shape, and a replicate must not
    # depend on the number of others in its block.
    return np.asarray(sum(values))
