"""The file of a release: read without trust, and what all such files cost a person.

For a third party that trusts neither `dpol privatize` nor `dpol collect`; the hospital asks it too,
before it signs. This module needs only Python, and all sums are of fractions, so it may be copied
and read by itself. It states the formulas of `dpol_weekly.noise` a second time.

A release is one JSON file. It states no guarantee: that follows from its rows and the agreement.

- `dpol_release`: 4. Version 3 also had a `ledger` with two ids, which say nothing.
- `agreement`: SHA-256 of the agreement of the last run.
- `rows`: entity, first day of the period, noisy count and capacity, all text. The second row of an
  entity and period is its second release.
- `key`: the public half of the holder's key; `signature`: of all else, by that key.

Noise of integer scale k, in steps of 10^-m people, protects a person who can move a count by s:
S = s 10^m steps is an integer, and k - 1 >= sqrt(2) S / mu, by less than 1. So one row costs a
person in that count mu^2 / 2, and moving one person between two entities changes two counts, which
is mu-GDP together. Squares add up (Dong, Roth and Su, "Gaussian Differential Privacy", corollary
3.3; adaptively by Smith and Thakurta, "Fully Adaptive Composition for Gaussian Differential
Privacy").

Rows of another agreement A may be about the same people, whatever their names. Its noise is made
for a move of s_A, and the loss is proportional to the move, so such a row costs a person of
agreement J (mu_A max(1, s_J / s_A))^2. The factor is never below 1: s_J bounds the counts of J
only, and A says that one person may move a count of A by s_A.

Let own(i, p) be the sum of these squares over the rows of entity i of J and its amendments, in
period p; most(A, p) the largest such sum of one entity of another agreement A, over A's amendments
and the periods of A that share a day with p, since a person is in counts of one entity of A a
period; and k the `counted_by` of an agreement. Then s(i, p) = k_J own(i, p) + sum over A of
k_A most(A, p) is at most budget^2 / L, L the longest stay in periods, and a stay of L periods costs
at most the budget, whichever holders keep the counts. For let one person add a_j to count j of a
period. Two neighbouring tables have the person with a and with b, all at least 0, so
|b - a|^2 <= |a|^2 + |b|^2. The affirmation says a_j <= s_J and sum a_j <= k s_J, so
|a|^2 <= s_J sum a_j <= k s_J^2: as much as k full counts, each of them of an entity that spends at
most own(i, p), and each at half of mu^2. Two tables and L periods make 2 L of these halves. A
person who moves to another holder is in other counts, but not in more.

(Rounding to the grid of the noise moves a part of a person by up to one step more than the part.
With at most seven parts this adds less than 1e-5 of mu, and 1e-11 at mu = 0.5.)

Three conditions cannot be seen in files of one holder. All releases about the people of an entity
in a period, under whatever agreement, are given: whoever is counted under J at one holder and under
A at another pays both. People are counted as affirmed: a person in full in a hospital and in its
ward needs `counted_by: 2`. And a person stays with one entity in all releases of a period: moved
from one to another between them, four rows change where two did, as with `counted_by: 2`.

An agreement and its amendments are one. Files are cumulative: a row that several files repeat
counts once.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

MOST_BYTES = 16 << 20
"""Bytes of a file."""
IDENTIFIER = "[A-Za-z0-9][A-Za-z0-9._-]{0,39}"
"""Pattern of the identifier of an entity or an agreement."""
HEX = "[0-9a-f]{64}"
"""Pattern of a SHA-256, or of the public half of a key."""
_SHAPE: dict[str, Any] = {
    "dpol_release": int,
    "agreement": HEX,
    "rows": [
        (
            IDENTIFIER,
            "[0-9]{4}-[0-9]{2}-[0-9]{2}",
            r"-?[0-9]{1,12}(\.[0-9]{1,15})?",
            r"(?=.*[1-9])(0|[1-9][0-9]{0,8})(\.[0-9]{0,39}[1-9])?",
        )
    ],
    "key": HEX,
    "signature": "[0-9a-f]{128}",
}
"""What a file holds: a text is a pattern, a list has any number of such items."""
_SHAPES = {
    3: _SHAPE | {"ledger": {"id": "[0-9a-f]{16}", "output": "[0-9a-f]{16}"}},
    4: _SHAPE,
}

_Rows = Mapping[tuple[str, tuple[str, ...]], Mapping[str, Any]]
"""The agreement of each row by its family and its cells. The family is the first agreement to which
its own goes back by amendments."""


def alike(identifier: str) -> str:
    """Strip what people change by accident: case, marks, and zeros before a number.

    Identifiers that become the same text are one entity. Marks between digits stay, as a dash.

    >>> alike("St.Mary_01"), alike("st-mary1"), alike("1-11") == alike("11-1")
    ('stmary1', 'stmary1', False)
    """
    bare = re.sub(r"(?<![0-9])[._-]+|[._-]+(?![0-9])", "", identifier.lower())
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", re.sub("[._-]+", "-", bare))


def parse(data: bytes) -> dict[str, Any]:
    """Return what the file of a release holds; it is bounded before it is read.

    Raises:
        ValueError: it is too large, no JSON, has other keys, types or texts than a release, or no
            row.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"is larger than {MOST_BYTES >> 20} MiB")
    try:
        facts = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is damaged or cut short ({error})") from None
    version = facts.get("dpol_release") if isinstance(facts, dict) else 4
    if version not in [*_SHAPES]:
        raise ValueError("was written by another version of dpol")
    if fault := _misfit(facts, _SHAPES[version]):
        raise ValueError(f"is not as dpol privatize writes it, at {fault.lstrip('.')}")
    if not facts["rows"]:
        raise ValueError("holds no row")
    return dict(facts)


def signed_text(facts: Mapping[str, Any]) -> str:
    """Return what is signed: all but the signature, as JSON with sorted keys, without blanks."""
    rest = {key: it for key, it in facts.items() if key != "signature"}
    return json.dumps(rest, sort_keys=True, separators=(",", ":"))


def recompute(
    releases: Sequence[tuple[str, Mapping[str, Any]]], agreed: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Recompute what releases cost a person, from their rows and the agreements.

    Returns for each release its `file`, the SHA-256 of its `agreement`, the number of `rows`, the
    `first` and the `last` of their periods, the `mu` of a person in one period by this file,
    `period_mu` over all files, and `stay_mu`, an upper bound on that of the longest stay.

    Args:
        releases: names of files, and what they hold, all about the same people.
        agreed: each agreement by its SHA-256: all of its keys, as plain values.

    Raises:
        ValueError: a file passes its budget together with the others, its agreement is missing, a
            date is none, or two files hold different rows of one version.
    """
    found: list[tuple[str, _Rows]] = []
    seen: dict[tuple[object, ...], tuple[str, Sequence[str]]] = {}
    for file, facts in releases:
        sha256 = family = facts["agreement"]
        if sha256 not in agreed:
            raise ValueError(f"{file}: was released under another agreement than the one given")
        while family in agreed and (amended := agreed[family]["amends"]):
            family = amended["agreement"]
        rows = facts["rows"]
        for row, version in versions(rows):
            place = family, row[0], row[1], version
            if (held := seen.setdefault(place, (file, row)))[1] != row:
                raise ValueError(
                    f"{file}: holds another row of {row[0]} for {row[1]}, version {version}, than"
                    f" {held[0]}: two machines have released it with different counts"
                )
        found.append((file, {(family, (*row,)): agreed[sha256] for row in rows}))
    once = {row: terms for _, rows in found for row, terms in rows.items()}
    results = []
    for (file, rows), (_, facts) in zip(found, releases, strict=True):
        terms = agreed[facts["agreement"]]
        try:
            own, most = _most(rows, terms), _most(once, terms)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        if terms["longest_stay"] * most > _exact(terms["budget_mu"]) ** 2:
            raise ValueError(
                f"{file}: ceiling: a period spends more than its share of budget_mu, for a person"
                " who is counted in all these files"
            )
        periods = [row[1] for row in facts["rows"]]
        results.append(
            {
                "file": file,
                "agreement": facts["agreement"],
                "rows": len(rows),
                "first": min(periods),
                "last": max(periods),
                "mu": math.sqrt(own),
                "period_mu": math.sqrt(most),
                "stay_mu": math.sqrt(terms["longest_stay"] * most),
            }
        )
    return results


def versions(rows: Sequence[Sequence[str]]) -> list[tuple[Sequence[str], int]]:
    """Return each row with its version: its number among those of its entity and period, from 1."""
    seen, found = Counter[tuple[str, str]](), []
    for row in rows:
        seen[row[0], row[1]] += 1
        found.append((row, seen[row[0], row[1]]))
    return found


def _exact(number: object) -> Fraction:
    return Fraction(str(number))


def _most(rows: _Rows, terms: Mapping[str, Any]) -> Fraction:
    """Return the largest sum of squares of mu for a person of an agreement in one period."""
    begun, length = (terms["periods"][key] for key in ("first", "days"))
    moved = _exact(terms["count_sensitivity"])
    sums = defaultdict[tuple[str, int, int, str], Fraction](Fraction)
    for (of, (entity, day, *_)), made in rows.items():
        start = (datetime.date.fromisoformat(day) - datetime.date.fromisoformat(begun)).days
        factor = max(Fraction(1), moved / _exact(made["count_sensitivity"]))
        square = made["counted_by"] * (_exact(made["mu"]) * factor) ** 2
        sums[of, start, made["periods"]["days"], alike(entity)] += square
    most = defaultdict[tuple[str, int, int], Fraction](Fraction)
    for (of, start, days, _), square in sums.items():
        most[of, start, days] = max(most[of, start, days], square)
    found = defaultdict[int, Fraction](Fraction)
    for (_, start, days), square in most.items():
        for period in range(start // length, (start + days - 1) // length + 1):
            found[period] += square
    return max(found.values())


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
    elif shape is int:
        fits = type(value) is int
    elif isinstance(shape, tuple):
        fits = isinstance(value, list) and len(value) == len(shape)
        items = [(key, value[key], shape[key]) for key in range(len(shape))] if fits else []
    else:
        fits = isinstance(value, str) and re.fullmatch(shape, value) is not None
    if not fits:
        return place or ".the whole"
    return next(filter(None, (_misfit(it, of, f"{place}.{key}") for key, it, of in items)), "")
