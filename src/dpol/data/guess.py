"""Read the format and columns of a table of counts, and ask its owner for the rest.

The layout, the signs and the dates are seen in the cells. A column is taken where only one can be
meant. All else is asked at once, and never guessed. A bound on counts is always asked for: one
taken from the counts would reveal them.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from pydantic import ValidationError

from dpol.core.errors import UsageError
from dpol.core.suggestions import did_you_mean
from dpol.core.words import listed, shortened
from dpol.data.second_look import commonest_gaps
from dpol.data.stream import largest_change
from dpol.data.tables.bad_cells import Texts
from dpol.data.tables.parse import date_formats, parse_dates, parse_numbers, strip_marks
from dpol.data.tables.raw_table import (
    DELIMITERS,
    LONGEST_CELL,
    MOST_TITLES,
    UTF_16,
    open_bytes,
    read_raw_table,
    refuse_unnamed,
    sheet_cells,
    sheet_names,
    without_notes,
    year_and,
)
from dpol.data.tables.settings import Cleaning
from dpol.data.tables.table_format import DEFAULT, EITHER, FORMATS, NUMBERS, Format, months_of

LINES, START = 500, 1_000_000
"""Number of lines, and of bytes, at the start of a file that show its format."""
LEAST_NUMBERS, MOST_MARKERS = 0.2, 5
"""The distinct cells of a column of numbers: the least share of numbers, and most other texts."""
LEAST_DATES = 0.9
"""At least this share of the cells of a column of dates are dates."""
_NUMBER = re.compile(r"[+-]?(?=.*[0-9])[0-9.,'\u2019\u00a0\u202f\s]+(?:[eE][+-]?[0-9]+)?")
_MARKED = re.compile(_NUMBER.pattern + r"([^\w\s.,'<≤-][^0-9]{0,11}|(?<=\s)[^0-9]{1,12})")
"""A number with a sign or a word after it: 45%, 53*, 105 beds."""
MOST_MARKS = 3
"""Largest number of such signs in a column of numbers."""
_BELOW = re.compile(r"([<≤])\s*([0-9]+)")
_IDENTIFIES = re.compile("(^|[^a-z]|(?<=[a-z])(?=[A-Z]))(?i:id|pk|nr|no|code|key|ik|ccn)$")
_SIGNS: tuple[Mapping[str, str], ...] = (
    {}, {"decimal": "."}, {"decimal": ","}, {"thousands": ","}, {"thousands": "."},
    {"thousands": " "}, {"decimal": ",", "thousands": " "}, {"thousands": "'"},
)  # fmt: skip

_WEEK = re.compile("(?i:w(oche|eek)|^kw|sema|settim|t[yý]den|teden|veck|^uge|^uke)")
"""Names of columns of weeks, so that 2021-05 is asked about."""
_KEYS = (
    "checked", "cumulative", "above", "latest_by", "several_capacities", "capacity_zero",
    "equal_rows", "negative_counts",
)  # fmt: skip
"""Options that are keys of `dataset.cleaning`."""
_OTHERS = "count", "capacity", "latest_by"
"""Options that name columns without entities."""
EMPTY: Mapping[str, Any] = MappingProxyType({})
_TITLED = "entity", "count", "capacity"
_MELTED = {
    "wide": {"entity": "entity", "count": "count", "capacity": "none"},
    "wide-periods": {"period": "period", "count": "count"},
}
"""The columns that a layout makes, by default, if the table has other rows than its counts."""


class UnclearError(UsageError):
    """A table does not show everything.

    Args:
        asked: the questions, by the option for each.
        likely: the likeliest answers, with which one may go on, by option; some have none.
    """

    def __init__(self, asked: Mapping[str, str], likely: Mapping[str, Any] = EMPTY) -> None:
        super().__init__("; ".join(f"{key}: {question}" for key, question in asked.items()))
        self.asked, self.likely = asked, {key: it for key, it in likely.items() if key in asked}


def look_at(path: Path, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Look at a table of counts.

    Args:
        path: path of the table.
        answers: what its owner says, by the names of the options of `dpol new dataset`.

    Returns:
        The blocks `format`, `columns`, `periods` and `cleaning` of `dataset`, the block `gain`, and
        `count_sensitivity`.

    Raises:
        UnclearError: the table does not show everything, or has no such columns.
        DataError: the table cannot be read.
    """
    try:
        said = Format(**_given(answers, "date", "encoding", "skip_last"))
    except ValidationError as error:
        wrong = {str(it["loc"][0]): it["msg"].partition(", ")[2] for it in error.errors()}
        raise UnclearError(wrong) from None
    answers = {**answers, **said.model_dump(exclude_unset=True)}
    sheets = list[str]()
    with suppress(KeyError, OSError, SyntaxError, ValueError, BadZipFile):  # reading says so
        sheets = sheet_names(path) if path.suffix == ".xlsx" and "sheet" not in answers else []
    if len(sheets) > 1:
        forms = {it: DEFAULT.model_copy(update={"sheet": it}) for it in sheets}
        most = max(sheets, key=lambda it: (sheet_cells(path, forms[it]) != "").to_numpy().sum())
        raise UnclearError({"sheet": f"which one? {_list(sheets)}"}, {"sheet": most})
    written = _written(path, answers) | _given(answers, "skip_last")
    start = DEFAULT.model_copy(update=written)
    raw = without_notes(read_raw_table(path, None, start), start).cells.drop_duplicates()

    for name, column in raw.items() if "strip" in answers else ():
        bare = strip_marks(column, answers["strip"])
        if _is_number(bare):
            raw[name] = bare.where(bare != "", column)
    table, layout, dated = _laid_out(path, raw, answers)
    answers = {**_MELTED.get(layout, {}), **answers}
    several = {key: answers.get(key, "").split(",") for key in ("entity", "capacity")}
    several = {key: it for key, it in several.items() if len(it) > 1 and {*it} <= {*table}}
    answers |= {key: it[0] for key, it in several.items()}
    if named_by := several.get("entity"):
        table[named_by[0]] = table[named_by].agg(", ".join, axis=1)
    _refuse_unknown(table, _given(answers, "entity", "count", "capacity"))
    year, *month = dated
    if month and "date" in answers:
        plain = re.sub("'[^']*'|[^A-Za-z]", "", answers["date"])
        if not (part := re.fullmatch("YYYY(ww|ee|M)M?", plain)):
            raise UnclearError({"date": "of a year and another column it is YYYY-M, YYYY-ww (weeks"
                                " from Monday) or YYYY-ee (from Sunday)"})  # fmt: skip
        answers |= {"date": f"YYYY-{part[1]}"}
    period = year_and(table[year], table[month[0]]).rename(month[0]) if month else table[year]
    named = [name for name in map(str, table) if name.strip() and name not in dated]
    numbers = [name for name in named if _is_number(table[name])]

    asked, guesses = dict[str, str](), dict[str, Any](per_person=1)
    taken = {answers.get(key) for key in _OTHERS}
    entities = _entities(table, period, [name for name in named if name not in taken])
    numbered = [name for name in entities if name in numbers and not _IDENTIFIES.search(name)]
    likely = [name for name in entities if name not in numbered]
    entity = answers.get("entity") or (likely[0] if len(likely) == 1 else "")
    guesses["entity"] = likely[0] if likely else named[0] if named else None
    if not entity:
        asked["entity"] = f"which column? {_list(likely)}" if likely else (
            f"no column of names tells the rows of a period apart; which of {_list(named)} plays?"
            " If it has several rows in a period, add --each-day, or --keep COLUMN=TEXT for one of"
            " several measures; if the month is in another column than the year, --period"
            " YEAR,MONTH"
        )  # fmt: skip
    chosen = entity, answers.get("count"), answers.get("capacity")
    left = [name for name in numbers if name not in chosen]
    count = answers.get("count") or (left.pop() if len(left) == 1 else "")
    capacity = answers.get("capacity") or ("" if left else "none")
    guesses["count"], guesses["capacity"] = _likely(table, left, count)
    if not count:
        asked["count"] = f"which column? {_list(left)}" if left else (
            "no column of numbers is left; if another holds the counts, name it"
        )  # fmt: skip
    if not capacity:
        more = "" if "at_most" in answers else ", then also --at-most"
        asked["capacity"] = f"which column? {_list(left)}; or none, if there are none{more}"
    columns: dict[str, Any] = {"entity": entity, "count": count, "capacity": capacity}
    columns = {key: name for key, name in columns.items() if name not in ("", "none")}
    names = [name for name in entities if name != entity and name not in numbers]
    if entity in likely and len(names) == 1:  # the other column that names each row of a period
        columns["name"] = names[0]

    drop, keep = (
        _chosen(table, answers.get(key, []), asked, key) for key in ("drop_where", "keep")
    )
    for name, texts in keep.items():
        table = table[table[name].isin(texts)]
    if layout:
        made, kept = answers["entity"] if layout == "wide" else year, {*columns.values(), *dated}
        if others := [name for name in named if name not in kept]:
            drop[made] = [*drop.get(made, []), *others]
    for name, texts in drop.items():
        table = table[~table[name].isin(texts)]
    period = period[table.index]
    if levels := _levels(table, entity, named)[:1]:
        asked["keep"] = (
            f"{(table[entity] == '').sum():,} rows without {entity} are of another level; read only"
            f" those of {levels[0]}?"
        )
        guesses["keep"] = levels
    rows = pd.DataFrame({key: table[name] for key, name in columns.items()}, table.index)

    measured = [rows[key] for key in ("count", "capacity") if key in rows]
    measured += [table[name] for name in several.get("capacity", [])[1:]]
    measured = measured or [table[name] for name in left]
    of = rows.get("entity", pd.Series("", rows.index))
    dates, periods, asked["date"], guesses["date"] = _dates(period, of, len(dated) > 1, answers)
    signs, asked["decimal"] = _signs(measured, answers)
    markers, asked["missing"], guesses["missing"] = _markers(measured, answers)
    guesses["decimal"] = "."
    if "count" in rows and "negative_counts" not in answers:
        signed = rows["count"].str.removesuffix(".0")
        signed = signed[signed.str.fullmatch("-" + _NUMBER.pattern) & ~signed.isin(_marks(answers))]
        asked["negative_counts"] = f"{_list(signed.unique()[:5])}: missing?" if len(signed) else ""
        guesses["negative_counts"] = "missing"
    rule = "last" if "latest_by" in answers else answers.get("each_day")
    merged = {"several_rows": rule} if rule else {}
    if rule == "sum" and "per_person" not in answers:
        asked["per_person"] = (
            "in how many rows of a day may one person be counted? 1 for an arrival"
        )
    gain = {"at_most": answers["at_most"]} if "at_most" in answers else {}
    if capacity == "none":
        gain = {"of": "count", "bound": answers.get("at_most")}
        asked["at_most"] = "" if gain["bound"] else (
            f"the largest {count} that plays, as there is no capacity; a public number; one taken"
            " from the counts would reveal them"
        )  # fmt: skip
    if asked := {key: question for key, question in asked.items() if question}:
        raise UnclearError(asked, {key: it for key, it in guesses.items() if it is not None})
    columns |= {"entity_with": named_by[1:]} if named_by else {}
    columns |= _given(several, "capacity")
    columns["period"] = year
    if month:
        date = dates.pop("date")
        week = {"week": month[0], "system": "iso" if "ww" in date else "mmwr"}
        columns["period"] = {"year": year, **({"month": month[0]} if months_of(date) else week)}
    form = {**written, **({"layout": layout} if layout else {}), **dates, **signs}
    form |= _given(answers, "strip")
    cleaning: dict[str, Any] = {"entities": "all"} | ({"drop_where": drop} if drop else {})
    if "titles" in answers:
        columns["titles"] = dict(zip(_TITLED, answers["titles"].split(","), strict=False))
    elif words := proposed_titles(columns):
        columns["titles"] = words
    if "identifiers" in answers:
        cleaning["identifiers"] = dict(it.split("=", 1) for it in answers["identifiers"])
    cleaning |= ({"keep": keep} if keep else {}) | markers | merged | _given(answers, *_KEYS)
    if "per_person" in answers and capacity == "none":
        cleaning["checked"] = [*answers.get("checked", []), "rates"]
    moved = _moved(rows["count"], form, cleaning, answers.get("per_person", 1))
    return {"format": form, "columns": columns, "periods": periods, "cleaning": cleaning,
            "gain": gain, "count_sensitivity": moved}  # fmt: skip


# The file ----------------------------------------------------------------------------------------


def _written(path: Path, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of the format that the start of a file shows."""
    if path.suffix == ".parquet":
        return {}
    keys = dict[str, Any]()
    with suppress(EOFError, OSError, zlib.error):  # reading says what is wrong
        if path.suffix == ".xlsx":
            keys = _given(answers, "sheet")
            sheet = sheet_cells(path, DEFAULT.model_copy(update=keys))
            first = [(number, texts) for number, *texts in sheet[:LINES].itertuples(name=None)]
        else:
            with open_bytes(path) as file:
                data = b"".join(file.readlines(START))
            encoding = answers.get("encoding") or _encoding(data)
            keys |= {"encoding": encoding} if encoding != "utf-8" else {}
            text = data.decode(encoding.replace("utf-8", "utf-8-sig"), "replace")
            lines = io.StringIO(text, "").readlines()[:LINES]
            csv.field_size_limit(LONGEST_CELL)  # at another mark than the file's, a line is a cell
            cut = {mark: [next(csv.reader([line], delimiter=mark), []) for line in lines]
                   for mark in DELIMITERS}  # fmt: skip
            mark = max(DELIMITERS, key=lambda mark: _alike(cut[mark]))
            keys |= {"delimiter": mark} if mark != "," else {}
            first = [*enumerate(cut[mark], start=1)]
        filled = [(number, sum(map(bool, cells))) for number, cells in first]
        widest = max((width for _, width in filled), default=0)
        header = next((number for number, width in filled if width >= max(2, widest - 1)), 1)
        keys |= {"skip_rows": header - 1} if 1 < header <= MOST_TITLES else {}
    return keys


def _encoding(start: bytes) -> str:
    if start.startswith(UTF_16):
        return "utf-16"
    try:
        start.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _alike(rows: Sequence[list[str]]) -> tuple[int, int]:
    """Return the largest number of rows that have the same number of cells, and that number."""
    widths = Counter(len(cells) for cells in rows if len(cells) > 1)
    return max(((n, width) for width, n in widths.items()), default=(0, 0))


# Layout and columns ------------------------------------------------------------------------------


def _laid_out(
    path: Path, table: pd.DataFrame, answers: Mapping[str, Any]
) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the table with a row for each count, its layout if it was wide, and its periods."""
    names = [*map(str, table)]
    forms = {name: date_formats(table[name].unique(), LEAST_DATES) for name in names}
    dates = [name for name, of_one in forms.items() if {*of_one} - {*NUMBERS}]
    heads = [name for name in names if date_formats([name]) and name not in answers.values()]
    if dates:  # then columns named 2001 may be anything
        heads = [name for name in heads if {*date_formats([name])} - {*NUMBERS}]
    if len(heads) > 2:
        layout, made, melted = "wide-periods", "period", heads
        dated = [answers.get("period", "period")]
    else:
        layout, made, dated = "wide", "entity", dates or [name for name in names if forms[name]]
        if "period" in answers:
            dated = answers["period"].split(",", 1)
        elif len(dated) != 1:
            none = "" if dated else f" dpol knows no format of any; also give --date, {FORMATS}"
            asked = {"period": f"which column? {_list(dated or names)}.{none}"}
            raise UnclearError(asked, {"period": dated[0]} if dated else {})
        for name in dated:
            _refuse_unknown(table, {"period": name})
        melted = [name for name in names if name not in dated and _is_number(table[name])]
        if len(melted) < 2 or table.duplicated(dated).any():
            return table, "", dated
    refuse_unnamed(path, names)
    new = [answers.get(made, made), answers.get("count", "count")]
    if {*new} & {*names} or len({*new}) < 2 or not melted:
        raise UnclearError({made: f"give it and count two new names, unlike {_list(names)}"})
    return table.melt([name for name in names if name not in melted], melted, *new), layout, dated


def _refuse_unknown(table: pd.DataFrame, named: Mapping[str, str]) -> None:
    """Refuse names of columns that the table has not."""
    names = [*map(str, table)]
    said = {
        key: f"no column {name!r}{did_you_mean(name, names) or f'; there are {_list(names)}'}"
        for key, name in named.items()
        if name not in names and (key, name) != ("capacity", "none")
    }
    if said:
        raise UnclearError(said)


def _entities(table: pd.DataFrame, period: Texts, names: Sequence[str]) -> list[str]:
    """Return the columns that tell the rows of a period apart, as entities do."""
    several = [name for name in names if 2 <= table[name].nunique() <= len(table) / 2]
    in_period = table.groupby(period)
    return [name for name in several if in_period[name].nunique().sum() >= 0.8 * len(table)]


def _likely(table: pd.DataFrame, numbers: Sequence[str], count: str) -> tuple[str | None, str]:
    """Return the likely column of counts, and of capacities: above nearly all counts; or none."""
    values = {name: pd.to_numeric(table[name], "coerce") for name in numbers}
    count = count or min(numbers, key=lambda name: values[name].mean(), default="")
    counts = pd.to_numeric(table[count], "coerce") if count else pd.Series(dtype=float)
    above = [name for name in values if name != count and (values[name] >= counts).mean() > 0.8]
    return count or None, above[0] if above else "none"


def _levels(table: pd.DataFrame, entity: str, names: Sequence[str]) -> list[str]:
    """Return `COLUMN=TEXT` if rows without an entity have other texts in one column than others."""
    blank = table[entity] == "" if entity in table else pd.Series(False, table.index)
    found = []
    for name in names if blank.any() else ():
        texts = table.loc[~blank, name].unique()
        if len(texts) == 1 and not table.loc[blank, name].isin(texts).any():
            found.append(f"{name}={texts[0]}")
    return found


def _chosen(
    table: pd.DataFrame, answers: Sequence[str], asked: dict[str, str], key: str
) -> dict[str, list[str]]:
    """Return the texts of columns that answers such as `place=Total` name, or ask again."""
    chosen = dict[str, list[str]]()
    for answer in answers:
        name, equals, text = answer.partition("=")
        if not equals or name not in table or not table[name].eq(text).any():
            asked[key] = f"{answer!r}: give COLUMN=TEXT, a text that a row has in that column"
        chosen.setdefault(name, []).append(text)
    return chosen if key not in asked else {}


def proposed_titles(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return words for the pages if names of columns do not read like words: carsIn, Clinic."""
    named = {key: it for key in _TITLED if isinstance(it := columns.get(key), str)}
    apart = {key: re.sub("(?<=[a-z])(?=[A-Z])|_", " ", it).lower() for key, it in named.items()}
    plain = all(it.replace("_", " ").removesuffix(" id") == apart[key] for key, it in named.items())
    return {} if plain else {key: it.removesuffix(" id") for key, it in apart.items()}


def _given(answers: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: answers[key] for key in keys if key in answers}


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(shortened, names))


# Cells -------------------------------------------------------------------------------------------


def _is_number(column: Texts) -> bool:
    """Return whether the cells are numbers, except for empty cells and a few markers."""
    held = column[column != ""].drop_duplicates()
    match, marks = held.str.fullmatch(_NUMBER), held.map(_mark)
    if marks.nunique() <= MOST_MARKS:
        match |= marks != ""
    return bool(match.mean() >= LEAST_NUMBERS and (~match).sum() <= MOST_MARKERS)


def _mark(text: str) -> str:
    """Return the sign or word after a number."""
    return match[1] if (match := _MARKED.fullmatch(text)) else ""


def _dates(
    period: Texts, entity: Texts, in_parts: bool, answers: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], str, str | None]:
    """Return the format of dates, the length of a period, a question if unclear, and its answer."""
    texts = period[period != ""].drop_duplicates()
    forms = [answers["date"]] if "date" in answers else date_formats(texts, LEAST_DATES)
    if "YYYY-M" in forms and not _WEEK.search(str(period.name)):  # no month has the number 13
        forms = [like for like in forms if like != "YYYY-ww"]
    form = DEFAULT.model_copy(update={"date": forms[0]} if forms else {})
    days = parse_dates(texts, form).dropna().drop_duplicates().sort_values()
    seasons = (days.dt.month == (days.dt.year + 1) % 100).all() and "date" not in answers
    if len(forms) != 1 or (forms == ["YYYY-M"] and seasons and not in_parts):
        also = " or years that begin in one year and end in the next" if seasons else ""
        may_be = f"may be {' or '.join(forms)}{also}"
        if not forms:
            may_be = f"have a format that dpol does not know; give it, {FORMATS}"
        shown = ", ".join(repr(shortened(text)) for text in texts[:2])
        return {}, {}, f"{shown} {may_be}", (*forms, None)[0]
    keys = {"date": form.date} if form.date != DEFAULT.date else {}
    firsts, lasts = days.dt.is_month_start.all(), days.dt.is_month_end.all()
    monthly = bool(months_of(form.date) or firsts or lasts)
    each = pd.DataFrame({"entity": entity, "day": parse_dates(period, form)}).dropna()
    each = each.drop_duplicates().sort_values(["entity", "day"])
    gaps = commonest_gaps(each["entity"], each["day"], monthly=monthly)
    if not gaps:
        return keys, {}, "", None
    length: dict[str, Any] = {"months" if monthly else "days": (gap := next(iter(gaps)))}
    weekdays = each["day"].map(pd.Timestamp.toordinal) % gap
    usual = weekdays.groupby(each["entity"]).agg(lambda of_one: of_one.mode().iloc[0])
    apart = days.diff().min() <= pd.Timedelta(days=gap) / 2
    if not monthly and apart and usual.nunique() > 1:  # entities report on different weekdays
        length["of"] = "last"
    return keys, length, "", None


def _signs(measured: Sequence[Texts], answers: Mapping[str, Any]) -> tuple[Mapping[str, str], str]:
    """Return the signs that read all numbers, or ask if several signs read different numbers."""
    texts = [it[it.str.fullmatch(_NUMBER)].drop_duplicates() for it in measured]
    readings: dict[bytes, Mapping[str, str]] = {}
    for signs in _SIGNS:
        form = DEFAULT.model_copy(update=signs)
        if "decimal" in answers and (form.decimal_sign != answers["decimal"] or not signs):
            continue
        values = [parse_numbers(cells, form.of_column(cells)) for cells in texts]
        if not np.isnan(read := np.concatenate([[], *values])).any():
            if not signs:
                return signs, ""
            readings.setdefault(read.tobytes(), signs)
    either = [text for cells in texts for text in cells if EITHER.fullmatch(text)]
    if len(readings) > 1 and either:
        return {}, f"is it a decimal sign in {either[0]!r}, or between thousands? . or ,"
    return next(iter(readings.values()), {}), ""


def _marks(answers: Mapping[str, Any]) -> list[str]:
    """Return the markers that a table has by default, and those that its owner names."""
    rules = Cleaning()
    named = [it for key in ("missing", "suppressed") for it in answers.get(key, [])]
    return [*rules.missing_markers, *rules.suppressed_markers, *named]


def _markers(
    measured: Sequence[Texts], answers: Mapping[str, Any]
) -> tuple[dict[str, Any], str, list[str]]:
    """Return how texts among the numbers are read, or ask about some, with the likely answer."""
    rules, texts = Cleaning(), pd.concat([*measured, pd.Series(dtype=str)]).drop_duplicates()
    missing = [*rules.missing_markers, *answers.get("missing", [])]
    # All that occur: a config that names some no longer reads the default ones.
    default = texts[texts.str.removesuffix(".0").isin(rules.suppressed_markers)]
    hidden = [*texts[texts.str.fullmatch(_BELOW)], *default, *answers.get("suppressed", [])]
    other = texts[~texts.str.fullmatch(_NUMBER) & ~texts.isin([*_marks(answers), *hidden])]
    if len(other):
        marks = "".join(f", or --strip '{it}'" for it in dict.fromkeys(other.map(_mark)) if it)
        return (
            {},
            (
                f"{listed((repr(shortened(text)) for text in other), 5)}: missing, or too small to"
                f" publish? Give --missing TEXT or --suppressed TEXT for each{marks}"
            ),
            [*other],
        )
    keys: dict[str, Any] = {"missing_markers": missing} if "missing" in answers else {}
    if hidden:
        below = [int(match[2]) for text in hidden if (match := _BELOW.fullmatch(text))]
        value = min(below) // 2 if below else int(rules.suppressed_value)
        keys |= {"suppressed_markers": [*dict.fromkeys(hidden)], "suppressed_value": value}
    return keys, "", []


def _moved(
    count: Texts, form: Mapping[str, Any], cleaning: Mapping[str, Any], person: float
) -> float:
    """Return how far one person moves a cleaned count, of which some are suppressed."""
    hidden = [text for text in cleaning.get("suppressed_markers", []) if (count == text).any()]
    if not hidden:
        return person
    value, known = cleaning["suppressed_value"], DEFAULT.model_copy(update=form)
    held = count[count.str.fullmatch(_NUMBER) & ~count.isin(hidden)]
    published = parse_numbers(held, known.of_column(held.unique()))
    below = [int(m[2]) + (m[1] == "≤") for text in hidden if (m := _BELOW.fullmatch(text))]
    least = max(below, default=None)
    once, rows_of_one = (1, person) if cleaning.get("several_rows") == "sum" else (person, 1)
    change = rows_of_one * largest_change(once, published, read_as=value, least=least)
    return int(change) if change == int(change) else change
