"""A learner for few labels whose averaged TV is of the order sqrt(K / T) / epsilon (ours).

It asks whether the label is in a set, like membership response, but draws the set from the
D-optimal design for the differences of the hypotheses; `dpol.labels.bounds` has the proof. The
design is over all 2^(M - 1) sets, so this learner is not in the registry.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.labels.bayes import MembershipBayes
from dpol.labels.clients import MembershipClient
from dpol.labels.hypotheses import Ints, draw_categories

# Hypotheses whose distributions differ by less count as the same.
_SAME = 1e-12
# Steps of the design: tests show it within 2% of the optimum; no step lowers the determinant.
_STEPS = 400
_MOST_LABELS = 12


def sets_of(n_labels: int) -> NDArray[np.bool_]:
    """Return the (2^(M - 1), M) sets with the first label; complements ask the same question."""
    rest = itertools.product((True, False), repeat=n_labels - 1)
    return np.array([(True, *others) for others in rest])


def optimal_design(masses: Floats) -> Floats:
    """Return D-optimal probabilities of the sets of `sets_of` for the differences of hypotheses.

    Let phi be the signs of a set, d a difference of two mixtures of the rows, and k <= K - 1 the
    dimension of the space of all d. The optimal design has ||d||_1^2 <= k mean <phi, d>^2, by the
    equivalence theorem of Kiefer and Wolfowitz; the steps are multiplicative (Titterington). If
    all hypotheses are equal, the design is uniform.

    Args:
        masses: (K, M) hypotheses at one feature, at most 12 labels.

    Raises:
        ValueError: there are more than 12 labels.
    """
    if masses.shape[1] > _MOST_LABELS:
        raise ValueError(f"the design is for at most {_MOST_LABELS} labels, got {masses.shape[1]}")
    points = np.where(sets_of(masses.shape[1]), 1.0, -1.0) @ (masses[:-1] - masses[-1]).T
    chances = np.full(len(points), 1 / len(points))
    # The optimum is the same for any basis of the points' columns; this one has k vectors.
    basis, lengths, _ = np.linalg.svd(points, full_matrices=False)
    points = basis[:, lengths > _SAME]
    for _ in range(_STEPS if points.size else 0):
        inverse = np.linalg.inv(points.T * chances @ points)
        chances *= ((points @ inverse) * points).sum(axis=1)
        chances /= chances.sum()
    return chances


@dataclass(frozen=True, eq=False)
class DesignClient(MembershipClient):
    """Membership response about a set drawn from the optimal design of the feature."""

    @cached_property
    def index_chances(self) -> Floats:
        """(X, 2^(M - 1)) probabilities of the sets."""
        return np.stack([optimal_design(masses) for masses in self.hypotheses.masses])

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """(X, 2^(M - 1), M) all sets, for every feature."""
        X, _, M = self.hypotheses.masses.shape
        return np.broadcast_to(sets_of(M), (X, 1 << (M - 1), M))

    def draw_index(self, features: Ints, uniforms: Floats) -> Ints:
        return draw_categories(self.index_chances, features, uniforms)


class DesignBayes(MembershipBayes):
    """Posterior weights from answers about sets of the optimal design."""

    title = "membership response, optimal sets"

    @cached_property
    def client(self) -> DesignClient:
        """Client that answers whether the label is in a set."""
        return DesignClient(self.hypotheses, self.terms.epsilon)
