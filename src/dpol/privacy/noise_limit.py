"""The limit of linear Gaussian noise: the smallest variance of any prediction of a holder.

The shares x of one holder are Gaussian with covariance S. In week t it publishes any linear
functions of its shares so far, with Gaussian noise that may depend on all earlier noise. A matrix
J_t is the information about x in all reports up to week t; it only grows, and is 0 outside the
first t weeks. A stay is private if p'J_T p is at most 1 / level^2 for the signs p of w weeks in a
row. The best reader's variance of x_t is f_t = e_t'(S_t^-1 + J_t)^-1 e_t, which is convex in J_t;
the variance of a prediction of the next week grows with it. So the smallest mean of f_t is a
semi-definite program.

`least_variance` searches a noise; `variance_bound` proves, from any multipliers, what none can beat
(ours, by weak duality). It bounds the variance of predictions for linear Gaussian mechanisms, not
all mechanisms, and not gain. Private filters: Le Ny and Pappas, "Differentially private filtering"
(2014).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import linalg, optimize

from dpol.core.randomness import Floats
from dpol.privacy.chains import Chains

_SEARCHES, _STEPS, _PENALTY = 100, 200, 10.0  # of the augmented Lagrangian


def share_covariance(rounds: int, process: float, persistence: float) -> Floats:
    """Return the (T, T) covariance S of deviations that shrink by `persistence` each week.

    Args:
        rounds: T, number of weeks.
        process: variance of the new part of each week.
        persistence: factor above -1 and below 1.
    """
    weeks = np.arange(rounds)
    apart = np.abs(weeks[:, None] - weeks)
    return np.asarray(process / (1 - persistence**2) * persistence**apart)


@dataclass(frozen=True, eq=False, kw_only=True)
class Holder:
    """Shares that one holder reports, and the stays that its noise protects.

    Args:
        covariance: S, (T, T), covariance of the shares.
        level: sigma, standard deviation on a share of independent noise for one week.
        stay: w, the longest stay in weeks, at most T.
    """

    covariance: Floats
    level: float
    stay: int

    @property
    def rounds(self) -> int:
        """Number of weeks T."""
        return len(self.covariance)

    def stays(self) -> Floats:
        """Return all stays of w weeks in a row, each week with a sign, (N, T).

        J is positive semi-definite, so a stay of fewer weeks moves no farther than a stay of w.
        """
        signs = [(1.0, *rest) for rest in itertools.product((-1.0, 1.0), repeat=self.stay - 1)]
        stays = np.zeros((self.rounds - self.stay + 1, len(signs), self.rounds))
        for first, begun in enumerate(stays):
            begun[:, first : first + self.stay] = signs
        return stays.reshape(-1, self.rounds)

    def mean_variance(self, design: Floats) -> float:
        """Return the mean of f_t, for a design C of `filter_variances`."""
        return float(filter_variances(design, self.covariance).mean())

    def factor_in_mu(self, mean_variance: float) -> float:
        """Return the factor on mu that gives independent noise this mean variance."""
        independent = np.eye(self.rounds) / (self.level * math.sqrt(self.stay))

        def excess(logarithm: float) -> float:
            return self.mean_variance(math.exp(logarithm) * independent) - mean_variance

        return math.exp(optimize.brentq(excess, -10, 10))

    def chain(self, a: float, b: float, *, once_a_stay: bool = False) -> Floats:
        """Return the (T, T) C of the chain (a, b) with the noise that stays of w weeks need.

        Args:
            a: a of the memory.
            b: b of the memory.
            once_a_stay: whether only every w-th week has a report, so that a stay meets one report.

        Raises:
            ValueError: `chain_norm` refuses the memory.
        """
        memory = Chains(np.array([a]), np.array([b]))
        every, stay = (self.stay, 1) if once_a_stay else (1, self.stay)
        weeks = np.arange(0, self.rounds, every)
        response = memory.response(len(weeks))[:, 0] / (self.level * float(memory.norm(stay)[0]))
        design = np.zeros((self.rounds, self.rounds))
        design[np.ix_(weeks, weeks)] = linalg.toeplitz(response, np.zeros(len(weeks)))
        return design

    def best_chain(self, *, once_a_stay: bool = False) -> Floats:
        """Return the `chain` with the smallest mean variance."""
        alone = once_a_stay or self.stay == 1

        def variance(pair: Floats) -> float:
            a, b = pair.tolist()
            if max(abs(a), abs(b)) >= 1 or (not alone and b < max(a, 0)):
                return math.inf
            return self.mean_variance(self.chain(a, b, once_a_stay=once_a_stay))

        best = optimize.minimize(
            variance,
            np.array([0.0, 0.5] if alone else [0.5, 0.8]),
            method="Nelder-Mead",
            options={"xatol": 1e-3, "fatol": 1e-6 * float(self.covariance[0, 0])},
        )
        a, b = best.x.tolist()
        return self.chain(a, b, once_a_stay=once_a_stay)


def filter_variances(design: Floats, covariance: Floats) -> Floats:
    """Return the (T,) variances f_t of each week's share, given the reports up to that week.

    Args:
        design: C, (T, T) lower triangular: C x with independent standard noise is as informative
            as the reports. A row of zeros is a week without a report.
        covariance: S, (T, T), covariance of the shares.
    """
    news, _ = _news_and_directions(design, covariance)
    return np.asarray(np.diag(covariance) - (news**2).sum(axis=0))


def _news_and_directions(design: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return the news of reports about later shares, and (S_t^-1 + J_t)^-1 e_t in column t.

    Both are (T, T) and upper triangular; f_t is S_tt minus the squared norm of the news' column t.
    """
    common = design @ covariance
    root = np.linalg.cholesky(np.eye(len(design)) + common @ design.T)
    told = linalg.solve_triangular(root, common, lower=True, check_finite=False)
    news = _upper(len(design)) * told
    return news, _upper(len(design)) * (covariance - told.T @ news)


_upper = cache(lambda rounds: np.tri(rounds).T)


# ---- the smallest variance -----------------------------------------------------------------------


def least_variance(holder: Holder, accuracy: float = 1e-3) -> tuple[Floats, float]:
    """Search the smallest mean variance over all linear Gaussian mechanisms of a holder.

    The search is an augmented Lagrangian over C, with a multiplier for each stay.

    Args:
        holder: holder of the shares.
        accuracy: the search ends at this relative distance between the variance of the best noise
            and the bound. Both are valid even if the search gives up before.

    Returns:
        C of the best known noise, (T, T) lower triangular; and a lower bound on the mean variance
        of all linear Gaussian mechanisms as private as it.
    """
    unit = float(holder.covariance[0, 0])  # Shares and C are scaled to it.
    shares, stays, budget = holder.covariance / unit, holder.stays(), unit / holder.level**2
    lower = np.tril_indices(holder.rounds)
    design, weights = math.sqrt(unit) * holder.best_chain(), np.zeros(len(stays))
    best, reached, bound = design, math.inf, 0.0

    def lagrangian(entries: Floats) -> tuple[float, Floats]:
        """Return the penalised sum of f_t, up to a constant, and its slope in the entries of C."""
        design = np.zeros_like(shares)
        design[lower] = entries
        moves = design @ stays.T
        pull = np.maximum(weights + _PENALTY * ((moves**2).sum(axis=0) / budget - 1), 0)
        news, directions = _news_and_directions(design, shares)
        told = _upper(len(design)) * (design @ directions)
        slope = (pull * moves) @ stays / budget - told @ directions.T
        value = (pull**2).sum() / (2 * _PENALTY) - (news**2).sum()
        return float(value), 2 * slope[lower]

    for _ in range(_SEARCHES):
        design[lower] = optimize.minimize(
            lagrangian,
            design[lower],
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _STEPS, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-8},
        ).x
        moves = ((design @ stays.T) ** 2).sum(axis=0) / budget
        weights = np.maximum(weights + _PENALTY * (moves - 1), 0)
        private = design / math.sqrt(max(float(moves.max()), 1.0) * unit)
        variance = holder.mean_variance(private)
        if variance < reached:
            best, reached = private, variance
        directions = _news_and_directions(design, shares)[1]
        bound = max(bound, variance_bound(holder, directions, weights))
        if reached - bound <= accuracy * bound:
            break
    return best, bound


def variance_bound(holder: Holder, directions: Floats, weights: Floats) -> float:
    """Return a lower bound on the mean variance of all private linear Gaussian mechanisms.

    It holds for all arguments. For any vectors v_t, f_t >= 2 (v_t)_t - v_t'(S_t^-1 + J_t) v_t. Let
    D_s be the addition of week s to J, G_s the sum of v_t v_t' over t >= s, and Y the sum of
    y_p p p' over the stays p. The sum of v_t'J_t v_t equals the sum of <D_s, G_s>. If Y is at least
    G_s on the first s weeks for all s, this sum is at most <J_T, Y>, and so at most the sum of
    y_p / sigma^2. A factor makes any Y large enough, and the best factor on all v_t is known. The
    bound is tight for the multipliers of the program.

    Args:
        holder: holder of the shares.
        directions: v_t in column t, (T, T) upper triangular.
        weights: y_p, (N,) not negative, in the order of `Holder.stays`.
    """
    stays = holder.stays()
    try:
        root = np.linalg.cholesky(stays.T * weights @ stays)
    except np.linalg.LinAlgError:
        return 0.0  # Y has a direction without weight: the bound is vacuous.
    scaled = linalg.solve_triangular(root, np.eye(holder.rounds), lower=True)
    factor, later = 0.0, np.zeros_like(scaled)
    for weeks in range(holder.rounds, 0, -1):
        later += np.outer(directions[:, weeks - 1], directions[:, weeks - 1])
        part = scaled[:weeks, :weeks]
        factor = max(factor, float(np.linalg.eigvalsh(part @ later[:weeks, :weeks] @ part.T)[-1]))
    alone = linalg.solve_triangular(np.linalg.cholesky(holder.covariance), directions, lower=True)
    cost = (np.triu(alone) ** 2).sum() + factor * weights.sum() / holder.level**2
    return float(np.trace(directions) ** 2 / cost / holder.rounds)
