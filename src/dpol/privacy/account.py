"""What a guarantee means for one person over some weeks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy

from dpol.core.arguments import check_number, check_wholes
from dpol.core.words import html_table
from dpol.privacy.chains import chain_norm
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.losses import Loss


@dataclass(frozen=True, kw_only=True)
class Protection:
    """Protection of a person whose data are in some of the releases.

    Args:
        weeks: number of weeks that count the person.
        mu: Gaussian-DP parameter of all these weeks together.
        rho: parameter of zero-concentrated DP that mu implies, mu^2 / 2.
        epsilon: epsilon at the given delta.
        best_guess: largest probability of a right guess, see `best_guess`.
    """

    weeks: int
    mu: float
    rho: float
    epsilon: float
    best_guess: float

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_table(vars(self))


Memory = tuple[float, float]
"""Memory (a, b) of correlated noise, see `dpol.privacy.chains`."""


def account(
    kept: Guarantee | float,
    weeks: int = 1,
    *,
    delta: float = 1e-6,
    memory: Memory | None = None,
) -> Protection:
    """Return what a guarantee means for a person counted in `weeks` weeks, in a row or not.

    Args:
        kept: a record; or the Gaussian-DP parameter of a person in one week, of Gaussian noise
            that is independent or has the memory, inf for no privacy.
        weeks: number of weeks that count the person.
        delta: delta of the reported epsilon, in (0, 1).
        memory: memory (a, b) of the noise; None for independent noise.

    Raises:
        ValueError: mu is negative, delta is not in (0, 1), weeks is below 1, the memory does not
            cover stays of this length, see `chain_norm`, or the record says nothing about weeks:
            then the text names a call that bounds them.

    >>> round(account(0.5, weeks=4).epsilon, 3)
    4.887
    """
    check_wholes(weeks=weeks)
    if not isinstance(kept, Guarantee):
        norms = [math.sqrt(weeks), 1.0]
        if memory is not None:
            norms = [float(chain_norm(*memory, it)) for it in (weeks, 1)]
        loss = Loss(gaussian=check_number("mu", kept, "[0, inf]") * norms[0] / norms[1])
    else:
        loss = kept.of_rounds(weeks)
    return Protection(
        weeks=weeks,
        mu=loss.mu,
        rho=loss.mu**2 / 2,
        epsilon=loss.epsilon(delta),
        best_guess=loss.guess,
    )


def best_guess(mu: float) -> float:
    """Return the largest probability of a right guess about one person; 0.5 without a release.

    The attacker knows all other people, takes two adjacent inputs to be equally likely, and guesses
    which of them is true. Under mu-GDP the guess is right with probability at most Phi(mu / 2).

    >>> best_guess(0.0), round(best_guess(1.0), 3)
    (0.5, 0.691)
    """
    return float(scipy.special.ndtr(check_number("mu", mu, "[0, inf]") / 2))
