"""Clipping, which gives log-likelihoods a finite range however small a mass is.

Source: "Online Distribution Learning with Local Privacy Constraints", section 4.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from dpol.core.arguments import check_whole
from dpol.core.randomness import Floats
from dpol.labels.hypotheses import HypothesisClass, Ints, draw_categories

SensitivityRule = Literal["exact", "published"]
"""Rule for the noise: `exact` is computed and always sufficient; `published` is the paper's."""

# M max_j F[j, y] may be rounded to 3.0000000000000004 instead of 3.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Clipping:
    """A clipped hypothesis class: h maps a label to one of its cells, or rarely to any cell.

    Label y owns a block of c_y = ceil(M max_j f_j[y]) cells. h picks a uniform cell of that block
    with probability 1 - 1/T, and of all N' cells otherwise. The cells of a block are alike, so only
    blocks appear here. A label without cells (no hypothesis gives it mass) is mapped to any cell.

    Args:
        hypotheses: hypothesis class.
        n_rounds: T, the number of rounds, at least 2.
        rule: assumed sensitivity of log-likelihoods. `exact` is the range s_j of each hypothesis.
            `published` is log(KT) for all; it is kept for comparison and does not cover its claim
            (the paper bounds N' by KM, but N' can reach (K + 1) M).

    Raises:
        ValueError: T is below 2.

    >>> clipping = Clipping(HypothesisClass([[0.5, 0.5, 0], [0, 0, 1]]), n_rounds=10)
    >>> clipping.cells.tolist(), clipping.n_cells.tolist()
    ([[2, 2, 3]], [7])
    """

    hypotheses: HypothesisClass
    n_rounds: int
    rule: SensitivityRule = "exact"

    def __post_init__(self) -> None:
        check_whole("n_rounds", self.n_rounds, 2)

    @property
    def keep(self) -> float:
        """Probability 1 - 1/T that a label stays in its block."""
        return 1 - 1 / self.n_rounds

    @cached_property
    def cells(self) -> Ints:
        """(X, M) numbers of cells c_y."""
        masses = self.hypotheses.masses
        exact = masses.shape[2] * masses.max(axis=1)
        return np.asarray(np.ceil(exact * (1 - _ROUNDING)), dtype=np.int64)

    @cached_property
    def n_cells(self) -> Ints:
        """(X,) total numbers of cells N', at most (K + 1) M."""
        return np.asarray(self.cells.sum(axis=1))

    @cached_property
    def log_cells(self) -> Floats:
        """(X, K, M) values log pbar_j of a cell of block y; -inf if the block is empty."""
        cells = self.cells[:, None]
        uniform = (1 - self.keep) / self.n_cells[:, None, None]
        likely = self.keep * self.hypotheses.masses / np.maximum(cells, 1)
        return np.where(cells > 0, np.log(likely + uniform), -np.inf)

    @cached_property
    def ranges(self) -> Floats:
        """(X, K) ranges s_j, largest minus smallest log pbar_j; public and sufficient."""
        smallest = np.where(np.isfinite(self.log_cells), self.log_cells, np.inf).min(axis=2)
        return np.asarray(self.log_cells.max(axis=2) - smallest)

    @cached_property
    def sensitivity(self) -> Floats:
        """(X, K) sensitivities of log pbar_j according to the rule."""
        return self.ranges if self.rule == "exact" else np.full_like(self.ranges, self.bound)

    @property
    def bound(self) -> float:
        """One sensitivity for all hypotheses and features: log((K + 1) T), which always holds.

        The constants of the learners use it, since constants that differ between hypotheses would
        bias their weights. Under `published` it is log(KT).
        """
        return math.log((self.hypotheses.n_hypotheses + (self.rule == "exact")) * self.n_rounds)

    @property
    def excess(self) -> float:
        """Largest ratio of true to assumed sensitivity; 1 if the rule is sufficient."""
        return max(1.0, float((self.ranges / self.bound).max()))

    @cached_property
    def block_masses(self) -> Floats:
        """(X, K, M) probabilities c_y pbar_j(y) of block y under hypothesis j."""
        share = self.cells / self.n_cells[:, None]
        return self.keep * self.hypotheses.masses + (1 - self.keep) * share[:, None]

    def masses_of_blocks(self, truth: Floats, feature: int) -> Floats:
        """Return the (M,) probabilities of the block of h(Y) at a feature, Y from `truth` (M,)."""
        cells = self.cells[feature]
        stays = self.keep * np.where(cells > 0, truth, 0.0)
        return np.asarray(stays + (1 - stays.sum()) * cells / cells.sum())

    def draw_blocks(self, labels: Ints, features: Ints, uniforms: Floats) -> Ints:
        """Return the (R, B) blocks of h(label); all arguments are (R, B) or broadcast to it."""
        keep = self.keep
        moved = (self.cells[features, labels] == 0) | (uniforms >= keep)
        # Either condition leaves the number uniform on a part of [0, 1), so it can be used again.
        second = np.where(uniforms < keep, uniforms / keep, (uniforms - keep) / (1 - keep))
        blocks = np.broadcast_to(labels, uniforms.shape).copy()
        features = np.broadcast_to(features, uniforms.shape)
        cells = self.cells.astype(float)
        blocks[moved] = draw_categories(cells, features[moved], second[moved])
        return blocks
