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

Let own(i, p) be the sum of these squares over the rows of entity i of J and its amendments, in
period p; most(A, p) the largest such sum of one entity of another agreement A of the ledger, over
A's amendments and the periods of A that share a day with p; and k the `counted_by` of an agreement.
Every ledger keeps s(i, p) = k_J own(i, p) + sum over A of k_A most(A, p) <= budget^2 / L, L the
longest stay in periods. Then a stay of L periods costs at most the budget, whichever ledgers keep
the counts. For let one person add a_j to count j of a period. Two neighbouring tables have the
person with a and with b, all at least 0, so |b - a|^2 <= |a|^2 + |b|^2. The affirmation says
a_j <= s_J and sum a_j <= k s_J, so |a|^2 <= s_J sum a_j <= k s_J^2: as much as k full counts, each
of them of an entity that spends at most own(i, p), and each at half of mu^2. Two tables and L
periods make 2 L of these halves. A person who moves to another holder is in other counts, but not
in more. A release that the agreement schedules counts as spent from the first release on.

(Rounding to the grid of the noise moves a part of a person by up to one step more than the part.
With at most seven parts this adds less than 1e-5 of mu, and 1e-11 at mu = 0.5.)

Three conditions cannot be seen by a ledger. All releases about the people of an entity in a period,
under whatever agreement, are in one ledger: whoever is counted under J at one holder and under A at
another pays both. People are counted as affirmed: a person in full in a hospital and in its ward
needs `counted_by: 2`. And a person stays with one entity in all releases of a period: moved from
one to another between them, four rows change where two did, as with `counted_by: 2`.
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
