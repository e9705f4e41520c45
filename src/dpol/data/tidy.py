"""Lines of pandas that make a table tidy, for the messages that refuse one that is not.

`tidy.yaml` has them. Each stands for itself, below a sentence that says when it helps.
"""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

_WORDS: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
NAMES = {
    **{"place": "place", "week": "week", "count": "count", "year": "year", "of_year": "week"},
    **{"day": "day", "form": "ISO8601", "kind": "csv", "kept": '["place"]', "made": "week"},
    **{"capacity": "beds", "group": ""},
}
"""What stands in the lines where no config and no table says it."""
READERS: Mapping[str, str] = _WORDS["readers"]
"""How pandas reads a kind of file, by the end of its name."""
_MONTHS = {*calendar.month_name, *calendar.month_abbr}
_PARTS = "year", "quarter", "month", "week", "day"


def line(name: str, **columns: Any) -> str:
    """Return a line for the columns of a table."""
    known = NAMES | columns
    by = _listed([known[it] for it in ("group", "place", "week") if known[it]])
    return str(_WORDS["lines"][name][1]).format(**known, by=by)


def told(*names: str, **columns: Any) -> str:
    """Return lines for a message, each below a sentence that says when it helps."""
    return "".join(f"\n{_WORDS['lines'][it][0]}:\n  {line(it, **columns)}" for it in names)


def instead_of(block: str) -> dict[str, str]:
    """Return what to do instead of each key of an earlier release in a block of the dataset."""
    said = dict[str, str]()
    for key, text in _WORDS["left"][block].items():
        words, colon, name = text.rpartition(": ")
        said[key] = words + colon + line(name) if name in _WORDS["lines"] else text
    return said


def parts_of_dates(header: Iterable[str]) -> dict[str, str]:
    """Return the columns that hold a year, or a part of one, by what they hold."""
    return {name.lower(): name for name in header if name.lower() in _PARTS}


def of_dates(
    period: str, parts: Mapping[str, str], texts: Sequence[str] = (), *, units: bool = False
) -> str:
    """Return the lines that make one column of dates, as far as they fit a table.

    Args:
        period: the column.
        parts: columns from `parts_of_dates`.
        texts: texts that are no dates.
        units: whether they stand in the first row only.
    """
    blank, texts, has = "" in texts, [*filter(None, texts)], {*parts}.issuperset

    def are(pattern: str) -> bool:
        return bool(texts) and all(re.fullmatch(pattern, it) for it in texts)

    def of_two(part: str, pattern: str) -> bool:
        return has(("year", part)) or (not {*parts} - {"year", period.lower()} and are(pattern))

    weeks = of_two("week", r"(?![MTH]\d)[^Q\d]*[0-5]?\d(\.0)?")
    quarter = r"[QqKT][a-z]*\W?[1-4]"
    fits = {
        "weeks": weeks,
        "mmwr": weeks,
        "days": has(("year", "month", "day")),
        "months": "day" not in parts and of_two("month", r"M?(0?\d|1[012])(\.0)?"),
        "quarters": of_two("quarter", r"[QqKT]?[1-4](\.0)?"),
        "quarter": are(rf"\d{{4}}\W*{quarter}|{quarter}\W*\d{{4}}"),
        "half": are(r"\d{4}\W*[HS]Y?[12]|[HS]Y?[12]\W*\d{4}"),
        "fiscal": are(rf"\d{{4}}/\d+|\d{{4}}\W\d+\W*{quarter}|{quarter}\W+\d{{4}}\W\d+"),
        "first": are(r"(\d{4}\W\d+\W\d+|\d+\W+\w+\W+\d{4})\D.*|\d{4}/\d+"),
        "words": texts and all(sum(map(str.isalpha, text)) > 2 for text in texts),
        "excel": are(r"[2-7]\d{4}(\.\d+)?"),
        "epoch": are(r"1\d{9}(\d{3})?(\.0)?"),
        "units": units,
        "names": blank and not units,
    }
    unit = "s" if are(r"\d{10}(\.0)?") else "ms"
    columns = {"month": period, "quarter": period, "place": period, "unit": unit, **parts}
    columns |= {"of_year": parts.get("week", period), "week": period}
    return told(*[name for name, fit in fits.items() if fit], **columns)


def of_columns(header: Sequence[str], missing: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the lines that may make missing columns.

    Args:
        header: the columns of the table.
        missing: the columns that it lacks.
        names: the columns of entity, period, count, capacity and group under `place`, `week`,
            `count`, `capacity` and `group`, and what pandas calls the `kind` of the file.
    """
    entity, period, number = names["place"], names["week"], names["count"]
    kept = [name for name in (entity, period) if name in header]
    measures = [name for name in missing if name not in (entity, period)]
    others = [name for name in header if name and name not in kept]
    made = next((name for name in (entity, period) if name in missing), "month")
    starts = [(it, name) for it in measures for name in others if name.startswith(it)]
    spread = {sign for it, name in starts if (sign := name.removeprefix(it)[:1])}
    ends = [re.compile(rf".[\W_]+{re.escape(it)}\W*$") for it in measures]
    behind = all(any(map(end.search, others)) for end in ends)
    values = [k for k, name in enumerate(others) if "val" in name.lower()] or [len(others) - 1]
    before = [it for it in others[: values[0]] if "unit" not in it.lower()]
    said = ""
    for name in measures:
        if "," in name and {*(parts := name.split(","))} <= {*header}:
            said += told("sum", made=name, sum=" + ".join(f'table["{part}"]' for part in parts))
    counted = number in missing and (measures == [number] or not (spread or behind))
    dated = [name for name in others if {*name} & {*"0123456789"} or name.title() in _MONTHS]
    melts = counted and (kept == [period] or 0 < len(kept) < len(dated))
    if melts:
        years = [name for name in others if name.lower() in ("year", "sheet")]
        rest = years if made == entity else [name for name in others if name not in dated]
        said += told("long", kept=_listed([*kept, *rest]), made=made, count=number)
    fits = {
        "wide": spread and kept,
        "turned": measures and behind and kept,
        "first": len(kept) == 2 and number in missing,
        "events": len(kept) == 2 and number in missing,
        "stays": counted and entity in kept and not melts,
        "measures": len(kept) == 2 and before,
        "table": entity in header and {*measures} - {number},
        "headers": not kept or header.count("") > 1,
    }
    columns = {**names, "made": made, "kept": _listed(kept), "level": int(number in header)}
    columns |= {"measures": _listed(measures), "sep": min(spread, default="")}
    columns["either"] = "|".join(map(re.escape, measures))
    columns |= {"measure": before[-1], "value": others[values[0]]} if before else {}
    said += told(*[name for name, fit in fits.items() if fit], **columns)
    if period in missing:
        texts = ["1"] if kept and number in header else []  # a part of a year may be any number
        said += of_dates(period, parts_of_dates(header), texts)
    return said


def _listed(names: Sequence[str]) -> str:
    return json.dumps(names, ensure_ascii=False)
