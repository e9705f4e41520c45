"""The file of a release: read without trust, and what all such files cost a person.

For a third party that trusts neither `dpol privatize` nor `dpol collect`. This module needs only
Python, and all sums are of fractions, so it may be copied and read by itself. It states the
formulas and proofs of `dpol_weekly.noise` and `dpol_weekly.budget` a second time.

A release is one JSON file. It states no guarantee: that follows from its rows and the agreement.

- `dpol_release`: 3.
- `agreement`: SHA-256 of the agreement of the last run.
- `ledger`: random `id` of the holder's ledger and of the `output` in it, 16 hex digits each.
- `rows`: entity, first day of the period, noisy count and capacity, all text.
- `key`: the public half of the holder's key; `signature`: of all else, by that key.

Noise of integer scale k, in steps of 10^-m people, protects a person who can move a count by s:

- S = s 10^m steps is an integer, and k - 1 >= sqrt(2) S / mu, by less than 1.
- Releases of one entity whose periods overlap add up: their squares of mu sum to own(i, p).
- Rows of another agreement A may be about the same people, whatever their names. A person is in
  counts of one entity of A a period, so each period of A adds the largest sum of one entity. Such a
  row costs (mu' max(1, s / s'))^2, with its own mu' and s': the loss is proportional to the move.
- Each of these sums is multiplied by `counted_by` of its own agreement: s(p) = k max own(i, p) plus
  the sum over A of k' max own(i', p').
- A person in one period has mu = sqrt(max s(p)), and a stay of L periods at most sqrt(L) times as
  much. No s(p) exceeds budget^2 / L, over all files: those of a ledger keep to it, and those of
  several may not, if one releases under one agreement only and another under another.

An agreement and its amendments are one. The files of a holder are cumulative: a row that several
files repeat counts once.
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
_VERSION = 3
_SHAPE = {
    "dpol_release": int,
    "agreement": HEX,
    "ledger": {"id": "[0-9a-f]{16}", "output": "[0-9a-f]{16}"},
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


_Rows = Mapping[tuple[str, str, tuple[str, ...]], Mapping[str, Any]]
"""The agreement of each row by the id of its ledger, its family and its cells. The family is the
first agreement to which its own goes back by amendments."""


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
    if isinstance(facts, dict) and facts.get("dpol_release") != _VERSION:
        raise ValueError("was written by another version of dpol")
    if fault := _misfit(facts, _SHAPE):
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
            date is none, or two files of a ledger hold different rows of one version.
    """
    found: list[tuple[str, _Rows]] = []
    seen: dict[tuple[object, ...], tuple[str, Sequence[str]]] = {}
    for file, facts in releases:
        sha256 = family = facts["agreement"]
        if sha256 not in agreed:
            raise ValueError(f"{file}: was released under another agreement than the one given")
        while family in agreed and (amended := agreed[family]["amends"]):
            family = amended["agreement"]
        ledger, rows = facts["ledger"]["id"], facts["rows"]
        for row, version in versions(rows):
            place = ledger, family, row[0], row[1], version
            if (held := seen.setdefault(place, (file, row)))[1] != row:
                raise ValueError(
                    f"{file}: holds another row of {row[0]} for {row[1]}, version {version}, than"
                    f" {held[0]}: two copies of one ledger have released it with different counts"
                )
        found.append((file, {(ledger, family, (*row,)): agreed[sha256] for row in rows}))
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
    for (_, of, (entity, day, *_)), made in rows.items():
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
