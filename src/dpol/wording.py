"""Words that tables and figures share."""

from __future__ import annotations


def mu_title(mu: float) -> str:
    """A Gaussian-DP parameter.

    >>> mu_title(float("inf")), mu_title(0.25)
    ('μ = ∞', 'μ = 0.25')
    """
    return "μ = ∞" if mu == float("inf") else f"μ = {mu:g}"


def privacy_title(mu: float) -> str:
    """A privacy level in words.

    >>> privacy_title(float("inf")), privacy_title(0.25)
    ('no privacy (μ = ∞)', 'μ = 0.25')
    """
    return f"no privacy ({mu_title(mu)})" if mu == float("inf") else mu_title(mu)
