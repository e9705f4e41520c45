"""Display names: what a reader sees in place of the label of an algorithm, a noise or a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """The name of something that has a label.

    Args:
        short: in tables and axes.
        long: in legends and sentences; as `short` if empty.
        ours: whether it is not in the papers, and is marked.
    """

    short: str
    long: str = ""
    ours: bool = False

    @property
    def marked(self) -> str:
        """The short name, with the mark of what is ours."""
        return marked(self.short, self.ours)

    @property
    def full(self) -> str:
        """The long name, with the origin in words."""
        return f"{self.long or self.short} ({'ours' if self.ours else 'paper'})"


NAMES: Mapping[str, Name] = {
    # noises on gains
    "capacity": Name("capacity", "capacity noise", ours=True),
    "capacity-memory": Name("memory", "capacity correlated noise", ours=True),
    "capacity-prefix-sums": Name("prefix sums", "capacity noise made for prefix sums", ours=True),
    # bounds on switches of RW-AdaBatch
    "borell-tis": Name("Borell-TIS", "Borell-TIS bound"),
    "reflection": Name("reflection", "reflection bound", ours=True),
    "un-amplified": Name("not amplified"),
    "analytic": Name("analytic bound", "analytic lower bound"),
    "monte-carlo": Name("Monte Carlo", "Monte Carlo estimate"),
    "heuristic": Name("heuristic, not proved", "heuristic of the paper, not proved"),
    # families whose best member has a column
    "best-linear-model": Name("best linear model"),
    # how an audit looks for a violation, and what it finds
    "event": Name("event", "event, counted in runs"),
    "covariance": Name("covariance", "covariance of Gaussian noise"),
    "fit": Name("fit", "distance from the computed law"),
    "exact": Name("computed", "computed exactly"),
    "consistent": Name("stands"),
    "violated": Name("refuted"),
}
"""Names of everything whose label is not its name."""

ACCOUNTED: Mapping[str, str] = {"l2p": "the algorithm of its paper, with an accounting of ours"}
"""Algorithms of the papers that are ours by nothing but their accounting; they bear no mark."""

OURS = "†: ours, not in the paper"
"""Meaning of the mark."""


def name_of(label: str) -> Name:
    """The name of a label; the label itself where it has no other.

    >>> name_of("reflection").marked, name_of("rw-meta").marked
    ('reflection †', 'rw-meta')
    """
    return NAMES.get(label, Name(label))


def marked(title: str, ours: bool) -> str:
    """A title, with the mark of what is ours."""
    return f"{title} †" if ours else title


def explain_mark(ours: Iterable[str]) -> list[str]:
    """The sentence on what is marked; none if nothing is."""
    named = ", ".join(ours)
    return [f"{OURS}: {named}."] if named else []
