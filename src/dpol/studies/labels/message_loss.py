"""The exact privacy loss of a message that is a number of a random block plus Laplace noise.

The message of private EXP3 for a label y and a public index j is a_j(B) + Laplace(b_j), where B
is y's own block or, now and then, a random one. Source: "Online Distribution Learning with Local
Privacy Constraints", Algorithm 2; the computation is ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats


def laplace_message_loss(
    log_cells: Floats, cells: NDArray[np.int64], *, keep: float, scales: Floats
) -> Floats:
    """The pure eps of the message about each index j, (K,): exact, without quadrature.

    The largest log ratio of two labels' densities at one value. Between neighbouring values
    a_j(.) every density is A e^(v/b) + B e^(-v/b), so a ratio of two is monotone there, and
    constant beyond the outermost: its maximum lies at one of the a_j(.).

    Args:
        log_cells: (K, M) a_j(y), the log mass of one cell of block y under hypothesis j; ignored
            where a block has no cells.
        cells: (M,) c_y, the number of cells of each block. Label y is in block y with
            probability `keep`, else in a block drawn in proportion to `cells`; a label whose
            block has no cells always has its block drawn.
        keep: probability in [0, 1]; 1 - 1/T in the paper.
        scales: (K,) Laplace scales b_j; 0 gives inf, unless all a_j(.) are equal.

    Raises:
        ValueError: a shape or a value breaks a rule above.

    >>> values, cells = np.log([[0.9, 0.1]]), np.array([1, 1])
    >>> round(float(laplace_message_loss(values, cells, keep=1.0, scales=np.array([2.0]))[0]), 4)
    1.0986
    """
    values, share = _checked(log_cells, cells, keep, scales)
    # Labels without cells need no care: their density lies between those of the others.
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
    """sum_z share_z e^(-|a_y - a_z| / b) at every knot, (P, K), from both ends in turn."""
    decay = np.exp(-np.diff(knots, axis=0) * np.where(np.isinf(inverse), 0.0, inverse))
    below, above = share.copy(), share.copy()
    for y in range(1, len(knots)):
        below[y] += decay[y - 1] * below[y - 1]
        above[-1 - y] += decay[-y] * above[-y]
    return np.asarray(below + above - share)


def _checked(
    log_cells: Floats, cells: NDArray[np.int64], keep: float, scales: Floats
) -> tuple[Floats, Floats]:
    """Values (P, K) and shares (P,) of the P blocks that have cells."""
    if log_cells.ndim != 2 or cells.shape != log_cells.shape[1:]:
        raise ValueError(
            f"log_cells (K, M) and cells (M,) do not fit: {log_cells.shape}, {cells.shape}"
        )
    if scales.shape != log_cells.shape[:1] or not (scales >= 0).all():
        raise ValueError(f"scales must be {len(log_cells)} numbers of at least 0, got {scales}")
    if not 0 <= keep <= 1:
        raise ValueError(f"keep must lie in [0, 1], got {keep}")
    if (cells < 0).any() or not cells.any():
        raise ValueError(f"cells must be counts of at least 0 and not all 0, got {cells}")
    used = cells > 0
    values = log_cells.T[used]
    if not np.isfinite(values).all():
        raise ValueError("log_cells must be finite wherever a block has cells")
    return values, cells[used] / cells.sum()
