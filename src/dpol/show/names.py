"""Display names for the labels of algorithms, noises and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """Display name of a label.

    Args:
        short: for tables and axes.
        long: for legends and sentences; if empty, `short` is used.
        ours: whether it is ours, not in the papers, and bears a mark.
    """

    short: str
    long: str = ""
    ours: bool = False

    @property
    def marked(self) -> str:
        """Short name, with the mark † if it is ours."""
        return marked(self.short, self.ours)

    @property
    def full(self) -> str:
        """Long name, with the origin in words."""
        return f"{self.long or self.short} ({'ours' if self.ours else 'paper'})"


NAMES: Mapping[str, Name] = {
    # noises on gains
    "capacity": Name("capacity", "capacity noise", ours=True),
    "capacity-memory": Name("memory", "capacity correlated noise", ours=True),
    "laplace-uniform": Name("Laplace", "Laplace noise in every round"),
    "staircase": Name("staircase", "staircase noise in every round"),
    "laplace-sample": Name("Laplace sample", "Laplace noise on one round in w"),
    "budget-distribution": Name("budget distribution", "budget distribution"),
    "budget-absorption": Name("budget absorption", "budget absorption"),
    "fast": Name("FAST", "FAST"),
    "pegasus": Name("PeGaSus", "PeGaSus"),
    # bounds on switches of RW-AdaBatch
    "borell-tis": Name("Borell-TIS", "Borell-TIS bound"),
    "reflection": Name("reflection", "reflection bound", ours=True),
    "un-amplified": Name("not amplified"),
    "analytic": Name("analytic bound", "analytic lower bound"),
    "monte-carlo": Name("Monte Carlo", "Monte Carlo estimate"),
    "heuristic": Name("heuristic, not proved", "heuristic of the paper, not proved"),
    # methods and verdicts of audits
    "event": Name("event", "event, counted in runs"),
    "covariance": Name("covariance", "covariance of Gaussian noise"),
    "exact": Name("computed", "computed exactly"),
    "consistent": Name("stands"),
    "violated": Name("refuted"),
}
"""Names of all labels that are not their own names."""

OURS = "†: ours, not in the paper"
"""Meaning of the mark."""


def name_of(label: str) -> Name:
    """Return the name of a label; by default the label itself.

    >>> name_of("reflection").marked, name_of("rw-meta").marked
    ('reflection †', 'rw-meta')
    """
    return NAMES.get(label, Name(label))


def marked(title: str, ours: bool) -> str:
    """Add the mark † to a title if it is ours."""
    return f"{title} †" if ours else title
