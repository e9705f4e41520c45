"""How much Laplace noise a message of K numbers needs: three composition theorems.

All coordinates of a message depend on the same label, so its privacy loss is that of K Laplace
mechanisms on the same data.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

Composition = Literal["published", "basic", "exact"]
"""Names of the composition theorems."""
COMPOSITIONS: tuple[Composition, ...] = ("published", "basic", "exact")
# Added to the accountant's delta: its Fourier transforms are exact to about this much.
_ROUNDING = 1e-13


@lru_cache(maxsize=4096)
def scale_factor(
    n_coordinates: int, epsilon: float, delta: float, composition: Composition
) -> float:
    """b / s: the Laplace scale of each coordinate for each unit of its sensitivity.

    `published` is (2 sqrt(2 K log(1/delta)) + sqrt(K eps)) / eps, from Algorithm 1 of "Online
    Distribution Learning with Local Privacy Constraints"; `basic` is K / eps, which is pure
    eps; `exact` is the smallest factor whose K-fold composition is (eps, delta) by a numerical
    accountant that rounds against us. It is less than 1% above the optimum, never below it and
    never above `basic`, to which it returns where delta is below 1e-13.

    Args:
        n_coordinates: K, the number of coordinates.
        epsilon: eps; inf gives 0, no noise.
        delta: delta of the guarantee, in (0, 1); `basic` ignores it.
        composition: one of `COMPOSITIONS`.

    Raises:
        ValueError: an argument is out of range.

    >>> [scale_factor(16, 1.0, 1e-6, kind) for kind in ("published", "basic", "exact")]
    [46.05217415805546, 16.0, 15.172]
    """
    K = n_coordinates
    if K < 1:
        raise ValueError(f"n_coordinates must be at least 1, got {K}")
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon}")
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie in (0, 1), got {delta}")
    if composition not in COMPOSITIONS:
        raise ValueError(f"composition {composition!r} is not one of {', '.join(COMPOSITIONS)}")
    if math.isinf(epsilon):
        return 0.0
    if composition == "published":
        return (2 * math.sqrt(2 * K * math.log(1 / delta)) + math.sqrt(K * epsilon)) / epsilon
    return K / epsilon if composition == "basic" else _exact(K, epsilon, delta)


def composed_delta(n_coordinates: int, factor: float, epsilon: float) -> float:
    """delta at `epsilon` of K Laplace mechanisms of scale `factor` and sensitivity 1.

    By the privacy-loss distributions of dp_accounting, rounded up; too large by at most one part
    in 10^4, and by 1e-13.

    >>> round(composed_delta(1, 2.0, 0.25), 6) == round(-math.expm1((0.25 - 0.5) / 2), 6)
    True
    """
    from dp_accounting.pld import privacy_loss_distribution

    # Points for the privacy loss 1 / b of one coordinate; less than 0.01 apart in any case.
    points = max(20, min(200, 20_000 // n_coordinates), math.ceil(100 / factor))
    one = privacy_loss_distribution.from_laplace_mechanism(
        factor, value_discretization_interval=1 / (factor * points)
    )
    # The library would add the mass that it cuts off even where it cuts nothing.
    together = one.self_compose(n_coordinates) if n_coordinates > 1 else one
    return float(together.get_delta_for_epsilon(epsilon)) + _ROUNDING


def _exact(K: int, epsilon: float, delta: float) -> float:
    """The smallest factor by bisection, rounded up to five digits."""
    basic = K / epsilon
    low = high = basic
    while composed_delta(K, low, epsilon) <= delta:
        low, high = low / 2, low
    while high / low > 1 + 1e-5:
        middle = math.sqrt(low * high)
        within = composed_delta(K, middle, epsilon) <= delta
        low, high = (low, middle) if within else (middle, high)
    digits = 4 - math.floor(math.log10(high))
    return min(basic, round(math.ceil(high * 10.0**digits) / 10.0**digits, digits))
