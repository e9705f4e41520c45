"""Read the format of a table of counts, and ask its owner for the rest.

The signs and the dates are seen in the cells. Five things are asked first (`dpol.data.five`); what
the cells mean is asked when they are known, and never guessed.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from dpol.core.errors import UsageError
from dpol.core.words import counted, listed, shortened
from dpol.data.five import (
    NUMBER,
    ROWS,
    ask_five,
    columns_of_table,
    dated_names,
    formats_of,
    is_number,
    joined,
    layout_of,
    marks_of,
    names_list,
    parts_of,
    tells_apart,
)
from dpol.data.stream import largest_change
from dpol.data.tables.bad_cells import Texts
from dpol.data.tables.parse import parse_dates, parse_numbers, strip_marks
from dpol.data.tables.raw_table import (
    LONGEST_CELL,
    UTF_16,
    open_bytes,
    read_raw_table,
    refuse_unnamed,
    sheet_cells,
    without_notes,
    year_and,
)
from dpol.data.tables.settings import Cleaning
from dpol.data.tables.table_format import DEFAULT, EITHER, Format, months_of

LINES, START, MOST_TITLES, DELIMITERS = 500, 1_000_000, 20, ",;\t|"
"""Number of lines, and of bytes, at the start of a file that show its format; number of lines above
the header in which dpol looks for it; and the separators that it looks for."""
BLANKS = 0.05
"""If more than this share of the counts are blank, it is asked what that means."""
_BELOW = re.compile(r"([<≤])\s*([0-9]+)")
_SIGNS: tuple[Mapping[str, str], ...] = (
    {}, {"decimal": "."}, {"decimal": ","}, {"thousands": ","}, {"thousands": "."},
    {"thousands": " "}, {"decimal": ",", "thousands": " "}, {"thousands": "'"},
)  # fmt: skip

_KEYS = (
    "checked", "cumulative", "above", "latest_by", "several_capacities", "capacity_zero",
    "equal_rows", "negative_counts", "absent", "max_zeroed",
)  # fmt: skip
"""Options that are keys of `dataset.cleaning`."""


class UnclearError(UsageError):
    """A table does not show everything.

    Args:
        asked: the questions, by the option for each.
        ready: the answers where only one is possible, by option.
        start: the lines before the questions, which show the columns of the table.
    """

    def __init__(
        self,
        asked: Mapping[str, str],
        ready: Mapping[str, str] | None = None,
        start: Sequence[str] = (),
    ) -> None:
        super().__init__("; ".join(f"{key}: {question}" for key, question in asked.items()))
        self.asked, self.ready, self.start = asked, ready or {}, start


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
        said = Format(**_given(answers, "date", "encoding", "skip_last", "skip_rows"))
    except ValidationError as error:
        wrong = {str(it["loc"][0]): it["msg"].partition(", ")[2] for it in error.errors()}
        raise UnclearError(wrong) from None
    answers = {**answers, **said.model_dump(exclude_unset=True)}
    written = _written(path, answers) | _given(answers, "skip_last")
    start = DEFAULT.model_copy(update=written)
    raw = without_notes(read_raw_table(path, None, start), start).cells.drop_duplicates()
    for name, column in raw.items() if "strip" in answers else ():
        bare = strip_marks(column, answers["strip"])
        if is_number(bare):
            raw[name] = bare.where(bare != "", column)
    heads = dated_names(raw, answers)
    layout = layout_of(raw, heads, answers)
    asked, ready = ask_five(raw, layout, heads, answers)
    if asked:
        raise UnclearError(asked, ready, columns_of_table(path, raw, heads, written))
    if layout:
        refuse_unnamed(path, [*map(str, raw)])
    return _meant(_melted(raw, layout, heads, answers), layout, answers, written)


def _melted(
    table: pd.DataFrame, layout: str, heads: Sequence[str], answers: Mapping[str, Any]
) -> pd.DataFrame:
    """Return a table with a row for each count."""
    if not layout:
        return table
    dated = parts_of(answers["period"], table)
    names = [*map(str, table)]
    melted = heads or [it for it in names if it not in dated and is_number(table[it])]
    made = "period" if heads else "entity"
    new = [answers[made], answers["count"]]
    if {*new} & {*names} or len({*new}) < 2:
        raise UnclearError({made: f"give it and --count two new words, unlike {names_list(names)}"})
    return table.melt([name for name in names if name not in melted], melted, *new)


def _meant(
    table: pd.DataFrame, layout: str, answers: Mapping[str, Any], written: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what `look_at` returns of a table whose owner has said the five things."""
    entity, *entity_with = parts_of(answers["entity"], table)
    shares = [it for it in parts_of(answers["capacity"], table) if it != "none"]
    if entity_with:
        table[entity] = joined(table, [entity, *entity_with])
    year, *month = dated = parts_of(answers["period"], table)
    period = year_and(table[year], table[month[0]]) if month else table[year]
    (date,) = formats_of(period, answers, in_parts=bool(month))
    named = [name for name in map(str, table) if name.strip() and name not in dated]
    asked, columns = dict[str, str](), dict[str, Any](entity=entity, count=answers["count"])
    if answers["row"] == "event" and columns["count"] == "none":
        columns |= {"count": "events", "count_rows": True}
        table = table.assign(events="1")
    columns |= {"capacity": shares[0]} if shares else {}
    names = tells_apart(table, period, [it for it in named if not is_number(table[it])])
    names = [name for name in names if name != entity]
    if not layout and len(names) == 1:  # the other column that names each row of a period
        columns["name"] = names[0]

    drop, keep = (
        _chosen(table, answers.get(key, []), asked, key) for key in ("drop_where", "keep")
    )
    for name, texts in keep.items():
        table = table[table[name].isin(texts)]
    if layout:
        made, kept = entity if layout == "wide" else year, {*columns.values(), *shares, *dated}
        if melted := [name for name in named if name not in kept]:
            drop[made] = [*drop.get(made, []), *melted]
    for name, texts in drop.items():
        table = table[~table[name].isin(texts)]
    period = period[table.index]
    unread = parse_dates(period, DEFAULT.model_copy(update={"date": date})).isna()
    if not layout and unread.any():
        texts = [f"{year}={it}" for it in table[year][unread].unique()]
        option = " ".join(f"--drop-where {shlex.quote(it)}" for it in texts[:5])
        asked["drop_where"] = (
            f"{counted(int(unread.sum()), 'row')} of {len(table):,} have no date: {option} leaves"
            " them out; --skip-last N leaves out rows at the end"
        )

    count, *_ = measured = [table[it] for it in (columns["count"], *shares)]
    dates, periods = _dates(period, table[entity], date)
    signs, asked["decimal"] = _signs(measured, answers)
    markers, asked["missing"] = _markers(measured, answers)
    if "negative_counts" not in answers:
        signed = count.str.removesuffix(".0")
        signed = signed[signed.str.fullmatch("-" + NUMBER.pattern) & ~signed.isin(_marks(answers))]
        shown = names_list(signed.unique()[:5])
        asked["negative_counts"] = f"{shown}: missing?" if len(signed) else ""
    rule = "last" if "latest_by" in answers else ROWS[answers["row"]]
    merged: dict[str, Any] = {"several_rows": rule} if rule else {}
    merged["absent"] = "error"
    if answers["row"] == "event":
        merged |= {"equal_rows": "add", "absent": "zero"}
    if rule == "sum" and "per_person" not in answers:
        asked["per_person"] = (
            "in how many rows of a day may one person be counted? 1 for an arrival"
        )
    gain = {"at_most": answers["at_most"]} if "at_most" in answers else {}
    if not shares:
        gain = {"of": "count", "bound": answers["at_most"]}
    if asked := {key: question for key, question in asked.items() if question}:
        raise UnclearError(asked)
    columns |= {"entity_with": entity_with} if entity_with else {}
    columns |= {"capacity": shares} if len(shares) > 1 else {}
    columns["period"] = year
    if month:
        dates.pop("date")
        week = {"week": month[0], "system": "iso" if "ww" in date else "mmwr"}
        columns["period"] = {"year": year, **({"month": month[0]} if months_of(date) else week)}
    form = {**written, **({"layout": layout} if layout else {}), **dates, **signs}
    form |= _given(answers, "strip")
    cleaning: dict[str, Any] = {"entities": "all"} | ({"drop_where": drop} if drop else {})
    if "identifiers" in answers:
        cleaning["identifiers"] = _identifiers(table[entity], answers["identifiers"])
    cleaning |= ({"keep": keep} if keep else {}) | markers | merged | _given(answers, *_KEYS)
    if "per_person" in answers and not shares:
        cleaning["checked"] = [*answers.get("checked", []), "rates"]
    moved = _moved(count, form, cleaning, answers.get("per_person", 1))
    return {"format": form, "columns": columns, "periods": periods, "cleaning": cleaning,
            "gain": gain, "count_sensitivity": moved}  # fmt: skip


def _identifiers(entities: Texts, said: Sequence[str]) -> dict[str, str]:
    """Return the entity of each spelling, of answers such as `ULM=Ulm`."""
    parted = {it: it.partition("=" if "=" in it else ":") for it in said}
    named = {old.strip(): new.strip() for old, _, new in parted.values()}
    for answer, (old, new) in zip(parted, named.items(), strict=True):
        if not new or old not in entities.to_numpy():
            wrong = f"{answer!r}: give SPELLING=ENTITY, of which a row has the first"
            raise UnclearError({"identifiers": wrong})
    return named


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
        skipped = answers.get("skip_rows", header - 1 if header <= MOST_TITLES else 0)
        keys |= {"skip_rows": int(skipped)} if skipped else {}
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


# Columns -----------------------------------------------------------------------------------------


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


def _given(answers: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: answers[key] for key in keys if key in answers}


# Cells -------------------------------------------------------------------------------------------


def _dates(period: Texts, entity: Texts, date: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of the format of dates, and of the length of a period."""
    days = parse_dates(period, DEFAULT.model_copy(update={"date": date}))
    each = pd.DataFrame({"entity": entity, "day": days}).dropna()
    each = each.drop_duplicates().sort_values(["entity", "day"])
    days = each["day"].drop_duplicates().sort_values()
    keys = {"date": date} if date != DEFAULT.date else {}
    firsts, lasts = days.dt.is_month_start.all(), days.dt.is_month_end.all()
    monthly = bool(months_of(date) or firsts or lasts)
    number = each["day"].to_numpy().astype("datetime64[M]" if monthly else "datetime64[D]")
    gaps = pd.Series(number.astype(int), each.index).groupby(each["entity"]).diff()
    if not (gaps > 0).any():
        return keys, {}
    gap = int(gaps[gaps > 0].astype(int).value_counts().index[0])
    length: dict[str, Any] = {"months" if monthly else "days": gap}
    weekdays = each["day"].map(pd.Timestamp.toordinal) % gap
    usual = weekdays.groupby(each["entity"]).agg(lambda of_one: of_one.mode().iloc[0])
    apart = days.diff().min() <= pd.Timedelta(days=gap) / 2
    if not monthly and apart and usual.nunique() > 1:  # entities report on different weekdays
        length["of"] = "last"
    return keys, length


def _signs(measured: Sequence[Texts], answers: Mapping[str, Any]) -> tuple[Mapping[str, str], str]:
    """Return the signs that read all numbers, or ask if several signs read different numbers."""
    texts = [it[it.str.fullmatch(NUMBER)].drop_duplicates() for it in measured]
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


def _markers(measured: Sequence[Texts], answers: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return how texts among the numbers are read, or ask about some."""
    rules, texts = Cleaning(), pd.concat(measured).drop_duplicates()
    missing = [*rules.missing_markers, *answers.get("missing", [])]
    # All that occur: a config that names some no longer reads the default ones.
    default = texts[texts.str.removesuffix(".0").isin(rules.suppressed_markers)]
    hidden = [*texts[texts.str.fullmatch(_BELOW)], *default, *answers.get("suppressed", [])]
    missing = [it for it in missing if it not in hidden]
    other = texts[~texts.str.fullmatch(NUMBER) & ~texts.isin([*_marks(answers), *hidden])]
    told = "" in (*answers.get("missing", []), *hidden)
    blank = 0 if told else int((measured[0] == "").sum())
    if len(other) or blank > BLANKS * len(measured[0]):
        shown = [repr(shortened(text)) for text in other]
        shown += [f"{blank:,} blank cells"] if blank else []
        marks = dict.fromkeys(mark for text in other for mark in marks_of(text))
        strip = f"; or --strip {' --strip '.join(map(repr, marks))} to read them as numbers"
        return {}, (
            f"{listed(shown, 5)}: missing, or too small to publish? Give --missing TEXT or"
            f" --suppressed TEXT for each{strip if marks else ''}"
        )
    keys: dict[str, Any] = {} if missing == rules.missing_markers else {"missing_markers": missing}
    if hidden:
        below = [int(match[2]) for text in hidden if (match := _BELOW.fullmatch(text))]
        value = min(below) // 2 if below else int(rules.suppressed_value)
        keys |= {"suppressed_markers": [*dict.fromkeys(hidden)], "suppressed_value": value}
    return keys, ""


def _moved(
    count: Texts, form: Mapping[str, Any], cleaning: Mapping[str, Any], person: float
) -> float:
    """Return how far one person moves a cleaned count, of which some are suppressed."""
    hidden = [text for text in cleaning.get("suppressed_markers", []) if (count == text).any()]
    if not hidden:
        return person
    value, known = cleaning["suppressed_value"], DEFAULT.model_copy(update=form)
    held = count[count.str.fullmatch(NUMBER) & ~count.isin(hidden)]
    published = parse_numbers(held, known.of_column(held.unique()))
    below = [int(m[2]) + (m[1] == "≤") for text in hidden if (m := _BELOW.fullmatch(text))]
    least = max(below, default=None)
    once, rows_of_one = (1, person) if cleaning.get("several_rows") == "sum" else (person, 1)
    change = rows_of_one * largest_change(once, published, read_as=value, least=least)
    return int(change) if change == int(change) else change
