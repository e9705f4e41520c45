"""Rows of the claims ledger, and the rule that turns their numbers into a verdict."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from string import Formatter
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from dpol.core.intervals import mean_interval, share_interval
from dpol.core.randomness import Floats, seed_sequence
from dpol.core.schemas import read_schemas

Relation = Literal["<=", ">=", "="]
MeasuredIs = Literal["number", "upper bound", "lower bound"]
"""What was measured: the number of the claim, or a proved bound on it."""
Ground = Literal["text", "summary", "derived"]
"""What a paper's statement rests on: its own words, a formula on which two third-party summaries of
it agree, or our derivation alone."""
Kind = Literal[
    "false",
    "hypothesis missing",
    "constant",
    "logarithmic factor",
    "misprint",
    "informal remark",
]
"""What is wrong with a statement that fails."""
OF_SUBSTANCE: tuple[Kind, ...] = ("false", "hypothesis missing")
"""Kinds that headlines count and name. The others are easily put right."""
At = Mapping[str, Hashable]
"""The member that was tried of each set, a frozenset of several, or a range of so many drawn."""
_GREEK = dict(
    zip(["mu", "epsilon", "delta", "eta", "alpha", "sigma", "rho"], "μεδηασρ", strict=True)
)


class ClaimVerdict(StrEnum):
    """Verdict on a claim, worst first. A claim takes its worst verdict over all settings."""

    FAILS = "does not hold as stated"
    NOT_SEEN = "not seen on these data"
    NOT_PROVED = "not proved"
    UNDECIDED = "undecided"
    HOLDS = "holds"
    LOOSE = "holds loosely"
    SEEN = "seen on these data"
    VACUOUS = "vacuous here"


CONFIDENCE = 0.9999
"""Joint confidence of all comparisons in a sampled row."""
LOOSE_FACTOR = 2.0
"""A claim is loose if its number and the whole measured interval differ by this factor."""
WIDEST = 0.1
"""Largest relative width of an interval that decides an equality."""
_TINY = 1e-12
DELTA = 1e-6
"""delta of the rows on L2P and its predecessors."""

CLAIM_COLUMNS = tuple(read_schemas(Path(__file__).with_name("results.yaml"))["claims"].columns)
"""Columns of the ledger (docs/reference/tables.md)."""


@dataclass(frozen=True)
class Finding:
    """Numbers computed for a claim in one setting.

    Args:
        name: id of the statement.
        claimed: the number that the statement gives.
        measured: the number found.
        case: the setting in words, if `at` does not say it.
        at: the member that was tried of each set that the statement is about.
        numbers: further numbers for the fields of the statement's texts.
        trivial: the number reached without the subject of the claim (no messages, no learning), or
            known of any number of this kind; None if there is none. A claim that is no better
            than this is vacuous.
        interval: confidence interval of `measured`; None if nothing was sampled.
        confidence: confidence of the interval; 1 if nothing was sampled.
        settings: number of settings that this is the worst of.

    Raises:
        ValueError: a number is not finite, or `measured` is outside of its interval.
    """

    name: str
    claimed: float
    measured: float
    case: str = ""
    _: KW_ONLY
    at: At = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)
    trivial: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float = 1.0
    settings: int = 1

    def __post_init__(self) -> None:
        lower, upper = self.bounds
        finite = math.isfinite(self.claimed) and math.isfinite(self.trivial or 0.0)
        if not (finite and -math.inf < lower <= self.measured <= upper < math.inf):
            raise ValueError(f"the numbers of {self} are not finite, or not within their interval")

    @property
    def setting(self) -> str:
        """The case; by default the members that were tried and have a name or are a number."""
        said = [
            it if isinstance(it, str) else f"{_symbol(name)} = {_digits(it)}"
            for name, it in self.at.items()
            if isinstance(it, str | int | float)
        ]
        return self.case or ", ".join(said)

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval; `measured` at both ends if nothing was sampled."""
        return self.interval or (self.measured, self.measured)


Findings = Iterator[Finding]
ClaimCheck = Callable[[Any], Findings]


class Statement(BaseModel):
    """A statement in words: an entry of statements.yaml, and the title of its paper.

    `statement`, `computed`, `witness`, `note` and `mend` may hold fields in braces, which take the
    numbers of a finding: `claimed`, `measured`, `case`, `settings` (of all findings), `spare`
    (`claimed` over the upper end of the interval), and its own `numbers`. A field of another name
    is a function of the check's module, and takes the formula that it states.

    Args:
        paper: title of the paper.
        place: number of the statement in the paper, or where it stands.
        statement: the statement in one line.
        check: function that maps a root seed, or the summary of a run, to its findings, and perhaps
            to those of other statements; `module:function` in the file.
        over: the sets of which the check tries several members, with the ends of the range that it
            tries; None for members without an order.
        relation: how the measured number should compare with the claimed one.
        computed: what is computed, with its sizes.
        ground: what a statement of a paper rests on. Our copy of the experts' paper lost its
            formulas, so every statement of that paper must say so; for the others it is the text.
        measured_is: whether the number itself is measured, or a bound on it. An upper bound
            cannot refute that the number is small, and a lower bound cannot prove it.
        rounding: relative accuracy of the computation.
        witness: the numbers of the worst case: the counterexample if the claim fails.
        note: what else a reader must know.
        on_data: whether it is a finding on the data of a run, which other data need not show. It
            can be seen or not seen, but never refuted.
        kind: what is wrong with a statement that fails.
        root: the slip behind the failure, in words. Statements with the same slip share it.
        mend: what puts it right.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper: str
    place: str
    statement: str
    check: ClaimCheck
    over: dict[str, tuple[float, float] | None]
    relation: Relation = "<="
    computed: str
    ground: Ground = "text"
    measured_is: MeasuredIs = "number"
    rounding: float = 1e-9
    witness: str = "{case}: measured {measured:.6g}, claimed {claimed:.6g}"
    note: str = ""
    on_data: bool = False
    kind: Kind | None = None
    root: str = ""
    mend: str = ""


def _digits(number: float) -> str:
    return f"{number:,.0f}" if abs(number) < 1e9 and number == int(number) else f"{number:.3g}"


def _symbol(name: str) -> str:
    return _GREEK.get(name, name)


def _tried(members: set[Any], named: bool) -> str:
    """Say how many members were tried, and their range if they are numbers."""
    ends = " to ".join(dict.fromkeys(map(_digits, () if named else (min(members), max(members)))))
    return f"{ends} ({len(members):,})" if ends else f"{len(members):,}"


def stated(bound: Callable[..., object]) -> str:
    """Return the formula that the first line of a function's docstring has between backquotes.

    A text of a statement that has it says what the function computes.
    """
    (found,) = re.findall("`(.+?)`", str(bound.__doc__).partition("\n")[0])
    return str(found)


@dataclass(frozen=True)
class Claim:
    """A statement with a finding: measured `relation` claimed?

    Args:
        statement: the statement.
        finding: the finding in one setting, or in the worst of several.
        tried: the members of each set that were tried in all settings.
    """

    statement: Statement
    finding: Finding
    tried: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict that follows from the numbers alone.

        A claim fails if the number is on the wrong side, and holds if it is on the right side. A
        finding on data is then not seen, or seen. If an interval leaves the claim open, it is
        undecided; if a bound does, it is not proved. A claim that holds but is no better than the
        trivial number is vacuous. An equality holds if the interval contains it and is narrow.
        """
        statement, finding = self.statement, self.finding
        relation, measured_is = statement.relation, statement.measured_is
        claimed, trivial, (lower, upper) = finding.claimed, finding.trivial, finding.bounds
        slop = statement.rounding * max(abs(claimed), abs(lower), abs(upper)) + _TINY
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
            return ClaimVerdict.NOT_SEEN if statement.on_data else ClaimVerdict.FAILS
        if doubtful:
            return ClaimVerdict.UNDECIDED if measured_is == "number" else ClaimVerdict.NOT_PROVED
        if trivial is not None and (claimed >= trivial if relation == "<=" else claimed <= trivial):
            return ClaimVerdict.VACUOUS
        if statement.on_data:
            return ClaimVerdict.SEEN
        return ClaimVerdict.LOOSE if loose else ClaimVerdict.HOLDS

    def text(self, of: Literal["statement", "computed", "witness", "note", "mend"]) -> str:
        """Return a text of the statement, filled with the numbers of the finding.

        Raises:
            KeyError: the text names a number that the finding does not have, and no function.
        """
        template, finding = str(getattr(self.statement, of)), self.finding
        numbers: dict[str, Any] = {
            "claimed": finding.claimed,
            "measured": finding.measured,
            "case": finding.setting,
            "settings": finding.settings,
            "spare": finding.claimed / (finding.bounds[1] or math.nan),
            **finding.numbers,
        }
        asked = {name for _, name, *_ in Formatter().parse(template) if name} - numbers.keys()
        beside = vars(sys.modules[self.statement.check.__module__])
        formulas = {name: stated(beside[name]) for name in asked}
        return template.format_map(numbers | formulas)

    def as_row(self) -> dict[str, Any]:
        """Return the row of the ledger, with `CLAIM_COLUMNS`."""
        finding, (lower, upper) = self.finding, self.finding.bounds
        fails = self.verdict == ClaimVerdict.FAILS
        about = vars(self.statement) if fails or self.verdict == ClaimVerdict.NOT_SEEN else {}
        derived = {
            "statement": self.statement.place,
            "claim": self.text("statement"),
            "computed": self.text("computed"),
            "trivial": math.nan if finding.trivial is None else finding.trivial,
            "lower": lower,
            "upper": upper,
            # Their difference where the claim is 0.
            "slack": finding.measured / finding.claimed if finding.claimed else finding.measured,
            "verdict": self.verdict.value,
            "counterexample": self.text("witness") if fails else "",
            **{name: about.get(name) or "" for name in ("kind", "root")},
            "mend": self.text("mend") if about else "",
            "note": self.text("note"),
            "tried": "; ".join(f"{_symbol(name)}: {it}" for name, it in self.tried.items()),
        }
        row = vars(self.statement) | vars(finding) | derived
        return {column: row[column] for column in CLAIM_COLUMNS}


def worst(claims: Iterable[Claim]) -> Claim:
    """Return the worst claim: by verdict, loose or not, then by the smallest slack; the first."""
    order = list(ClaimVerdict)

    def badness(claim: Claim) -> tuple[int, float]:
        finding, (lower, upper) = claim.finding, claim.finding.bounds
        over, under = upper - finding.claimed, finding.claimed - lower
        excess = {"<=": over, ">=": under, "=": abs(finding.measured - finding.claimed)}
        by = excess[claim.statement.relation]
        verdict = ClaimVerdict.HOLDS if claim.verdict == ClaimVerdict.LOOSE else claim.verdict
        # Smaller differences are rounding, which differs from processor to processor.
        return -order.index(verdict), round(by / abs(finding.claimed) if finding.claimed else by, 9)

    return max(claims, key=badness)


def decided(statement: Statement, findings: Sequence[Finding]) -> Claim:
    """Return the claim of a statement at its worst finding, with what was tried in all."""
    hardest = worst(Claim(statement, finding) for finding in findings).finding
    members: dict[str, set[Any]] = {}
    named = set[str]()
    for name, member in (tried for finding in findings for tried in finding.at.items()):
        several = member if isinstance(member, range | frozenset) else [member]
        members.setdefault(name, set()).update(several)
        named |= {name} if isinstance(member, range | str | tuple) else set()
    counted = replace(hardest, settings=sum(each.settings for each in findings))
    return Claim(statement, counted, {it: _tried(of, it in named) for it, of in members.items()})


def generator(seed: int, *purpose: str | int | float) -> np.random.Generator:
    """Return the random generator for one purpose in the ledger."""
    return np.random.default_rng(seed_sequence(seed, ("claims", *purpose)))


def shared(comparisons: int) -> float:
    """Return the confidence of each comparison, so that all hold together with `CONFIDENCE`."""
    return 1 - (1 - CONFIDENCE) / comparisons


def of_mean(
    name: str, claimed: float, sample: Floats, comparisons: int = 1, **about: Any
) -> Finding:
    """Return the mean of a sample (R,), with Student's interval unless it is all 0.

    The intervals of all `comparisons` hold together. See `Finding` for the other arguments.
    """
    if sample.any():
        confidence = shared(comparisons)
        about |= {"interval": mean_interval(sample, confidence), "confidence": confidence}
    return Finding(name, claimed, float(sample.mean()), **about)


def of_share(
    name: str, claimed: float, count: int, runs: int, comparisons: int, **about: Any
) -> Finding:
    """Return a probability, `count` of `runs`, with its Clopper-Pearson interval; see `of_mean`."""
    confidence = shared(comparisons)
    interval = share_interval(count, runs, confidence)
    return Finding(name, claimed, count / runs, interval=interval, confidence=confidence, **about)
