"""Checks of "Online Distribution Learning with Local Privacy Constraints".

Messages, the regret of weights, and risks.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.special import rel_entr

from dpol.core.randomness import Floats
from dpol.labels.bounds import exp3_bound, lower_bound, wma_bound
from dpol.labels.clients import SampledClient
from dpol.labels.clipping import Clipping
from dpol.labels.game import LabelRun, label_generators, play_adversary, play_labels, realisable
from dpol.labels.hard_pairs import hardness
from dpol.labels.hypotheses import HypothesisClass, hard_class, random_class
from dpol.labels.learners import LabelLearner, Terms
from dpol.labels.registry import LEARNERS, make_learner
from dpol.studies.ledger.claims.core import At, Finding, Findings, generator, of_mean

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


_REPLICATES = 48
_ADVERSARY = "features of an adversary"


# ---- the upper bounds ------------------------------------------------------------------------


def _plays(learner: LabelLearner, seed: int, of: str) -> list[tuple[At, LabelRun]]:
    """Play each constant feature, random features and those of an adversary.

    Each hypothesis is the truth in some replicates. The adversary is greedy, so the largest risk is
    the largest found. A class of constants has one feature, and one game.

    Returns:
        What was tried, and the run, for each game.
    """
    kind, T, X = learner.hypotheses, learner.terms.n_rounds, learner.hypotheses.n_features
    games = {f"feature {x} always": np.full(T, x) for x in range(X)}
    if X > 1:
        rng = generator(seed, "features", of, kind.label)
        games["random features"] = rng.integers(0, X, T)
        games[_ADVERSARY] = np.zeros(T, dtype=np.int64)  # which it replaces
    key = ("claims", kind.label, kind.n_hypotheses)
    about: At = {"hypotheses": kind.label, "K": kind.n_hypotheses, "M": kind.n_labels}
    played = []
    for case, features in games.items():
        play = play_adversary if case == _ADVERSARY else play_labels
        game = realisable(kind, features, _REPLICATES)
        coins = label_generators(seed, key, _REPLICATES, f"{of}, {case}" if X > 1 else of)
        at = {**about, "features": case} if X > 1 else about
        played.append((at, play(learner, game, coins)))
    return played


def upper_bounds(seed: int) -> Findings:
    """Check risks on far-apart hypotheses against the proofs' bounds."""
    K, M, T = 4, 20, 2000
    hypotheses = random_class(K, M, seed=seed, concentration=0.3, n_features=_DIFFERENT)
    terms, idle = Terms(T, epsilon=1.0), T * math.log(K)
    bounds = {"wma": wma_bound(K, T, 1.0, terms.delta, "exact"), "exp3": exp3_bound(K, T, 1.0)}
    numbers = {"R": _REPLICATES, "K": K, "M": M, "T": T, "X": _DIFFERENT, "idle": idle}
    for name, bound in bounds.items():
        runs = _plays(make_learner(name, hypotheses, terms), seed, name)
        for at, run in runs:
            of: Any = {"at": at, "numbers": numbers}
            yield of_mean(f"{name}-risk", bound, run.kl, len(runs), trivial=idle, **of)
            if name == "exp3":  # by Pinsker's inequality; no distance is above 1
                most = math.sqrt(bound / (2 * T))
                yield of_mean("exp3-distance", most, run.tv / T, len(runs), trivial=1.0, **of)


# ---- the lower bound -------------------------------------------------------------------------


def risk_of_hard_class(seed: int) -> Findings:
    """Check our private learners on the hard class."""
    pairs, cut, terms = 4, 20.0, Terms(1000, epsilon=1.0)
    hypotheses = hard_class(pairs, hardness(pairs, terms.n_rounds, terms.epsilon))
    made = {name: make_learner(name, hypotheses, terms) for name in LEARNERS}
    pure = [n for n, it in made.items() if it.client.guarantee.epsilon(0.0) == terms.epsilon]
    first = first_round(hypotheses.masses[0])
    claimed = lower_bound(pairs, terms.n_rounds, terms.epsilon)
    numbers = {"R": _REPLICATES, "K": pairs, "T": terms.n_rounds, "cut": cut, "first": first}
    for name in pure:
        ((_, run),) = _plays(made[name], seed, name)
        # Cutting large risks only lowers the mean, and makes its interval sound.
        about: Any = {"trivial": first, "at": {"learners": name}, "numbers": numbers}
        yield of_mean("hard-class", claimed, np.minimum(run.kl, cut), **about)


def first_round(masses: Floats) -> float:
    """Return a cost in round 1 that some hypothesis (rows) inflicts on every learner.

    Before the first message the prediction is the same under all hypotheses, and the mean
    divergence is smallest at the mean of the hypotheses.
    """
    middle = masses.mean(axis=0)
    return float(rel_entr(masses, middle).sum(axis=1).mean())


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
