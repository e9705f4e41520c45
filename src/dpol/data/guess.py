"""Guessing the format of a table of counts, and what its columns hold.

Each guess is shown with two cells that led to it. Options for what the table does not show are
asked for, all at once. A bound on counts is always asked for: one taken from the counts would
reveal them.
"""

from __future__ import annotations

import csv
import datetime
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
from dpol.core.randomness import Floats
from dpol.core.words import shortened
from dpol.data.bad_cells import Texts
from dpol.data.excel import BadWorkbookError, read_sheet
from dpol.data.parse import parse_date, parse_numbers, without_time
from dpol.data.raw_table import refuse_unnamed
from dpol.data.settings import Cleaning, Columns
from dpol.data.several_rows import are_corrections
from dpol.data.stream import largest_change
from dpol.data.table_files import MOST_TITLES, open_table, read_table_file
from dpol.data.table_format import DATES, DEFAULT, EITHER, FORMATS, MONTHS, PLAIN, YEARS, Format

LINES = 500
"""Number of lines of a file that decide its format."""
MOST_MARKERS = 5
"""A column of numbers has at most this number of distinct other texts."""
LEAST_NUMBERS = 0.2
"""At least this share of the cells of such a column are numbers."""
MOST_CLIPPED = 0.01
"""A bound is asked for if more than this share of the counts exceeds the capacity."""
_NUMBER = re.compile(r"[+-]?(?=.*[0-9])[0-9.,'\u2019\u00a0\u202f\s]+(?:[eE][+-]?[0-9]+)?")
_SUPPRESSED = re.compile(r"[<≤]\s*[0-9]+|\*+|-999999(\.0)?")
_SIGNS: tuple[Mapping[str, str], ...] = (
    {}, {"decimal": "."}, {"decimal": ","}, {"thousands": ","}, {"thousands": "."},
    {"thousands": " "}, {"decimal": ",", "thousands": " "}, {"thousands": "'"},
)  # fmt: skip
_DAY, _TIME = "\0day", "\0time"
"""Names that no column has."""
_DATES: dict[str, Format] = {like: DEFAULT.model_copy(update={"date": like}) for like in DATES}
_TOTALS = {
    "total", "totals", "grandtotal", "overall", "all", "sum", "summe", "gesamt", "insgesamt",
    "alle", "ensemble", "totale", "somme", "suma",
}  # fmt: skip
_CAPACITY = re.compile(
    "bed|bett|place|pl[aä]e?tze|seat|sitz|chair|st[uü]e?hle|capacit|kapazit|popul|inhabit|einwohn"
    "|resident|people|pupil|slot|plazas|camas|lits|posti|habit",
    re.IGNORECASE,
)
_IDENTIFIES = {"id", "pk", "name", "nr", "no", "number", "code", "key"}
"""Last words of a column's name that are no word for what it holds."""
_YEAR, _MONTH = (re.compile(words, re.IGNORECASE) for words in ("year|jahr|ann|año", "mon|mes"))


@dataclass(kw_only=True)
class Look:
    """What the owner of a table says about it, and what dpol has guessed so far.

    Args:
        file: path of the table.
        told: the owner's options, by name.
        format: the block `dataset.format` of the config.
        columns: the block `dataset.columns`.
        periods: the block `dataset.periods`.
        cleaning: the block `dataset.cleaning`.
        gain: the block `gain`.
        count_sensitivity: the key of `privacy`: how far one person can change a cleaned count.
        groups: the groups in the table; `all` if no column holds groups.
        alone: the groups of one entity, which make no stream.
        guesses: the guesses, a line each.
        asked: the missing options, a line each.
        typed: names of the columns that hold numbers or dates as such.
        unsure: the keys of `dataset.columns` that are asked for.
        numbers: the columns of numbers, if the columns of counts or capacities are asked for.
        several: whether many entities have several rows in a period.
    """

    file: Path
    told: Mapping[str, Any]
    format: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    periods: dict[str, int] = field(default_factory=dict)
    cleaning: dict[str, Any] = field(default_factory=dict)
    gain: dict[str, Any] = field(default_factory=dict)
    count_sensitivity: float = 1
    groups: list[str] = field(default_factory=lambda: ["all"])
    alone: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    typed: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    numbers: list[str] = field(default_factory=list)
    several: bool = False

    @property
    def dated(self) -> list[str]:
        """The columns that name the period."""
        period = self.columns["period"]
        return [*period.values()] if isinstance(period, dict) else [period]

    def guess(self, what: str, cells: Iterable[str] = (), column: str = "") -> None:
        """Note a guess, with the first two distinct cells that led to it."""
        two = ", ".join(repr(shortened(cell)) for cell in itertools.islice(dict.fromkeys(cells), 2))
        place = f"column {column}: " if column else ""
        self.guesses.append(f"{what} ({place}{two})" if two else what)

    def name(self, table: pd.DataFrame, **columns: str | None) -> None:
        """Note the name of the column that each key of `dataset.columns` names."""
        for key, name in columns.items():
            if name:
                self.columns[key] = name
                self.guess(f"{key}: {name}", table[name], name)

    def leave_out(self, column: str, texts: list[str], why: str) -> None:
        """Leave out the rows that hold one of some texts in a column, and note why."""
        if texts:
            self.cleaning.setdefault("drop_where", {})[column] = texts
            self.guess(f"left out in {column}: {', '.join(texts)}, {why}")

    def knows(self, names: Sequence[str], *options: str) -> bool:
        """Return whether the table has the columns that options name; ask for the others."""
        known = len(self.asked)
        for key in options:
            name = self.told.get(key)
            if name not in (None, "none", *names):
                likely = did_you_mean(name, names) or f"; the table has {_list(names)}"
                self.asked.append(f"--{key} {name}: no such column{likely}")
            elif name and (
                same := [one for one in options if one != key and self.told.get(one) == name]
            ):
                self.asked.append(f"--{key} and --{same[0]}: name two different columns")
        return len(self.asked) == known

    def may_add(self, table: pd.DataFrame, **words: str) -> bool:
        """Return whether words can name new columns; ask for other words if not.

        Raises:
            DataError: a column of the table has no name, so its entity or period is unknown.
        """
        known = len(self.asked)
        refuse_unnamed(self.file, _names(table))
        for key, word in words.items():
            if word in table or [*words.values()].count(word) > 1:
                self.asked.append(f"--{key}: choose a name that no column has, other than {word}")
        return len(self.asked) == known


def look_at(path: Path, told: Mapping[str, Any]) -> Look:
    """Guess the format and columns of a table of counts.

    Args:
        path: path of the table.
        told: the owner's options: `layout`, `entity`, `period`, `count`, `capacity` (`none` for no
            column), `group`, `step` (7-days), `date`, `each_day` (how several rows become one),
            `decimal`, `encoding`, `sheet`, `at_most`, `per_person`.

    Raises:
        DataError: the table cannot be read, or options are missing; the text lists them all.
    """
    look = Look(file=path, told=told)
    try:
        form = _written(path, look)
    except (EOFError, OSError, zlib.error, BadWorkbookError):
        form = DEFAULT  # reading with it says what is wrong
    plain = read_table_file(path, None, form)
    look.typed |= {*plain.typed}
    table = pd.DataFrame(plain.rows, plain.lines, plain.header, dtype=str)
    table = table.apply(lambda column: column.str.strip()).drop_duplicates()
    rows = _laid_out(table[~(table == [name.strip() for name in table]).all(axis=1)], look)
    if rows is not None and rows.empty:
        look.asked.append("--layout: no counts are left; is the table long, wide or wide-periods?")
    elif rows is not None:
        _dates(rows, look)
        forms = [form.model_copy(update={**look.format, **signs}) for signs in _signs(rows, look)]
        if not look.unsure & {"entity", "period", "count"}:
            _several_rows(rows, look)
            _rules(rows, forms[0], look)
            _groups(rows, look)
        if not look.unsure & {"count", "capacity"}:
            _bounds(rows, forms, look)
            _title(look)
    if look.asked:
        lines = "".join(f"\n  {question}" for question in look.asked)
        raise DataError(f"{path}: some options cannot be guessed. Add to the command:{lines}")
    return look


# The file ----------------------------------------------------------------------------------------


def _written(path: Path, look: Look) -> Format:
    """Return the format that the file shows: encoding, delimiter, sheet, rows above the header."""
    if path.suffix == ".parquet":
        return DEFAULT
    if path.suffix == ".xlsx":
        look.format |= {"sheet": look.told["sheet"]} if "sheet" in look.told else {}
        try:
            sheet = read_sheet(path, DEFAULT.model_copy(update=look.format), "dataset.format")
        except DataError as error:
            raise DataError(str(error).replace("dataset.format.sheet", "--sheet")) from None
        first = [(number, row.texts) for number, row in sheet[:LINES]]
    else:
        with open_table(path) as file:
            data = file.read()
        encoding = look.told.get("encoding") or _encoding(data)
        text = data.decode(encoding.replace("utf-8", "utf-8-sig"), "replace")
        if encoding != "utf-8":
            look.format["encoding"] = encoding
            look.guess(f"encoding: {encoding}", re.findall(r"\w*[^\x00-\x7f]\w*", text))
        lines = [*itertools.islice(io.StringIO(text, ""), LINES)]
        mark = max(",;\t|", key=lambda mark: _alike(_cut(lines, mark)))
        if mark != ",":
            look.format["delimiter"] = mark
            look.guess(f"delimiter: {mark!r}", map(str.rstrip, lines[-2:]))
        first = [*enumerate(_cut(lines, mark), start=1)]
    filled = [(number, sum(map(bool, cells))) for number, cells in first]
    widest = max((width for _, width in filled), default=0)
    header = next((number for number, width in filled if width >= max(2, widest - 1)), 1)
    if 1 < header <= MOST_TITLES:
        look.format["skip_rows"] = header - 1
        look.guess(f"skip_rows: {header - 1}, above the header", dict(first)[header])
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


def _alike(rows: Sequence[list[str]]) -> tuple[int, int]:
    """Return the largest number of rows that have the same number of cells, and that number."""
    widths = Counter(len(cells) for cells in rows if len(cells) > 1)
    return max(((n, width) for width, n in widths.items()), default=(0, 0))


# Layout and columns ------------------------------------------------------------------------------


def _laid_out(table: pd.DataFrame, look: Look) -> pd.DataFrame | None:
    """Return the table with a row per entity and period; None if options for it are missing."""
    layout, names = look.told.get("layout"), _names(table)
    heads = [name for name in names if _date_forms([name])]
    if layout is None and all(_date_forms([name]) == [YEARS] for name in heads):
        # Beside a column of dates they are numbers of entities.
        heads = [] if any({*_date_forms([*table[name]])} - {YEARS} for name in names) else heads
    if layout == "wide-periods" or (layout is None and len(heads) > 2):
        return _of_periods(table, heads, look)
    if (period := _period(table, look)) is None:
        return None
    days = table[period].agg("-".join, axis=1)
    numbers = [name for name in names if name not in period and _is_number(table[name])]
    look.columns["period"] = dict(zip(("year", "month"), period, strict=False))
    if len(period) == 1:
        look.columns["period"] = period[0]
    if layout == "wide" or (layout is None and days.is_unique and len(numbers) > 1):
        return _of_entities(table, period, numbers, look)
    return _of_rows(table, days, numbers, look)


def _of_periods(table: pd.DataFrame, heads: list[str], look: Look) -> pd.DataFrame | None:
    """Convert from a row per entity and a column per period."""
    others = [name for name in _names(table) if name not in heads]
    if not look.knows(others, "entity", "group", "capacity"):
        return None
    free = [name for name in others if name not in look.told.values()]
    texts = [name for name in free if not _is_number(table[name])]
    unique = [name for name in texts if table[name].is_unique]
    entity = look.told.get("entity") or next(iter(unique), None)
    period, count = look.told.get("period", "period"), look.told.get("count", "count")
    if not look.may_add(table, period=period, count=count):
        return None
    if entity is None:
        look.asked.append(f"--entity: which of the columns {_list(others)} names the rows?")
        return None
    hinted = [name for name in free if _CAPACITY.search(name)]
    capacity = look.told.get("capacity") or next(iter(hinted), "")
    capacity = None if capacity in ("none", entity) else capacity
    groups = [name for name in texts if 1 < table[name].nunique() <= len(table) / 2]
    group = look.told.get("group") or next((name for name in groups if name != entity), None)
    look.format["layout"] = "wide-periods"
    look.guess("layout: wide-periods; name the counts with --count", heads)
    look.name(table, entity=entity, capacity=capacity, group=group)
    look.columns |= {"period": period, "count": count}
    kept = [name for name in (entity, capacity, group) if name]
    look.leave_out(period, [name for name in others if name not in kept], "no dates")
    table = _without_totals(table, [entity], look)
    return table.melt(kept, heads, period, count, ignore_index=False)


def _of_entities(
    table: pd.DataFrame, period: list[str], numbers: list[str], look: Look
) -> pd.DataFrame | None:
    """Convert from a row per period and a column per entity."""
    entity, count = look.told.get("entity", "entity"), look.told.get("count", "count")
    if not look.may_add(table, entity=entity, count=count):
        return None
    look.format["layout"] = "wide"
    look.guess("layout: wide; name entities and counts with --entity and --count", numbers)
    look.columns |= {"entity": entity, "count": count}
    entities = [name for name in numbers if folded(name) not in _TOTALS]
    others = [name for name in _names(table) if name not in (*period, *entities)]
    look.leave_out(entity, others, f"no counts of one {entity}")
    look.typed |= {count} if look.typed.issuperset(entities) else set()
    return table.melt(period, entities, entity, count, ignore_index=False)


def _of_rows(
    table: pd.DataFrame, days: Texts, numbers: list[str], look: Look
) -> pd.DataFrame | None:
    """Take the table as it is, with a row per entity and period, and note its columns."""
    if not look.knows(_names(table), "entity", "count", "group", "capacity"):
        return None
    dated = look.dated
    free = [name for name in _names(table) if name.strip() not in (*dated, *look.told.values(), "")]
    table = _without_totals(table, [name for name in free if name not in numbers], look)
    pairs = {name: table.assign(day=days)[[name, "day"]].drop_duplicates() for name in free}
    several = {name for name in free if 2 <= table[name].nunique() <= len(table) / 2}
    telling = [name for name in free if name in several and len(pairs[name]) >= 0.8 * len(table)]
    telling.sort(key=lambda name: name in numbers)
    entity = look.told.get("entity") or next(iter(telling), None)
    group, fixed = look.told.get("group"), list[str]()
    if entity is None:
        look.unsure.add("entity")
        look.asked.append(
            "--entity: no column alone tells the rows of a period apart; the table has"
            f" {_list(_names(table))}. If it takes several, name the one that plays, and add"
            " --each-day sum, mean or max to merge its rows"
        )
    else:
        of_one = table.groupby(entity)
        fixed = [
            name for name in _names(table) if name != entity and of_one[name].nunique().max() == 1
        ]
        most = table[entity].nunique() / 2
        groups = [
            name for name in fixed if name in several - {*numbers} and table[name].nunique() <= most
        ]
        group = group or (groups[0] if len(groups) == 1 else None)
    look.numbers = [name for name in numbers if name not in (entity, "")]
    count, capacity = _measures(look.numbers, fixed, look)
    look.name(table, entity=entity, count=count, capacity=capacity, group=group)
    return table


def _measures(numbers: list[str], fixed: list[str], look: Look) -> tuple[str, str | None]:
    """Return the columns of counts and capacities; columns in `fixed` are constant per entity."""
    count, capacity = look.told.get("count"), look.told.get("capacity")
    free = [name for name in numbers if name not in (count, capacity)]
    if capacity is None:
        hinted = [name for name in free if _CAPACITY.search(name)]
        fixed = [name for name in free if name in fixed]
        if len(free) + bool(count) == 1:
            capacity = "none"
        elif len(likely := hinted or fixed) == 1:
            capacity = likely[0]
    free = [name for name in free if name != capacity]
    if count is None and len(free) == 1:
        (count,) = free
    if count is None or capacity is None:
        both = {"count": count, "capacity": capacity}
        unsure = [key for key, name in both.items() if name is None]
        look.unsure |= {*unsure}
        none = (
            " --capacity none if there are no capacities; then also --at-most N, a public bound on"
            " counts"
        )
        look.asked.append(
            f"{' and '.join(f'--{key}' for key in unsure)}: which of the columns {_list(numbers)}?"
            f"{none if capacity is None else ''}"
        )
    return count or "", None if capacity == "none" else capacity


def _period(table: pd.DataFrame, look: Look) -> list[str] | None:
    """Return the column of dates, or the columns of year and month."""
    names, told = _names(table), look.told.get("period")
    if told is not None:
        return [told] if look.knows(names, "period") else None
    forms = {name: _date_forms(table[name].unique().tolist()) for name in names}
    # Any number from 1900 to 2100 may be a year.
    dates = [name for name in names if {*forms[name]} - {YEARS}]
    year = [name for name in names if _YEAR.search(name)]
    year = [name for name in year if table[name].str.fullmatch("(19|20)..").all()]
    month = [name for name in names if _MONTH.search(name)]
    month = [name for name in month if table[name].str.fullmatch("[01]?[0-9]").all()]
    if len(dates) == 1:
        return dates
    if not dates and len(year) == 1 and len(month) < 2:
        return year + month
    look.unsure.add("period")
    dates = dates or [name for name in names if forms[name]]
    question = f"--period: which of the columns {_list(dates or names)} holds the dates?"
    if dates:
        look.asked.append(question)
        return dates[:1]  # what else is missing seldom depends on it
    first = f"; the first row is {_list(map(repr, table.iloc[0]))}" if len(table) else ""
    look.asked.append(f"{question} None has a format that dpol reads: {FORMATS}{first}")
    return None


def _without_totals(table: pd.DataFrame, columns: Iterable[str], look: Look) -> pd.DataFrame:
    for name in columns:
        totals = [text for text in table[name].unique() if folded(text) in _TOTALS]
        look.leave_out(name, totals, "totals of other rows")
        table = table[~table[name].isin(totals)]
    return table


def _names(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table]


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(shortened, names))


# Cells -------------------------------------------------------------------------------------------


def _is_number(column: Texts) -> bool:
    """Return whether the cells are numbers, except for empty cells and a few markers."""
    held = column[column != ""]
    match = held.str.fullmatch(_NUMBER)
    return bool(match.mean() >= LEAST_NUMBERS and held[~match].nunique() <= MOST_MARKERS)


def _date_forms(texts: Sequence[str]) -> list[str]:
    """Return the formats in which most texts are dates; none if no format fits nine in ten."""
    held = [text for text in texts if text]
    first = held[:50]
    likely = [
        like for like, form in _DATES.items() if any(parse_date(text, form) for text in first)
    ]
    dated = {like: sum(bool(parse_date(text, _DATES[like])) for text in held) for like in likely}
    most = max(dated.values(), default=0)
    return [like for like, n in dated.items() if n == most >= 0.9 * len(held)]


def _dates(rows: pd.DataFrame, look: Look) -> None:
    """Guess the format of dates, and the step from period to period."""
    names, told = look.dated, look.told
    texts = _period_texts(rows, look).unique().tolist()
    forms = [told["date"]] if "date" in told else _date_forms(texts)
    forms = ["YYYY-M"] if len(names) > 1 else forms
    two = ", ".join(map(repr, texts[:2]))
    if len(forms) != 1:
        may_be = f"may be {' or '.join(forms)}"
        none = f"have none of the formats that dpol reads: {FORMATS}"
        look.asked.append(f"--date: {two} {may_be if forms else none}")
        return
    if "date" not in told and len(names) == 1 and all(map(_two_years, texts)):
        look.asked.append(
            f"--date: {two} may be months or years that begin in one year and end in the next; if"
            " they are months, give YYYY-M, or else write the first year"
        )
        return
    if forms != [DEFAULT.date] and len(names) == 1:
        look.format["date"] = forms[0]
    look.guess(f"date: {forms[0]}", texts, ", ".join(names))
    days = sorted({day for text in texts if (day := parse_date(text, _DATES[forms[0]]))})
    ends = all((day + datetime.timedelta(days=1)).day == 1 for day in days)
    monthly = forms[0] in MONTHS or {day.day for day in days} == {1} or ends
    gaps = Counter(np.diff([12 * d.year + d.month if monthly else d.toordinal() for d in days]))
    if "step" in told:
        number, unit = told["step"].split("-")
        look.periods = {unit: int(number)}
    elif gaps:
        unit, length = "months" if monthly else "days", int(gaps.most_common(1)[0][0])
        look.periods = {unit: length}
        last = "; each date is the last day of its period" if ends else ""
        look.guess(f"step: {length}-{unit}, the most frequent{last}", map(str, days))
    else:
        look.asked.append(f"--date: the table has one period only, {two}; is that its format?")


def _period_texts(rows: pd.DataFrame, look: Look) -> Texts:
    """Return the text that names the period of each row."""
    return rows[look.dated].agg("-".join, axis=1)


def _two_years(text: str) -> bool:
    """Return whether a text such as 2011-12 may be a month, or a year that ends in the next."""
    match = re.fullmatch("[0-9]{2}([0-9]{2})-([0-9]{2})", text)
    return match is not None and (int(match[1]) + 1) % 100 == int(match[2])


def _signs(rows: pd.DataFrame, look: Look) -> list[Mapping[str, str]]:
    """Guess the decimal sign and the thousands separator, if a decimal point does not fit.

    Returns:
        The keys of the format that the numbers may have: one block, or several if dpol must ask.
    """
    named: Sequence[str | None] = [look.columns.get("count"), look.columns.get("capacity")]
    if look.unsure & {"count", "capacity"}:
        named = look.numbers
    texts = [rows[name].drop_duplicates() for name in named if name and name not in look.typed]
    texts = [cells[cells.str.fullmatch(_NUMBER)] for cells in texts]
    readings: dict[bytes, Mapping[str, str]] = {}
    for signs in _SIGNS:
        form = DEFAULT.model_copy(update=signs)
        if "decimal" in look.told and (form.decimal_sign != look.told["decimal"] or not signs):
            continue
        values = [parse_numbers(cells, form.of_column(cells)) for cells in texts]
        if not any(np.isnan(column).any() for column in values):
            if not signs:
                return [{}]
            readings.setdefault(b"".join(column.tobytes() for column in values), signs)
    telling = [text for cells in texts for text in cells if not text.isdigit()]
    if len(readings) == 1:
        (signs,) = readings.values()
        look.format |= signs
        look.guess(", ".join(f"{key}: {sign!r}" for key, sign in signs.items()), telling)
    elif either := [text for text in telling if readings and EITHER.fullmatch(text)]:
        look.asked.append(
            f"--decimal: the {'comma' if ',' in either[0] else 'point'} in {either[0]!r} may"
            " separate decimals or thousands; give the decimal sign, . or ,"
        )
    return [*readings.values()] or [{}]


def _several_rows(rows: pd.DataFrame, look: Look) -> None:
    """Ask how the rows of an entity and period become one, if many have several rows."""
    entity, told = look.columns["entity"], look.told.get("each_day")
    texts = _period_texts(rows, look)
    parts = {text: without_time(text) for text in texts.unique()}
    measured = [name for key in ("count", "capacity") if (name := look.columns.get(key))]
    each = rows[[entity, *measured]].assign(
        **{_DAY: texts.map(lambda text: parts[text][0]), _TIME: texts.map(lambda t: parts[t][1])}
    )
    sizes = each.drop_duplicates().groupby([entity, _DAY]).size()
    look.several = not are_corrections(sizes, Cleaning().max_merged)
    if not look.several:
        if told:
            look.asked.append(f"--each-day: each {entity} has one row in a period; leave it out")
        return
    lines = each.groupby([entity, _DAY]).size()
    usual, timed = int(lines[lines > 1].mode().iloc[0]), bool(each[_TIME].any())
    number = f"{usual} rows for each" if (lines == usual).all() else f"mostly {usual} rows for one"
    what = f"{number} {entity} and {'day' if timed else 'period'}"
    if told and (timed or told != "last"):
        look.cleaning |= {"several_rows": told, "max_merged": 1}
        look.guess(f"several_rows: {told} of {what}", texts, ", ".join(look.dated))
        return
    two = ", ".join(map(repr, texts.unique()[:2]))
    hourly = f": hourly ({two}). dpol plays days at the finest" if usual == 24 and timed else ""
    hourly = hourly or f" ({two})"
    ways = "sum, mean, max or last" if timed else "sum, mean or max"
    look.asked.append(
        f"--each-day: the table has {what}{hourly}; give {ways} to make one row of them. With sum"
        " also --per-person N: in how many of these rows one person may be counted"
    )


def _groups(rows: pd.DataFrame, look: Look) -> None:
    """Note the groups, and those of a single entity."""
    group, capacity = look.columns.get("group"), look.columns.get("capacity")
    if group is None:
        return
    look.groups = sorted({*rows[group]} - {""})
    held = rows[~rows[capacity].isin(["", "0"])] if capacity else rows
    entity = held[look.columns["entity"]].replace(look.cleaning.get("identifiers", {}))
    sizes = entity.groupby(held[group]).nunique()
    look.alone = [name for name in look.groups if sizes.get(name, 0) < 2]
    if look.alone and len(look.alone) < len(look.groups):
        look.guess(f"no stream for groups of one {look.columns['entity']}: {_list(look.alone)}")


def _title(look: Look) -> None:
    """Name columns in plain words, for the pages, if their own names are none."""
    columns = Columns.model_validate(look.columns)
    titles: dict[str, str] = {}
    for key in ("entity", "count", "capacity"):
        if (name := look.columns.get(key)) and columns.called(key) != in_words(name):
            titles[key] = in_words(name)
    if titles:
        look.columns["titles"] = titles


def in_words(name: str) -> str:
    """Return the name of a column as words of a sentence.

    >>> in_words("station_name"), in_words("bikesOut"), in_words("ICU beds"), in_words("id")
    ('station', 'bikes out', 'ICU beds', 'id')
    """
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", name))
    words = [word if word.isupper() and len(word) < 5 else word.lower() for word in words]
    if len(words) > 1 and words[-1].lower() in _IDENTIFIES:
        words = words[:-1]
    return " ".join(words) or name


def _rules(rows: pd.DataFrame, form: Format, look: Look) -> None:
    """Guess the rules of cleaning; all entities play, since private counts must not decide."""
    entity, count, rules = look.columns["entity"], look.columns["count"], look.cleaning
    rules["entities"] = "all"
    texts = pd.concat([rows[name] for name in (count, look.columns.get("capacity")) if name])
    hidden = [text for text in texts.unique() if _SUPPRESSED.fullmatch(text)]
    if hidden:
        below = re.search("([<≤]) *([0-9]+)", hidden[0])  # <5 is 1 to 4
        value = int(below[2]) // 2 if below else Cleaning().suppressed_value
        rules |= {"suppressed_markers": hidden, "suppressed_value": value}
        look.guess(f"suppressed, read as {value:g}", hidden)
    known = {*Cleaning().missing_markers, *hidden}
    others = texts[~texts.str.fullmatch(_NUMBER)].unique()
    if missing := [text for text in others if text not in known]:
        rules["missing_markers"] = ["", *missing]
        look.guess("missing", missing)
    counts = rows[count][rows[count].str.fullmatch(_NUMBER) & ~rows[count].isin(hidden)]
    numbers = parse_numbers(counts, form.of_column(counts))
    person = look.count_sensitivity = look.told.get("per_person", 1)
    if rules.get("several_rows") == "sum" and "per_person" not in look.told:
        look.asked.append(
            "--per-person: the rows of a day are summed; in how many of them may one person be"
            " counted? 1 for an arrival, up to all for a presence"
        )
    if rows[count].isin(hidden).any():
        published = numbers[numbers > value]
        least = int(below[2]) + (below[1] == "≤") if below else min(published, default=value)
        step = 1 if (published == np.rint(published)).all() else 0
        times = person if rules.get("several_rows") == "sum" else 1
        once = person / times
        change = times * largest_change(once, read_as=value, least=least, step=step)
        look.count_sensitivity = int(change) if change == int(change) else change
        look.guess(f"with suppressed counts one person changes a count by up to {change:g}")
    negative = counts[numbers < 0]
    if len(negative):
        rules["negative_counts"] = "missing"
        look.guess("negative counts are missing", negative, count)
    times = rows[entity].value_counts()
    alike = [[*same.index] for _, same in times.groupby(times.index.map(folded), sort=False)]
    if spelled := {other: most for most, *others in alike for other in others}:
        rules["identifiers"] = spelled
        look.guess("one entity", [f"{one} = {whole}" for one, whole in spelled.items()], entity)


def _bounds(rows: pd.DataFrame, forms: Sequence[Format], look: Look) -> None:
    """Choose the question: a share, or a count (per capacity), which needs a public bound.

    Args:
        rows: a row per entity and period.
        forms: the formats that the numbers may have.
        look: what is known of the table.
    """
    count, capacity, at_most = look.columns["count"], look.columns.get("capacity"), None
    if "at_most" in look.told:
        at_most = look.told["at_most"]
        look.gain = {"at_most": at_most} if capacity else {"of": "count", "bound": at_most}
        return
    public = "give a public number; one taken from the counts would reveal them"
    if capacity is None:
        look.asked.append(
            f"--at-most: without capacities, {count} needs a bound, above which counts are clipped;"
            f" {public}"
        )
        return
    summed = look.cleaning.get("several_rows") == "sum"
    if _asked_above(rows, forms, look, public, summed=summed) or not look.several:
        return
    if "each_day" not in look.told:
        _asked_above(rows, forms, look, public, summed=True)


def _asked_above(
    rows: pd.DataFrame, forms: Sequence[Format], look: Look, public: str, *, summed: bool
) -> bool:
    """Ask for a bound if counts may exceed capacities, and return whether that is so.

    Args:
        rows: a row per entity and period.
        forms: the formats that the numbers may have.
        look: what is known of the table.
        public: what a bound must be.
        summed: whether the counts of an entity and period are summed.
    """
    count, capacity = look.columns["count"], look.columns["capacity"]
    numbers = {form: _numbers(rows, form, look, summed=summed) for form in forms}
    above = {form: (more > less) & (less > 0) for form, (more, less) in numbers.items()}
    exceeding = [form for form in forms if above[form].mean() > MOST_CLIPPED]
    if not exceeding:
        return False
    place = int(np.flatnonzero(above[exceeding[0]])[0])
    more, less = (repr(rows[name].iloc[place]) for name in (count, capacity))
    if summed:
        more, less = (f"{column[place]:g}" for column in numbers[exceeding[0]])
    conditions = [f"--decimal {exceeding[0].decimal_sign}"] if len(exceeding) < len(forms) else []
    conditions += ["--each-day sum"] if summed and "each_day" not in look.told else []
    when = f"with {' and '.join(conditions)} " if conditions else ""
    rate = Columns.model_validate(look.columns).rate
    look.asked.append(
        f"--at-most: {when}{count} may exceed {capacity} ({more} of {less}), so {rate} needs a"
        f" bound, above which it is clipped; {public}"
    )
    return True


def _numbers(
    rows: pd.DataFrame, form: Format, look: Look, *, summed: bool
) -> tuple[Floats, Floats]:
    """Return counts and capacities; NaN for other texts."""
    held = [
        rows[name].where(rows[name].str.fullmatch(_NUMBER), "")
        for name in (look.columns["count"], look.columns["capacity"])
    ]
    numbers, wholes = (
        parse_numbers(cells, PLAIN if cells.name in look.typed else form.of_column(cells))
        for cells in held
    )
    if summed:
        days = _period_texts(rows, look).map(lambda text: without_time(text)[0])
        by_day = pd.Series(numbers, rows.index).groupby([rows[look.columns["entity"]], days])
        numbers = by_day.transform("sum").to_numpy()
    return numbers, wholes
