"""Guessing the format of a table of counts, and what its columns hold.

Each guess is shown with two cells that led to it. Options for what the table does not show are
asked for, all at once. A bound on counts is always asked for: one taken from the counts would
reveal them.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol.core.near import did_you_mean
from dpol.core.words import shortened
from dpol.data.bad_cells import Texts
from dpol.data.parse import date_formats, parse_dates, parse_numbers, without_time
from dpol.data.raw_table import (
    LONGEST_CELL,
    MOST_TITLES,
    UTF_16,
    open_bytes,
    read_table,
    refuse_unnamed,
    sheet_cells,
)
from dpol.data.settings import Cleaning, Columns
from dpol.data.several_rows import are_corrections
from dpol.data.stream import largest_change
from dpol.data.table_format import DEFAULT, EITHER, FORMATS, MONTHS, PLAIN, YEARS, Dates, Format

LINES = 500
"""Number of lines of a file that decide its format."""
LEAST_NUMBERS, MOST_MARKERS = 0.2, 5
"""The distinct cells of a column of numbers: the least share of numbers, and most other texts."""
LEAST_DATES = 0.9
"""At least this share of the cells of a column of dates are dates."""
_NUMBER = re.compile(r"[+-]?(?=.*[0-9])[0-9.,'\u2019\u00a0\u202f\s]+(?:[eE][+-]?[0-9]+)?")
_SUPPRESSED = re.compile(r"[<≤]\s*[0-9]+|\*+|-999999(\.0)?")
_SIGNS: tuple[Mapping[str, str], ...] = (
    {}, {"decimal": "."}, {"decimal": ","}, {"thousands": ","}, {"thousands": "."},
    {"thousands": " "}, {"decimal": ",", "thousands": " "}, {"thousands": "'"},
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
_IDENTIFIES = {"id", "pk", "nr", "no", "number", "code", "key", "nummer", "kennung", "ik", "ccn"}
"""Last words of the name of a column of identifiers."""
_YEAR, _MONTH = (re.compile(words, re.IGNORECASE) for words in ("year|jahr|ann|año", "mon|mes"))


@dataclass(kw_only=True)
class Look:
    """What the owner of a table says about it, and what dpol has guessed so far.

    Args:
        file: path of the table.
        told: the owner's options, by name.
        format: the block `dataset.format` of the config.
        columns: the block `dataset.columns`; an empty text stands for a column that is asked for.
        periods: the block `dataset.periods`.
        cleaning: the block `dataset.cleaning`.
        gain: the block `gain`.
        count_sensitivity: the key of `privacy`: how far one person can change a cleaned count.
        groups: the number of entities in each group; `all` if no column holds groups.
        dated: the columns that name the period.
        typed: the columns that hold numbers or dates as such.
        guesses: the guesses, a line each.
        asked: the missing options, a line each.
    """

    file: Path
    told: Mapping[str, Any]
    format: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    periods: dict[str, int] = field(default_factory=dict)
    cleaning: dict[str, Any] = field(default_factory=lambda: {"entities": "all"})
    gain: dict[str, Any] = field(default_factory=dict)
    count_sensitivity: float = 1
    groups: dict[str, int] = field(default_factory=lambda: {"all": 2})
    dated: list[str] = field(default_factory=list)
    typed: set[str] = field(default_factory=set)
    guesses: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def guess(self, what: str, cells: Iterable[str] = (), column: str = "") -> None:
        """Note a guess, with the first two distinct cells that led to it."""
        two = ", ".join(repr(shortened(cell)) for cell in itertools.islice(dict.fromkeys(cells), 2))
        place = f"column {column}: " if column else ""
        self.guesses.append(f"{what} ({place}{two})" if two else what)

    def leave_out(self, column: str, texts: list[str], why: str) -> None:
        """Leave out the rows that hold one of some texts in a column, and note why."""
        if texts:
            self.cleaning.setdefault("drop_where", {})[column] = texts
            self.guess(f"left out in {column}: {', '.join(texts)}, {why}")

    def check(self, names: Sequence[str], *options: str, new: bool = False) -> None:
        """Check that options name different columns of a table; `new` ones none of its columns.

        Raises:
            DataError: they do not; the text asks for other names.
        """
        known = len(self.asked)
        words = {key: word for key in options if (word := self.told.get(key, "none")) != "none"}
        for key, word in words.items():
            if [*words.values()].count(word) > 1 or (new and word in names):
                other = "column" if new else "option"
                self.asked.append(
                    f"--{key} {word}: another {other} has this name; choose a new one"
                )
            elif not new and word not in names:
                likely = did_you_mean(word, names) or f"; the table has {_list(names)}"
                self.asked.append(f"--{key} {word}: no such column{likely}")
        if len(self.asked) > known:
            raise self.refusal()

    def refusal(self) -> DataError:
        """Return the error that asks for all missing options."""
        lines = "".join(f"\n  {question}" for question in self.asked)
        return DataError(f"{self.file}: some options cannot be guessed. Add to the command:{lines}")


def look_at(path: Path, told: Mapping[str, Any]) -> Look:
    """Guess the format and columns of a table of counts.

    Args:
        path: path of the table.
        told: the owner's options, by name, as `dpol new dataset --help` lists them.

    Raises:
        DataError: the table cannot be read, or options are missing; the text lists them all.
    """
    look, form = Look(file=path, told=told), DEFAULT
    with suppress(EOFError, OSError, zlib.error):  # reading says what is wrong
        form = _written(path, look)
    table = read_table(path, None, form).cells.drop_duplicates()
    is_header = (table == [str(name).strip() for name in table]).all(axis=1)
    table, periods = _laid_out(table[~is_header], look)
    if table.empty:
        look.asked.append("--layout: no counts are left; is the table long, wide or wide-periods?")
        raise look.refusal()
    rows, measured = _columns(table, periods, look)
    settled = not look.asked
    _dates(rows["period"].unique().tolist(), look)
    forms = _signs(measured, look)
    if settled:
        _several_rows(rows, look)
        _rules(rows, forms[0], look)
    if look.columns["count"] and look.columns.get("capacity") != "":
        _bounds(rows, forms, look)
    if look.asked:
        raise look.refusal()
    return look


# The file ----------------------------------------------------------------------------------------


def _written(path: Path, look: Look) -> Format:
    """Return the format that the file shows: encoding, delimiter, sheet, rows above the header."""
    if path.suffix == ".parquet":
        return DEFAULT
    if path.suffix == ".xlsx":
        look.format |= {"sheet": look.told["sheet"]} if "sheet" in look.told else {}
        try:
            sheet = sheet_cells(path, DEFAULT.model_copy(update=look.format))
        except DataError as error:
            raise DataError(str(error).replace("dataset.format.sheet", "--sheet")) from None
        first = [(number, texts) for number, *texts in sheet[:LINES].itertuples(name=None)]
    else:
        with open_bytes(path) as file:
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
    if data.startswith(UTF_16):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _cut(lines: Sequence[str], mark: str) -> list[list[str]]:
    csv.field_size_limit(LONGEST_CELL)  # at another mark than the file's, a line is one cell
    return [next(csv.reader([line], delimiter=mark), []) for line in lines]


def _alike(rows: Sequence[list[str]]) -> tuple[int, int]:
    """Return the largest number of rows that have the same number of cells, and that number."""
    widths = Counter(len(cells) for cells in rows if len(cells) > 1)
    return max(((n, width) for width, n in widths.items()), default=(0, 0))


# Layout and columns ------------------------------------------------------------------------------


def _laid_out(table: pd.DataFrame, look: Look) -> tuple[pd.DataFrame, Texts]:
    """Return the table with a row per entity and period, and the periods of its rows."""
    layout, names = look.told.get("layout"), table.columns.tolist()
    forms = {name: date_formats(table[name].unique(), LEAST_DATES) for name in names}
    heads = [name for name in names if date_formats([name]) and name not in look.told.values()]
    if layout is None and any({*of_one} - {YEARS} for of_one in forms.values()):
        heads = [name for name in heads if date_formats([name]) != [YEARS]]
    if layout == "wide-periods" or (layout is None and len(heads) > 2):
        table = _melted(table, heads, "period", look)
        look.dated = [look.told["period"]]
    else:
        look.dated = _period(table, forms, look)
        numbers = [name for name in names if name not in look.dated and _is_number(table[name])]
        unique = len(numbers) > 1 and not table.duplicated(look.dated).any()
        if layout == "wide" or (layout is None and unique):
            look.told = {"capacity": "none", **look.told}
            entities = [name for name in numbers if folded(name) not in _TOTALS]
            table = _melted(table, entities, "entity", look)
    year, *month = look.dated
    look.columns["period"] = {"year": year, "month": month[0]} if month else year
    return table, table[year] + ("-" + table[month[0]] if month else "")


def _melted(table: pd.DataFrame, columns: list[str], made: str, look: Look) -> pd.DataFrame:
    """Return a row for each cell of some columns; their names go into a new column."""
    refuse_unnamed(look.file, names := table.columns.tolist())
    look.told = {made: made, "count": "count", **look.told}
    look.check(names, made, "count", new=True)
    look.format["layout"] = layout = "wide-periods" if made == "period" else "wide"
    look.guess(f"layout: {layout}; name {made} and count with --{made} and --count", columns)
    word, count = look.told[made], look.told["count"]
    look.typed |= {count} if look.typed.issuperset(columns) else set()
    others = [name for name in names if name not in columns]
    return table.melt(others, columns, word, count)


def _period(table: pd.DataFrame, forms: Mapping[str, list[Dates]], look: Look) -> list[str]:
    """Return the column of dates, or the columns of year and month."""
    if "period" in look.told:
        look.check(table.columns.tolist(), "period")
        return [look.told["period"]]
    year, month = (
        [name for name in forms if word.search(name) and table[name].str.fullmatch(cells).all()]
        for word, cells in ((_YEAR, "(19|20).."), (_MONTH, "[01]?[0-9]"))
    )
    # Any number from 1900 to 2100 may be a year.
    dates = [name for name, of_one in forms.items() if {*of_one} - {YEARS}]
    if not dates and len(year) == 1 and len(month) < 2:
        return year + month
    if len(dates) != 1:
        dates = dates or [name for name, of_one in forms.items() if of_one]
        question = f"--period: which of the columns {_list(dates or forms)} holds the dates?"
        first = f"; the first row is {_list(map(repr, table.head(1).to_numpy().ravel()))}"
        none = "" if dates else f" None has a format that dpol reads: {FORMATS}{first}"
        look.asked.append(question + none)
    if not dates:
        raise look.refusal()
    return dates[:1]  # what else is missing seldom depends on it


def _columns(rows: pd.DataFrame, periods: Texts, look: Look) -> tuple[pd.DataFrame, list[Texts]]:
    """Note the columns of entities, groups, counts and capacities, and leave out totals.

    Returns:
        The rows, in columns `period`, `day`, `time` and those that were found, by key; and the
        columns of text that may hold the counts and capacities.
    """
    names, told = rows.columns.tolist(), look.told
    look.check(names, "entity", "period", "count", "group", "capacity")
    named = [name for name in names if name.strip() and name not in look.dated]
    numbers = [name for name in named if _is_number(rows[name])]
    for name in named:
        if name not in numbers:
            totals = [text for text in rows[name].unique() if folded(text) in _TOTALS]
            look.leave_out(name, totals, "totals of other rows")
            rows = rows[~rows[name].isin(totals)]
    periods = periods[rows.index]
    free = [name for name in sorted(named, key=numbers.count) if name not in told.values()]
    several = [name for name in free if 2 <= rows[name].nunique() <= len(rows) / 2]
    in_period = rows.groupby(periods)
    telling = [name for name in several if in_period[name].nunique().sum() >= 0.8 * len(rows)]
    entity, name = _entity(rows, periods, telling, look)
    sizes = rows.groupby(entity)[named].nunique().max() if entity else pd.Series(0, named)
    fixed = [name for name in named if sizes[name] == 1]
    if not entity:
        look.asked.append(
            "--entity: no column alone tells the rows of a period apart; the table has"
            f" {_list(names)}. If it takes several, name the one that plays, and add --each-day"
            " sum, mean or max to merge its rows"
        )
    groups = [name for name in several if name in fixed and name not in numbers]
    groups = [name for name in groups if rows[name].nunique() <= rows[entity].nunique() / 2]
    numbers = [name for name in numbers if name != entity]
    count, capacity = _measures(numbers, fixed, look)
    group = told.get("group") or (groups[0] if len(groups) == 1 else "none")
    columns = {"entity": entity, "count": count, "capacity": capacity, "group": group, "name": name}
    known = {key: name for key, name in columns.items() if name in rows}
    for key, column in known.items():
        look.guess(f"{key}: {column}", rows[column], column)
    if "name" in known and (n := rows[entity].nunique()) < rows[name].nunique():
        look.guess(
            f"{n} entities by {entity}, with {rows[name].nunique()} texts in {name}; the latest of"
            " each is shown"
        )
    look.columns |= {key: name for key, name in columns.items() if name != "none"}
    words = {key: in_words(known[key]) for key in ("entity", "count", "capacity") if key in known}
    if "name" in known and words["entity"] == entity:
        words["entity"] = in_words(name)
    if titles := {key: title for key, title in words.items() if title != known[key]}:
        look.columns["titles"] = titles
    if "layout" in look.format:
        made = told["period" if look.format["layout"] == "wide-periods" else "entity"]
        others = [name for name in named if name not in columns.values()]
        look.leave_out(made, others, f"no counts of one {made}")
    likely = [count, capacity] if count and capacity else numbers
    measured = [rows[name] for name in likely if name not in ("none", *look.typed)]
    look.typed = {key for key, name in known.items() if name in look.typed}
    parts = periods.map({text: without_time(text) for text in periods.unique()}).str
    by_key = {key: rows[name] for key, name in known.items()}
    return pd.DataFrame({**by_key, "period": periods, "day": parts[0], "time": parts[1]}), measured


def _entity(rows: pd.DataFrame, periods: Texts, telling: list[str], look: Look) -> tuple[str, str]:
    """Return the columns of entities and of their names; columns in `telling` tell rows apart.

    Names change: if each name has one identifier, and there are fewer of these, they are the
    entities.
    """
    in_period, said = rows.groupby(periods), look.told.get("entity", "")
    identifiers, size = filter(_identifies, telling), rows[telling].nunique()

    def has_names(entity: str, texts: str) -> bool:
        same = in_period[entity].nunique().equals(in_period[texts].nunique())
        return entity != texts and same and bool((rows.groupby(texts)[entity].nunique() == 1).all())

    entity = said or next(iter(telling), "")
    if not said:
        fewer = (one for one in identifiers if has_names(one, entity) and size[one] < size[entity])
        entity = next(fewer, entity)
    names = [one for one in telling if not _is_number(rows[one])] if _identifies(entity) else []
    return entity, next((one for one in names if has_names(entity, one)), "none")


def _measures(numbers: list[str], fixed: list[str], look: Look) -> tuple[str, str]:
    """Return the columns of counts and capacities; columns in `fixed` are constant per entity."""
    count, capacity = look.told.get("count", ""), look.told.get("capacity", "")
    free = [name for name in numbers if name not in (count, capacity)]
    hinted = [name for name in free if _CAPACITY.search(name)]
    likely = hinted if len(hinted) == 1 else [name for name in hinted or free if name in fixed]
    if not capacity and len(free) + bool(count) == 1:
        capacity = "none"
    elif not capacity and len(likely) == 1:
        capacity = likely[0]
    free = [name for name in free if name != capacity]
    if not count and len(free) == 1:
        count = free[0]
    both = {"--count": count, "--capacity": capacity}
    if unsure := [option for option, name in both.items() if not name]:
        none = (
            "" if capacity else " --capacity none if there are no capacities; then also --at-most"
        )
        look.asked.append(f"{' and '.join(unsure)}: which of the columns {_list(numbers)}?{none}")
    return count, capacity


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(shortened, names))


# Cells -------------------------------------------------------------------------------------------


def _is_number(column: Texts) -> bool:
    """Return whether the cells are numbers, except for empty cells and a few markers."""
    held = column[column != ""].drop_duplicates()
    match = held.str.fullmatch(_NUMBER)
    return bool(match.mean() >= LEAST_NUMBERS and (~match).sum() <= MOST_MARKERS)


def _numbers(cells: Texts, form: Format, look: Look) -> pd.Series[float]:
    """Return the numbers of a column; NaN for other texts."""
    held = cells.where(cells.str.fullmatch(_NUMBER), "")
    form = PLAIN if cells.name in look.typed else form.of_column(held.unique())
    return pd.Series(parse_numbers(held, form), cells.index)


def _dates(texts: Sequence[str], look: Look) -> None:
    """Guess the format of dates, and the step from period to period."""
    names, told, two = look.dated, look.told, ", ".join(map(repr, texts[:2]))
    forms = [told["date"]] if "date" in told else date_formats(texts, LEAST_DATES)
    forms = ["YYYY-M"] if len(names) > 1 else forms
    form = DEFAULT.model_copy(update={"date": forms[0]} if forms else {})
    days = parse_dates(pd.Series(texts), form).dropna().drop_duplicates().sort_values()
    sure = "date" in told or len(names) > 1 or forms != ["YYYY-M"]
    if not sure and (days.dt.month == (days.dt.year + 1) % 100).all():
        forms = [
            "YYYY-M",
            "years that begin in one year and end in the next; of these write the first",
        ]
    if len(forms) != 1:
        may_be = f"may be {' or '.join(forms)}" if forms else f"have no known format: {FORMATS}"
        look.asked.append(f"--date: {two} {may_be}")
        return
    if form.date != DEFAULT.date and len(names) == 1:
        look.format["date"] = form.date
    look.guess(f"date: {form.date}", texts, ", ".join(names))
    ends = bool(days.dt.is_month_end.all())
    monthly = ends or form.date in MONTHS or bool(days.dt.is_month_start.all())
    number = 12 * days.dt.year + days.dt.month if monthly else days.map(pd.Timestamp.toordinal)
    gaps = number.diff().mode()
    if "step" in told:
        length, unit = told["step"].split("-")
        look.periods = {unit: int(length)}
    elif len(gaps):
        unit, length = "months" if monthly else "days", int(gaps[0])
        look.periods = {unit: length}
        last = "; each date is the last day of its period" if ends else ""
        look.guess(f"step: {length}-{unit}, the most frequent{last}", days.astype(str))
    else:
        look.asked.append(f"--date: the table has one period only, {two}; is that its format?")


def _signs(measured: list[Texts], look: Look) -> list[Format]:
    """Guess the decimal sign and thousands separator; return several formats if dpol must ask."""
    texts = [column.drop_duplicates() for column in measured]
    texts = [cells[cells.str.fullmatch(_NUMBER)] for cells in texts]
    readings: dict[bytes, Format] = {}
    for signs in _SIGNS:
        form = DEFAULT.model_copy(update=signs)
        if "decimal" in look.told and (form.decimal_sign != look.told["decimal"] or not signs):
            continue
        values = [parse_numbers(cells, form.of_column(cells)) for cells in texts]
        if not np.isnan(read := np.concatenate([[], *values])).any():
            if not signs:
                return [form]
            readings.setdefault(read.tobytes(), form)
    telling = [text for cells in texts for text in cells if not text.isdigit()]
    if len(readings) == 1:
        (form,) = readings.values()
        signs = form.model_dump(include={"decimal", "thousands"}, exclude_none=True)
        look.format |= signs
        look.guess(", ".join(f"{key}: {sign!r}" for key, sign in signs.items()), telling)
    elif either := [text for text in telling if readings and EITHER.fullmatch(text)]:
        look.asked.append(
            f"--decimal: the {'comma' if ',' in either[0] else 'point'} in {either[0]!r} may"
            " separate decimals or thousands; give the decimal sign, . or ,"
        )
    return [*readings.values()] or [DEFAULT]


def _several_rows(rows: pd.DataFrame, look: Look) -> None:
    """Ask how the rows of an entity and period become one, if many have several rows."""
    entity, told = look.columns["entity"], look.told.get("each_day", "")
    sizes = rows.drop_duplicates().groupby(["entity", "day"]).size()
    if are_corrections(sizes, Cleaning().max_merged):
        if told:
            look.asked.append(f"--each-day: each {entity} has one row in a period; leave it out")
        return
    usual, timed = int(sizes[sizes > 1].mode()[0]), bool(rows["time"].any())
    each = "for each" if (sizes == usual).all() else "mostly for one"
    what = f"{usual} rows {each} {entity} and {'day' if timed else 'period'}"
    if told:
        look.cleaning |= {"several_rows": told, "max_merged": 1}
        look.guess(f"several_rows: {told} of {what}", rows["period"], ", ".join(look.dated))
    if {"last": timed, "sum": "per_person" in look.told}.get(told, bool(told)):
        return
    two = ", ".join(map(repr, rows["period"].unique()[:2]))
    hourly = f": hourly ({two}). dpol plays days at the finest" if usual == 24 and timed else ""
    look.asked.append(
        f"--each-day: the table has {what}{hourly or f' ({two})'}; give sum, mean"
        f"{', max or last' if timed else ' or max'} to make one row of them. With sum also"
        " --per-person N: in how many of these rows one person may be counted, 1 for an arrival;"
        " and --at-most N, a public bound, if a sum may exceed the capacity"
    )


def _rules(rows: pd.DataFrame, form: Format, look: Look) -> None:
    """Guess the rules of cleaning, and note the number of entities in each group."""
    entity, rules, count = look.columns["entity"], look.cleaning, rows["count"]
    texts = pd.concat([rows[key] for key in ("count", "capacity") if key in rows]).drop_duplicates()
    hidden = [*texts[texts.str.fullmatch(_SUPPRESSED)]]
    known = texts.str.fullmatch(_NUMBER) | texts.isin([*Cleaning().missing_markers, *hidden])
    if missing := [*texts[~known]]:
        rules["missing_markers"] = ["", *missing]
        look.guess("missing", missing)
    numbers = _numbers(count.mask(count.isin(hidden), ""), form, look)
    if (numbers < 0).any():
        rules["negative_counts"] = "missing"
        look.guess("negative counts are missing", count[numbers < 0], look.columns["count"])
    times = rows["entity"].value_counts()
    alike = [[*same.index] for _, same in times.groupby(times.index.map(folded), sort=False)]
    if spelled := {other: most for most, *others in alike for other in others}:
        rules["identifiers"] = spelled
        look.guess("one entity", [f"{one} = {whole}" for one, whole in spelled.items()], entity)
    if "group" in rows:
        held = rows[~rows["capacity"].isin(["", "0"])] if "capacity" in rows else rows
        sizes = held["entity"].replace(spelled).groupby(held["group"]).nunique()
        look.groups = {name: int(sizes.get(name, 0)) for name in sorted({*rows["group"]} - {""})}
        alone = [name for name, size in look.groups.items() if size < 2]
        if 0 < len(alone) < len(look.groups):
            look.guess(f"no stream for groups of one {entity}: {_list(alone)}")
    look.count_sensitivity = person = look.told.get("per_person", 1)
    if hidden:
        below = re.search("([<≤]) *([0-9]+)", hidden[0])  # <5 is 1 to 4
        value = int(below[2]) // 2 if below else Cleaning().suppressed_value
        rules |= {"suppressed_markers": hidden, "suppressed_value": value}
        look.guess(f"suppressed, read as {value:g}", hidden)
    if count.isin(hidden).any():
        published = numbers[numbers > value]
        least = int(below[2]) + (below[1] == "≤") if below else min(published, default=value)
        step = float((published == np.rint(published)).all())
        once, rows_of_one = (1, person) if rules.get("several_rows") == "sum" else (person, 1)
        change = rows_of_one * largest_change(once, read_as=value, least=least, step=step)
        look.count_sensitivity = int(change) if change == int(change) else change
    why = ", since some are suppressed" if look.count_sensitivity != person else ""
    more = "" if "per_person" in look.told else "; if more, give --per-person N"
    look.guess(f"one person changes a count by at most {look.count_sensitivity:g}{why}{more}")


def _bounds(rows: pd.DataFrame, forms: Sequence[Format], look: Look) -> None:
    """Choose the question: a share, or a count (per capacity), which needs a public bound."""
    count, capacity = look.columns["count"], look.columns.get("capacity")
    if at_most := look.told.get("at_most"):
        look.gain = {"at_most": at_most} if capacity else {"of": "count", "bound": at_most}
        return
    why = f"without capacities, {count} needs a bound, above which counts are clipped"
    if capacity:
        examples = {}
        for form in forms:
            numbers, wholes = (_numbers(rows[key], form, look) for key in ("count", "capacity"))
            if look.cleaning.get("several_rows") == "sum":
                numbers = numbers.groupby([rows["entity"], rows["day"]]).transform("sum")
            above = (numbers > wholes) & (wholes > 0)
            if above.mean() > Cleaning().max_clipped:
                one = f"{numbers[above].iloc[0]:g} of {wholes[above].iloc[0]:g}"
                examples[form.decimal_sign] = one
        if not examples:
            return
        when = f"with --decimal {' or '.join(examples)} " if len(forms) > 1 else ""
        rate = Columns.model_validate(look.columns).rate
        why = (
            f"{when}{count} may exceed {capacity} ({one}), so {rate} needs a bound, above which it"
            " is clipped"
        )
    look.asked.append(
        f"--at-most: {why}; give a public number; one taken from the counts would reveal them"
    )


def in_words(name: str) -> str:
    """Return the name of a column as words of a sentence.

    >>> in_words("station_name"), in_words("bikesOut"), in_words("ICU beds"), in_words("id")
    ('station', 'bikes out', 'ICU beds', 'id')
    """
    words = _words(name)
    words = [word.lower() if word.isupper() and len(word) > 4 else word for word in words]
    if len(words) > 1 and words[-1].lower() in _IDENTIFIES | {"name"}:
        words = words[:-1]
    return " ".join(words) or name


def _words(name: str) -> list[str]:
    """Return the words of a column's name; inside camelCase, they begin with a small letter."""
    parts = re.sub(r"(?<=[a-zß-ÿ])[A-Z](?![A-Z])", lambda match: f" {match[0].lower()}", name)
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", parts))


def _identifies(name: str) -> bool:
    """Return whether a column's name says that it holds identifiers."""
    return any(word.lower() in _IDENTIFIES for word in _words(name)[-1:])
