"""The budget of an agreement: what one person may lose over all ledgers.

A release of a count of entity i in period p costs a person in that count mu^2 / 2, with the mu of
the agreement: moving one person between two entities changes two counts, which is mu-GDP together.
Squares add up (Dong, Roth and Su, "Gaussian Differential Privacy", corollary 3.3; adaptively by
Smith and Thakurta, "Fully Adaptive Composition for Gaussian Differential Privacy").

Let s(i, p) be the sum of mu^2 over all releases of entity i whose days overlap period p, in any
output of a ledger. Every ledger keeps s(i, p) <= budget^2 / L, L the longest stay in periods. Then
a stay of L periods costs at most the budget, whichever ledgers keep the counts: in each of two
neighbouring tables the person is in at most one count a period, and in at most L periods.
So there are at most 2 L pairs (i, p), and their cost sums to at most 2 L s / 2 <= budget^2. A
person who moves to another holder is in other pairs, but not in more.

Two conditions cannot be seen by a ledger. All releases of an entity in a period are in one ledger.
And entities count different people: a person counted in a hospital and in its ward, as two
entities, loses the sum of both.
"""

from __future__ import annotations

import math
from fractions import Fraction


def most_in_a_period(budget_mu: Fraction, longest_stay: int) -> Fraction:
    """Return the largest sum of squares of mu that one entity may spend in one period.

    Args:
        budget_mu: largest mu of a person of the longest stay.
        longest_stay: longest stay in periods.
    """
    return budget_mu**2 / longest_stay


def mu_of_such_stay(spent: Fraction, longest_stay: int) -> float:
    """Return the mu of the longest stay if two entities spend this in each of its periods."""
    return math.sqrt(longest_stay * spent)
