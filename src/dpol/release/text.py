"""What a release did and guarantees, in plain words."""

from __future__ import annotations

import math

from dpol.core.rounding import rounded_up
from dpol.privacy.account import best_guess
from dpol.release.release import Release
from dpol.release.views import record_of
from dpol.show.words import counted


def describe(done: Release, delta: float) -> list[str]:
    """What was done and what is guaranteed, line by line; guarantees rounded to the safe side."""
    noise, mu = done.noise, done.guarantee.mu
    month, alone, all_outputs = 2 * mu, mu / math.sqrt(2), done.mu_over_all_outputs
    lines = [
        f"{done.output}: {counted(done.added, 'row')} added, {done.rows:,} in all. The guarantee"
        f" is recorded in {record_of(done.output).name}.",
        "Each noisy count has discrete Gaussian noise with a standard deviation of"
        f" {noise.standard_deviation:.4g} people. It can be negative. Nothing is cut off, because"
        " that would shift every sum and mean.",
        "One person in one period is protected. Suppose someone knows everybody else's data and"
        " guesses where, or whether, that person was counted. The guess is right at most"
        f" {_percent(mu)} of the time, compared with 50% without this table"
        f" (mu = {rounded_up(mu, 4)}, epsilon = {rounded_up(done.guarantee.epsilon(delta), 4)} at"
        f" delta = {delta:g}). The numbers of one entity alone have mu = {rounded_up(alone, 4)}.",
        f"This holds if one person moves a count by at most {noise.count_sensitivity}. For someone"
        f" who is counted in 4 periods, mu is {rounded_up(month, 4)} and a guess is right at most"
        f" {_percent(month)} of the time. Releases about the same people elsewhere add to that.",
        "Not hidden: that you report, for which periods, and the capacities.",
    ]
    if all_outputs > mu:
        lines.append(
            f"Some entity and period has mu = {rounded_up(all_outputs, 4)} over all outputs of"
            f" {done.ledger}."
        )
    if done.first:
        lines.append(
            f"{done.ledger} is new. It remembers every release, so that no period is released"
            " twice. Keep it with the raw counts, back it up, and never give it away."
        )
    return lines


def _percent(mu: float) -> str:
    return f"{rounded_up(100 * best_guess(mu), 3)}%"
