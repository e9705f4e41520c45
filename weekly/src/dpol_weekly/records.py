"""The file of a release: read without trust, and its guarantee recomputed from it alone.

For a third party that trusts neither `dpol privatize` nor its records, and for `dpol collect`. This
module needs only Python, and all numbers are integers and fractions, so it may be copied and read
by itself. It states the formulas and proofs of `dpol_weekly.noise` and `dpol_weekly.budget` a
second time.

A release is one JSON file:

- `dpol_release`: 1; `words`: what it guarantees, for a reader.
- `deployment`: `name` and `sha256` of the agreement of the last run.
- `ledger`: `id` of the holder's ledger and of the `output` in it, 16 hex digits each; and
  `begin_after`: the ledger releases nothing up to this date (null: it was begun without a date).
- `runs`: of this output, in their order: `number`, `date`, `rows`, and the `head` of the ledger's
  hash chain after it.
- `guarantee`: `mechanism`, `adjacency`, `unit`, `not_protected` in words; of the `noise` its `mu`
  and `count_sensitivity` (text), and its `scale` in steps of 10^-`decimals` people; the `mu` of a
  person in one period by this file; the `mu_of_stay` of a person of the `longest_stay` (in periods)
  at most, by this file; and `budget_mu`.
- `rows`: entity, first day of the period, noisy count and capacity, all text.
- `key`: the public half of the holder's key; `signature`: of all else, by that key.

Noise of integer scale k, in steps of 10^-m people, protects a person who can move a count by s:

- S = s 10^m steps is an integer, and k - 1 >= sqrt(2) S / mu, by less than 1.
- Releases of one entity whose periods overlap add up: their squares of mu sum to s(i, p).
- A person in one period has mu = sqrt(max s(i, p)), and a stay of L periods at most sqrt(L) times
  as much. No s(i, p) exceeds budget^2 / L, over all files.

The files of a holder are cumulative: a row that several files repeat counts once.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

MOST_BYTES = 16 << 20
"""Bytes of a file."""
IDENTIFIER = "[A-Za-z0-9][A-Za-z0-9._-]{0,39}"
"""Pattern of the identifier of an entity or an agreement."""
HEX = "[0-9a-f]{64}"
"""Pattern of a SHA-256, or of the public half of a key."""
_CLOSE = 1e-9
_DATE, _DECIMAL = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{1,4}(\.[0-9]{1,20})?"
_NUMBER = int, float
_LONGEST_NUMBER = 24  # characters
_MOST_DECIMALS = 15
_SHAPE = {
    "dpol_release": int,
    "words": [str],
    "deployment": {"name": IDENTIFIER, "sha256": HEX},
    "ledger": {"id": "[0-9a-f]{16}", "output": "[0-9a-f]{16}", "begin_after": f"({_DATE})?"},
    "runs": [{"number": int, "date": _DATE, "rows": int, "head": HEX}],
    "guarantee": {
        **dict.fromkeys(("mechanism", "adjacency", "unit", "not_protected"), str),
        "noise": {"mu": _DECIMAL, "count_sensitivity": _DECIMAL, "scale": int, "decimals": int},
        "mu": _NUMBER,
        "longest_stay": int,
        "mu_of_stay": _NUMBER,
        "budget_mu": _NUMBER,
    },
    "key": HEX,
    "signature": "[0-9a-f]{128}",
    "rows": [
        (
            IDENTIFIER,
            _DATE,
            r"-?[0-9]{1,12}(\.[0-9]{1,15})?",
            r"(?=.*[1-9])(0|[1-9][0-9]{0,8})(\.[0-9]{0,39}[1-9])?",
        )
    ],
}
"""What a file holds: a text is a pattern, a list has any number of such items."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The numbers of an agreement that a guarantee depends on.

    Args:
        mu: mu of a person in one period.
        count_sensitivity: largest change of one count by one person.
        first: first day of the first period.
        days: days of a period.
        longest_stay: longest stay in periods.
        budget_mu: largest mu of a person of the longest stay.
    """

    mu: Fraction
    count_sensitivity: Fraction
    first: datetime.date
    days: int
    longest_stay: int
    budget_mu: Fraction


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """The guarantee that a release file proves.

    Args:
        file: name of the file.
        rows: number of rows.
        mu: mu of a person in one period, by this file.
        stay: longest stay of the agreement in periods.
        stay_mu: upper bound on the mu of that stay, over all files.
        budget: budget_mu of the agreement.
    """

    file: str
    rows: int
    mu: float
    stay: int
    stay_mu: float
    budget: float


@dataclass(frozen=True)
class Row:
    """A released row, by what it costs.

    Args:
        ledger: id of the ledger.
        text: its cells.
        entity: its entity, as `alike` writes it.
        square: square of its own mu.
        first: its first day.
        after: the day after its last one.
    """

    ledger: str
    text: tuple[str, ...]
    entity: str
    square: Fraction
    first: int
    after: int


def alike(identifier: str) -> str:
    """Strip what people change by accident: case, marks, and zeros before a number.

    Identifiers that become the same text are one entity. Marks between digits stay, as a dash.

    >>> alike("St.Mary_01"), alike("st-mary1"), alike("1-11") == alike("11-1")
    ('stmary1', 'stmary1', False)
    """
    bare = re.sub(r"(?<![0-9])[._-]+|[._-]+(?![0-9])", "", identifier.lower())
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", re.sub("[._-]+", "-", bare))


def parse(data: bytes) -> dict[str, Any]:
    """Return what the file of a release holds; its numbers are bounded before they are read.

    Raises:
        ValueError: it is too large, no JSON, or has other keys, types or texts than a release.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"is larger than {MOST_BYTES >> 20} MiB")
    hooks: dict[str, Any] = {"parse_int": _int, "parse_float": _float, "parse_constant": _float}
    try:
        facts = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, **hooks)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is damaged or cut short ({error})") from None
    if fault := _misfit(facts, _SHAPE):
        raise ValueError(f"is not as dpol privatize writes it, at {fault.lstrip('.')}")
    if facts["dpol_release"] != 1:
        raise ValueError("was written by another version of dpol")
    return dict(facts)


def signed_text(facts: Mapping[str, Any]) -> str:
    """Return what is signed: all but the signature, as JSON with sorted keys, without blanks."""
    rest = {key: it for key, it in facts.items() if key != "signature"}
    return json.dumps(rest, sort_keys=True, separators=(",", ":"))


def guaranteed(facts: Mapping[str, Any], terms: Terms) -> list[Row]:
    """Return the rows of a release whose guarantee follows from them and the agreement.

    Raises:
        ValueError: it states another guarantee than follows; the text says where.
    """
    stated, ledger, square = facts["guarantee"], facts["ledger"]["id"], terms.mu**2
    for name in ("longest_stay", "budget_mu"):
        _same(name, Fraction(str(stated[name])) == getattr(terms, name))
    _check_noise(stated["noise"], terms)
    _same("rows", sum(run["rows"] for run in facts["runs"]) == len(facts["rows"]) > 0)
    rows = []
    for entity, period, *cells in facts["rows"]:
        first = datetime.date.fromisoformat(period).toordinal()
        text = entity, period, *cells
        rows.append(Row(ledger, text, alike(entity), square, first, first + terms.days))
    most = _most(rows, terms)
    _near("mu", stated["mu"], math.sqrt(most))
    _near("mu_of_stay", stated["mu_of_stay"], math.sqrt(terms.longest_stay * most))
    return rows


def recompute(
    releases: Sequence[tuple[str, Mapping[str, Any]]], agreed: Mapping[str, Terms]
) -> list[Recomputed]:
    """Recompute the guarantees of releases from their noise, their rows and the agreements.

    Args:
        releases: names of files, and what they hold; for the ceiling, all about the same people.
        agreed: terms of each agreement by its SHA-256.

    Raises:
        ValueError: a file states another guarantee than follows, passes its budget together with
            the others, or its agreement is missing.
    """
    found: list[tuple[str, Terms, list[Row]]] = []
    for file, facts in releases:
        if (sha256 := facts["deployment"]["sha256"]) not in agreed:
            raise ValueError(f"{file}: was released under another agreement than the one given")
        try:
            found.append((file, agreed[sha256], guaranteed(facts, agreed[sha256])))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
    once = dict.fromkeys(row for *_, rows in found for row in rows)
    results = []
    for file, terms, rows in found:
        most = _most(once, terms)
        if terms.longest_stay * most > terms.budget_mu**2:
            raise ValueError(
                f"{file}: ceiling: a period of an entity spends more than its share of budget_mu,"
                " over all these files"
            )
        results.append(
            Recomputed(
                file=file,
                rows=len(rows),
                mu=math.sqrt(_most(rows, terms)),
                stay=terms.longest_stay,
                stay_mu=math.sqrt(terms.longest_stay * most),
                budget=float(terms.budget_mu),
            )
        )
    return results


def _int(text: str) -> int:
    return int(_short(text))


def _float(text: str) -> float:
    number = float(_short(text))
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _short(text: str) -> str:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("a number is too long")
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _misfit(value: Any, shape: Any, place: str = "") -> str:
    """Return the place of a value that is not of a shape; empty if all is."""
    items: list[tuple[Any, Any, Any]] = []
    if isinstance(shape, dict):
        fits = isinstance(value, dict) and value.keys() == shape.keys()
        items = [(key, value[key], shape[key]) for key in shape] if fits else []
    elif isinstance(shape, list):
        fits = isinstance(value, list)
        items = [(number, it, shape[0]) for number, it in enumerate(value, 1)] if fits else []
    elif shape == _NUMBER or isinstance(shape, type):
        fits = isinstance(value, shape) and not isinstance(value, bool)
    elif isinstance(shape, tuple):
        fits = isinstance(value, list) and len(value) == len(shape)
        items = [(key, value[key], shape[key]) for key in range(len(shape))] if fits else []
    else:
        fits = isinstance(value, str) and re.fullmatch(shape, value) is not None
    if not fits:
        return place or ".the whole"
    return next(filter(None, (_misfit(it, of, f"{place}.{key}") for key, it, of in items)), "")


def _check_noise(noise: Mapping[str, Any], terms: Terms) -> None:
    """Check that the noise has the scale that the mu and sensitivity of the agreement require."""
    _same("noise: mu", Fraction(noise["mu"]) == terms.mu > 0)
    _same("sensitivity", Fraction(noise["count_sensitivity"]) == terms.count_sensitivity)
    _same("decimals", 0 <= noise["decimals"] <= _MOST_DECIMALS)
    steps, scale = terms.count_sensitivity * 10 ** noise["decimals"], noise["scale"]
    _same("decimals", steps.denominator == 1 and steps > 0)
    least = 2 * (steps / terms.mu) ** 2  # of (scale - 1)^2
    _same("scale", scale >= 2 and (scale - 2) ** 2 < least <= (scale - 1) ** 2)


def _most(rows: Iterable[Row], terms: Terms) -> Fraction:
    """Return the largest sum of squares of mu of an entity in a period of an agreement."""
    first, days = terms.first.toordinal(), terms.days
    spent = defaultdict[tuple[str, int], Fraction](Fraction)
    for row in rows:
        for period in range((row.first - first) // days, (row.after - 1 - first) // days + 1):
            spent[row.entity, period] += row.square
    return max(spent.values())


def _same(name: str, good: bool) -> None:
    if not good:
        raise ValueError(f"{name}: is not what follows from its rows and the agreement")


def _near(name: str, stated: float, recomputed: float) -> None:
    _same(name, abs(stated - recomputed) <= _CLOSE * recomputed)
