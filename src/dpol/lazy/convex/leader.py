"""Couple the regularised leader (CTRL), L2P's predecessor for smooth convex losses.

Source: "Differentially Private and Lazy Online Convex Optimization", Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.accounting import ConvexGame
from dpol.lazy.convex.bodies import Ball, Body, Box
from dpol.lazy.convex.losses import ConvexLosses, LinearLosses, LinkedLosses
from dpol.lazy.parameters import AccountedParameters, largest_within

_MOST_STEPS = 500


@dataclass(frozen=True, kw_only=True)
class CoupledParameters(AccountedParameters):
    """Parameters of CTRL.

    Args:
        batch_size: 1.
        eta: learning rate, 1 / (2 eta) is the weight of `|x|^2`.
        fake_switch: p, probability of a fake switch.
        normaliser: not used.
        shadow: False.
        limit: most redraws.
        epsilon: epsilon by Theorem 6, with the mends of the claims ledger.
        objective: bound on regret by Theorem 4.
        sigma: standard deviation of Z.
        log_phi: logarithm of Phi.
    """

    sigma: float
    log_phi: float


@dataclass(frozen=True, kw_only=True)
class CoupledLeader:
    """The law of the leader: it minimises losses so far + `|x|^2 / (2 eta)` + barrier + <Z, x>.

    Z is N(0, sigma^2 I). The barrier is `-c log(1 - |x|^2 / radius^2)` on a ball, and a mean of
    such terms over the coordinates of a box; c makes it at most G D at (1 - 1/T) x. As a measure of
    the transformation, its state is the number of rounds so far, a batch is the number of its one
    round, from 0, and points are (R, d). The privacy statement assumes exact minimisers.

    Args:
        losses: linear or logistic losses.
        body: ball or box.
        parameters: eta, sigma and Phi; the ratio of two densities is clipped to [1/Phi, Phi].
    """

    losses: ConvexLosses
    body: Body
    parameters: CoupledParameters

    def batches(self, size: int) -> Iterator[int]:
        """Yield the rounds."""
        yield from range(self.losses.n_rounds)

    def initial(self) -> int:
        return 0

    def absorb(self, state: int, batch: int) -> int:
        return state + 1

    def sample(self, state: int, generators: ReplicateGenerators) -> Floats:
        normal = generators.standard_normal(self.body.dimension)
        return self.leader(state, self.parameters.sigma * normal)

    def log_ratio(self, batch: int, points: Floats) -> Floats:
        """Return (R,) log(mu_{t+1}(x) / (Phi mu_t(x))), clipped, of the densities of Lemma 2."""
        log_phi, sigma = self.parameters.log_phi, self.parameters.sigma
        step = self.losses.gradient(batch, points)
        moved = -((2 * self.slope(batch, points) + step) * step).sum(axis=1) / (2 * sigma**2)
        if isinstance(self.losses, LinkedLosses):
            one = self.losses.rounds(batch, batch + 1)
            bend, vector = one.link.bend(one.residuals(points))[:, 0], one.vectors[0]
            solved = np.linalg.solve(self.hessian(batch, points), vector[:, None])[..., 0]
            moved += np.log1p(bend * (solved @ vector))
        return np.asarray(np.clip(moved, -log_phi, log_phi) - log_phi)

    def loss(self, batch: int, points: Floats) -> Floats:
        return np.asarray(self.losses.value(batch, points))

    def leader(self, n_rounds: int, noise: Floats) -> Floats:
        """Return the (R, d) leaders after some rounds for (R, d) Z.

        They are found by bisection for linear losses, and then by damped Newton steps.

        Raises:
            ArithmeticError: 500 steps were not enough.
        """
        x = self._without_curvature(noise + self.slope(n_rounds, np.zeros_like(noise)))
        if isinstance(self.losses, LinearLosses):
            return x
        for _ in range(_MOST_STEPS):
            slope = self.slope(n_rounds, x) + noise
            step = np.linalg.solve(self.hessian(n_rounds, x), slope[..., None])[..., 0]
            decrement = np.sqrt(np.maximum((slope * step).sum(axis=1, keepdims=True) / self._c, 0))
            x = x - step / (1 + decrement)
            if decrement.max() < 1e-6:
                return np.asarray(x)
        raise ArithmeticError(f"no leader within 1e-6 of the minimum in {_MOST_STEPS} steps")

    def slope(self, n_rounds: int, points: Floats) -> Floats:
        """Return the (R, d) gradients of the objective after some rounds, without Z."""
        own = self._weight(self._norm(points)) * points
        if isinstance(self.losses, LinearLosses):
            return np.asarray(own + self._prefixes[n_rounds])
        past = self.losses.rounds(0, n_rounds)
        return np.asarray(own + past.link.slope(past.residuals(points)) @ past.vectors)

    def hessian(self, n_rounds: int, points: Floats) -> Floats:
        """Return the (R, d, d) Hessians of the objective after some rounds."""
        size, one = self._norm(points), np.eye(self.body.dimension)
        far = points / (self._reach**2 - size**2)
        outer = 4 * self._c * far[:, :, None] * far[:, None]
        hessian = one * np.broadcast_to(self._weight(size), points.shape)[:, None]
        hessian += outer if isinstance(self.body, Ball) else one * outer
        if isinstance(self.losses, LinkedLosses):
            past = self.losses.rounds(0, n_rounds)
            bends = past.link.bend(past.residuals(points))
            hessian += (past.vectors.T * bends[:, None]) @ past.vectors
        return np.asarray(hessian)

    @cached_property
    def _prefixes(self) -> Floats:
        """The (T + 1, d) sums of the gradients of linear losses."""
        assert isinstance(self.losses, LinearLosses)
        return np.concatenate([self.body.centre[None], self.losses.vectors]).cumsum(axis=0)

    @cached_property
    def _c(self) -> float:
        T, parts = self.losses.n_rounds, self._norm(self.body.centre[None]).size
        bound = self.losses.lipschitz * self.body.diameter / parts
        return bound / math.log(T**2 / (2 * T - 1))

    @cached_property
    def _reach(self) -> float:
        return self.body.half_edge if isinstance(self.body, Box) else self.body.radius

    def _norm(self, points: Floats) -> Floats:
        """Return what the body bounds: (R, 1) norms for a ball, (R, d) coordinates for a box."""
        ball = isinstance(self.body, Ball)
        return np.linalg.norm(points, axis=1, keepdims=True) if ball else np.abs(points)

    def _weight(self, size: Floats) -> Floats:
        """Return the factor of x in the gradient of regulariser and barrier."""
        return 1 / self.parameters.eta + 2 * self._c / (self._reach**2 - size**2)

    def _without_curvature(self, pull: Floats) -> Floats:
        """Return the (R, d) leaders if losses are linear with sum `pull` (R, d), by bisection."""
        size = self._norm(pull)
        low, high = np.zeros_like(size), np.full_like(size, self._reach)
        for _ in range(60):
            middle = (low + high) / 2
            more = self._weight(middle) * middle < size
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.asarray(-low * pull / np.maximum(size, 1e-300))


def smoothness(losses: ConvexLosses, body: Body) -> float | None:
    """Return beta, the Lipschitz constant of the gradients.

    It is None if CTRL cannot play: it needs smooth losses, and a ball or a box.
    """
    link = None if isinstance(losses, LinearLosses) else losses.link
    if not isinstance(body, Ball | Box) or (link and link.sharp):
        return None
    return link.steepness(1.0) * losses.lipschitz**2 if link else 0.0


def theorem_6(game: ConvexGame, beta: float, eta: float, sigma: float) -> CoupledParameters:
    """Return p, Phi and the limit of Theorem 6, with its epsilon at delta.

    epsilon is inf unless T >= 12 log(1/delta), delta <= 1/2 and 3 T e^(-p~ T) <= delta/4. The proof
    needs two mends of the claims ledger: Claim 27 lacks a hypothesis, and the theorem adds the term
    3 T e^(-(1 - 1/Phi^2) T) to delta.
    """
    T, G, d, delta = game.n_rounds, game.lipschitz, game.dimension, game.delta
    # Lemma 7 for a difference that is 3G-Lipschitz and 2 beta-smooth, at delta / (60 T^2).
    spread = (3 * G) ** 2 + 2 * (3 * G) * sigma * math.sqrt(
        2 * d * math.log(2 / (delta / (60 * T**2)))
    )
    log_phi = 2 * (eta * (2 * beta) * d + spread / (2 * sigma**2))
    p = T ** (-1 / 3)
    often = p - math.expm1(-2 * log_phi)
    known = 12 * math.log(1 / delta) <= T and delta <= 0.5
    failure = math.exp(-often * T)
    squares = 7 * log_phi**2 * T ** (2 / 3) + 2 * log_phi**3 * T
    squares += (2 * (G / sigma) ** 2 + 2 * (eta * beta) ** 2 * d) ** 2 * T ** (5 / 3)
    epsilon = 1.5 * squares + math.sqrt(6 * squares * math.log(2 / delta))
    D, drift = game.diameter, failure + 3 * delta / (60 * T)
    bound = D**2 / (2 * eta) + 2 * G**2 * eta * T + sigma * math.sqrt(d) * D + 2 * G * D
    return CoupledParameters(
        1,
        eta,
        fake_switch=p,
        shadow=False,
        limit=math.ceil(3 * often * T),
        epsilon=epsilon if known and 3 * T * failure <= delta / 4 else math.inf,
        objective=bound + 2 * G * D * T * drift,
        sigma=sigma,
        log_phi=log_phi,
    )


def choose_coupled(game: ConvexGame, beta: float, *, epsilon: float) -> CoupledParameters:
    """Return the eta and sigma of least regret bound (Theorem 4) for epsilon by Theorem 6.

    Raises:
        ValueError: no parameters reach epsilon.

    >>> game = ConvexGame(n_rounds=1000, dimension=10, diameter=2.0, lipschitz=1.0, delta=1e-6)
    >>> chosen = choose_coupled(game, 0.0, epsilon=1.0)
    >>> round(chosen.sigma, -2), chosen.limit, round(chosen.objective, -3)
    (38600.0, 324, 244000.0)
    """
    best_eta = game.diameter / (2 * game.lipschitz * math.sqrt(game.n_rounds))

    def of_eta(eta: float, inverse: float) -> CoupledParameters:
        return theorem_6(game, beta, eta, game.lipschitz / inverse)

    reached = [
        largest_within(partial(of_eta, eta), epsilon, low=1e-12, high=1e3, ratio=1.001)
        for eta in (best_eta * np.geomspace(1e-4, 1, 33)).tolist()
    ]
    best = min(filter(None, reached), key=lambda parameters: parameters.objective, default=None)
    if best is None:
        raise ValueError(f"CTRL cannot be ({epsilon:g}, {game.delta:g})-private by Theorem 6")
    return best
