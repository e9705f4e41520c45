"""Looking at a table of counts: how it is written, and what its columns hold.

A guess comes with two cells that led to it. What cannot be seen is asked for, all of it at once.
Bounds on counts are always asked for: a bound that was read off the counts would tell of them.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol.core.near import did_you_mean
from dpol.core.words import shortened
from dpol.data.cells import Texts, numbers_of
from dpol.data.format import DATES, DEFAULT, EITHER, PLAIN, Format
from dpol.data.plain import MOST_TITLES, open_table, read_plain
from dpol.data.settings import Cleaning, Columns
from dpol.data.sheets import BadWorkbookError, read_sheet
from dpol.data.texts import date_of

_LINES = 500
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[+-]?(?=.*[0-9])[0-9.,'’  \s]+(?:[eE][+-]?[0-9]+)?")
_SUPPRESSED = re.compile(r"[<≤]\s*[0-9]+|\*+|-999999(\.0)?")
_MOST_MARKERS = 5
_SIGNS: tuple[Mapping[str, str], ...] = (
    {}, {"decimal": ","}, {"thousands": ","}, {"thousands": "."}, {"thousands": " "},
    {"decimal": ",", "thousands": " "}, {"thousands": "'"}, {"decimal": "."},
)  # fmt: skip
_TOTALS = {
    "total", "totals", "grandtotal", "overall", "all", "sum", "summe", "gesamt", "insgesamt",
    "alle", "ensemble", "totale", "somme", "suma",
}  # fmt: skip
_CAPACITY = re.compile(
    "bed|bett|place|pl[aä]e?tze|seat|sitz|chair|st[uü]e?hle|capacit|kapazit|popul|inhabit|einwohn"
    "|resident|people|pupil|slot|plazas|camas|lits|posti|habit",
    re.IGNORECASE,
)
_YEAR, _MONTH = (re.compile(it, re.IGNORECASE) for it in ("year|jahr|ann|año", "month|mon|mes"))


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the owner of a table says of it; None where dpol is to look."""

    layout: str | None = None
    entity: str | None = None
    period: str | None = None
    count: str | None = None
    capacity: str | None = None
    group: str | None = None
    step: str | None = None
    date: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    at_most: float | None = None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a table shows.

    Args:
        blocks: of a config's dataset: format, columns, periods and cleaning.
        gain: block of the config.
        groups: of the table; `all` without a column of groups.
        guesses: what was seen, a line each, with two cells that led to it.
    """

    blocks: Mapping[str, Mapping[str, Any]]
    gain: Mapping[str, Any]
    groups: Sequence[str]
    guesses: Sequence[str]


@dataclass(kw_only=True)
class _Look:
    """A table under the eye, and what has been seen of it so far."""

    told: Told
    format: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    cleaning: dict[str, Any] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    drop: dict[str, list[str]] = field(default_factory=dict)

    def guess(self, what: str, column: str = "", cells: Iterable[str] = ()) -> None:
        """Note a guess, with the first two different cells."""
        two = ", ".join(repr(shortened(it)) for it in itertools.islice(dict.fromkeys(cells), 2))
        shown = f" (column {column}: {two})" if column and two else f" ({two})" if two else ""
        self.guesses.append(what + shown)


def look_at(path: Path, told: Told) -> Seen:
    """Look at a table of counts.

    Raises:
        DataError: the table cannot be read; or something cannot be seen: the options that say it.
    """
    look = _Look(told=told)
    try:
        form = _written(path, look)
    except (EOFError, OSError, zlib.error, BadWorkbookError):
        form = DEFAULT  # with which the reader says what is wrong
    plain = read_plain(path, None, form)
    table = pd.DataFrame(plain.rows, plain.lines, plain.header, dtype=str)
    table = table.apply(lambda column: column.str.strip())
    typed = {*plain.typed}
    rows = _laid_out(table, look)
    if rows is not None:
        dates = _dates(rows, typed, look)
        signs = _signs(rows, typed, look)
        form = form.model_copy(update=signs)
        look.format |= signs
        _clean(rows, form, look)
    if rows is None or look.asked:
        raise _missing(path, look)
    gain = _bounds(rows, typed, form, look)
    if look.asked:
        raise _missing(path, look)
    group = look.columns.get("group")
    return Seen(
        blocks={
            "format": look.format,
            "columns": look.columns,
            "periods": dates,
            "cleaning": look.cleaning,
        },
        gain=gain,
        groups=sorted(rows[group].unique()) if group else ["all"],
        guesses=look.guesses,
    )


def _missing(path: Path, look: _Look) -> DataError:
    lines = "".join(f"\n  {it}" for it in look.asked)
    return DataError(f"{path}: the table does not show all. Add to the command:{lines}")


# The file ----------------------------------------------------------------------------------------


def _written(path: Path, look: _Look) -> Format:
    """Encoding, delimiter, sheet, and rows above the header."""
    if path.suffix == ".parquet":
        return DEFAULT
    if path.suffix == ".xlsx":
        named = {"sheet": look.told.sheet} if look.told.sheet else {}
        try:
            of_sheet = read_sheet(path, DEFAULT.model_copy(update=named), "dataset.format")
        except DataError as error:
            raise DataError(str(error).replace("dataset.format.sheet", "--sheet")) from None
        first = [(number, row.texts) for number, row in of_sheet[:_LINES]]
        look.format |= named
    else:
        with open_table(path) as file:
            data = file.read()
        encoding = look.told.encoding or _encoding(data)
        text = data.decode(encoding.replace("utf-8", "utf-8-sig"), "replace")
        if encoding != "utf-8":
            look.format["encoding"] = encoding
            look.guess(f"encoding: {encoding}", "", re.findall(r"\w*[^\x00-\x7f]\w*", text))
        lines = [*itertools.islice(io.StringIO(text, ""), _LINES)]
        best = max(_DELIMITERS, key=lambda mark: _rows_cut_at(lines, mark))
        first = [(k, cells) for k, cells in enumerate(_cut(lines, best), start=1) if any(cells)]
        if best != ",":
            look.format["delimiter"] = best
            look.guess(f"delimiter: {best!r}", "", [lines[0].rstrip(), lines[-1].rstrip()])
    width = max((sum(map(bool, cells)) for _, cells in first), default=0)
    found = (it for it in first[: MOST_TITLES + 1] if sum(map(bool, it[1])) >= max(2, width - 1))
    header, cells = next(found, (1, []))
    if header > 1:
        look.format["skip_rows"] = header - 1
        look.guess(f"skip_rows: {header - 1}, the header is in row {header}", "", cells)
    return DEFAULT.model_copy(update=look.format)


def _encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _cut(lines: Sequence[str], mark: str) -> list[list[str]]:
    return [next(csv.reader([line], delimiter=mark), []) for line in lines]


def _rows_cut_at(lines: Sequence[str], mark: str) -> tuple[int, int]:
    """The number of rows that a delimiter cuts into equally many cells, and how many these are."""
    widths = Counter(width for cells in _cut(lines, mark) if (width := len(cells)) > 1)
    width, rows = widths.most_common(1)[0] if widths else (0, 0)
    return rows, width


# Layout and columns ------------------------------------------------------------------------------


def _laid_out(table: pd.DataFrame, look: _Look) -> pd.DataFrame | None:
    """The table with a row per entity and period; None where its columns must be asked for."""
    told, names = look.told, _names(table)
    heads = [name for name in names if _date_forms([name])]
    if told.layout == "wide-periods" or (told.layout is None and len(heads) > 2):
        return _of_periods(table, heads, look)
    period = _period(table, look)
    if period is None:
        return None
    days = table[period].agg("-".join, axis=1)
    numbers = [name for name in names if name not in period and _is_number(table[name])]
    alone = days.nunique() == len(days) and len(numbers) > 1
    if told.layout == "wide" or (told.layout is None and alone):
        return _of_entities(table, period, numbers, look)
    for name in names:
        totals = [it for it in table[name].unique() if folded(it) in _TOTALS]
        if totals and name not in period:
            look.drop[name] = totals
            look.guess(f"drop_where: {totals}, rows of totals", name, totals)
            table = table[~table[name].isin(totals)]
    return _of_rows(table, period, days, numbers, look)


def _of_periods(table: pd.DataFrame, heads: list[str], look: _Look) -> pd.DataFrame | None:
    """A row per entity, a column per period."""
    others = [name for name in _names(table) if name not in heads]
    capacity, entity = look.told.capacity, look.told.entity
    texts = [name for name in others if not _is_number(table[name])]
    entity = entity or next((it for it in texts if table[it].is_unique), None) or "".join(texts[:1])
    group = look.told.group or next(
        (it for it in texts if it != entity and 1 < table[it].nunique() <= len(table) / 2), None
    )
    if capacity is None:
        capacity = next((it for it in others if _CAPACITY.search(it)), "none")
    named = {"entity": entity, "group": group, "capacity": capacity if capacity != "none" else None}
    if not _known(table, look, **{key: name for key, name in named.items() if name}) or not entity:
        return None
    look.format["layout"] = "wide-periods"
    look.guess("layout: wide-periods, a column per period", "", heads)
    period, count = look.told.period or "period", look.told.count or "count"
    look.columns |= {key: name for key, name in named.items() if name}
    look.columns |= {"period": period, "count": count}
    for key, name in named.items():
        if name:
            look.guess(f"{key}: {name}", name, table[name])
    if rest := [it for it in others if it not in named.values()]:
        look.drop[period] = rest
        look.guess(f"left out: {', '.join(rest)}, no dates")
    totals = [it for it in table[entity] if folded(it) in _TOTALS]
    if totals:
        look.drop[entity] = totals
        look.guess(f"drop_where: {totals}, rows of totals", entity, totals)
    kept = [name for name in named.values() if name]
    return table[~table[entity].isin(totals)].melt(
        kept, heads, var_name=period, value_name=count, ignore_index=False
    )


def _of_entities(
    table: pd.DataFrame, period: list[str], numbers: list[str], look: _Look
) -> pd.DataFrame:
    """A row per period, a column per entity."""
    entity, count = look.told.entity or "entity", look.told.count or "count"
    look.format["layout"] = "wide"
    look.columns |= {"entity": entity, "period": _key(period), "count": count}
    look.guess(
        "layout: wide, a column per entity; name them with --entity and --count", "", numbers
    )
    rest = [it for it in _names(table) if it not in period and it not in numbers]
    if left_out := rest + [it for it in numbers if folded(it) in _TOTALS]:
        look.drop[entity] = left_out
        look.guess(f"left out: {', '.join(left_out)}, no counts of one {entity}")
    kept = [it for it in numbers if it not in left_out]
    return table.melt(period, kept, var_name=entity, value_name=count, ignore_index=False)


def _of_rows(
    table: pd.DataFrame, period: list[str], days: Texts, numbers: list[str], look: _Look
) -> pd.DataFrame | None:
    """A row per entity and period."""
    told, days = look.told, days[table.index]
    if not _known(table, look, entity=told.entity, count=told.count, group=told.group,
                  capacity=None if told.capacity == "none" else told.capacity):  # fmt: skip
        return None
    taken = {*period, told.count, told.capacity, told.group}
    entities = [
        name
        for name in _names(table)
        if name not in taken
        and 2 <= table[name].nunique() <= len(table) / 2
        and len(table[[name]].assign(day=days).drop_duplicates()) >= 0.8 * len(table)
    ]
    texts = [name for name in entities if name not in numbers]
    entity = told.entity or next(iter(texts or entities), None)
    if entity is None:
        look.asked.append(
            "--entity: no column alone tells the rows of a period apart; the table has"
            f" {_list(_names(table))}. If several do so together, sum the counts over all but one"
        )
        return None
    look.guess(f"entity: {entity}", entity, table[entity])
    others = [it for it in _names(table) if it not in (entity, *period) and it not in numbers]
    each = {it: table.groupby(entity)[it].nunique().max() for it in others}
    groups = [
        it
        for it in others
        if each[it] == 1 and 1 < table[it].nunique() <= table[entity].nunique() / 2
    ]
    group = told.group or (groups[0] if len(groups) == 1 else None)
    count, capacity = _measures(table, [it for it in numbers if it != entity], entity, look)
    if count is None:
        return None
    look.columns |= {"entity": entity, "period": _key(period), "count": count}
    look.guess(f"count: {count}", count, table[count])
    if capacity:
        look.columns["capacity"] = capacity
        look.guess(f"capacity: {capacity}", capacity, table[capacity])
    if group:
        look.columns["group"] = group
        look.guess(f"group: {group}", group, table[group])
    return table


def _measures(
    table: pd.DataFrame, numbers: list[str], entity: str, look: _Look
) -> tuple[str | None, str | None]:
    """The columns of counts and of capacities."""
    count, capacity = look.told.count, look.told.capacity
    free = [it for it in numbers if it not in (count, capacity)]
    if capacity is None:
        hinted = [it for it in free if _CAPACITY.search(it)]
        fixed = [it for it in free if table.groupby(entity)[it].nunique().max() == 1]
        likely = hinted or (fixed if len(free) > 1 or count else [])
        capacity = (
            likely[0] if len(likely) == 1 else None if len(free) > 1 - bool(count) else "none"
        )
    free = [it for it in free if it != capacity]
    if count is None and len(free) == 1:
        count = free[0]
    if count is None or (
        capacity is None and look.told.capacity is None and free and free != [count]
    ):
        key = "--count" + ("" if capacity else " and --capacity (or --capacity none)")
        look.asked.append(f"{key}: which of the columns {_list(numbers)}?")
        return None, None
    return count, None if capacity == "none" else capacity


def _period(table: pd.DataFrame, look: _Look) -> list[str] | None:
    """The column of dates, or those of year and month."""
    if told := look.told.period:
        return [told] if _known(table, look, period=told) else None
    dates = [it for it in _names(table) if _date_forms(table[it].unique().tolist())]
    if len(dates) == 1:
        return dates
    year = [
        it
        for it in _names(table)
        if _YEAR.search(it) and table[it].str.fullmatch("(19|20)..").all()
    ]
    month = [
        it
        for it in _names(table)
        if _MONTH.search(it) and table[it].str.fullmatch("1?[0-9]|0.").all()
    ]
    if not dates and len(year) == len(month) == 1:
        return year + month
    look.asked.append(
        f"--period: which of the columns {_list(dates or _names(table))} holds the dates?"
    )
    return None


def _known(table: pd.DataFrame, look: _Look, **named: str | None) -> bool:
    """Whether the columns that options name are there; those that are not are asked for."""
    for key, name in named.items():
        if name and name not in table:
            likely = did_you_mean(name, _names(table))
            look.asked.append(
                f"--{key} {name}: no such column{likely or f'; it has {_list(_names(table))}'}"
            )
    return not look.asked


def _key(period: list[str]) -> Any:
    return period[0] if len(period) == 1 else dict(zip(("year", "month"), period, strict=True))


def _names(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table]


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(shortened, names))


# Cells -------------------------------------------------------------------------------------------


def _is_number(column: Texts) -> bool:
    """Whether cells are numbers, but for empty ones and a few markers."""
    held = column[column != ""]
    match = held.str.fullmatch(_NUMBER)
    return bool(match.mean() >= 0.5 and held[~match].nunique() <= _MOST_MARKERS)


def _date_forms(texts: Iterable[str]) -> list[str]:
    """The formats in which most texts are dates; none if none has them."""
    held = [it for it in texts if it]
    found = {
        like: sum(date_of(it, DEFAULT.model_copy(update={"date": like})) is not None for it in held)
        for like in DATES
    }
    most = max(found.values())
    return [like for like, n in found.items() if n == most >= max(1, 0.9 * len(held))]


def _dates(rows: pd.DataFrame, typed: set[str], look: _Look) -> dict[str, int]:
    """The format of dates goes to the format; what is left is the step from period to period."""
    period, told = look.columns["period"], look.told
    if isinstance(period, dict):
        months = rows[[*period.values()]].agg("-".join, axis=1)
        forms, column, texts = ["YYYY-M"], ", ".join(period.values()), months.unique().tolist()
    else:
        column, texts = period, rows[period].unique().tolist()
        forms = [told.date] if told.date else _date_forms(texts)
    if len(forms) != 1:
        seen = ", ".join(map(repr, texts[:2]))
        asks = f"{seen} may be {' or '.join(forms)}" if forms else f"{seen} are no dates"
        look.asked.append(f"--date: {asks}")
        return {}
    if forms != [DEFAULT.date] and not isinstance(period, dict) and period not in typed:
        look.format["date"] = forms[0]
    look.guess(f"date: {forms[0]}", column, texts)
    form = DEFAULT.model_copy(update={"date": forms[0]})
    days = sorted({day for it in texts if (day := date_of(it, form))})
    if told.step:
        number, unit = told.step.split("-")
        return {unit: int(number)}
    monthly = forms[0] == "YYYY-M" or {it.day for it in days} == {1}
    places = [12 * it.year + it.month if monthly else it.toordinal() for it in days]
    gaps = Counter(np.diff(places).tolist())
    if not gaps:
        look.asked.append(f"--step: the table has one period, {days[0] if days else 'none'}")
        return {}
    unit, length = "months" if monthly else "days", gaps.most_common(1)[0][0]
    look.guess(f"step: {length} {unit}, the most frequent", column, map(str, days))
    return {unit: length}


def _signs(rows: pd.DataFrame, typed: set[str], look: _Look) -> dict[str, str]:
    """The decimal sign and that of thousands, where a point alone does not do."""
    named = [look.columns["count"], look.columns.get("capacity")]
    texts = {it: rows[it].drop_duplicates() for it in named if it and it not in typed}
    texts = {it: cells[cells.str.fullmatch(_NUMBER)] for it, cells in texts.items()}
    readings: dict[bytes, Mapping[str, str]] = {}
    for signs in _SIGNS:
        form = DEFAULT.model_copy(update=signs)
        if look.told.decimal and (form.decimal_sign != look.told.decimal or not signs):
            continue
        values = [numbers_of(cells, form.of_column(cells)) for cells in texts.values()]
        if not any(np.isnan(it).any() for it in values):
            if not signs:
                return {}
            readings.setdefault(b"".join(it.tobytes() for it in values), signs)
    telling = [it for cells in texts.values() for it in cells if not it.isdigit()]
    if len(readings) == 1:
        (signs,) = readings.values()
        look.guess(", ".join(f"{key}: {sign!r}" for key, sign in signs.items()), "", telling)
        return dict(signs)
    either = [it for it in telling if EITHER.fullmatch(it)]
    if readings and either:
        sign = "comma" if "," in either[0] else "point"
        look.asked.append(
            f"--decimal: the {sign} in {either[0]!r} may stand before decimals or between"
            " thousands; name the decimal sign, . or ,"
        )
    return {}


def _clean(rows: pd.DataFrame, form: Format, look: _Look) -> None:
    """The rules that the cells ask for; all entities play, since counts must not decide."""
    columns, rules = look.columns, look.cleaning
    rules["entities"] = "all"
    if look.drop:
        rules["drop_where"] = look.drop
    named = [columns["count"], columns.get("capacity")]
    texts = pd.concat([rows[it] for it in named if it])
    others = texts[~texts.str.fullmatch(_NUMBER)].unique()
    hidden = [it for it in texts.unique() if _SUPPRESSED.fullmatch(it)]
    if hidden:
        rules |= {"suppressed_markers": hidden, "suppressed_value": 2}
        look.guess(f"suppressed: {', '.join(hidden)}, read as 2")
    if missing := [
        it for it in others if it not in hidden and it not in Cleaning().missing_markers
    ]:
        rules["missing_markers"] = ["", *missing]
        look.guess(f"missing: {', '.join(repr(it) for it in missing)}")
    counts = rows[columns["count"]]
    counts = counts[counts.str.fullmatch(_NUMBER) & ~counts.isin(hidden)]
    below = counts[numbers_of(counts, form.of_column(counts)) < 0]
    if len(below):
        rules["negative_counts"] = "missing"
        look.guess("negative counts are missing", columns["count"], below)
    times = rows[columns["entity"]].value_counts()
    alike = times.groupby(times.index.map(folded), sort=False)
    spelled = {other: same.index[0] for _, same in alike for other in same.index[1:]}
    if spelled:
        rules["identifiers"] = spelled
        look.guess(
            "spellings of one entity", columns["entity"], [f"{a} = {b}" for a, b in spelled.items()]
        )


def _bounds(rows: pd.DataFrame, typed: set[str], form: Format, look: _Look) -> dict[str, Any]:
    """The question: a share, a count per capacity, or a count; the last two need a public bound."""
    columns, at_most = look.columns, look.told.at_most
    values = {}
    for key in ("count", "capacity"):
        if name := columns.get(key):
            held = rows[name].where(rows[name].str.fullmatch(_NUMBER), "")
            values[key] = numbers_of(held, PLAIN if name in typed else form.of_column(held))
    public = "name a public one; one that comes from the counts would tell of them"
    if "capacity" not in values:
        if at_most is None:
            what = f"no capacities, so {columns['count']} needs a bound"
            look.asked.append(f"--at-most: the table has {what}; {public}")
        return {"of": "count", "bound": at_most}
    above = values["count"] > values["capacity"]
    if at_most is None and above[values["capacity"] > 0].mean() > 0.01:
        count, capacity = rows.loc[above, [columns["count"], columns["capacity"]]].iloc[0]
        rate = Columns.model_validate(columns).rate
        look.asked.append(
            f"--at-most: {columns['count']} may exceed {columns['capacity']} ({count!r} of"
            f" {capacity!r}), so {rate} needs a bound; {public}"
        )
    return {"at_most": at_most} if at_most else {}
