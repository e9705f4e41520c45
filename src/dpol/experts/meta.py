"""RW-Meta: private choice among learners, from the noisy gains that the learners learn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, LearnerBank, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.learners.alone import check_banks
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.privacy.guarantee import Origin

# Relative to Sigma: added to the variance so that rounding cannot make it negative. A tau below it
# is rounding too.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class MetaState:
    """State that RW-Meta carries from round to round.

    Args:
        rounds: number of rounds observed.
        learners: states of the banks.
        actions: (R, m) actions of the learners in the current round.
        gains: (R, m) noisy cumulative gains of the learners.
        covariance: (R, m, m) covariance Sigma of the noise in `gains`, given the actions.
        gain_range: r, upper end of the gains.
    """

    rounds: int = 0
    learners: tuple[Any, ...]
    actions: Actions
    gains: Floats
    covariance: Floats
    gain_range: float


@dataclass(frozen=True)
class RWMeta(LocalAlgorithm[MetaState]):
    """Choose among m learners by their noisy cumulative gains, decorrelated by fresh noise.

    Let Sigma be the covariance of the noise in the learners' cumulative gains, and
    Sigma* = Sigma - (1' Sigma 1 / m^2) 1 1'. For gains in [0, r], round t adds
    y ~ N(0, tau I - Sigma*) with tau = max(f r^2 t, lambda_max(Sigma*)), and follows the leader.
    The actions are post-processing of the noisy gains, whose guarantee holds for them.
    Source: "Prediction with Expert Advice under Local Differential Privacy", section 3.2 and
    Theorem 3 (f = 2, r = 1).

    Args:
        exploration_floor: f, in squares of the gains' range; 2 in the paper, 0 adds no more noise
            than decorrelation needs.
        decorrelate: False leaves y out (an ablation).
        learners: banks of learners; by default the paper's thirteen learners.

    Raises:
        ValueError: a parameter is out of range, or there is no bank.

    >>> import dpol
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(20)
    >>> gains, beds = np.linspace(0.1, 0.4, 3) * np.ones((20, 1)), np.full((20, 3), 50.0)
    >>> stream = dpol.GainStream(
    ...     label="example",
    ...     gains=gains,
    ...     capacity=beds,
    ...     entities=("a", "b", "c"),
    ...     periods=periods,
    ... )
    >>> noisy = dpol.privatize(stream, "isotropic", mu=1.0, seed=1, replicates=4)
    >>> games = dpol.play(RWMeta(), noisy)
    >>> games.actions.shape, round(games.guarantee.mu, 6), RWMeta().n_learners
    ((4, 20), 1.0, 13)
    """

    exploration_floor: float = 2.0
    decorrelate: bool = True
    learners: tuple[LearnerBank[Any], ...] = (RidgeBank(), LeaderBank())

    def __post_init__(self) -> None:
        check_number("exploration_floor", self.exploration_floor, "[0, 1e6]")
        if not isinstance(self.decorrelate, bool):
            raise ValueError(f"decorrelate must be true or false, got {self.decorrelate!r}")
        check_banks(self.learners)

    @property
    def origin(self) -> Origin:
        return "paper" if self == RWMeta() else "dpol"

    @property
    def n_learners(self) -> int:
        """Number of learners m."""
        return sum(len(bank.labels) for bank in self.learners)

    def init(self, setup: LocalSetup) -> MetaState:
        replicates, m = setup.n_replicates, self.n_learners
        return MetaState(
            learners=tuple(bank.init(setup) for bank in self.learners),
            actions=np.zeros((replicates, m), dtype=np.int32),
            gains=np.zeros((replicates, m)),
            covariance=np.zeros((replicates, m, m)),
            gain_range=setup.gain_range,
        )

    def step(
        self, state: MetaState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[MetaState, Actions]:
        rounds, gains, covariance = state.rounds, state.gains, state.covariance
        if observation is not None:
            rounds += 1
            gains = gains + observation.gains[np.arange(len(gains))[:, None], state.actions]
            shared = shared_noise(state.actions, observation.noise_scale)
            covariance = np.add(covariance, shared, out=shared)
        banks = zip(self.learners, state.learners, strict=True)
        learners, parts = zip(*(bank.step(own, observation) for bank, own in banks), strict=True)
        actions = np.concatenate(parts, axis=1)
        scores = gains
        if self.decorrelate:
            normals = generators.standard_normal(actions.shape[1])
            least = self.exploration_floor * (rounds + 1) * state.gain_range**2
            scores = gains + decorrelating_noise(covariance, least, normals)
        chosen = actions[np.arange(len(actions)), scores.argmax(axis=1)]
        state = replace(
            state,
            rounds=rounds,
            learners=learners,
            actions=actions,
            gains=gains,
            covariance=covariance,
        )
        return state, chosen


def shared_noise(actions: Actions, noise_scale: Floats) -> Floats:
    """Return X diag(eta^2) X' of a round, (R, m, m), for (R, m) actions and (n,) noise scales.

    Row i of the 0/1 matrix X marks learner i's expert; learners on the same expert share its noise.
    """
    variance = (noise_scale**2)[actions]
    same = actions[:, :, None] == actions[:, None, :]
    return np.asarray(same * variance[:, :, None])


def decorrelating_noise(covariance: Floats, least: float, normals: Floats) -> Floats:
    """Return (R, m) draws y from N(0, tau I - Sigma*), made from standard normals.

    Without any variance, y is exactly 0, so that the first of equal learners leads.

    Args:
        covariance: (R, m, m) Sigma, symmetric, positive semi-definite, no negative entry.
        least: smallest tau; tau = max(least, lambda_max(Sigma*)) per replicate.
        normals: (R, m) standard normals.
    """
    star, size = centred(covariance)
    tau = np.full(len(covariance), float(least))
    # The Frobenius norm of Sigma* is at least lambda_max: few rounds need an eigenvalue.
    unsure = (star**2).sum(axis=(1, 2)) > least**2
    if unsure.any():
        tau[unsure] = np.maximum(least, largest_eigenvalues(star[unsure]))
    target = -star
    diagonal = target.reshape(len(star), -1)[:, :: star.shape[-1] + 1]
    # Without any variance the factor does not matter; 1 keeps the matrix regular.
    none = tau <= _ROUNDING * size
    diagonal += np.where(none, 1.0, tau + _ROUNDING * size)[:, None]
    noise = np.asarray((np.linalg.cholesky(target) @ normals[:, :, None])[:, :, 0])
    noise[none] = 0.0
    return noise


def centred(covariance: Floats) -> tuple[Floats, Floats]:
    """Return Sigma* = Sigma - (1' Sigma 1 / m^2) 1 1', and the (R,) largest row sums of Sigma.

    Args:
        covariance: (R, m, m) Sigma, symmetric, positive semi-definite, no negative entry.
    """
    m = covariance.shape[-1]
    rows = covariance @ np.ones(m)
    return covariance - (rows.sum(axis=1) / m**2)[:, None, None], rows.max(axis=1)


def largest_eigenvalues(star: Floats) -> Floats:
    """Return the (R,) largest eigenvalues of Sigma*, (R, m, m)."""
    return np.asarray(np.linalg.eigvalsh(star)[:, -1])
