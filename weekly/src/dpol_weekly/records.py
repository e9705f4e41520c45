"""The guarantee of released counts, recomputed from release files alone.

For a third party that trusts neither `dpol privatize` nor the record that it wrote. This module is
independent of both: it needs Python alone, and all numbers are integers and fractions. It may be
copied and read by itself. Formulas and proofs are those of `dpol_weekly.noise`,
`dpol_weekly.memory` and `dpol_weekly.holder.ceiling`, written down a second time.

Noise of integer scale k, in steps of 10^-m people, protects a person who moves a count by s people:

- S = s 10^m steps is an integer, and k - 1 >= sqrt(2) (S N + E) / mu, by less than 2.
- N^2 is the largest squared length of the sum of W columns of C = (1 - a L) / (1 - b L), L the
  shift by a period; E^2 = W T where a and b differ. Without memory N^2 = W and E = 0.
- Releases of one entity and period add up: mu^2 is the largest sum of theirs.
- A stay of v periods has mu^2 times the larger of N_v^2 / N_W^2 and v / W.
- A row weighs mu^2 / 2 times the larger of 1 / W and N_L^2 / (L N_W^2). No period of an entity
  weighs more than budget^2 / (2 L), over all files.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import math
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

_CLOSE = 1e-9
_LONGEST = 1000  # periods, so that a strange record does not take for ever
_SIX_DIGITS = 1e-5  # as deviations are written


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """The guarantee that a release file proves.

    Args:
        file: of the release.
        rows: how many it has.
        mu: of a person of the unit, in this file.
        unit: in how many periods in a row that person is counted, at most.
        stay: the longest stay of the agreement, in periods.
        stay_mu: of a person of that stay, over all files, at most.
        budget: the ceiling of the agreement.
    """

    file: Path
    rows: int
    mu: float
    unit: int
    stay: int
    stay_mu: float
    budget: float


def recompute(files: Sequence[Path]) -> list[Recomputed]:
    """Recompute what records state, from their noise and tables.

    Args:
        files: of releases; all outputs of the same people together, for the ceiling.

    Raises:
        ValueError: something else than stated follows, or a file is damaged; the text says what.
    """
    found, loads = [], []
    for file in files:
        try:
            table, facts = _read(file)
            loads.append(_checked(table, facts))
        except (KeyError, TypeError, ArithmeticError, IndexError, AttributeError) as error:
            raise ValueError(f"{file}: its record lacks or damages {error}") from None
        except (OSError, zipfile.BadZipFile) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"{file}: cannot be read as the .zip of a release ({why})") from None
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        found.append((file, facts))
    results = []
    for file, facts in found:
        ceiling = facts["guarantee"]["ceiling"]
        stay, budget = ceiling["longest_stay"], Fraction(str(ceiling["budget_mu"]))
        most = _most([row for rows in loads for row in rows], ceiling)
        if 2 * stay * most > budget**2:
            raise ValueError(
                f"{file}: ceiling: a period of an entity spends more than its share of budget_mu"
            )
        results.append(
            Recomputed(
                file=file,
                rows=facts["rows"],
                mu=facts["mu"],
                unit=max(it["unit_weeks"] for it in facts["guarantee"]["noise"]),
                stay=stay,
                stay_mu=math.sqrt(2 * stay * most),
                budget=float(budget),
            )
        )
    return results


@dataclass(frozen=True, kw_only=True)
class _Load:
    """A row: its entity, first day and the day after it, and the facts that say what it weighs."""

    entity: str
    first: int
    after: int
    mu: Fraction
    a: Fraction
    b: Fraction
    unit: int

    def weight(self, stay: int, days: int) -> Fraction:
        """The weight for a stay of so many periods of so many days."""
        length = self.after - self.first
        touched = max(stay, (stay * days + length - 2) // length + 1) if length != days else stay
        longer = _norm(self.a, self.b, touched) / _norm(self.a, self.b, self.unit)
        return self.mu**2 / 2 * max(Fraction(1, self.unit), longer / touched)


def _read(file: Path) -> tuple[bytes, dict[str, Any]]:
    """Table and record; the checksum must be that of both."""
    with zipfile.ZipFile(file) as archive:
        table, facts = archive.read("table.csv"), json.loads(archive.read("record.json"))
    rest = {key: it for key, it in facts.items() if key not in ("sha256", "signature")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    whole = table.replace(b"\r\n", b"\n") + text.encode()
    _same("sha256", facts["sha256"] == hashlib.sha256(whole).hexdigest())
    return table, facts


def _checked(table: bytes, facts: Mapping[str, Any]) -> list[_Load]:
    """The rows of a release, if all that its record states follows from them and its noise."""
    stated = facts["guarantee"]
    for kind in stated["noise"]:
        _check_noise(kind)
    rows = list(csv.DictReader(io.StringIO(table.decode(), newline="")))
    _same("rows", facts["rows"] == len(rows))
    kinds, days = Counter[tuple[Any, ...]](), int(stated["ceiling"]["days"])
    of_period = defaultdict[tuple[str, str], Fraction](Fraction)
    memories = set()
    chains = {it["first_row"]: it for it in facts.get("chains", [])}
    begun: dict[str, tuple[Mapping[str, Any], int]] = {}
    loads = []
    for number, row in enumerate(rows, start=1):
        entity, mu = row["entity"], Fraction(row["mu"])
        if number in chains:
            begun[entity] = chains[number], 0
        chain, place = begun.get(entity, ({"releases": 0}, 0))
        in_chain = place < chain["releases"]
        begun[entity] = chain, place + 1
        kinds_of_row = (
            it
            for it in stated["noise"]
            if (it["mu"], it["count_sensitivity"]) == (row["mu"], row["count_sensitivity"])
            and it["chains"] == in_chain
            and (not in_chain or all(_number(chain[key]) == _number(it[key]) for key in _TERMS))
        )
        kind = next(kinds_of_row, None)
        if kind is None:
            raise ValueError(f"noise: says nothing of row {number}")
        kinds[tuple(kind.items())] += 1
        a, b, unit = Fraction(kind["a"]), Fraction(kind["b"]), kind["unit_weeks"]
        kept = sum(float(a) ** (2 * before) for before in range(place if in_chain else 0))
        deviation = math.sqrt(1 + (a - b) ** 2 * kept) * kind["scale"] / 10 ** kind["decimals"]
        _near("noise_sd", float(row["noise_sd"]), deviation / float(row["capacity"]), _SIX_DIGITS)
        memories.add((a, b, unit))
        of_period[entity, row["period"]] += mu**2
        first = datetime.date.fromisoformat(row["period"]).toordinal()
        load = _Load(entity=entity, first=first, after=first + days, mu=mu, a=a, b=b, unit=unit)
        loads.append(load)
    _same("noise: rows", all(kinds[tuple(it.items())] == it["rows"] for it in stated["noise"]))
    # Rows that an older copy of a ledger drew again may count with more than their mu.
    exact = not any(it["imported"] for it in facts["releases"])
    _near("mu", facts["mu"], math.sqrt(max(of_period.values())), exact=exact)
    _near("mu_of_one_entity_alone", facts["mu_of_one_entity_alone"], facts["mu"] / math.sqrt(2))
    _same("stays", len(facts["stays"]) == len(_STAYS))
    for stay, given in zip(_STAYS, facts["stays"], strict=True):
        growth = max(
            max(_norm(a, b, stay) / _norm(a, b, unit), Fraction(stay, unit))
            for a, b, unit in memories
        )
        _near(f"stays ({stay})", given, facts["mu"] * math.sqrt(growth))
    most = _most(loads, stated["ceiling"])
    _near("ceiling: most", float(Fraction(stated["ceiling"]["most"])), float(most), exact=exact)
    return loads


_STAYS = 1, 2, 4, 8
_TERMS = "a", "b", "unit_weeks", "chain_periods", "decimals", "scale"


def _check_noise(kind: Mapping[str, Any]) -> None:
    """A kind of noise: its norm and its scale."""
    a, b, mu = Fraction(kind["a"]), Fraction(kind["b"]), Fraction(kind["mu"])
    unit, periods, scale = kind["unit_weeks"], kind["chain_periods"], kind["scale"]
    good = abs(a) < 1 and abs(b) < 1 and mu > 0 and 0 < unit <= _LONGEST and periods > 0
    _same("a, b", good and (unit == 1 or (b >= a and b >= 0)))
    _same("chains", kind["chains"] or (a == b == 0 and unit == periods == 1))
    norm, error = _norm(a, b, unit), unit * periods if a != b else 0
    _same("squared_norm", Fraction(kind["squared_norm"]) == norm)
    steps = Fraction(kind["count_sensitivity"]) * 10 ** kind["decimals"]
    _same("decimals", steps.denominator == 1 and steps > 0)

    def enough(least: int) -> bool:
        """True if least mu >= sqrt(2) (S N + E); both sides squared, twice."""
        rest = (least * mu) ** 2 / 2 - steps**2 * norm - error
        return bool(least >= 0 <= rest and rest**2 >= 4 * steps**2 * norm * error)

    _same("scale", enough(scale - 1) and not enough(scale - 3))


def _norm(a: Fraction, b: Fraction, count: int) -> Fraction:
    """N^2 of so many periods: the columns of C one by one, of what cancels only the size."""
    column = 1 + (b - a) ** 2 / (1 - b**2)
    total = count * column
    for apart in range(1, count):
        inner = (b - a) * b ** (apart - 1) * (1 + (b - a) * b / (1 - b**2))
        total += 2 * (count - apart) * abs(inner)
    return total


def _most(rows: Sequence[_Load], ceiling: Mapping[str, Any]) -> Fraction:
    """The largest weight of an entity in a period of an agreement."""
    first = datetime.date.fromisoformat(ceiling["first"]).toordinal()
    days, stay = int(ceiling["days"]), int(ceiling["longest_stay"])
    _same("ceiling", 1 <= stay <= _LONGEST and days >= 1)
    weights: dict[_Load, Fraction] = {}  # of alike rows
    spent = defaultdict[tuple[str, int], Fraction](Fraction)
    for row in rows:
        alike = replace(row, entity="", first=0, after=row.after - row.first)
        if alike not in weights:
            weights[alike] = row.weight(stay, days)
        for period in range((row.first - first) // days, (row.after - 1 - first) // days + 1):
            spent[row.entity, period] += weights[alike]
    return max(spent.values())


def _number(value: Any) -> Fraction:
    return Fraction(str(value))


def _same(name: str, good: bool) -> None:
    if not good:
        raise ValueError(f"{name}: is not what follows from the rest of the file")


def _near(
    name: str, stated: float, recomputed: float, error: float = _CLOSE, *, exact: bool = True
) -> None:
    low = stated >= recomputed * (1 - error)
    _same(name, low and (not exact or stated <= recomputed * (1 + error)))
