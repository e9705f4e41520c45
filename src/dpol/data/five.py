"""The five things that the owner of a table says first, and alone.

Who plays, when, what is counted, of what it is a share, and what one row is. dpol shows the
columns, and reads two dates aloud. It offers an answer only where no other column is possible, so
that nobody pastes a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.core.words import did_you_mean, listed, shortened
from dpol.data.tables.bad_cells import Texts
from dpol.data.tables.parse import date_formats, parse_date, without_time
from dpol.data.tables.raw_table import year_and
from dpol.data.tables.table_format import DEFAULT, FORMATS, NUMBERS, Dates, months_of

LEAST_DATES = 0.9
"""At least this share of the cells of a column of dates are dates."""
SHOWN, ALOUD, MOST_COLUMNS = 3, 2, 40
"""Number of texts of a column, of dates that are read aloud, and of columns that are shown."""
ROWS = {"number": None, "part": "sum", "event": "sum", "mean": "mean", "max": "max", "last": "last"}
"""What one row may be, and how several rows of a period become one."""
LEAST_NUMBERS, MOST_MARKERS = 0.2, 5
"""The distinct cells of a column of numbers: the least share of numbers, and most other texts."""
NUMBER = re.compile(r"[+-]?(?=.*[0-9])[0-9.,'\u2019\u00a0\u202f\s]+(?:[eE][+-]?[0-9]+)?")
_MARKED = re.compile(
    r"([^\w\s<>≤≥.,+-]{1,3}|[^\W\d_]{1,3}\.)?\s*([0-9](?:[0-9.,'\u2019\u00a0\u202f]*[0-9])?)"
    r"(\s\S.{0,11}|[^\w\s.,:/<≤–-][^0-9]{0,11}|[^\W\d_]{1,12})?"
)
"""A number with a sign or word before or after it: 45%, 53*, 105 beds, (53), ~53, € 53, 33 1)."""
IDENTIFIES = re.compile("(^|[^a-z]|(?<=[a-z])(?=[A-Z]))(?i:id|pk|nr|no|code|key|ik|ccn)$")
_WEEKS = ["YYYY-ww", "YYYY-ee"]
_WEEK = re.compile("(?i:w(oche|eek)|^kw|sema|settim|t[yý]den|teden|veck|^uge|^uke|-w)")
"""Names of columns of weeks, so that 2021-05 is asked about."""
_QUESTIONS = {
    "entity": "which column says who plays",
    "period": "which column holds the dates, or which two (YEAR,MONTH or YEAR,WEEK)",
    "count": "which column is counted; none, if each row is one event",
    "capacity": "the count is a share of which column, or of which sum (OCCUPIED,FREE)? none, if of"
    " none; then also --at-most, the largest count that plays: a public number, as one taken from"
    " the counts would reveal them",
    "row": "what is one row? the number of a place and period (number), one of several parts to be"
    " added (part), one event, so that no row means none (event), or one of several measurements"
    " (mean, max or last)",
}
_WORDS = {
    ("wide", "entity"): "each row has a date of its own. If its columns are the places, your word"
    " for one, such as ward; else the column that says who plays",
    ("wide", "count"): "your word for what the cells hold",
    ("wide-periods", "period"): "your word for the dates in the header",
    ("wide-periods", "count"): "your word for what the cells hold",
}
"""Questions about columns that a layout makes."""


def columns_of_table(
    file: Path, table: pd.DataFrame, heads: Sequence[str], written: Mapping[str, Any]
) -> list[str]:
    """Return lines that show the columns of a table, each with some of its texts."""
    names = [name for name in map(str, table) if name not in heads[SHOWN:]][:MOST_COLUMNS]
    texts = {name: table[name][table[name] != ""].unique()[:SHOWN] for name in names}
    lines = [f"{file} has these columns (if not: --skip-rows N, the lines above its header):"]
    lines += [f"  {name}: {', '.join(map(shortened, it))}" for name, it in texts.items()]
    lines += [f"  and {more} more"] if (more := table.shape[1] - len(names)) else []
    if encoding := written.get("encoding"):
        lines.append(f"  If letters look wrong: --encoding NAME, which was taken for {encoding}")
    return [*lines, "Say what they are:"]


def dated_names(table: pd.DataFrame, answers: Mapping[str, Any]) -> list[str]:
    """Return the names of columns that are dates; 2001 is one if no column holds dates."""
    names = [*map(str, table)]
    said = [answers.get(key) for key in _QUESTIONS]
    heads = [name for name in names if date_formats([name]) and name not in said]
    if any({*forms_of(table[name])} - {*NUMBERS} for name in names if name not in heads):
        heads = [name for name in heads if {*date_formats([name])} - {*NUMBERS}]
    return heads if len(heads) > 2 else []


def layout_of(table: pd.DataFrame, heads: Sequence[str], answers: Mapping[str, Any]) -> str:
    """Return `wide-periods`, `wide`, or nothing for a long table."""
    if heads:
        return "wide-periods"
    if parts_of(answers.get("entity", ""), table)[0] in table:
        return ""
    said = "period" in answers
    dates = parts_of(answers["period"], table) if said else possible_dates(table)[:1]
    if not dates or not {*dates} <= {*table} or table.duplicated(dates).any():
        return ""
    numbers = [name for name in table if name not in dates and is_number(table[name])]
    return "wide" if len(numbers) > 1 else ""


def is_number(column: Texts) -> bool:
    """Return whether the cells are numbers, except for empty cells and a few markers."""
    held = column[column != ""].drop_duplicates()
    match, marks = held.str.fullmatch(NUMBER), held.map(lambda text: "".join(marks_of(text)))
    if marks.nunique() <= MOST_MARKERS:
        match |= marks != ""
    return bool(match.mean() >= LEAST_NUMBERS and (~match).sum() <= MOST_MARKERS)


def marks_of(text: str) -> list[str]:
    """Return the signs or words at a number, if it has any.

    >>> marks_of("33 1)"), marks_of("(53)"), marks_of("€ 53,00"), marks_of("10-19"), marks_of("53")
    (['1)'], ['(', ')'], ['€'], [], [])
    """
    match = _MARKED.fullmatch(text)
    return [it.strip() for it in (match[1], match[3]) if it and it.strip()] if match else []


def forms_of(cells: Texts) -> list[Dates]:
    return date_formats(cells.unique(), LEAST_DATES) if cells.nunique() > 1 else []


def possible_dates(table: pd.DataFrame) -> list[str]:
    """Return the columns that hold dates, plain numbers such as 2001 last."""
    forms = {str(name): forms_of(cells) for name, cells in table.items()}
    dates = [name for name, of_one in forms.items() if of_one]
    return sorted(dates, key=lambda name: not {*forms[name]} - {*NUMBERS})


def ask_five(
    table: pd.DataFrame, layout: str, heads: Sequence[str], answers: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the questions that are still open, and the answers where only one is possible."""
    names = [name for name in map(str, table) if name.strip() and name not in heads]
    asked, ready = dict[str, str](), dict[str, str]()
    for key, question in _QUESTIONS.items():
        said = str(answers.get(key, ""))
        named = [said] if key == "count" else parts_of(said, names)
        none = key == "capacity" or (key, answers.get("row")) == ("count", "event")
        unknown = [it for it in named if it not in [*names, *["none"] * none]]
        if key not in answers:
            asked[key] = _WORDS.get((layout, key), question)
        elif key == "row" and answers[key] not in ROWS:
            asked[key] = f"{answers[key]!r} is none of {', '.join(ROWS)}"
        elif unknown and key != "row" and (layout, key) not in _WORDS:
            asked[key] = f"no column {unknown[0]!r}{did_you_mean(unknown[0], names)}"
    every = [it for key in _QUESTIONS if key in answers for it in parts_of(answers[key], names)]
    several = parts_of(answers.get("capacity", ""), names)[1:]  # a sum may hold the count
    held = [answers.get("count")] * bool(several)
    if twice := [name for name in names if every.count(name) - held.count(name) > 1]:
        asked["count"] = f"{twice[0]} is said to be two of the five; which column is counted?"
    if answers.get("capacity") == "none" and "at_most" not in answers:
        asked["at_most"] = "the largest count that plays; a public number"

    def take(key: str, possible: Sequence[str]) -> str:
        """Return the answer: what was said, or the only one that is possible."""
        if key in asked and key not in answers and len(possible) == 1:
            ready[key] = possible[0]
        return "" if key in asked and key not in ready else str(ready.get(key, answers.get(key)))

    if "first" in answers and not _read(answers["first"], DEFAULT.date):
        asked["first"] = f"{answers['first']!r} is no date like 2021-01-31"
    dates = possible_dates(table[names])
    plain = dates and not {*forms_of(table[dates[0]])} - {*NUMBERS}  # a date may be another column
    period = take("period", ["period"] if heads else [] if plain else dates)
    if "period" in asked:
        read = [("the header", pd.Series(heads))] if heads else [(it, table[it]) for it in dates]
        aloud = [f"{name}: {_aloud(cells, forms_of(cells))}" for name, cells in read]
        wrong = ". If a date is read wrongly: --first DATE, of the first row" if aloud else ""
        asked["period"] += f". {'; '.join(aloud) or 'dpol can read the dates of none'}{wrong}"
    texts = _period_texts(table, period, heads)
    in_parts = not heads and len(parts_of(period, table)) > 1
    if texts is not None and (question := _date_question(texts, answers, in_parts=in_parts)):
        asked["date"] = question
    dated = [*parts_of(period, table), *dates, *heads]
    if layout == "wide":
        take("capacity", ["none"] if "entity" in answers else [])
        take("row", ["number"])
        return asked, ready
    when = texts.map(lambda text: without_time(text)[0]) if texts is not None else None
    other = [*dated, answers.get("count"), answers.get("capacity")]
    who = [] if when is None else tells_apart(table, when, [it for it in names if it not in other])
    named = [it for it in who if IDENTIFIES.search(it) or not is_number(table[it])]
    if heads:
        named = [it for it in names if not is_number(table[it]) and table[it].is_unique]
    entity = take("entity", named)
    columns_of_one = parts_of(entity, table)
    if entity:
        places = joined(table, columns_of_one).unique()
        if len(places) < 2:
            asked["entity"] = f"{entity} names one place only ({places[0]}); a game needs two"
    free = [it for it in names if it not in (*columns_of_one, *dated)]
    others = [it for it in free if _counted(table[it])]
    count = take("count", [] if heads else others)
    left = [it for it in others if it != count]
    take("capacity", ["none"] if not left and (count or heads) else [])
    if entity and when is not None and "row" in asked:
        pairs = table[columns_of_one].assign(when="" if heads else when)
        take("row", [] if pairs.duplicated().any() else ["number"])
    return asked, ready


def tells_apart(table: pd.DataFrame, period: Texts, names: Sequence[str]) -> list[str]:
    """Return the columns that tell the rows of a period apart, as entities do."""
    several = [name for name in names if 2 <= table[name].nunique() <= len(table) / 2]
    in_period = table.groupby(period)
    return [name for name in several if in_period[name].nunique().sum() >= 0.8 * len(table)]


def _counted(cells: Texts) -> bool:
    """Return whether a column may hold counts: some of its texts have a digit, as 53, 53* or <5."""
    texts = cells[cells != ""].drop_duplicates()
    return bool(texts.str.contains("[0-9]").mean() >= LEAST_NUMBERS)


def _period_texts(table: pd.DataFrame, period: str, heads: Sequence[str]) -> Texts | None:
    if heads:
        return pd.Series(heads, name=period)
    year, *part = parts_of(period, table)
    if not period or len(part) > 1 or not {year, *part} <= {*table}:
        return None
    return year_and(table[year], table[part[0]]) if part else table[year]


def formats_of(texts: Texts, answers: Mapping[str, Any], *, in_parts: bool) -> list[Dates]:
    """Return the formats that dates may have: those that were said, or those that read them."""
    forms = [answers["date"]] if "date" in answers else forms_of(texts)
    held = [text for text in texts.unique() if text]
    weeks = "YYYY-ww" in forms or "YYYY-ee" in forms
    if in_parts and weeks and "date" not in answers:  # a number of a week shows no system
        read = [it for it in _WEEKS if all(_read(text, it) for text in held)]
        forms = [*read, *(it for it in forms if it not in _WEEKS)]
    if answers.get("first"):
        forms = [it for it in forms if str(_read(held[0], it)) == answers["first"]]
    if "YYYY-M" in forms and not _WEEK.search(str(texts.name)):  # no month has the number 13
        forms = [it for it in forms if it not in _WEEKS]
    return forms


def _date_question(texts: Texts, answers: Mapping[str, Any], *, in_parts: bool) -> str:
    """Return what to ask about the format of dates; empty if all are read in one way."""
    forms = formats_of(texts, answers, in_parts=in_parts)
    held = [text for text in texts.unique() if text]
    if len(forms) == 1:
        unread = [text for text in held if not _read(text, forms[0])]
        if "date" in answers and len(unread) > (1 - LEAST_DATES) * len(held):
            return f"{unread[0]!r} is no date of the format {forms[0]}"
        return ""
    if forms:
        return f"{_aloud(texts, forms)}?"
    if known := formats_of(texts, {**answers, "first": ""}, in_parts=in_parts):
        return (
            f"{_aloud(texts[:1], known)}, and not {answers['first']}: give another format, or add a"
            " column with dates like 2021-01-31"
        )
    return (
        f"dpol knows no format of {listed(map(repr, held[:ALOUD]))}. Give it, {FORMATS}. If it has"
        " no such format, add a column with dates like 2021-01-31"
    )


def _read(text: str, form: Dates) -> Any:
    return parse_date(text, DEFAULT.model_copy(update={"date": form}))


def _aloud(texts: Texts, forms: Sequence[Dates]) -> str:
    """Read two dates aloud in each format: '2/1/2023' is Sun 1 Jan 2023 (M/D/YYYY) or ..."""
    held = [text for text in texts.unique() if text]
    apart = [it for it in held if len({_read(it, form) for form in forms}) == len(forms)] or held
    lines = []
    for text in apart[:ALOUD]:
        read = {form: day for form in forms if (day := _read(text, form))}
        named = len(read) > 1
        each = [f"{_day(day, form)}{f' ({form})' * named}" for form, day in read.items()]
        lines.append(f"{text!r} is {' or '.join(each)}" if each else f"{text!r} is no date")
    return ", ".join(lines)


def _day(day: Any, form: Dates) -> str:
    if form == "YYYY":
        return f"{day:%Y}"
    return f"{day:%b %Y}" if months_of(form) else f"{day:%a} {day.day} {day:%b %Y}"


def parts_of(said: str, names: Iterable[object]) -> list[str]:
    """Return the columns that an answer names: one, or several with commas between them."""
    return [said] if said in map(str, names) else said.split(",")


def joined(table: pd.DataFrame, names: Sequence[str]) -> Texts:
    """Return the texts of some columns of each row, with commas between them."""
    return table[names[0]].str.cat(table[[*names[1:]]], sep=", ")


def names_list(names: Iterable[str]) -> str:
    return ", ".join(map(shortened, names))
