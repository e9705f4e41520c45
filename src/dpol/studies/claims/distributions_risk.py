"""Checks of the same paper as `distributions`: risks from above and from below."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np
from scipy.linalg import hadamard

from dpol.core.randomness import Floats
from dpol.show.papers import DISTRIBUTIONS
from dpol.studies.claims.core import CONFIDENCE, Claim, Row, generator, mean_interval, worst
from dpol.studies.labels.bounds import exp3_bound, lower_bound, wma_bound
from dpol.studies.labels.classes import hard_class, random_class
from dpol.studies.labels.game import LabelRun, label_generators, play_labels, realisable
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.learners.base import Terms
from dpol.studies.labels.points import hardness
from dpol.studies.labels.registry import LEARNERS, make_learner

_of = partial(Claim, DISTRIBUTIONS)
_K, _M, _ROUNDS, _REPLICATES = 4, 20, 2000, 48
_TERMS = Terms(_ROUNDS, epsilon=1.0)


@lru_cache(maxsize=4)
def _run(name: str, seed: int) -> LabelRun:
    """A learner on a class of far-apart hypotheses, each the truth in a part of the replicates."""
    return _play(name, random_class(_K, _M, seed=seed, concentration=0.3), seed, _TERMS)


def _play(name: str, hypotheses: HypothesisClass, seed: int, terms: Terms) -> LabelRun:
    features = np.zeros(terms.n_rounds, dtype=np.int64)
    game = realisable(hypotheses, features, _REPLICATES)
    key = ("claims", hypotheses.label, hypotheses.n_hypotheses)
    generators = label_generators(seed, key, _REPLICATES, name)
    return play_labels(make_learner(name, hypotheses, terms), game, generators)


def upper_bounds(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """Measured KL risks against the bounds of the proofs, times `share`."""
    bounds = {
        "wma": ("Lemma 5, Theorem 4", wma_bound(_K, _ROUNDS, 1.0, _TERMS.delta, "exact")),
        "exp3": ("Lemma 8, Theorem 5", exp3_bound(_K, _ROUNDS, 1.0)),
    }
    for name, (statement, bound) in bounds.items():
        risk = _run(name, seed).kl
        yield _of(
            statement,
            f"the KL risk of private {name.upper()} is within the bound of its proof (γ = log T)",
            f"exact risks of {_REPLICATES} runs, K = {_K}, M = {_M}, T = {_ROUNDS:,}, ε = 1;"
            " the constants are those of the proof",
            claimed=share * bound,
            relation="<=",
            measured=float(risk.mean()),
            trivial=_ROUNDS * math.log(_K),
            interval=mean_interval(risk),
            confidence=CONFIDENCE,
            witness=f"mean risk {risk.mean():.1f} nats",
            note="s = log((K + 1) T) for log(K T); without messages the risk is at most"
            f" T log K = {_ROUNDS * math.log(_K):,.0f}",
        )


def pinsker(seed: int, factor: float = 0.5) -> Iterator[Claim]:
    """Average total variation against sqrt(factor KL / T), run by run."""
    run = _run("exp3", seed)
    tv, limit = run.tv / _ROUNDS, np.sqrt(factor * run.kl / _ROUNDS)
    at = int((tv / limit).argmax())
    yield _of(
        "Theorem 6, Pinsker step",
        "the average total variation is at most sqrt(KL risk / (2 T))",
        f"exact risks in each of {_REPLICATES} runs of private EXP3; the worst run",
        claimed=float(limit[at]),
        relation="<=",
        measured=float(tv[at]),
        trivial=1.0,
        witness=f"run {at}: total variation {tv[at]:.4f}",
    )


# ---- the lower bound -------------------------------------------------------------------------

_CUT = 20.0


def _pure(hypotheses: HypothesisClass, terms: Terms) -> list[str]:
    """The registered learners whose messages are (epsilon, 0)-private."""
    made = {name: make_learner(name, hypotheses, terms).client.guarantee for name in LEARNERS}
    return [name for name, it in made.items() if it.epsilon_delta == (terms.epsilon, 0.0)]


def risk_of_hard_class(seed: int, factor: float = 1.0) -> Iterator[Claim]:
    """The best private learner that we have, on the hard class; the bound times `factor`."""
    pairs, T, epsilon = 4, 1000, 1.0
    hypotheses = hard_class(pairs, hardness(pairs, T, epsilon))
    claims = []
    learners = _pure(hypotheses, Terms(T, epsilon))
    first = first_round(hypotheses.masses[0])
    for name in learners:
        # Cutting large risks only makes the mean smaller, and its interval sound.
        risk = np.minimum(_play(name, hypotheses, seed, Terms(T, epsilon)).kl, _CUT)
        claims.append(
            _of(
                "Theorem 3",
                "some hypothesis of the hard class costs any (ε, 0)-private learner a T/132",
                f"mean exact risk over the 8 hypotheses, {_REPLICATES} runs of {len(learners)}"
                f" private learners, K = {pairs}, T = {T:,}, ε = 1; the best learner",
                claimed=factor * lower_bound(pairs, T, epsilon),
                relation=">=",
                measured=float(risk.mean()),
                trivial=first,
                interval=mean_interval(risk),
                confidence=CONFIDENCE,
                witness=f"{name}: mean risk {risk.mean():.3f} nats",
                note=f"{name}; risks are cut at {_CUT:g} nats, the mean is below the worst case;"
                f" the first round, before any message, costs {first:.3f} nats already",
            )
        )
    yield worst(claims)


def first_round(masses: Floats) -> float:
    """What some hypothesis (rows) costs any learner in round 1: at least their mean divergence.

    Before the first message the prediction is the same under all hypotheses, and the mean of the
    divergences is least at the mean of the hypotheses.
    """
    middle = masses.mean(axis=0)[None]
    return float(np.mean([_divergence(law, middle)[0] for law in masses]))


def construction(seed: int, distance: float = 1.0) -> Iterator[Claim]:
    """The hard class at the largest a that it allows, built by hand."""
    del seed
    off = 0.0
    for K in range(1, 65):
        N = 1 << K.bit_length()
        columns = hadamard(N)[:, 1 : K + 1].T
        first = np.where(columns < 0, 2 / N, 0.0)
        both = np.concatenate([first, first + columns * distance / N])
        off = max(off, float(np.abs(both.sum(axis=1) - 1).max()), float(-both.min()))
    yield _of(
        "Theorem 3, equation (16)",
        "both hypotheses of every pair are distributions for a <= 1",
        "largest violation (negative mass, or sum not 1) for K = 1 to 64 pairs at a = 1",
        claimed=0.0,
        relation="<=",
        measured=off,
        witness=f"a = {distance:g}: violation {off:.3g}",
    )


def separation(seed: int, factor: float = 1.0) -> Iterator[Claim]:
    """The least that any prediction loses on the worse of a pair; a/16 times `factor`."""
    del seed
    claims = []
    for K, a in itertools.product((1, 3, 8), (1e-3, 0.1, 0.5, 1.0)):
        one, other = hard_class(K, a).masses[0, :2]
        mix = np.linspace(0, 1, 2001)[1:-1, None]
        # The worse of two divergences is least at a mixture of the two.
        middle = (1 - mix) * one + mix * other
        least = np.maximum(_divergence(one, middle), _divergence(other, middle)).min()
        claims.append(
            _of(
                "Theorem 3, inequality (19)",
                "every prediction has divergence a/16 at least from one of a pair",
                "least over all mixtures of the pair, K = 1, 3, 8 and a = 0.001 to 1; the worst",
                claimed=factor * a / 16,
                relation=">=",
                measured=float(least),
                rounding=1e-4,
                witness=f"K = {K}, a = {a:g}: {least:.4g}",
                note=f"K = {K}, a = {a:g}; a/8 holds too",
            )
        )
    yield worst(claims)


def _divergence(law: Floats, predictions: Floats) -> Floats:
    inside = law > 0
    return np.asarray((law[inside] * np.log(law[inside] / predictions[:, inside])).sum(axis=1))


def contraction(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """How far private messages about a pair can be apart, summed over pairs."""
    rng = generator(seed, "mechanisms")
    claims = []
    for K, epsilon, a in itertools.product((3, 8, 15), (0.1, 0.5, 1.0, 3.0), (0.1, 1.0)):
        masses = hard_class(K, a).masses[0]
        N = masses.shape[1]
        sets = (hadamard(N)[:, 1 : K + 1] < 0).T, rng.random((20, N)) < 0.5
        mechanisms = {
            "Hadamard sets": _membership(sets[0], epsilon),
            "random sets": _membership(sets[1], epsilon),
            "randomised response": _response(N, epsilon),
        }
        for name, channel in mechanisms.items():
            first, second = masses[::2] @ channel, masses[1::2] @ channel
            total = float((first * np.log(first / second)).sum())
            growth = min(math.expm1(epsilon) ** 2, 1.0) * math.exp(epsilon)
            claims.append(
                _of(
                    "Theorem 3, after (23)",
                    "divergences of private messages, summed over pairs, are at most"
                    " a² min((e^ε - 1)², 1) e^ε / 2",
                    "exact, three kinds of mechanisms, K = 3, 8, 15, ε = 0.1 to 3, a = 0.1 and 1;"
                    " the worst",
                    claimed=share * a**2 / 2 * growth,
                    relation="<=",
                    measured=total,
                    witness=f"{name}, K = {K}, ε = {epsilon:g}, a = {a:g}: {total:.4g}",
                    note=f"{name}, K = {K}, ε = {epsilon:g}, a = {a:g}",
                )
            )
    yield worst(claims)


def _membership(sets: np.ndarray, epsilon: float) -> Floats:
    """(N, 2G): a uniform one of G public sets, and whether it holds the label, randomised."""
    keep = 1 / (1 + math.exp(-epsilon))
    inside = np.where(sets.T, keep, 1 - keep)
    return np.concatenate([inside, 1 - inside], axis=1) / len(sets)


def _response(N: int, epsilon: float) -> Floats:
    other = 1 / (math.exp(epsilon) + N - 1)
    return np.where(np.eye(N, dtype=bool), math.exp(epsilon) * other, other)


ROWS: tuple[Row, ...] = (
    upper_bounds,
    pinsker,
    risk_of_hard_class,
    construction,
    separation,
    contraction,
)
