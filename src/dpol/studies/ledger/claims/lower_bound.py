"""Checks of Theorem 4.2 of "Private Online Learning via Lazy Algorithms": its adversary's games.

Given the losses, L2P plays a batch by the weights at its start (Lemma 3.4), so does the dartboard
but for its limit, and limited updates play by the exponential mechanism. So expected losses are
computed, from total losses at the edges of batches. The games show what the theorem says; they rank
nobody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpol.core.intervals import half_width
from dpol.lazy.accounting import LazyGame
from dpol.lazy.dartboard import choose_dartboard
from dpol.lazy.leaders import doubling_edges
from dpol.lazy.parameters import choose_parameters
from dpol.studies.ledger.claims.core import DELTA, At, Finding, Findings, generator, of_mean, stated
from dpol.studies.ledger.claims.lazy import EPOCHS_POWER

_RUNS = 20
Rounds = NDArray[np.int64]
"""Rounds, or sums of losses of 0 and 1 over rounds."""


def totals_of(epochs: Rounds, losses: NDArray[np.int8]) -> Rounds:
    """Return the (d, E + 1) total losses before each epoch, and at the end.

    Args:
        epochs: (E + 1,) first round of each epoch, and T.
        losses: (d, E) loss of each round of an epoch, 0 or 1.
    """
    return np.cumsum(np.diff(epochs, prepend=0) * np.pad(losses, ((0, 0), (1, 0))), 1)


def play(
    epochs: Rounds, totals: Rounds, edges: Sequence[int], rate: float, last_only: bool
) -> tuple[float, float]:
    """Return a player's expected loss, and his gain on random choice by what he saw of epochs.

    An epoch that begins within a batch costs any player 1/2 a round on average. So only the rest of
    an epoch that the start of a batch cuts can be a gain.

    Args:
        epochs: as in `totals_of`.
        totals: total losses by `totals_of`.
        edges: first round of each of his batches, and T.
        rate: his weights are proportional to e^(-rate * loss).
        last_only: whether weights are by the losses of the last batch only, or of all.
    """
    rounds = np.array(edges)
    at = np.searchsorted(epochs[:-1], rounds, side="right") - 1
    start, end = epochs[at], epochs[at + 1]
    losses = (totals[:, at + 1] - totals[:, at]) // (end - start)
    before = totals[:, at] + (rounds - start) * losses
    known = np.diff(before, axis=1, prepend=0) if last_only else before
    weights = special.softmax(-rate * known[:, :-1], axis=0)
    rest = np.minimum(end[:-1], rounds[1:]) - rounds[:-1]
    cut = rest * (rounds > start)[:-1]
    gain = cut * (1 / 2 - (weights * losses[:, :-1]).sum(axis=0))
    return float((weights * np.diff(before, axis=1)).sum()), float(gain.sum())


def most_gain(T: int, d: int, epochs: int, epsilon: float) -> float:
    """Return the most that a private player gains: `1 + 3 B² ε sqrt(E log(T³ d))/2`, B = T/E.

    By the proof, with delta = 1 / (T^3 d).
    """
    return 1 + 1.5 * (T / epochs) ** 2 * math.sqrt(epochs * math.log(T**3 * d)) * epsilon


def gain_of_repeating(T: int, d: int, epochs: int) -> float:
    """Return the expected gain on random choice of playing the best expert of the last round.

    He loses 1/2 in the first round of an epoch, and in the others only if all experts lose.
    """
    return T / 2 - epochs / 2 - (T - epochs) * 0.5**d


def games_of_lower_bound(seed: int) -> Findings:
    """Check gains for which the theorem applies and beats sqrt(T); report all regrets."""
    T, d, texts, found = 10**6, 10, list[str](), list[Finding]()
    for epsilon in (0.01, 0.02):
        E = round((T * epsilon) ** EPOCHS_POWER)
        players = {"limited updates": (doubling_edges(T), epsilon / 2, True)}
        for name, choose in (("L2P", choose_parameters), ("the dartboard", choose_dartboard)):
            chosen = choose(LazyGame(T, DELTA), epsilon=epsilon, n_experts=d)
            players[name] = [*range(0, T, chosen.batch_size), T], chosen.eta, False
        epochs, rng = np.arange(E + 1) * T // E, generator(seed, "epochs", epsilon)
        open_gain, limit = gain_of_repeating(T, d, E), most_gain(T, d, E, epsilon)
        lost, gains = np.zeros((len(players) + 2, _RUNS)), np.zeros((len(players), _RUNS))
        for run in range(_RUNS):
            totals = totals_of(epochs, rng.integers(0, 2, (d, E), np.int8))
            for i, own in enumerate(players.values()):
                lost[i, run], gains[i, run] = play(epochs, totals, *own)
            lost[-2:, run] = totals[:, -1].mean(), T / 2 - open_gain
            lost[:, run] -= totals[:, -1].min()
        names = (*players, "random choice", "the last best expert again, without privacy,")
        each = zip(names, lost, half_width(lost.T, 0.95), strict=True)
        regrets = [f"{name} {own.mean():,.0f} ± {half:,.0f}" for name, own, half in each]
        texts.append(f"at ε = {epsilon:g} {', '.join(regrets)}")
        found.append(Finding("lower-bound-open", limit, open_gain, at={"epsilon": epsilon}))
        for name, sample in zip(players, gains, strict=True):
            at: At = {"learners": name, "epsilon": epsilon}
            found.append(of_mean("lower-bound-games", limit, sample, 6, at=at))
    numbers = {"R": _RUNS, "T": T, "d": d, "regrets": "; ".join(texts), "bound": stated(most_gain)}
    for finding in found:
        yield replace(finding, numbers=numbers)


CHECKS = (games_of_lower_bound,)
