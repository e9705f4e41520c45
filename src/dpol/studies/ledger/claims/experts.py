"""Checks of "Prediction with Expert Advice under Local Differential Privacy".

Regret, stability of leaders, amplification by batches, and the regret of RW-Meta. `gains` checks
what the paper says of its Table 2.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.batches import BOUNDS
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.meta import MetaState, RWMeta, centred, shared_noise
from dpol.experts.play import rounds
from dpol.noise import privatize
from dpol.studies.ledger.claims.core import At, Finding, Findings, generator, of_mean, of_share
from dpol.studies.paper1.batching.compute import (
    NOISE,
    analytic_mixture,
    noisy_game,
    rule_of,
    synthetic_gains,
)

# ---- regret ----------------------------------------------------------------------------------

_ROUNDS, _REPLICATES, _ALPHA = 1000, 100, 0.1


def regrets(seed: int) -> Findings:
    """Check the regret of RW-FTPL and RW-AdaBatch.

    The trivial number is the regret of experts drawn uniformly at random. Leaders are found from
    all sums at once, which play as RW-FTPL does round by round.
    """
    for n in (2, 10):
        games = game_streams(generator(seed, "gains", n), n)
        for (label, gains), mu in itertools.product(games.items(), (0.5, 1.0)):
            stream = synthetic_stream(f"claims: {label}, n = {n}", gains)
            time, best = np.arange(_ROUNDS), gains.sum(axis=0).max()
            noisy, unused = noisy_game(stream, mu, seed, range(_REPLICATES))
            sums = np.concatenate([noisy.initial[:, None], noisy.gains[:, :-1]], axis=1)
            leaders = sums.cumsum(axis=1).argmax(axis=2)
            followed = play_batches(RWAdaBatch(_ALPHA), noisy, unused)[0]
            plain, batched = (best - gains[time, each].sum(axis=1) for each in (leaders, followed))
            numbers: dict[str, Any] = {"R": _REPLICATES, "T": _ROUNDS, "alpha": _ALPHA}
            numbers["differ"] = int((leaders != followed).any(axis=1).sum())
            about: Any = {"at": {"gains": label, "n": n, "mu": mu}, "numbers": numbers}
            about["trivial"] = float(best - gains.sum(axis=0).mean())
            of: Any = {"T": _ROUNDS, "n": n, "eta": math.sqrt(n) / mu}
            yield of_mean("regret-of-ftpl", ftpl_bound(**of), plain, 16, **about)
            bound = adabatch_bound(**of, alpha=_ALPHA)
            yield of_mean("regret-of-adabatch", bound, batched, 16, **about)


def ftpl_bound(T: int, n: int, eta: float) -> float:
    """Return the bound on the regret of RW-FTPL: `(η + 2/η) sqrt(2 T log n)`."""
    return (eta + 2 / eta) * math.sqrt(2 * T * math.log(n))


def adabatch_bound(T: int, n: int, eta: float, alpha: float) -> float:
    """Return the bound on the regret of RW-AdaBatch: `(1 + α/2) (η + 2/η) sqrt(2 T log n)`."""
    return (1 + alpha / 2) * ftpl_bound(T, n, eta)


def meta_bound(T: int, m: int, eta: Floats) -> Floats:
    """Return the bound of Theorem 3, (R,): `(max(sqrt(2), η) + sqrt(2)) sqrt(2 T log m)`."""
    return (np.maximum(math.sqrt(2), eta) + math.sqrt(2)) * math.sqrt(2 * T * math.log(m))


def game_streams(rng: np.random.Generator, n: int) -> dict[str, Floats]:
    """Return adversarial and random gains (T, n) of 1,000 rounds by label."""
    adversarial = synthetic_gains(_ROUNDS, n)
    return {
        "one good expert": adversarial["one-good-expert"],
        "two that alternate": adversarial["two-rivals"],
        "fair coins": (rng.random((_ROUNDS, n)) < 0.5).astype(float),
        "uniform with a gap": 0.8 * rng.random((_ROUNDS, n)) + np.where(np.arange(n) == 0, 0.2, 0),
    }


# ---- RW-Meta: Theorem 3 ----------------------------------------------------------------------

_RUNS = 50


@dataclass(frozen=True)
class TurncoatBank(LearnerBank[tuple[Floats, Actions]]):
    """Two learners: the leader by noisy gains takes action 1, the other takes 0."""

    labels: ClassVar[tuple[str, ...]] = ("one", "two")

    def init(self, setup: LocalSetup) -> tuple[Floats, Actions]:
        zeros = np.zeros((setup.n_replicates, 2))
        return zeros, zeros.astype(np.int32)

    def step(
        self, state: tuple[Floats, Actions], observation: Observation | None
    ) -> tuple[Any, Actions]:
        gains, actions = state
        if observation is not None:
            gains = gains + np.take_along_axis(observation.gains, actions, axis=1)
        actions = (np.arange(2) == gains.argmax(axis=1)[:, None]).astype(np.int32)
        return (gains, actions), actions


@dataclass(frozen=True)
class ConstantBank(LearnerBank[Actions]):
    """Learners each of which always names its own of these experts."""

    experts: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{j}, always {i}" for j, i in enumerate(self.experts))

    def init(self, setup: LocalSetup) -> Actions:
        return np.tile(np.array(self.experts, dtype=np.int32), (setup.n_replicates, 1))

    def step(self, state: Actions, observation: Observation | None) -> tuple[Actions, Actions]:
        return state, state


def _bound_of_meta(
    name: str,
    algorithm: RWMeta,
    raw: Floats,
    mu: float,
    seed: int,
    *,
    stream: str,
    learners_are: str,
    **about: Any,
) -> Finding:
    """Play RW-Meta on gains (T, n), and compute the bound of Theorem 3 for each run.

    See `of_mean` for the other arguments.
    """
    T, n = raw.shape
    made = synthetic_stream(f"claims: {stream}", raw)
    noisy = privatize(made, NOISE, mu, seed=seed, replicates=range(_RUNS))
    generators = replicate_generators(seed, ("claims", learners_are), range(_RUNS), "RW-Meta")
    gained, largest = np.zeros((2, _RUNS))
    learners = np.zeros((_RUNS, algorithm.n_learners))
    state: MetaState
    for t, (state, chosen) in enumerate(rounds(algorithm, noisy, generators)):
        gained += raw[t, chosen]
        learners += raw[t, state.actions]
        if t % 10 and t < T - 1:
            continue  # for time; a round that is left out could only make the bound larger
        covariance = state.covariance + shared_noise(state.actions, noisy.noise_scale[t])
        star = covariance - covariance.mean(axis=(1, 2))[:, None, None]
        largest = np.maximum(largest, np.linalg.eigvalsh(star)[:, -1])
    eta = np.sqrt(np.maximum(largest, 0.0) / T)
    bound = meta_bound(T, algorithm.n_learners, eta)
    best = learners.max(axis=1)
    # Without learning: follow a random learner.
    random = float((best - learners.mean(axis=1)).mean())
    numbers = {"R": _RUNS, "T": T, "n": n, "mu": mu, "random": random}
    about |= {"trivial": random, "numbers": numbers}
    return of_mean(name, float(bound.mean()), best - gained, **about)


def meta_of_turncoats(seed: int) -> Findings:
    """Check two learners that see the noise; gains (1, 0), noise scale 2.

    The proof needs learners that are independent of the noise.
    """
    raw, bank = np.tile([1.0, 0.0], (1000, 1)), TurncoatBank()
    name, key, mu = "meta-of-turncoats", type(bank).__name__, math.sqrt(2) / 2
    algorithm = RWMeta(learners=(bank,))
    yield _bound_of_meta(name, algorithm, raw, mu, seed, stream=key, learners_are=key)


def meta_of_constants(seed: int) -> Findings:
    """Check learners that see no noise: one for each expert, and one beside many that agree.

    Where all differ the bound is smallest, by the paper's remark, but so is the noise. The hardest
    that we found is one good learner beside many on the other expert.
    """
    for n, m in ((2, 2), (10, 10), (2, 40)):
        more = f", m = {m}" * (m > n)
        games = game_streams(generator(seed, f"gains of learners{more}", n), n).items()
        algorithm = RWMeta(learners=(ConstantBank((*range(n), *[1] * (m - n))),))
        T, most = (300, None) if m == n else (_ROUNDS, 1)  # for time
        for (label, raw), mu in [*itertools.product(games, (0.5, 1.0))][:most]:
            yield _bound_of_meta(
                *("meta-of-constants", algorithm, raw[:T], mu, seed),
                stream=f"constant learners, {label}, n = {n}{more}",
                learners_are=f"constant, {label}, n = {n}, mu = {mu}{more}",
                comparisons=17,
                at={"gains": label, "n": n, "m": m, "T": T, "mu": mu},
            )


_LEARNERS = 13


def dissent(_: int) -> Findings:
    """Check the bound of Theorem 3 where one learner dissents, over the bound where all differ."""
    alone = np.eye(_LEARNERS, dtype=np.int32)  # each in turn
    shared = shared_noise(alone, np.ones(_LEARNERS)).mean(axis=0)
    star = centred(shared[None])[0]
    variance = float(np.linalg.eigvalsh(star)[0, -1])
    for scale in SCALES:
        share = factor_of_bound(scale, variance) / factor_of_bound(scale, 1.0)
        yield Finding("all-differ", 1.0, share, at={"eta": scale}, numbers={"m": _LEARNERS})


SCALES = (1.0, math.sqrt(2), 4.0)
"""Scales of the noise. Up to the second one, the floor in Theorem 3 decides."""


def factor_of_bound(scale: float, variance: float) -> float:
    """Return the bound of Theorem 3 over sqrt(2 T log m); `variance` in units of the noise."""
    return max(math.sqrt(2), scale * math.sqrt(variance)) + math.sqrt(2)


# ---- switching -------------------------------------------------------------------------------

_WALKS = ((40, 20, 100, 1.0), (14, 2, 50, 1.0), (8, 2, 10, 1.0), (45, 50, 40, 2.0))
"""Settings of Gaussian walks: gap of the leader, number of experts, steps, noise scale."""
_WALKS_EACH = 10_000


def switching(seed: int) -> Findings:
    """Check bounds on changes of the leader, and on a gap of k + l that falls below l = k."""
    for i, (gap, n, steps, eta) in enumerate(_WALKS):

        def changes(position: Floats) -> NDArray[np.bool_]:
            return np.asarray(position.argmax(axis=1) != 0)

        def is_small(position: Floats, least: float = gap) -> NDArray[np.bool_]:
            two = np.partition(position, -2, axis=1)
            return np.asarray(two[:, -1] - two[:, -2] < least)

        z = np.array(gap / (eta * math.sqrt(2 * steps)))
        tail = float(BOUNDS["borell-tis"].tail(z, n))
        for name, purpose, start, event, symbol in (
            ("switching-borell-tis", "walk", gap, changes, "x"),
            ("dips-borell-tis", "dips", 2 * gap, is_small, "k"),
        ):
            position, rng = np.tile(_ahead(start, n), (_WALKS_EACH, 1)), generator(seed, purpose, i)
            met = np.zeros(_WALKS_EACH, dtype=bool)
            for _ in range(steps):
                position += eta * rng.standard_normal(position.shape)
                met |= event(position)
            at = {symbol: gap, "n": n, "B": steps, "eta": eta}
            about: Any = {"at": at, "numbers": {"R": _WALKS_EACH}, "trivial": 1.0}
            yield of_share(name, tail, int(met.sum()), _WALKS_EACH, len(_WALKS), **about)


def _ahead(lead: float, n: int) -> Floats:
    """Return positions (n,) with the first one `lead` ahead of the others."""
    return np.where(np.arange(n) == 0, lead, 0.0)


def delays(seed: int) -> Findings:
    """Check that a batch is the largest that Theorem 1 allows, against a scan of all sizes."""
    rng, T, t = generator(seed, "delays"), 500, 250
    for n, mu, alpha in itertools.product((2, 10), (0.25, 4.0), (0.1, 3.0)):
        rule, gap = rule_of(RWAdaBatch(alpha), (T, n), mu), rng.uniform(0, 3 * T, 200)
        B = np.arange(1, T + 1)
        left = (gap[:, None] - rule.gain_range * B) / (rule.noise_scale * np.sqrt(2 * B))
        allowed = BOUNDS["borell-tis"].tail(left, n) < alpha * np.sqrt(math.log(n) / (t + B))
        off = np.abs(rule.batch_sizes(gap, t) - np.maximum((allowed * B).max(axis=1), 1)).max()
        at: At = {"n": n, "mu": mu, "alpha": alpha, "x": range(len(gap))}
        yield Finding("delay", 0.0, float(off), at=at, settings=len(gap))


# ---- gaps ------------------------------------------------------------------------------------


def gaps(seed: int) -> Findings:
    """Check the gap between the leader and the runner-up of normals with random means."""
    rng, count = generator(seed, "means"), 150
    for n, x in itertools.product((2, 3, 5, 10), (0.2, 0.7, 1.5, 3.0)):
        means = rng.normal(size=(count, n)) * rng.uniform(0.05, 3, size=(count, 1))
        least = float(survival(means, x).min())
        equal = float(survival(np.zeros((1, n)), x)[0])
        at: At = {"n": n, "x": x, "gains": range(count)}
        yield Finding("smallest-gap", equal, least, at=at, settings=count)


def survival(means: Floats, x: float) -> Floats:
    """Return P(leader - runner-up >= x) (N,) of independent unit normals with means (N, n).

    Sums over the leader, at z.
    """
    step = 0.05
    behind = np.arange(-14.0, 14.0, step)[:, None, None] - means
    density = np.exp(-(behind**2) / 2) * step / math.sqrt(2 * math.pi)
    below, total = scipy.special.ndtr(behind - x), np.zeros(len(means))
    for leader in range(means.shape[1]):
        others = np.delete(below, leader, axis=2).prod(axis=2)
        total += (density[..., leader] * others).sum(axis=0)
    return total


# ---- amplification ---------------------------------------------------------------------------


def containing_batches(seed: int) -> Findings:
    """Check the analytic bound on the batch that contains a round against runs."""
    runs, T, mu, algorithm = 6000, 200, 0.25, RWAdaBatch(1.0)
    numbers = {"R": runs, "T": T, "mu": mu}
    for n in (2, 5):
        zeros = synthetic_stream(f"claims: zeros, n = {n}", np.zeros((T, n)))
        sizes = play_batches(algorithm, *noisy_game(zeros, mu, seed, range(runs)))[1]
        for t, b in itertools.product((20, 100, 200), (2, 4, 8, 16)):
            mixture = analytic_mixture(algorithm, (T, n), mu, t)
            claimed = float(mixture.weights[mixture.sizes > b].sum())
            if claimed > 0.02:
                count = int((sizes[:, t - 1] > b).sum())
                about: Any = {"at": {"n": n, "t": t, "b": b}, "numbers": numbers}
                about["case"] = f"n = {n}, t = {t}: P(batch > {b})"
                yield of_share("containing-batch", claimed, count, runs, 24, **about)


def conversion(_: int) -> Findings:
    """Check delta of RW-AdaBatch at an epsilon against the best test of its trade-off curve."""
    for n, mu, t in itertools.product((2, 10), (0.25, 4.0), (100, 400)):
        mixture = analytic_mixture(RWAdaBatch(_ALPHA), (500, n), mu, t)
        for epsilon in (0.1, 1.0):
            tests = mixture.trade_off_at(epsilon + np.linspace(-8.0, 8.0, 1601))
            best = float((1 - tests[1] - math.exp(epsilon) * tests[0]).max())
            at: At = {"n": n, "mu": mu, "t": t, "epsilon": epsilon}
            yield Finding("conversion", float(mixture.delta(epsilon)), best, at=at)
