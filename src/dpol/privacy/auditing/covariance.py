"""Audits of Gaussian noise by its covariance.

An audit by events (`dpol.privacy.auditing.bounds.audit_runs`) assumes nothing about a mechanism,
but needs many runs and sees only the given statistics. If noise is known to be Gaussian, an audit
is sharper: it sees every coordinate, and few runs show a small fault. This assumption is not
audited.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpol.core.randomness import Floats
from dpol.privacy.auditing.bounds import AuditResult, directions


def audit_covariance(
    outputs: Sequence[Floats], changes: Floats, *, claimed: float, confidence: float = 0.95
) -> AuditResult:
    """Audit a mu claim by the covariance of the outputs, assumed to be Gaussian.

    If outputs are N(m, C), with the same C for every input, and one change moves m by d, then
    mu = sqrt(d' C^-1 d). Let S be the sum of squares and products with f degrees of freedom in p
    coordinates. Then d' C^-1 d over d' S^-1 d has a chi-squared distribution with f - p + 1 degrees
    of freedom (Wishart), whose quantile gives an exact bound for every change; Bonferroni over the
    changes. Noise that is missing in a coordinate, too small, or used twice makes the bound large.

    Args:
        outputs: (n, p) outputs of independent runs, an array for each of several inputs.
        changes: (k, p) moves of the mean between neighbours, one row per change.
        claimed: claim to audit.
        confidence: confidence of the lower bound, in (0, 1).

    Raises:
        ValueError: the runs are too few.

    >>> noise = np.random.default_rng(2).standard_normal((2, 5000, 3))
    >>> changes = np.eye(3)
    >>> audit_covariance(noise, changes, claimed=1.0).verdict
    'consistent'
    >>> audit_covariance(0.9 * noise, changes, claimed=1.0).verdict
    'violated'
    """
    from scipy import stats

    size = changes.shape[1]
    runs = min(len(sample) for sample in outputs)
    freedom = sum(len(sample) - 1 for sample in outputs) - size + 1
    if freedom < 1:
        raise ValueError(f"{runs} runs are too few for {size} coordinates")
    centred = (sample - sample.mean(axis=0) for sample in outputs)
    squares = sum(np.einsum("ni,nj->ij", x, x, optimize=True) for x in centred)
    ratios = np.einsum("kp,pk->k", changes, directions(squares, changes.T))
    quantile = float(stats.chi2.ppf((1 - confidence) / len(changes), freedom))
    lower = math.sqrt(float(ratios.max()) * quantile)
    return AuditResult(
        parameter="mu",
        claimed=claimed,
        lower_bound=lower,
        confidence=confidence,
        runs=runs,
        method="covariance",
    )
