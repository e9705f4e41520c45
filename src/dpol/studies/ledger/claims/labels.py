"""Checks of "Online Distribution Learning with Local Privacy Constraints".

Messages, the regret of weights, and risks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from scipy.special import rel_entr

from dpol.core.randomness import Floats
from dpol.labels.accounting import scale_factor
from dpol.labels.bounds import (
    exp3_bound,
    kept_by_design,
    kept_by_response,
    lower_bound,
    lower_bound_of_tv,
    posterior_risk,
    posterior_tv,
    rounds_of_selection,
    wma_bound,
)
from dpol.labels.clients import ResponseClient, SampledClient
from dpol.labels.clipping import Clipping
from dpol.labels.design import DesignBayes
from dpol.labels.game import (
    LabelRun,
    label_generators,
    play_adversary,
    play_labels,
    realisable,
    total_variation,
)
from dpol.labels.hard_pairs import hardness
from dpol.labels.hypotheses import HypothesisClass, hard_class, random_class
from dpol.labels.learners import LabelLearner, Terms
from dpol.labels.registry import LEARNERS, make_learner
from dpol.studies.ledger.claims.core import At, Finding, Findings, generator, of_mean, stated

APART = ((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
"""The class with more cells than claimed: K = 2 hypotheses on M = 3 labels."""

_LONGER = 300
"""Rounds for the exact loss of a message of private EXP3."""
# Classes of each size, as the features of one class.
_DIFFERENT = 20


# ---- clipping --------------------------------------------------------------------------------


def clipping(_: int) -> Findings:
    """Check the number of cells, and what follows: masses, sensitivity and Lemma 6."""
    T, hypotheses = 10, HypothesisClass(np.array(APART))
    clipped = Clipping(hypotheses, T)
    K, M = hypotheses.n_hypotheses, hypotheses.n_labels
    least, spread = float(clipped.log_cells.min()), float(clipped.ranges.max())
    case = f"K = {K}, M = {M}, f1 = {APART[0]}, f2 = {APART[1]}"
    numbers = {"inverse": math.exp(-least), "odds": math.exp(spread), "longer": _LONGER}
    numbers |= {"K": K, "M": M, "T": T, "KT": K * T, "TKM": T * K * M}
    longer = Clipping(hypotheses, _LONGER, "published")
    numbers["loss"] = SampledClient(longer, 1.0).exact_loss
    yield Finding("cells", K * M, int(clipped.n_cells[0]), case, numbers=numbers)


def sensitivity_bound(K: int, T: int) -> float:
    """Return our bound on the range of a clipped log-likelihood: `log((K + 1) T)`."""
    return math.log((K + 1) * T)


def clipping_of_random_classes(seed: int) -> Findings:
    """Check the upper side of equation (7), and our own sensitivity bound."""
    for K, M, alpha, T in itertools.product(
        range(2, 6), (2, 3, 5, 11), (0.05, 0.2, 1.0), (2, 10, 49)
    ):
        classes = random_class(K, M, seed=seed, concentration=alpha, n_features=_DIFFERENT)
        clipped = Clipping(classes, T)
        at: At = {"K": K, "M": M, "T": T, "hypotheses": f"Dirichlet({alpha:g})"}
        at = {**at, "features": range(_DIFFERENT)}
        numbers = {"bound": stated(sensitivity_bound)}
        about: dict[str, Any] = {"at": at, "settings": _DIFFERENT, "numbers": numbers}
        largest = M * math.exp(float(clipped.log_cells.max()))
        yield Finding("largest-mass", 1.0, largest, **about)
        share = float(clipped.ranges.max()) / sensitivity_bound(K, T)
        yield Finding("likelihood-range-ours", 1.0, share, **about)


# ---- messages --------------------------------------------------------------------------------


def composition(_: int) -> Findings:
    """Check the Laplace scale of a WMA message."""
    for K, delta in itertools.product((16, 1024), (1e-6, 1e-10)):
        claimed, needed = (scale_factor(K, 1.0, delta, rule) for rule in ("published", "exact"))
        at: At = {"K": K, "delta": delta}
        yield Finding("wma-scale", claimed, needed, at=at, numbers={"basic": K})


def response(_: int) -> Findings:
    """Check the exact privacy loss of randomised response on M labels."""
    for M, epsilon in itertools.product((2, 10, 1000), (0.01, 0.5, 4.0)):
        keep = ResponseClient(M, epsilon).keep
        loss = math.log(keep * (M - 1) / (1 - keep))
        yield Finding("randomised-response", epsilon, loss, at={"M": M, "epsilon": epsilon})


_REPLICATES = 48
_ADVERSARY = "features of an adversary"
Played = tuple[At, LabelLearner, LabelRun]


# ---- the upper bounds ------------------------------------------------------------------------


def _plays(learners: Iterable[LabelLearner], seed: int, of: str) -> list[Played]:
    """Play each constant feature, random features and those of an adversary.

    Each hypothesis is the truth in some replicates. The adversary is greedy, so the largest risk is
    the largest found. A class of constants has one feature, and one game.

    Returns:
        What was tried, the learner and its run for each game.
    """
    played = []
    for learner in learners:
        kind, T, X = learner.hypotheses, learner.terms.n_rounds, learner.hypotheses.n_features
        games = {f"feature {x} always": np.full(T, x) for x in range(X)}
        if X > 1:
            rng = generator(seed, "features", of, kind.label)
            games["random features"] = rng.integers(0, X, T)
            games[_ADVERSARY] = np.zeros(T, dtype=np.int64)  # which it replaces
        key = ("claims", kind.label, kind.n_hypotheses)
        about: At = {"hypotheses": kind.label, "K": kind.n_hypotheses, "M": kind.n_labels}
        for case, features in games.items():
            play = play_adversary if case == _ADVERSARY else play_labels
            game = realisable(kind, features, _REPLICATES)
            coins = label_generators(seed, key, _REPLICATES, f"{of}, {case}" if X > 1 else of)
            at = {**about, "features": case} if X > 1 else about
            played.append((at, learner, play(learner, game, coins)))
    return played


def upper_bounds(seed: int) -> Findings:
    """Check KL risks on far-apart hypotheses against the proofs' bounds."""
    K, M, T = 4, 20, 2000
    hypotheses = random_class(K, M, seed=seed, concentration=0.3, n_features=_DIFFERENT)
    terms, idle = Terms(T, epsilon=1.0), T * math.log(K)
    bounds = {"wma": wma_bound(K, T, 1.0, terms.delta, "exact"), "exp3": exp3_bound(K, T, 1.0)}
    numbers = {"R": _REPLICATES, "K": K, "M": M, "T": T, "X": _DIFFERENT, "idle": idle}
    for name, bound in bounds.items():
        runs = _plays([make_learner(name, hypotheses, terms)], seed, name)
        for at, _, run in runs:
            of: Any = {"at": at, "numbers": numbers, "trivial": idle}
            yield of_mean(f"{name}-risk", bound, run.kl, len(runs), **of)


def response_risk(seed: int) -> Findings:
    """Check KL risks of randomised response against the bound of posterior weights."""
    T = 2000
    terms = Terms(T, epsilon=1.0)
    # Classes with one name would share their seeds.
    classes = [
        replace(random_class(4, M, seed=seed, n_features=3), label=f"random, {M} labels")
        for M in (5, 20)
    ]
    # One rare label tells two hypotheses apart, about as rare as T noisy answers can see.
    for times in (1, 3):
        rare = times / (kept_by_response(3, terms.epsilon) * math.sqrt(T))
        masses = np.array([[1 - rare, rare, 0.0], [1 - rare, 0.0, rare]])
        classes.append(HypothesisClass(masses, f"rare labels, {rare:.3f}"))
    learners = [make_learner("randomised-response", each, terms) for each in classes]
    played = _plays(learners, seed, "randomised-response")
    for at, learner, run in played:
        K, M = learner.hypotheses.n_hypotheses, learner.hypotheses.n_labels
        bound = posterior_risk(K, T, kept_by_response(M, terms.epsilon))
        of: Any = {"at": at, "numbers": {"R": _REPLICATES, "T": T}, "trivial": T * math.log(K)}
        yield of_mean("response-risk", bound, run.kl, len(played), **of)


def selection(seed: int) -> Findings:
    """Check the average prediction of private EXP3 after T_alpha rounds."""
    K, M, epsilon, alpha, R = 4, 20, 4.0, 0.5, 8
    T = rounds_of_selection(K, epsilon, alpha)
    hypotheses = random_class(K, M, seed=seed, concentration=0.05)
    learner = make_learner("exp3", hypotheses, Terms(T, epsilon))
    game = realisable(hypotheses, np.zeros(T, dtype=np.int64), R)
    coins = label_generators(seed, ("claims", hypotheses.label, K), R, "selection")
    estimates = play_labels(learner, game, coins).mean_weights @ learner.masses[0]
    distances = total_variation(estimates, game.truths[game.truth, 0])
    masses = hypotheses.masses[0]
    idle = float(total_variation(masses, masses.mean(axis=0)).mean())
    numbers = {"R": R, "K": K, "M": M, "T": T, "times": T * epsilon**2 * alpha**4 / K}
    yield of_mean("rounds-of-selection", alpha, distances, trivial=idle, numbers=numbers)


# ---- the averaged total variation ------------------------------------------------------------


def design(seed: int) -> Findings:
    """Check membership of sets by the optimal design, two coins and a random class."""
    T, epsilon = 2000, 1.0
    # Two coins that T rounds just fail to tell apart.
    apart = 1 / (math.tanh(epsilon / 2) * math.sqrt(T))
    coin = np.array([(1 + apart) / 2, (1 - apart) / 2])
    random = random_class(4, 6, seed=seed, concentration=0.3, n_features=3)
    classes = HypothesisClass(np.stack([coin, coin[::-1]]), "two coins"), random
    learners = [DesignBayes(each, Terms(T, epsilon)) for each in classes]
    played = _plays(learners, seed, "design")
    for at, learner, run in played:
        K = learner.hypotheses.n_hypotheses
        kept = kept_by_design(K, epsilon)
        of = {"R": _REPLICATES, "T": T, "kept": stated(kept_by_design)}
        of |= {"tv": stated(posterior_tv), "risk": stated(posterior_risk)}
        tv, risk = posterior_tv(K, T, kept), posterior_risk(K, T, kept)
        yield of_mean("tv-of-design", tv, run.tv / T, len(played), at=at, numbers=of)
        yield of_mean("risk-of-design", risk, run.kl, len(played), at=at, numbers=of)


# ---- the lower bound -------------------------------------------------------------------------


def risk_of_hard_class(seed: int) -> Findings:
    """Check our private learners on the hard class: risk and averaged total variation."""
    pairs, cut, terms = 4, 20.0, Terms(1000, epsilon=1.0)
    hypotheses = hard_class(pairs, hardness(pairs, terms.n_rounds, terms.epsilon))
    made = {name: make_learner(name, hypotheses, terms) for name in LEARNERS}
    pure = [n for n, it in made.items() if it.client.guarantee.epsilon(0.0) == terms.epsilon]
    first = first_round(hypotheses.masses[0])
    claimed = lower_bound(pairs, terms.n_rounds, terms.epsilon)
    numbers: dict[str, Any] = {"R": _REPLICATES, "K": pairs, "T": terms.n_rounds, "cut": cut}
    numbers["first"] = first
    numbers |= {"bound": stated(lower_bound), "least": stated(lower_bound_of_tv)}
    least = lower_bound_of_tv(pairs, terms.n_rounds, terms.epsilon)
    for name in pure:
        ((_, _, run),) = _plays([made[name]], seed, name)
        # Cutting large risks only lowers the mean, and makes its interval sound.
        risk = np.minimum(run.kl, cut)
        at: At = {"learners": name}
        yield of_mean("hard-class", claimed, risk, trivial=first, at=at, numbers=numbers)
        tv = run.tv / terms.n_rounds
        yield of_mean("tv-of-hard-class", least, tv, len(pure), at=at, numbers=numbers)


def first_round(masses: Floats) -> float:
    """Return a cost in round 1 that some hypothesis (rows) inflicts on every learner.

    Before the first message the prediction is the same under all hypotheses, and the mean
    divergence is smallest at the mean of the hypotheses.
    """
    middle = masses.mean(axis=0)
    return float(rel_entr(masses, middle).sum(axis=1).mean())


def separation(_: int) -> Findings:
    """Check the smallest loss of any prediction on the worse hypothesis of a pair."""
    for K, a in itertools.product((1, 3, 8), (1e-3, 0.1, 0.5, 1.0)):
        one, other = hard_class(K, a).masses[0, :2]
        mix = np.linspace(0, 1, 2001)[1:-1, None]
        # The worse of two divergences is smallest at a mixture of the two.
        middle = (1 - mix) * one + mix * other
        worse = np.maximum(*(rel_entr(own, middle).sum(axis=1) for own in (one, other)))
        at: At = {"K": K, "a": a, "laws": range(len(mix))}
        yield Finding("pairs-are-apart", a / 16, float(worse.min()), at=at)


def contraction(seed: int) -> Findings:
    """Check the distance between private messages about a pair, summed over pairs."""
    rng = generator(seed, "mechanisms")
    for K, epsilon, a in itertools.product((3, 8, 15), (0.1, 0.5, 1.0, 3.0), (0.1, 1.0)):
        masses = hard_class(K, a).masses[0]
        N = masses.shape[1]
        other = 1 / (math.exp(epsilon) + N - 1)
        mechanisms = {
            "Hadamard sets": _membership((scipy.linalg.hadamard(N)[:, 1 : K + 1] < 0).T, epsilon),
            "random sets": _membership(rng.random((20, N)) < 0.5, epsilon),
            "randomised response": np.where(np.eye(N) == 1, math.exp(epsilon) * other, other),
        }
        growth = min(math.expm1(epsilon) ** 2, 1.0) * math.exp(epsilon)
        for name, channel in mechanisms.items():
            total = float(rel_entr(masses[::2] @ channel, masses[1::2] @ channel).sum())
            at: At = {"mechanisms": name, "K": K, "epsilon": epsilon, "a": a}
            yield Finding("pairs-under-privacy", a**2 / 2 * growth, total, at=at)


LARGEST_FACTOR = 1.0
"""The second argument of min((e^eps - 1)^2, 1) in step (c) of (23)."""


def differences_of_outputs(_: int) -> Findings:
    """Check step (c) of (23): squared differences of the probabilities of one output.

    The mechanism is (eps, 0)-private: some of N labels give the output with probability q e^eps,
    the others with q.
    """
    N = 16
    for odds, more in itertools.product((1.5, 2.0, 8.0, 1000.0), range(1, N)):
        chances = np.where(np.arange(N) < more, odds, 1.0)
        differences = ((chances[:, None] - chances) ** 2).sum() / (2 * N**2)
        allowed = min((odds - 1) ** 2, LARGEST_FACTOR) * (chances**2).sum() / (2 * N)
        case = f"e^ε = {odds:g}, {more} of {N} labels"
        yield Finding("differences-of-outputs", 1.0, float(differences / allowed), case)


def _membership(sets: np.ndarray, epsilon: float) -> Floats:
    """Return the channel (N, 2G): a uniform one of G public sets, and noisy membership in it."""
    keep = 1 / (1 + math.exp(-epsilon))
    inside = np.where(sets.T, keep, 1 - keep)
    return np.concatenate([inside, 1 - inside], axis=1) / len(sets)


CHECKS = (
    clipping, clipping_of_random_classes, composition, response, upper_bounds, response_risk,
    selection, design, risk_of_hard_class, separation, contraction, differences_of_outputs,
)  # fmt: skip
