"""What a row of the claims ledger is, and how its verdict follows from its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from dpol.privacy.audit import clopper_pearson_upper
from dpol.randomness import Floats, seed_sequence

Relation = Literal["<=", ">=", "="]
Verdict = Literal["holds", "holds, loose by a factor", "does not hold as stated", "undecided"]

HOLDS: Verdict = "holds"
LOOSE: Verdict = "holds, loose by a factor"
FAILS: Verdict = "does not hold as stated"
UNDECIDED: Verdict = "undecided"

CONFIDENCE = 0.9999
"""Of the interval of every sampled row, all comparisons in that row together."""
LOOSE_FACTOR = 2.0
"""A bound is loose if it is wrong by this factor at least, whatever chance did."""
WIDEST = 0.1
"""An equality is decided only if its interval is at most this wide, relative to the claim."""
_TINY = 1e-12

CLAIM_COLUMNS = (
    *("paper", "statement", "claim", "computed", "claimed", "relation", "measured"),
    *("lower", "upper", "confidence", "slack", "verdict", "counterexample", "note", "ours"),
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
        interval: confidence interval of `measured`; None if nothing was sampled.
        confidence: of the interval; 1 if nothing was sampled.
        rounding: relative accuracy of the computation.
        witness: the numbers of the worst case; the counterexample if the claim fails.
        note: what else a reader must know.
        ours: whether the statement is ours and not the paper's.

    Raises:
        ValueError: a number is not finite, or the interval does not hold `measured`.
    """

    paper: str
    statement: str
    claim: str
    computed: str
    claimed: float
    relation: Relation
    measured: float
    interval: tuple[float, float] | None = None
    confidence: float = 1.0
    rounding: float = 1e-9
    witness: str = ""
    note: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        numbers = (self.claimed, self.measured, *self.bounds)
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"{self.statement}: numbers must be finite, got {numbers}")
        lower, upper = self.bounds
        if not lower <= self.measured <= upper:
            raise ValueError(f"{self.statement}: {self.measured} is not in its {self.bounds}")
        if (self.interval is None) != (self.confidence == 1.0):
            raise ValueError(f"{self.statement}: an interval needs a confidence below 1")

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval, or twice `measured`."""
        return self.interval or (self.measured, self.measured)

    @property
    def verdict(self) -> Verdict:
        """See `verdict_of`."""
        return verdict_of(self.claimed, self.relation, *self.bounds, rounding=self.rounding)

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
        values = {"lower": lower, "upper": upper}
        return {
            column: values[column] if column in values else getattr(self, column)
            for column in CLAIM_COLUMNS
        }


Row = Callable[[int], Iterable[Claim]]
"""What makes rows of the ledger from the root seed."""


def verdict_of(
    claimed: float, relation: Relation, lower: float, upper: float, *, rounding: float = 1e-9
) -> Verdict:
    """The verdict on a claim about a number that lies between `lower` and `upper`.

    A claim fails if the whole interval lies on its wrong side, and holds if all of it lies on
    its right side; what is between is undecided. An equality holds if the interval contains it
    and is narrow.

    >>> verdict_of(127.0, "<=", 520.0, 532.0), verdict_of(127.0, "<=", 30.0, 40.0)
    ('does not hold as stated', 'holds, loose by a factor')
    """
    slop = rounding * max(abs(claimed), abs(lower), abs(upper)) + _TINY
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
        return UNDECIDED
    return LOOSE if loose else HOLDS


def worst(claims: Iterable[Claim]) -> Claim:
    """The claim that comes off worst: one that fails if there is one, else the least slack."""

    def badness(claim: Claim) -> tuple[bool, float]:
        lower, upper = claim.bounds
        if claim.relation == ">=":
            excess = claim.claimed - lower
        elif claim.relation == "<=":
            excess = upper - claim.claimed
        else:
            excess = abs(claim.measured - claim.claimed)
        return claim.verdict == FAILS, excess / abs(claim.claimed) if claim.claimed else excess

    return max(claims, key=badness)


def generator(seed: int, *purpose: str | int | float) -> np.random.Generator:
    """The random numbers of one purpose in the ledger."""
    return np.random.default_rng(seed_sequence(seed, ("claims", *purpose)))


def mean_interval(sample: Floats, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """An interval for the mean of a large sample, by the normal approximation."""
    error = sample.std(ddof=1) / math.sqrt(len(sample))
    reach = float(-special.ndtri((1 - confidence) / 2) * error)
    return float(sample.mean()) - reach, float(sample.mean()) + reach


def share_interval(
    successes: int, trials: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The Clopper-Pearson interval of a probability."""
    error = (1 - confidence) / 2
    below = 1 - float(clopper_pearson_upper(trials - successes, trials, error))
    return below, float(clopper_pearson_upper(successes, trials, error))


def shared(comparisons: int) -> float:
    """The confidence of each of several comparisons, so that all hold with `CONFIDENCE`."""
    return 1 - (1 - CONFIDENCE) / comparisons
