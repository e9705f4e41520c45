"""The distance within each pair of hypotheses of the class that is hardest to learn.

It imports no arrays, so that a run can be planned without the mathematics of learning.
"""

from __future__ import annotations

import math


def hardness(n_pairs: int, n_rounds: int, epsilon: float) -> float:
    """Return a = sqrt(K / (9 T min((e^eps - 1)^2, 1) e^eps)), the distance within each pair.

    Source: "Online Distribution Learning with Local Privacy Constraints", Appendix A.
    """
    growth = min(math.expm1(min(epsilon, 1.0)), 1.0)
    return math.sqrt(n_pairs / (9 * n_rounds)) * math.exp(-epsilon / 2) / growth
