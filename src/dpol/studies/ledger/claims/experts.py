"""Checks of "Prediction with Expert Advice under Local Differential Privacy".

Noise, regret (also of the central comparators), stability of leaders, amplification by batches, and
the regret of RW-Meta. `gains` checks what the paper says of its Table 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import gap_survival
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.meta import MetaState, RWMeta, centred, shared_noise
from dpol.experts.play import RawGains, play_rounds, rounds, setup_of
from dpol.experts.switching import BOUNDS
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import noise_scale, privatize
from dpol.privacy.gaussian_dp import delta_of_epsilon, mu_of_epsilon
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.ledger.claims.core import (
    At,
    Finding,
    Findings,
    generator,
    of_mean,
    of_share,
    stated,
)
from dpol.studies.paper1.batching.compute import (
    NOISE,
    analytic_mixture,
    noisy_game,
    synthetic_gains,
)

# ---- the local mechanism ---------------------------------------------------------------------


def local_noise(seed: int) -> Findings:
    """Check the Gaussian mechanism on gain vectors under moves of one person."""
    rng, mu = generator(seed, "hospitals"), 0.5
    capacity = rng.integers(5, 100, (20, 24)).astype(float)
    capacity[0, :2] = 4.0  # the worst move is between two smallest hospitals of one size
    stream = GainStream(
        label="claims: hospitals",
        gains=rng.random(capacity.shape),
        capacity=capacity,
        entities=tuple(f"hospital {i}" for i in range(24)),
        periods=np.datetime64("2000-01-01") + np.arange(20),
    )
    for name in ("isotropic", "capacity"):
        shift = 1 / (stream.capacities_for("the claim") * noise_scale(stream, name, mu))
        # One person moves from hospital i to j: two coordinates shift, with independent noise.
        moves = np.sqrt(shift[:, :, None] ** 2 + shift[:, None, :] ** 2)
        moves[:, np.eye(stream.n_experts, dtype=bool)] = 0.0
        measured = _mu_of_shift(float(moves.max()))
        numbers = {"n": stream.n_experts, "T": stream.n_rounds}
        of: Any = {"numbers": numbers, "settings": moves.size}
        at: At = {"moves": range(moves.size), "t": range(stream.n_rounds)}
        yield Finding(f"{name}-noise", mu, measured, at=at, **of)


def _mu_of_shift(shift: float, epsilon: float = 0.5) -> float:
    """Integrate the delta between N(0, 1) and N(shift, 1) at `epsilon`, and return its mu."""
    z = np.linspace(-10.0, 10.0 + shift, 200_001)
    excess = np.exp(-((z - shift) ** 2) / 2) - np.exp(epsilon - z**2 / 2)
    delta = float(np.maximum(excess, 0).sum() * (z[1] - z[0]) / math.sqrt(2 * math.pi))
    return mu_of_epsilon(epsilon, delta)


# ---- regret ----------------------------------------------------------------------------------

_ROUNDS, _REPLICATES, _ALPHA = 1000, 100, 0.1


def regrets(seed: int) -> Findings:
    """Check the regret of RW-FTPL, RW-AdaBatch and factorised sums, and the cost of batching.

    The trivial number is the regret of experts drawn uniformly at random. Leaders are found from
    all sums at once, which play as the algorithms do round by round.
    """
    for n in (2, 10):
        games = game_streams(generator(seed, "gains", n), n)
        for (label, gains), mu in itertools.product(games.items(), (0.5, 1.0)):
            stream = synthetic_stream(f"claims: {label}, n = {n}", gains)
            time, best = np.arange(_ROUNDS), gains.sum(axis=0).max()
            random = float(best - gains.sum(axis=0).mean())
            eta = math.sqrt(n) / mu
            bound = ftpl_bound(_ROUNDS, n, eta)
            batched_bound = adabatch_bound(_ROUNDS, n, eta, _ALPHA)
            numbers: dict[str, Any] = {"R": _REPLICATES, "T": _ROUNDS, "alpha": _ALPHA}
            numbers |= {"ftpl_bound": stated(ftpl_bound), "matrix_bound": stated(matrix_bound)}
            numbers["adabatch_bound"] = stated(adabatch_bound)
            noisy, unused = noisy_game(stream, mu, seed, range(_REPLICATES))
            sums = np.concatenate([noisy.initial[:, None], noisy.gains[:, :-1]], axis=1)
            leaders = sums.cumsum(axis=1).argmax(axis=2)
            followed = play_batches(RWAdaBatch(_ALPHA), noisy, unused)[0]
            plain, batched = (best - gains[time, each].sum(axis=1) for each in (leaders, followed))
            numbers["differ"] = int((leaders != followed).any(axis=1).sum())
            source = RawGains(stream, mu, _REPLICATES)
            coins = replicate_generators(seed, ("claims", label, n, mu), source.numbers, "matrix")
            of = MatrixFTPL().mechanism(setup_of(source))
            released = (gains.cumsum(axis=0)[:, None] + of.noise(coins)).swapaxes(0, 1)[:, :-1]
            actions = np.pad(released.argmax(axis=2), ((0, 0), (1, 0)))  # a guess in round 1
            summed = best - gains[time, actions].sum(axis=1)
            of_sums = matrix_bound(of.scale[0] * of.factorization.row_norms, n)
            left = random - float(plain.mean())
            for name, claimed, sample, trivial in (
                ("regret-of-ftpl", bound, plain, random),
                ("regret-of-adabatch", batched_bound, batched, random),
                ("regret-of-batches", batched_bound - bound, batched - plain, left),
                ("regret-of-mf-ftpl", of_sums, summed, random),
            ):
                about: Any = {"at": {"gains": label, "n": n, "mu": mu}, "numbers": numbers}
                yield of_mean(name, claimed, sample, 16, trivial=trivial, **about)


def ftpl_bound(T: int, n: int, eta: float) -> float:
    """Return the bound on the regret of RW-FTPL: `(η + 2/η) sqrt(2 T log n)`."""
    return (eta + 2 / eta) * math.sqrt(2 * T * math.log(n))


def adabatch_bound(T: int, n: int, eta: float, alpha: float) -> float:
    """Return the bound on the regret of RW-AdaBatch: `(1 + α/2) (η + 2/η) sqrt(2 T log n)`."""
    return (1 + alpha / 2) * ftpl_bound(T, n, eta)


def meta_bound(T: int, m: int, eta: Floats) -> Floats:
    """Return the bound of Theorem 3, (R,): `(max(sqrt(2), η) + sqrt(2)) sqrt(2 T log m)`."""
    return (np.maximum(math.sqrt(2), eta) + math.sqrt(2)) * math.sqrt(2 * T * math.log(m))


def matrix_bound(scales: Floats, n: int) -> float:
    """Return `1 + sqrt(2 log n) (S_1 + Σ max(S_t+1 − S_t, 0) + Σ 1/S_t)`.

    It bounds the regret of following the leader of sums with noise of these scales (T,).
    """
    grown = np.maximum(np.diff(scales[:-1]), 0.0).sum()
    return 1 + math.sqrt(2 * math.log(n)) * float(scales[0] + grown + (1 / scales[:-1]).sum())


def game_streams(rng: np.random.Generator, n: int) -> dict[str, Floats]:
    """Return adversarial and random gains (T, n) of 1,000 rounds by label."""
    adversarial = synthetic_gains(_ROUNDS, n)
    return {
        "one good expert": adversarial["one-good-expert"],
        "two that alternate": adversarial["two-rivals"],
        "fair coins": (rng.random((_ROUNDS, n)) < 0.5).astype(float),
        "uniform with a gap": 0.8 * rng.random((_ROUNDS, n)) + np.where(np.arange(n) == 0, 0.2, 0),
    }


# ---- the central comparator ------------------------------------------------------------------


def tree(_: int) -> Findings:
    """Check the privacy of one round over all nodes of the binary tree that it enters."""
    mu = 0.5
    for T in (2, 3, 5, 8, 9, 100, 148, 500):
        setup = setup_of(RawGains(synthetic_stream("claims: tree", np.zeros((T, 2))), mu))
        scale = TreeFTPL("min-noise").init(setup).node_scale
        entered = np.zeros(T + 1, dtype=int)
        for t in range(1, T):  # the node that round t closes
            entered[t - (t & -t) + 1 : t + 1] += 1
        measured = setup.sensitivity * math.sqrt(entered.max()) / scale
        yield Finding("tree-noise", mu, measured, at={"T": T, "t": range(T)})


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
    numbers["bound"] = stated(meta_bound)
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


def meta_of_thirteen(seed: int) -> Findings:
    """Check the paper's thirteen learners on gains that drift."""
    rng, T, n = generator(seed, "drifting gains"), 150, 12
    phase = 2 * math.pi * (np.arange(T)[:, None] / 60 + rng.random(n))
    raw = 0.5 + 0.4 * np.sin(phase) + rng.uniform(-0.1, 0.1, (T, n))
    algorithm = RWMeta(learners=(RidgeBank(), LeaderBank()))
    name, stream = "meta-of-thirteen", "drifting gains"
    yield _bound_of_meta(name, algorithm, raw, 0.5, seed, stream=stream, learners_are="ridge")


# ---- RW-Meta: its special case -----------------------------------------------------------------


def special_case(seed: int) -> Findings:
    """Check RW-Meta with a constant learner for each expert against RW-FTPL; one good expert.

    All learners' noise is independent: Sigma = t eta^2 I. So fresh noise with tau = t eta^2 is the
    same for all learners, and moves no leader. The floor makes tau at least 2 (t + 1): at
    eta = sqrt(2) this is the variance of RW-FTPL's noise with z_0, and from eta = 2 on it is below
    t eta^2.
    """
    T, runs = 20, 20_000
    for name, n, eta in (("ftpl-in-law", 2, math.sqrt(2)), ("ftpl-by-path", 4, 2.0)):
        raw = np.tile(np.where(np.arange(n) == 0, 1.0, 0.0), (T, 1))
        stream = synthetic_stream(f"claims: {n} constant learners", raw)
        game, _ = noisy_game(stream, math.sqrt(n) / eta, seed, range(runs))
        coins = replicate_generators(seed, ("claims", name), range(runs), "RW-Meta")
        actions = play_rounds(RWMeta(learners=(ConstantBank(tuple(range(n))),)), game, coins)
        numbers = {"R": runs, "T": T, "n": n}
        if n == 2:
            t = np.arange(T)
            regret = float(scipy.special.ndtr(-t / (eta * np.sqrt(2 * (t + 1)))).sum())
            yield of_mean(name, regret, actions.sum(axis=1), numbers=numbers)
        else:
            sums = game.gains.cumsum(axis=1)[:, :-1]
            taken = np.take_along_axis(sums, actions[:, 1:, None].astype(int), axis=2)[..., 0]
            behind = float((sums.max(axis=2) - taken).max()) / eta
            yield Finding(name, 1e-3, behind, numbers=numbers)


# ---- RW-Meta: who agrees with whom, and other losses -------------------------------------------

_LEARNERS = 13


def cliques(_: int) -> Findings:
    """Check the largest centred variance of a round in which some learners agree.

    Also the bound of Theorem 3 there, over the bound where all differ. The order of learners does
    not matter, so the sizes of the cliques determine both.
    """
    alone = np.eye(_LEARNERS, dtype=np.int32)  # one learner dissents, each in turn
    games = {"one learner alone, each in turn": alone}
    for sizes in partitions(_LEARNERS, _LEARNERS):
        of_learners = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
        games[f"cliques of {', '.join(map(str, sizes))}"] = of_learners[None]
    for case, actions in games.items():
        variance = largest_variance(actions)
        yield Finding("two-cliques", _LEARNERS / 2, variance, at={"actions": case})
        # If all agree there is nothing to choose.
        for scale in SCALES if len(set(actions[0])) > 1 else ():
            share = factor_of_bound(scale, variance) / factor_of_bound(scale, 1.0)
            numbers = {"m": _LEARNERS}
            at: At = {"actions": case, "eta": scale}
            yield Finding("all-differ", 1.0, share, at=at, numbers=numbers)


SCALES = (1.0, math.sqrt(2), 4.0)
"""Scales of the noise. Up to the second one, the floor in Theorem 3 decides."""


def factor_of_bound(scale: float, variance: float) -> float:
    """Return the bound of Theorem 3 over sqrt(2 T log m); `variance` in units of the noise."""
    return max(math.sqrt(2), scale * math.sqrt(variance)) + math.sqrt(2)


def partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `total` as a falling sum of numbers up to `largest`."""
    if not total:
        yield ()
    for first in range(min(total, largest), 0, -1):
        for rest in partitions(total - first, first):
            yield first, *rest


def largest_variance(actions: Actions) -> float:
    """Return lambda_max of the mean Sigma* over rounds with actions (T, m) and unit noise."""
    shared = shared_noise(actions, np.ones(actions.shape[1])).mean(axis=0)
    star, _ = centred(shared[None])
    return float(np.linalg.eigvalsh(star)[0, -1])


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
        tails = {name: float(bound.tail(z, n)) for name, bound in BOUNDS.items()}
        for purpose, start, event, symbol, claims in (
            ("walk", gap, changes, "x", {f"switching-{name}": it for name, it in tails.items()}),
            ("dips", 2 * gap, is_small, "k", {"dips-borell-tis": tails["borell-tis"]}),
        ):
            position, rng = np.tile(_ahead(start, n), (_WALKS_EACH, 1)), generator(seed, purpose, i)
            met = np.zeros(_WALKS_EACH, dtype=bool)
            for _ in range(steps):
                position += eta * rng.standard_normal(position.shape)
                met |= event(position)
            at = {symbol: gap, "n": n, "B": steps, "eta": eta}
            about: Any = {"at": at, "numbers": {"R": _WALKS_EACH}, "trivial": 1.0}
            count = int(met.sum())
            for name, claimed in claims.items():
                yield of_share(name, claimed, count, _WALKS_EACH, len(_WALKS), **about)


def _ahead(lead: float, n: int) -> Floats:
    """Return positions (n,) with the first one `lead` ahead of the others."""
    return np.where(np.arange(n) == 0, lead, 0.0)


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


def gap_distribution(seed: int) -> Findings:
    """Check the distribution of the gap of equal means against drawn gaps."""
    runs, rng, points = 200_000, generator(seed, "gaps"), (0.2, 0.5, 1.0)
    for n in (2, 10):
        two = np.partition(rng.standard_normal((runs, n)), -2, axis=1)[:, -2:]
        sample = two[:, 1] - two[:, 0]
        for x in points:
            count, claimed = int((sample >= x).sum()), float(gap_survival(x, n))
            about: dict[str, Any] = {"at": {"n": n, "x": x}, "numbers": {"R": runs}}
            yield of_share("gap-law", claimed, count, runs, 2 * len(points), **about)


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


def smaller_batches(seed: int) -> Findings:
    """Check delta(eps) of random batch sizes against stochastically smaller sizes."""
    rng = generator(seed, "mixtures")
    sizes, epsilon = np.arange(1, 31), np.linspace(0, 3, 31)
    large = rng.dirichlet(np.full(30, 0.2), 500)
    kernel = np.tril(rng.random((500, 30, 30)) ** 8)
    small = np.einsum("rb,rbc->rc", large, kernel / kernel.sum(axis=2, keepdims=True))
    for mu in (0.25, 1.0, 4.0):
        each = delta_of_epsilon(epsilon[:, None], mu / np.sqrt(sizes))
        ratio = (small @ each.T) / (large @ each.T)
        for level, least in zip(epsilon.tolist(), ratio.min(axis=0).tolist(), strict=True):
            at: At = {"epsilon": level, "mu": mu, "laws": range(len(ratio))}
            yield Finding("smaller-batch", 1.0, least, at=at, settings=len(ratio))


def joint_concavity(seed: int) -> Findings:
    """Check trade-off functions of mixtures, by density, against testing known components.

    A test that sees only the sum of shift and noise does not know which component was drawn.
    """
    rng, mu, sizes = generator(seed, "concavity"), 1.0, np.array([1, 3, 10, 40])
    thresholds = np.linspace(-2.0, 2.0, 41)
    for spread in (0.0, 1.0, 6.0):
        for draw in range(10):
            mixture = BatchMixture(mu, sizes, rng.dirichlet(np.ones(len(sizes))))
            shifts = rng.permutation(np.linspace(-spread, spread, len(sizes)))
            false_positive, false_negative = mixture.trade_off_at(thresholds)
            curve = hidden_trade_off(mixture.weights, shifts, shifts + mixture.mus)
            ratio = float((np.interp(false_positive, *curve) / false_negative).min())
            case, n = f"components up to {spread:g} from 0", len(thresholds)
            at: At = {"distance": spread, "laws": f"draw {draw}", "x": range(n)}
            yield Finding("joint-concavity", 1.0, ratio, case, at=at, settings=n)


def hidden_trade_off(weights: Floats, ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    """Integrate the trade-off function of two mixtures of unit normals with these centres.

    Returns:
        Increasing false positive rates, and the smallest false negative rate at each.
    """
    z = np.linspace(-20.0, 20.0, 8001)[:, None]
    p, q = (np.exp(-((z - centres) ** 2) / 2) @ weights for centres in (ours, theirs))
    order = np.argsort(-q / p)
    false_positive, rejected = (density[order].cumsum() / density.sum() for density in (p, q))
    return np.append(0.0, false_positive), np.append(1.0, 1 - rejected)


CHECKS = (
    local_noise, regrets, tree, meta_of_turncoats, meta_of_constants, meta_of_thirteen,
    special_case,
    cliques, switching, gaps, gap_distribution, containing_batches, smaller_batches,
    joint_concavity,
)  # fmt: skip
