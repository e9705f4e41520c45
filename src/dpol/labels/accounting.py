"""Privacy of messages about labels: the scale of Laplace noise, and an exact loss.

All coordinates of a message depend on the same label, so K noisy numbers lose as much privacy as
K Laplace mechanisms on the same data.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.labels.clipping import SensitivityRule
from dpol.labels.hypotheses import Ints
from dpol.privacy.losses import Promise
from dpol.privacy.noise_laws import LAPLACE


@lru_cache(maxsize=4096, typed=True)
def scale_factor(n_coordinates: int, epsilon: float, delta: float, rule: SensitivityRule) -> float:
    """Return b / s, the Laplace scale of a coordinate per unit of its sensitivity.

    `published` is (2 sqrt(2 K log(1/delta)) + sqrt(K eps)) / eps, from Algorithm 1 of "Online
    Distribution Learning with Local Privacy Constraints". `exact` is the smallest factor whose
    K Laplace releases together are (eps, delta)-private, rounded up to five digits; it is never
    above basic composition, K / eps.

    Args:
        n_coordinates: K, the number of coordinates.
        epsilon: eps, for `exact` at most 1e4; inf gives 0, no noise.
        delta: delta of the guarantee, in (0, 1).
        rule: `exact` or `published`.

    Raises:
        ValueError: epsilon is out of range.

    >>> [scale_factor(16, 1.0, 1e-6, rule) for rule in ("published", "exact")]
    [46.05217415805546, 15.173]
    """
    K = n_coordinates
    if epsilon == math.inf:
        return 0.0
    check_number("epsilon", epsilon, "(0, 1e4]" if rule == "exact" else "(0, inf)")
    if rule == "published":
        return (2 * math.sqrt(2 * K * math.log(1 / delta)) + math.sqrt(K * epsilon)) / epsilon
    high = 1 / LAPLACE.largest(Promise(epsilon=epsilon, delta=delta), K)
    # Round up to five digits.
    digits = 4 - math.floor(math.log10(high))
    return min(K / epsilon, round(math.ceil(high * 10.0**digits) / 10.0**digits, digits))


def laplace_message_loss(log_cells: Floats, cells: Ints, *, keep: float, scales: Floats) -> Floats:
    """Return the (K,) exact pure eps of a message of private EXP3 about each index j.

    The message for a label y and a public index j is a_j(B) + Laplace(b_j), where B is the block
    of y or, rarely, a random block. Its loss is the largest log ratio of two labels' densities at
    one value. Between neighbouring values a_j(.) every density is A e^(v/b) + B e^(-v/b), so the
    ratio of two densities is monotone there, and constant beyond the outermost values. Hence the
    maximum is at one of the a_j(.), and no quadrature is needed.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2; the
    computation is ours.

    Args:
        log_cells: (K, M) a_j(y), the log mass of one cell of block y under hypothesis j; ignored
            for blocks without cells.
        cells: (M,) c_y, the number of cells of each block. Label y is in block y with probability
            `keep`, otherwise in a block drawn in proportion to `cells`; a label whose block has no
            cells always gets a drawn block.
        keep: probability in [0, 1]; 1 - 1/T in the paper.
        scales: (K,) Laplace scales b_j; 0 gives inf, unless all a_j(.) are equal.

    >>> values, cells = np.log([[0.9, 0.1]]), np.array([1, 1])
    >>> round(float(laplace_message_loss(values, cells, keep=1.0, scales=np.array([2.0]))[0]), 4)
    1.0986
    """
    # Labels without cells can be ignored: their density lies between the other densities.
    used = cells > 0
    values, share = log_cells.T[used], cells[used] / cells.sum()
    order = np.argsort(values, axis=0)
    knots, share = np.take_along_axis(values, order, axis=0), share[order]
    spread = knots[-1] - knots[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(spread > 0, 1 / scales, 0.0)
        farthest = np.maximum(knots - knots[0], knots[-1] - knots) * inverse
        log_random = np.log1p(-keep) + np.log(_mixture(knots, share, inverse))
        nearest = np.logaddexp(np.log(keep), log_random)
        loss = nearest - np.logaddexp(np.log(keep) - farthest, log_random)
    return np.where(np.isinf(inverse), np.inf, loss.max(axis=0))


def _mixture(knots: Floats, share: Floats, inverse: Floats) -> Floats:
    """Return (P, K) sum_z share_z e^(-|a_y - a_z| / b) at every knot, summed from both ends."""
    decay = np.exp(-np.diff(knots, axis=0) * np.where(np.isinf(inverse), 0.0, inverse))
    below, above = share.copy(), share.copy()
    for y in range(1, len(knots)):
        below[y] += decay[y - 1] * below[y - 1]
        above[-1 - y] += decay[-y] * above[-y]
    return np.asarray(below + above - share)
