"""Lines of pandas that make a table tidy, for the messages that refuse one that is not.

Each line stands for itself, below a sentence that says when it helps; `FILE` is the table's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

PLACE, WEEK, COUNT = "place", "week", "count"
"""Names of columns where no config names them."""
_PARTS = "year", "quarter", "month", "week", "day"


def told(*when_and_line: tuple[str, str]) -> str:
    """Return lines of pandas for a message, each below a sentence that says when it helps."""
    return "".join(f"\n{when}:\n  {line}" for when, line in when_and_line)


def long(kept: Sequence[str], made: str = WEEK, number: str = COUNT) -> str:
    """Make rows of columns, of which each is a place or a date."""
    return f'table = table.melt({_listed(kept)}, var_name="{made}", value_name="{number}")'


def events(entity: str = PLACE, period: str = WEEK, number: str = COUNT) -> str:
    """Count rows that are events; a place and period without one has 0."""
    return (
        f'table = table.groupby(["{entity}", "{period}"]).size().unstack(fill_value=0).stack()'
        f'.rename("{number}").reset_index()'
    )


def added(entity: str = PLACE, period: str = WEEK) -> str:
    """Add the parts of a place and period."""
    return f'table = table.groupby(["{entity}", "{period}"], as_index=False).sum()'


def steps(entity: str = PLACE, period: str = WEEK, number: str = COUNT) -> str:
    """Make counts of totals to date."""
    return (
        f'table["{number}"] = table.sort_values("{period}").groupby("{entity}")["{number}"].diff()'
        f'.fillna(table["{number}"])'
    )


def second_table(entity: str = PLACE) -> str:
    """Join a table of capacities."""
    return f'table = table.merge(capacities, on="{entity}", how="left")'


def named_by_two(entity: str = PLACE) -> str:
    """Name a place by two columns."""
    return f'table["{entity}"] = table["{entity}"] + ", " + table["city"]'


def stripped(name: str = COUNT) -> str:
    """Remove signs from the ends of numbers."""
    return f'table["{name}"] = table["{name}"].str.strip("*%")'


def week_dates(period: str = WEEK, year: str = "year", week: str = "week") -> str:
    """Make dates of years and ISO weeks."""
    return (
        f'table["{period}"] = pd.to_datetime(table["{year}"].astype(str) + "-" +'
        f' table["{week}"].astype(str) + "-1", format="%G-%V-%u")'
    )


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
    to, lines, texts = f'table["{period}"] = ', list[tuple[str, str]](), [*filter(None, texts)]
    if "year" in parts:
        year = f'table["{parts["year"]}"].astype(str)'
        if week := parts.get("week"):
            lines.append(
                ("If year and week stand in two columns", week_dates(period, parts["year"], week))
            )
        if month := parts.get("month"):
            made = f'{year} + "-" + table["{month}"].astype(str), format="%Y-%m"'
            if "day" in parts:
                made = f"table[{_listed([parts[it] for it in ('year', 'month', 'day')])}]"
            lines.append(("If the parts of dates stand in columns", f"{to}pd.to_datetime({made})"))
        if quarter := parts.get("quarter"):
            made = f'{year} + "Q" + table["{quarter}"].astype(str).str[-1], freq="Q"'
            lines.append(("If year and quarter do", f"{to}pd.PeriodIndex({made}).to_timestamp()"))
    if texts and all(re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.", text) for text in texts):
        lines.append(("If a date begins each text", day(period)))
    if texts and all(re.fullmatch("[2-7][0-9]{4}", text) for text in texts):
        excel = f'pd.to_datetime(table["{period}"], unit="D", origin="1899-12-30")'
        lines.append(("If they are days of Excel", to + excel))
    if units:
        lines.append(("If units stand in the first row", "table = table.iloc[1:]"))
    return told(*lines)


def day(period: str = WEEK) -> str:
    """Keep the first date of texts, without a time of day or the end of a range."""
    return f'table["{period}"] = table["{period}"].astype(str).str[:10]'


def of_columns(
    header: Sequence[str], missing: Sequence[str], entity: str, period: str, number: str
) -> str:
    """Return the lines that may make missing columns.

    Args:
        header: the columns of the table.
        missing: the columns that it lacks.
        entity: column of the entity.
        period: column of the period.
        number: column of the count.
    """
    kept = [name for name in (entity, period) if name in header]
    measures = [name for name in missing if name not in (entity, period)]
    others = [name for name in header if name and name not in kept]
    made = next((name for name in (entity, period) if name in missing), "month")
    spread = {name.removeprefix(it)[:1] for it in measures for name in others if it in name[:-1]}
    lines = []
    for name in measures:
        if "," in name and {*name.split(",")} <= {*header}:
            added_up = " + ".join(f'table["{part}"]' for part in name.split(","))
            lines.append(("If it is the sum of columns", f'table["{name}"] = {added_up}'))
    if kept and (measures == [number] or (number in missing and not spread)):
        rest = [name for name in others if not name[:1].isdigit()] if len(kept) == 1 else []
        few = [name for name in rest if len(rest) < len(others)]
        ids = [*kept, *few] if made == period or made == "month" else kept
        years = ["year"] if made == "month" and "year" in header else []
        lines.append(
            ("If each place or date has its own column", long([*dict.fromkeys([*ids, *years])],
             made, number))
        )  # fmt: skip
    if spread and kept:
        lines.append((
            "If each place has a column for each measure",
            f"table = pd.wide_to_long(table, {_listed(measures)}, i={_listed(kept)},"
            f' j="{made}", sep="{min(spread)}", suffix=".+").reset_index()',
        ))  # fmt: skip
    if len(kept) == 2:
        lines.append((
            "If several measures stand in one column",
            f'table = table.pivot(index={_listed(kept)}, columns="measure",'
            ' values="value").reset_index()',
        ))  # fmt: skip
    if entity in header and measures:
        lines.append(("If another table has the capacities", second_table(entity)))
    if not kept:
        lines.append((
            "If two rows of names stand above the numbers",
            "table = pd.read_csv(FILE, header=[0, 1], index_col=0).stack(1, future_stack=True)"
            f'.rename_axis(["{period}", "{entity}"]).reset_index()',
        ))  # fmt: skip
    return told(*lines) + (of_dates(period, parts_of_dates(header)) if period in missing else "")


def of_sheets(entity: str = PLACE) -> str:
    """Return the line that joins sheets, of which each is a place."""
    return told((
        "If each sheet holds a place or a date",
        f'table = pd.concat(pd.read_excel(FILE, sheet_name=None), names=["{entity}"])'
        f'.reset_index("{entity}")',
    ))  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
