"""Checks of the same paper as `distributions`: regret of weighted majority on noisy losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from dpol.core.randomness import Floats, replicate_generators
from dpol.show.papers import DISTRIBUTIONS
from dpol.studies.claims.core import Claim, Row, generator, worst
from dpol.studies.labels.classes import random_class
from dpol.studies.labels.game import softmax
from dpol.studies.labels.learners.base import Terms
from dpol.studies.labels.learners.wma import PrivateWMA
from dpol.studies.labels.registry import make_learner

_of = partial(Claim, DISTRIBUTIONS)


def majority(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """Regret of WMA on losses in [0, 1], and on the losses that private WMA really sees."""
    rng = generator(seed, "losses")
    claims = []
    for K, T in itertools.product((2, 8), (20, 500)):
        for label, losses in _loss_sequences(rng, T, K).items():
            regret = float(_regret(losses[None], math.sqrt(2 * math.log(K) / T))[0])
            claims.append(
                _regret_claim("Lemma 1", T, K, regret, share, f"{label}, K = {K}, T = {T}")
            )
    yield worst(claims)
    K, T, R = 4, 1000, 20
    learner = make_learner("wma", random_class(K, 20, seed=seed), Terms(T, 1.0))
    assert isinstance(learner, PrivateWMA)
    generators = replicate_generators(seed, ("claims", "wma"), range(R), "messages")
    labels = rng.integers(0, 20, (R, T))
    messages = learner.client.privatize(labels, np.zeros(T, dtype=np.int64), generators)
    seen = learner.losses(messages.values)
    within = (seen >= 0).all(axis=(1, 2)) & (seen <= 1).all(axis=(1, 2))
    regrets = _regret(seen[within], learner.rate)
    idle = float(_regret(seen[within], 0.0).max())
    case = (
        f"{within.sum()} of {R} runs have all losses in [0, 1]; weights that never move have regret"
        f" {idle:.2f} at most"
    )
    yield _regret_claim("Lemma 4", T, K, float(regrets.max()), share, case, trivial=idle)


def _regret_claim(
    statement: str,
    T: int,
    K: int,
    regret: float,
    share: float,
    case: str,
    trivial: float | None = None,
) -> Claim:
    where = "16 sequences of losses" if statement == "Lemma 1" else "the losses of private WMA"
    return _of(
        statement,
        "weighted majority has regret at most sqrt(2 T log K) on losses in [0, 1]",
        f"largest regret over its bound on {where}",
        claimed=share * math.sqrt(2 * T * math.log(K)),
        relation="<=",
        measured=regret,
        trivial=trivial,
        witness=f"{case}: regret {regret:.2f}",
        note=case,
    )


def _loss_sequences(rng: np.random.Generator, T: int, K: int) -> dict[str, Floats]:
    rate = math.sqrt(2 * math.log(K) / T)
    adaptive = np.zeros((T, K))
    for t in range(T):  # the heaviest expert loses
        adaptive[t, softmax(-rate * adaptive.sum(axis=0)).argmax()] = 1.0
    return {
        "uniform": rng.random((T, K)),
        "coins": (rng.random((T, K)) < 0.5).astype(float),
        "one good": np.tile(np.arange(K) > 0, (T, 1)).astype(float),
        "heaviest loses": adaptive,
    }


def _regret(losses: Floats, rate: float) -> Floats:
    """Regrets (N,) of exponential weights on losses (N, T, K)."""
    before = np.cumsum(losses, axis=1) - losses
    expected = (softmax(-rate * before) * losses).sum(axis=(1, 2))
    return np.asarray(expected - losses.sum(axis=1).min(axis=1))


def sampled_majority(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """Lemma 7 by enumeration of all sequences of the random index."""
    rng = generator(seed, "sampled losses")
    claims = []
    for K, T in ((2, 10), (3, 7)):
        for label, losses in _loss_sequences(rng, T, K).items():
            regret = enumerated_regret(losses, math.sqrt(2 * K * math.log(K) / T))
            case = f"{label}, K = {K}, T = {T}"
            claims.append(
                _of(
                    "Lemma 7",
                    "EXP3 on one random coordinate has expected regret at most sqrt(2 T K log K)",
                    "exact expectation over all K^T index sequences, 8 sequences of losses;"
                    " the worst",
                    claimed=share * math.sqrt(2 * T * K * math.log(K)),
                    relation="<=",
                    measured=regret,
                    witness=f"{case}: regret {regret:.3f}",
                    note=case,
                )
            )
    yield worst(claims)


def enumerated_regret(losses: Floats, rate: float) -> float:
    """Expected regret where only a uniform coordinate of each loss is seen."""
    K = losses.shape[1]
    seen, total = np.zeros((1, K)), 0.0
    for loss in losses:
        total += float((softmax(-rate * seen) @ loss).mean())
        seen = (seen[:, None] + loss * np.eye(K)).reshape(-1, K)
    return total - float(losses.sum(axis=0).min())


ROWS: tuple[Row, ...] = (majority, sampled_majority)
