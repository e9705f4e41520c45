"""The guarantee of released counts, recomputed from release files alone.

For a third party that trusts neither `dpol privatize` nor its records. This module depends on
neither: it needs only Python, and all numbers are integers and fractions, so it may be copied and
read by itself. It states the formulas and proofs of `dpol_weekly.noise` and `dpol_weekly.budget` a
second time.

Noise of integer scale k, in steps of 10^-m people, protects a person who can move a count by s:

- S = s 10^m steps is an integer, and k - 1 >= sqrt(2) S / mu, by less than 1.
- Releases of one entity whose periods overlap add up: their squares of mu sum to s(i, p).
- A person in one period has mu = sqrt(max s(i, p)), and a stay of L periods at most sqrt(L) times
  as much. No s(i, p) exceeds budget^2 / L, over all files.

The files of a holder are cumulative: a row that several files repeat counts once.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import math
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

_CLOSE = 1e-9
_SIX_DIGITS = 1e-5  # as deviations are written
_MOST = 64 << 20  # bytes of a member


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
        file: file of the release.
        rows: number of rows.
        mu: mu of a person in one period, by this file.
        stay: longest stay of the agreement in periods.
        stay_mu: upper bound on the mu of that stay, over all files.
        budget: budget_mu of the agreement.
    """

    file: Path
    rows: int
    mu: float
    stay: int
    stay_mu: float
    budget: float


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A released row: its ledger, its cells, its first day and the day after its last."""

    ledger: str
    text: tuple[str, ...]
    first: int
    after: int


def recompute(files: Sequence[Path], agreed: Mapping[str, Terms]) -> list[Recomputed]:
    """Recompute the guarantees of records from their noise, their tables and the agreements.

    Args:
        files: release files; for the ceiling, all outputs about the same people.
        agreed: terms of each agreement by its SHA-256.

    Raises:
        ValueError: a record states another guarantee than follows, a file is damaged, or its
        agreement
            is missing; the text says what.
    """
    found: list[tuple[Path, int, Terms, list[_Row]]] = []
    for file in files:
        try:
            table, facts = _read(file)
            if (sha256 := facts["deployment"]["sha256"]) not in agreed:
                raise ValueError("it was released under another agreement than the one given")
            found.append((file, facts["rows"], agreed[sha256], _rows(table, facts, agreed[sha256])))
        except (KeyError, TypeError, ArithmeticError, IndexError, AttributeError) as error:
            raise ValueError(f"{file}: its record lacks or damages {error}") from None
        except (OSError, zipfile.BadZipFile) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"{file}: cannot be read as the .zip of a release ({why})") from None
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
    once = list(dict.fromkeys(row for *_, rows in found for row in rows))
    results = []
    for file, count, terms, rows in found:
        most = _most(once, terms)
        if terms.longest_stay * most > terms.budget_mu**2:
            raise ValueError(
                f"{file}: ceiling: a period of an entity spends more than its share of budget_mu,"
                " over all these files"
            )
        results.append(
            Recomputed(
                file=file,
                rows=count,
                mu=math.sqrt(_most(rows, terms)),
                stay=terms.longest_stay,
                stay_mu=math.sqrt(terms.longest_stay * most),
                budget=float(terms.budget_mu),
            )
        )
    return results


def _read(file: Path) -> tuple[bytes, dict[str, Any]]:
    """Return table and record, if the checksum covers both."""
    with zipfile.ZipFile(file) as archive:
        if any(archive.getinfo(name).file_size > _MOST for name in ("table.csv", "record.json")):
            raise ValueError("it is too large for a release")
        table, facts = archive.read("table.csv"), json.loads(archive.read("record.json"))
    table = table.replace(b"\r\n", b"\n")
    rest = {key: it for key, it in facts.items() if key not in ("sha256", "signature")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    _same("sha256", facts["sha256"] == hashlib.sha256(table + text.encode()).hexdigest())
    return table, facts


def _rows(table: bytes, facts: Mapping[str, Any], terms: Terms) -> list[_Row]:
    """Return the rows of a release, if its record follows from them and the agreement."""
    stated, ledger = facts["guarantee"], str(facts["ledger"]["id"])
    for name in ("longest_stay", "budget_mu"):
        _same(name, Fraction(str(stated[name])) == getattr(terms, name))
    cells = list(csv.DictReader(io.StringIO(table.decode(), newline="")))
    _same("rows", facts["rows"] == len(cells) > 0)
    noise = stated["noise"]
    _check_noise(noise, terms)
    rows = []
    for row in cells:
        _same("mu", Fraction(row["mu"]) == terms.mu)
        _same("count_sensitivity", Fraction(row["count_sensitivity"]) == terms.count_sensitivity)
        deviation = noise["scale"] / 10 ** noise["decimals"] / float(row["capacity"])
        _near("noise_sd", float(row["noise_sd"]), deviation, _SIX_DIGITS)
        first = datetime.date.fromisoformat(row["period"]).toordinal()
        text = tuple(row.values())
        rows.append(_Row(ledger=ledger, text=text, first=first, after=first + terms.days))
    most = _most(rows, terms)
    _near("mu", stated["mu"], math.sqrt(most))
    _near("mu_of_stay", stated["mu_of_stay"], math.sqrt(terms.longest_stay * most))
    return rows


def _check_noise(noise: Mapping[str, Any], terms: Terms) -> None:
    """Check that the noise has the scale that the mu and sensitivity of the agreement require."""
    _same("noise: mu", Fraction(noise["mu"]) == terms.mu > 0)
    _same("sensitivity", Fraction(noise["count_sensitivity"]) == terms.count_sensitivity)
    steps, scale = terms.count_sensitivity * 10 ** int(noise["decimals"]), noise["scale"]
    _same("decimals", steps.denominator == 1 and steps > 0)
    least = 2 * (steps / terms.mu) ** 2  # of (scale - 1)^2
    _same("scale", scale >= 2 and (scale - 2) ** 2 < least <= (scale - 1) ** 2)


def _most(rows: Sequence[_Row], terms: Terms) -> Fraction:
    """Return the largest sum of squares of mu of an entity in a period of an agreement."""
    first, days = terms.first.toordinal(), terms.days
    spent = defaultdict[tuple[str, int], Fraction](Fraction)
    for row in rows:
        for period in range((row.first - first) // days, (row.after - 1 - first) // days + 1):
            spent[row.text[0], period] += terms.mu**2
    return max(spent.values())


def _same(name: str, good: bool) -> None:
    if not good:
        raise ValueError(f"{name}: is not what follows from the rest of the file")


def _near(name: str, stated: float, recomputed: float, error: float = _CLOSE) -> None:
    _same(name, abs(stated - recomputed) <= error * recomputed)
