"""Sound algorithms and learners, from which the faults of `faults` are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import dpol
from dpol.experts.learners.leader import LeaderBank
from dpol.privacy.gaussian_dp import pure_epsilon
from dpol.privacy.losses import Loss


def leader(scores: Any) -> Any:
    return scores.argmax(axis=1).astype(np.int32)


@dataclass(frozen=True)
class Recent(dpol.LocalAlgorithm[Any]):
    """Follow the leader of the recent past."""

    def init(self, setup: Any) -> Any:
        return setup.initial

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        scores = state if observation is None else 0.8 * state + observation.gains
        return scores, leader(self.changed(scores, observation, generators))

    def changed(self, scores: Any, observation: Any, generators: Any) -> Any:
        return scores


@dataclass(frozen=True)
class Tree(dpol.TreeFTPL):
    """The tree of dpol."""


@dataclass(frozen=True)
class Forgetful(dpol.CentralAlgorithm[Any]):
    """Follows the last round alone, with fresh Gaussian noise."""

    def init(self, setup: Any) -> Any:
        noise = np.sqrt(2 * setup.stay) * setup.largest_change / setup.mu
        kept = np.zeros((setup.n_replicates, setup.n_experts))
        return 0, np.full(setup.n_experts, noise), kept

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, scale, kept = state
        draws = self.draws(generators, len(scale))
        gains = np.zeros_like(draws) if observation is None else observation.gains + 0 * draws
        scores, kept = self.noisy(t, gains, draws * scale, scale, kept)
        return (t + 1, scale, kept), leader(scores)

    def draws(self, generators: Any, n: int) -> Any:
        return generators.standard_normal(n)

    def noisy(self, t: int, gains: Any, draws: Any, scale: Any, kept: Any) -> Any:
        return gains + draws, kept

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)
        return setup.guarantee("fresh noise", setup.mu, lambda weeks: float(week * weeks**0.5))


class Sums(Forgetful):
    """Follows sums of all rounds; each of T sums has noise for all T."""

    def init(self, setup: Any) -> Any:
        t, noise, kept = super().init(setup)
        return t, noise * np.sqrt(self.releases(setup)), kept

    def releases(self, setup: Any) -> int:
        return int(setup.n_rounds * setup.stay)  # each sum moves by a whole stay

    def noisy(self, t: int, gains: Any, draws: Any, scale: Any, kept: Any) -> Any:
        return kept + gains + draws, kept + gains

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / setup.stay
        return setup.guarantee("noise on sums", setup.mu, lambda weeks: float(week * weeks))


def zcdp_of(mu: float) -> float:
    """Return rho of rho-zCDP that implies mu."""
    e = pure_epsilon(mu) * (1 - 1e-9)
    return e * np.tanh(e / 2) if mu < np.inf else np.inf


class InZcdp(Forgetful):
    """Its proof is in zCDP: noise of the deviation sqrt(2 stay) c over sqrt(2 rho)."""

    def init(self, setup: Any) -> Any:
        t, noise, kept = super().init(setup)
        wider = setup.mu / np.sqrt(2 * zcdp_of(setup.mu)) if setup.mu < np.inf else 1.0
        return t, noise * wider, kept

    def guarantee(self, setup: Any) -> Any:
        rho = float(zcdp_of(setup.mu))
        each = rho / setup.stay
        of_weeks = lambda weeks: Loss(zcdp=each * weeks)  # noqa: E731
        return setup.guarantee("noise with a proof in zCDP", Loss(zcdp=rho), of_weeks)


@dataclass(frozen=True)
class Bank(LeaderBank):
    """Follow the leader, as a learner."""
