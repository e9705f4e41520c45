"""What a row of the claims ledger is, and how its verdict follows from its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpol.core import intervals
from dpol.core.randomness import Floats, seed_sequence

Relation = Literal["<=", ">=", "="]
MeasuredIs = Literal["number", "upper bound", "lower bound"]
"""What was measured: the number that the claim is about, or a proved bound on it."""
Verdict = Literal[
    "holds",
    "holds loosely",
    "says nothing here",
    "undecided",
    "not proved",
    "does not hold as stated",
]

HOLDS: Verdict = "holds"
LOOSE: Verdict = "holds loosely"
SILENT: Verdict = "says nothing here"
UNDECIDED: Verdict = "undecided"
NOT_PROVED: Verdict = "not proved"
FAILS: Verdict = "does not hold as stated"
WORST_FIRST: tuple[Verdict, ...] = (FAILS, NOT_PROVED, UNDECIDED, HOLDS, LOOSE, SILENT)
"""All verdicts; of several settings the claim is judged by the first."""

CONFIDENCE = 0.9999
"""Of the interval of every sampled row, all comparisons in that row together."""
LOOSE_FACTOR = 2.0
"""A claim is loose if claimed and measured number differ by this factor, whatever chance did."""
WIDEST = 0.1
"""An equality is decided only if its interval is at most this wide, relative to the claim."""
_TINY = 1e-12

CLAIM_COLUMNS = (
    *("paper", "statement", "claim", "computed", "claimed", "relation", "trivial"),
    *(
        "measured",
        "measured_is",
        "lower",
        "upper",
        "confidence",
        "slack",
        "verdict",
        "counterexample",
        "note",
        "ours",
    ),
)
"""Columns of the ledger (docs/reference/tables.md)."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper beside what a computation found: measured `relation` claimed?

    Args:
        paper: its title.
        statement: its number in the paper, or where it stands.
        claim: the statement in one line.
        computed: what was computed, with its sizes.
        claimed: the number that the statement gives.
        relation: how `measured` should compare with it.
        measured: the number that was found.
        measured_is: whether `measured` is the number itself or a bound on it. An upper bound
            cannot refute that the number is small, and a lower bound cannot prove it.
        trivial: what is reached without what the claim is about (no messages, no learning), or
            known of any number of this kind; None if there is no such number. A claim that is no
            better than this says nothing.
        interval: confidence interval of `measured`; None if nothing was sampled.
        confidence: of the interval; 1 if nothing was sampled.
        rounding: relative accuracy of the computation.
        witness: the numbers of the worst case; the counterexample if the claim fails.
        note: what else a reader must know.
        ours: whether the statement is ours and not the paper's.

    Raises:
        ValueError: a number is not finite, the interval does not hold `measured`, or an equality
            has a bound or a trivial number.
    """

    paper: str
    statement: str
    claim: str
    computed: str
    claimed: float
    relation: Relation
    measured: float
    measured_is: MeasuredIs = "number"
    trivial: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float = 1.0
    rounding: float = 1e-9
    witness: str = ""
    note: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        numbers = (self.claimed, self.measured, self.trivial or 0.0, *self.bounds)
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"{self.statement}: numbers must be finite, got {numbers}")
        lower, upper = self.bounds
        if not lower <= self.measured <= upper:
            raise ValueError(f"{self.statement}: {self.measured} is not in its {self.bounds}")
        if (self.interval is None) != (self.confidence == 1.0):
            raise ValueError(f"{self.statement}: an interval needs a confidence below 1")
        if self.relation == "=" and (self.measured_is != "number" or self.trivial is not None):
            raise ValueError(f"{self.statement}: an equality has no bound and no trivial number")

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval, or twice `measured`."""
        return self.interval or (self.measured, self.measured)

    @property
    def verdict(self) -> Verdict:
        """See `verdict_of`."""
        return verdict_of(
            self.claimed,
            self.relation,
            *self.bounds,
            measured_is=self.measured_is,
            trivial=self.trivial,
            rounding=self.rounding,
        )

    @property
    def slack(self) -> float:
        """measured / claimed, or their difference where the claim is 0."""
        return self.measured / self.claimed if self.claimed else self.measured

    @property
    def counterexample(self) -> str:
        """The witness if the claim fails, else nothing."""
        return self.witness if self.verdict == FAILS else ""

    def as_row(self) -> dict[str, Any]:
        """A row of the ledger, by `CLAIM_COLUMNS`."""
        lower, upper = self.bounds
        trivial = math.nan if self.trivial is None else self.trivial
        values = {"lower": lower, "upper": upper, "trivial": trivial}
        return {
            column: values[column] if column in values else getattr(self, column)
            for column in CLAIM_COLUMNS
        }


Row = Callable[[int], Iterable[Claim]]
"""What makes rows of the ledger from the root seed."""


def verdict_of(
    claimed: float,
    relation: Relation,
    lower: float,
    upper: float,
    *,
    measured_is: MeasuredIs = "number",
    trivial: float | None = None,
    rounding: float = 1e-9,
) -> Verdict:
    """The verdict on a claim, from what was measured of its number, `lower` to `upper`.

    A claim fails if the number is on its wrong side, and holds if it is on its right side. What
    an interval leaves open is undecided; what a bound leaves open is not proved. A claim that
    holds and is no better than the trivial number says nothing. An equality holds if the interval
    contains it and is narrow.

    Args:
        claimed: the number of the claim.
        relation: how the number should compare with it.
        lower: lower end of the interval of what was measured.
        upper: upper end.
        measured_is: what was measured: the number, or a bound on it.
        trivial: what is known without the claim.
        rounding: relative accuracy of the computation.

    >>> verdict_of(127.0, "<=", 520.0, 532.0), verdict_of(127.0, "<=", 30.0, 40.0)
    ('does not hold as stated', 'holds loosely')
    >>> verdict_of(1.0, "<=", 1.2, 1.2, measured_is="upper bound")
    'not proved'
    >>> verdict_of(127.0, "<=", 30.0, 40.0, trivial=100.0)
    'says nothing here'
    """
    slop = rounding * max(abs(claimed), abs(lower), abs(upper)) + _TINY
    if measured_is == "upper bound":
        lower = -math.inf
    elif measured_is == "lower bound":
        upper = math.inf
    if relation == ">=":
        wrong, doubtful = upper < claimed - slop, lower < claimed - slop
        loose = lower >= LOOSE_FACTOR * claimed > 0
    elif relation == "<=":
        wrong, doubtful = lower > claimed + slop, upper > claimed + slop
        loose = LOOSE_FACTOR * upper <= claimed and claimed > 0
    else:
        wrong = lower > claimed + slop or upper < claimed - slop
        doubtful, loose = upper - lower > WIDEST * abs(claimed) + slop, False
    if wrong:
        return FAILS
    if doubtful:
        return UNDECIDED if measured_is == "number" else NOT_PROVED
    if trivial is not None and (claimed >= trivial if relation == "<=" else claimed <= trivial):
        return SILENT
    return LOOSE if loose else HOLDS


def worst(claims: Iterable[Claim]) -> Claim:
    """The claim that comes off worst: by its verdict (`WORST_FIRST`), then by the least slack."""

    def badness(claim: Claim) -> tuple[bool, int, float]:
        lower, upper = claim.bounds
        if claim.relation == ">=":
            excess = claim.claimed - lower
        elif claim.relation == "<=":
            excess = upper - claim.claimed
        else:
            excess = abs(claim.measured - claim.claimed)
        # What holds is judged by the settings in which the claim says something.
        open_or_failed = claim.verdict in WORST_FIRST[:3]
        rank = -WORST_FIRST.index(claim.verdict) if open_or_failed else -(claim.verdict == SILENT)
        return open_or_failed, rank, excess / abs(claim.claimed) if claim.claimed else excess

    return max(claims, key=badness)


def generator(seed: int, *purpose: str | int | float) -> np.random.Generator:
    """The random numbers of one purpose in the ledger."""
    return np.random.default_rng(seed_sequence(seed, ("claims", *purpose)))


def mean_interval(sample: Floats, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Student's interval for the mean of a sample, at the confidence of the ledger."""
    return intervals.mean_interval(sample, confidence)


def share_interval(
    successes: int, trials: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The Clopper-Pearson interval of a probability, at the confidence of the ledger."""
    return intervals.share_interval(successes, trials, confidence)


def shared(comparisons: int) -> float:
    """The confidence of each of several comparisons, so that all hold with `CONFIDENCE`."""
    return 1 - (1 - CONFIDENCE) / comparisons
