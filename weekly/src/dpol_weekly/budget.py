"""The budget of an agreement: what one person may lose over all ledgers.

A release of a count of entity i in period p costs a person in that count mu^2 / 2, with the mu of
the agreement: moving one person between two entities changes two counts, which is mu-GDP together.
Squares add up (Dong, Roth and Su, "Gaussian Differential Privacy", corollary 3.3; adaptively by
Smith and Thakurta, "Fully Adaptive Composition for Gaussian Differential Privacy").

A ledger may release counts of the same people under several agreements. A person of agreement J
moves a count by at most its sensitivity s_J. The noise of a row of agreement A is made for a move
of s_A, and the loss is proportional to the move, so the row costs that person
(mu_A max(1, s_J / s_A))^2. The factor is never below 1: s_J bounds the counts of J only, and A
says that one person may move a count of A by s_A.

Let s(i, p) be what the ledger has spent, by these squares, on the people whom entity i of J counts
in period p: all rows of entity i under J and its amendments, and all rows of every other agreement,
whose names do not say whom they count. Rows count in each period of J that shares a day with
theirs. Every ledger keeps s(i, p) <= budget^2 / L, L the longest stay in periods. Then a stay of L
periods costs at most the budget, whichever ledgers keep the counts: in each of two neighbouring
tables the person is in at most one count of J a period, and in at most L periods.
So there are at most 2 L pairs (i, p), and their cost sums to at most 2 L s / 2 <= budget^2. A
person who moves to another holder is in other pairs, but not in more.

Two conditions cannot be seen by a ledger. All releases about the people of an entity in a period
are in one ledger. And entities count different people: a person counted in a hospital and in its
ward, as two entities, loses the sum of both.
"""

from __future__ import annotations

from fractions import Fraction

from dpol.privacy.account import best_guess


def most_in_a_period(budget_mu: Fraction, longest_stay: int) -> Fraction:
    """Return the largest sum of squares of mu that one entity may spend in one period.

    Args:
        budget_mu: largest mu of a person of the longest stay.
        longest_stay: longest stay in periods.
    """
    return budget_mu**2 / longest_stay


def mu_of_move(mu: Fraction, *, moved: Fraction, made_for: Fraction) -> Fraction:
    """Return the mu of a person who may move a count by `moved`.

    Args:
        mu: mu of a person who moves it by `made_for`.
        moved: the move, in people.
        made_for: the count sensitivity of the noise. A smaller move is taken for one of this size.
    """
    return mu * max(Fraction(1), moved / made_for)


def guess_in_full(mu: float, count_sensitivity: float) -> float:
    """Return the largest probability of a right guess about a person who is counted in full.

    Such a person moves a count by 1, whatever the agreement says.

    Args:
        mu: mu of a person who moves a count by `count_sensitivity`.
        count_sensitivity: as the agreement says.

    >>> round(guess_in_full(0.5, 1.0), 3), guess_in_full(0.5, 0.001)
    (0.599, 1.0)
    """
    made_for = Fraction(str(count_sensitivity))
    return best_guess(float(mu_of_move(Fraction(mu), moved=Fraction(1), made_for=made_for)))
