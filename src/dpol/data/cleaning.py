"""Cleaning a raw table into the canonical panel, with every change counted.

The panel has one row per stream, period and entity, without gaps. The report lists each rule with
the number of cells it touched, and every entity dropped.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError, Key, in_words, keyed
from dpol.core.logs import LOGGER
from dpol.core.words import counted, did_you_mean, listed, shortened
from dpol.data.filling import check_calendar, fill, refuse_zeroed, successions
from dpol.data.panel import (
    IDLE,
    IDLE_READ,
    RULES,
    CleanPanel,
    Selection,
    StreamReport,
    provenance_of_table,
    report_as_dict,
)
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.second_look import EXAMPLES, Doubt, DoubtError, cells_named, rule, second_look
from dpol.data.settings import Dataset, Stream
from dpol.data.stream import ZERO_OR_HIDDEN, unmeasured_best
from dpol.data.tables.parse import CELL_KINDS
from dpol.data.tables.raw_table import RawTable, read_capacities
from dpol.data.tables.settings import Cleaning, Columns
from dpol.data.typed_rows import drop_rows, one_row_each, read_counts, read_rows
from dpol.data.understood import understand

NO_CAPACITY = "never reports a capacity above 0"
_SOURCES = ["count_source", "capacity_source"]
_OF_ROWS = ["identified_rows", *(f"{kind}_cases" for kind in CELL_KINDS)]


def clean_table(
    file: Path | str,
    dataset: Dataset,
    streams: Mapping[str, Stream],
    gains: Collection[Gain] = (THE_PAPERS,),
    reported: Mapping[str, Any] | None = None,
) -> tuple[CleanPanel, dict[str, Any]]:
    """Read a table with its capacities, and return its panel and the report; see `clean_panel`.

    Args:
        file: the table.
        dataset: how the table is read and cleaned.
        streams: the streams, by label.
        gains: the questions of the run.
        reported: what a paper says of this table (`dpol.show.reported.paper_table`). The report
            warns of each number that the panel does not have.
    """
    raw, capacities = read_counts(file, dataset), read_capacities(dataset.needed_columns)
    panel = clean_panel(raw, dataset, streams, capacities, gains)
    if unlike := tuple(_unlike(panel, dataset.needed_columns, reported)) if reported else ():
        for text in unlike:
            LOGGER.warning("%s: %s", file, text)
        panel = replace(panel, warnings=(*panel.warnings, *unlike))
    provenance = provenance_of_table(file, simulated=dataset.simulated)
    for second in dataset.capacity_files:
        provenance["capacities"] = provenance_of_table(second, simulated=dataset.simulated)
    return panel, report_as_dict(panel, provenance)


def clean_panel(
    raw: RawTable,
    dataset: Dataset,
    streams: Mapping[str, Stream],
    capacities: RawTable | None = None,
    gains: Collection[Gain] = (THE_PAPERS,),
) -> CleanPanel:
    """Clean a raw table into the panel of the given streams.

    Only rows of the streams' groups are read, and only numbers within the periods.

    Args:
        raw: the table of counts.
        dataset: how the table is read and cleaned.
        streams: the streams, by label.
        capacities: the second table, if the dataset's columns name one.
        gains: the questions of the run.

    Raises:
        DoubtError: the numbers may mean something else than they seem to (`second_look`).
        DataError: a cell is neither number nor date where one belongs; an entity has no name; the
            rules refuse a negative number; too many missing counts become 0; an entity, group or
            text of `drop_where` has several spellings; a group or text of
            `drop_where` has no row; the second table lacks an entity; or a stream keeps fewer than
            two entities, no period or no count.
    """
    groups = {label: stream.groups for label, stream in streams.items()}
    rules = dataset.rules
    kept = drop_rows(raw, rules, {group for named in groups.values() for group in named})
    rows, left_out = read_rows(kept, dataset, groups, capacities)
    if isinstance(rules.entities, list):
        _refuse_unknown(raw.file, rows.loc[rows["capacity"] > 0, "entity"], rules.entities)
    doubts = dict[str, Doubt]()
    played = dict[str, tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]]()
    for label, stream in streams.items():
        of_stream = rows[rows["group"].isin(stream.groups)]
        one_each, dropped = one_row_each(of_stream, rules)
        if rules.cumulative:
            one_each = _since_the_last(one_each, summed=dataset.needed_columns.cases is None)
        above = np.any(_above(one_each, gains), axis=0)
        for doubt in second_look(of_stream, one_each, kept.cells, dataset, above):
            doubts.setdefault(in_words(doubt.says), doubt)
        played[label] = of_stream, one_each, dropped
    if doubts:
        raise DoubtError(raw.file, [*doubts.values()])
    cleaned = [_clean_stream(raw, label, *each, dataset, gains) for label, each in played.items()]
    tables, reports = zip(*cleaned, strict=True)
    warnings = (*left_out, *_warnings(reports))
    for text in warnings:
        LOGGER.warning("%s: %s", raw.file, text)
    return CleanPanel(
        table=pd.concat(tables, ignore_index=True),
        rows_read=len(raw.cells),
        rows_dropped=len(raw.cells) - len(kept.cells),
        rows_outside=len(kept.cells) - len(rows),
        reports=reports,
        warnings=warnings,
    )


def _unlike(panel: CleanPanel, columns: Columns, reported: Mapping[str, Any]) -> Iterator[str]:
    """Yield which numbers of a paper a panel does not have, a line each."""
    for report in panel.reports:
        if (said := reported["entities"].get(report.stream)) is None:
            continue
        for what, there, theirs in (
            (columns.called("entity"), report.entities, said),
            ("period", report.periods, reported["periods"]),
        ):
            if there != theirs:
                yield f"stream {report.stream} has {counted(there, what)}; the paper has {theirs:,}"
    if not reported["least"]:
        return
    of = panel.table[panel.table["stream"].isin(reported["entities"])]
    # The paper does not say whether its range is over periods or over streams.
    each = [of.groupby(by)["capacity"].min() for by in (["stream", "period"], ["stream"])]
    ranges = [(round(least.min(), 1), round(least.max(), 1)) for least in each]
    if tuple(reported["least"]) not in ranges:
        ends = [f"{least:g} to {most:g}" for least, most in (*ranges, reported["least"])]
        yield (
            f"the smallest capacity is {ends[0]} by stream and period, {ends[1]} by stream;"
            f" in the paper it is {ends[2]}"
        )


def _warnings(reports: Sequence[StreamReport]) -> Iterator[str]:
    """Yield what the owner of the table should check, once for streams with the same rows."""
    streams = dict[str, list[str]]()
    for report in reports:
        for text in report.to_check():
            streams.setdefault(text, []).append(report.stream)
    for text, labels in streams.items():
        yield f"stream{'s' if len(labels) > 1 else ''} {', '.join(labels)}: {text}"


def _clean_stream(
    raw: RawTable,
    label: str,
    rows: pd.DataFrame,
    unique: pd.DataFrame,
    merged: Mapping[str, int],
    dataset: Dataset,
    gains: Collection[Gain],
) -> tuple[pd.DataFrame, StreamReport]:
    file, rules, periods = raw.file, dataset.rules, dataset.periods
    above = np.all(_above(unique, gains), axis=0) & (rules.above == "missing")
    typed = tuple(cells_named(unique[above]))
    unique = unique.assign(count=unique["count"].mask(above), above_counts=above)
    played, dropped = _choose(file, label, unique, rules)
    if played["count"].isna().all():
        raise DataError(
            f"{file}: stream {label} has no counts: all {len(played):,} cells are missing. ",
            keyed("Check {dataset.columns.count} and {dataset.cleaning.missing_markers}"),
        )
    unreported = played.groupby("period")["count"].transform("count") == 0
    blank = tuple(str(day.date()) for day in played.loc[unreported, "period"].unique())
    every, played = played, played[~unreported]
    missing = check_calendar(file, label, played, periods)
    idle = played.groupby("entity")["idle_counts"].sum()
    largest = max((gain.largest for gain in gains if gain.of == "share"), default=1.0)
    table, touched = fill(every, rules, periods, largest)
    refuse_zeroed(file, label, table, rules)
    by_entity = unique[unique["entity"].isin(played["entity"])].groupby("entity")
    counts = {
        **merged,
        **played[played.columns.intersection([*RULES])].sum(),
        **unique[_OF_ROWS].sum(),
        **touched,
        "moved_entities": by_entity["moved"].any().sum(),
        "renamed_entities": (by_entity["name"].nunique() > 1).sum(),
    }
    cut = np.any(_above(table, gains), axis=0)
    bound = min((gain.bound for gain in gains if gain.bound), default=math.inf)
    counts["cut_counts"] = (table["count"] > bound).sum()
    table.insert(0, "stream", label)
    sizes = unique["entity"].value_counts()
    without = [it["entity"] for it in dropped if it["reason"] == NO_CAPACITY]
    capacities = dataset.needed_columns.capacity is not None
    gain = "density" if capacities else "count"
    report = StreamReport(
        stream=label,
        entities=played["entity"].nunique(),
        periods=played["period"].nunique(),
        cells={rule: int(counts.get(rule, 0)) for rule in RULES},
        dropped=tuple(dropped),
        selection=_selection(rules),
        max_carry=rules.max_carry,
        missing_periods=missing,
        smallest_capacity=float(table["capacity"].min()) if capacities else None,
        largest_density=float(table["density"].max()) if capacities else None,
        sums=_sums(played, rules),
        unmeasured=unmeasured_best(table, gain, _SOURCES),
        checks={
            IDLE_READ.get(rules.capacity_zero, IDLE): tuple(
                f"{name} ({counted(n, 'period')})" for name, n in idle[idle > 0].items()
            ),
            "rows dropped for another of their entity and period": tuple(
                f"{n} {how}"
                for n, how in zip(merged.values(), ("equal", "different"), strict=True)
                if n and not rules.merges_rows
            ),
            "counts above their bound, cut to it (cleaning.above)": tuple(cells_named(table[cut])),
            "counts above their bound, read as missing (cleaning.above)": typed,
            "one entity with two names": tuple(successions(table)[:EXAMPLES]),
            "periods in which no entity has a count, left out": blank,
            "periods missing": missing,
            f"entities left out, as each {NO_CAPACITY}": tuple(
                f"{shortened(name)} ({counted(int(sizes[name]), 'row')})" for name in without
            ),
        },
        changed=int((cut | ~table[_SOURCES].isin(["reported", ZERO_OR_HIDDEN]).all(axis=1)).sum()),
        understood=understand(raw, rows, table, dropped, dataset),
    )
    return table, report


def _above(rows: pd.DataFrame, gains: Collection[Gain]) -> list[pd.Series[bool]]:
    """Return for each question whether the count of each row is above its capacity, or bound."""
    capacity = rows["capacity"].where(rows["capacity"] > 0)
    return [rows["count"] > (gain.bound or gain.largest * capacity) for gain in gains]


def _since_the_last(rows: pd.DataFrame, *, summed: bool) -> pd.DataFrame:
    """Return the rows with what was added to each total since the last one of its entity.

    Args:
        rows: rows of a stream, sorted by period, one per period and entity.
        summed: whether the cases of a row are its count.
    """
    before = rows.groupby("entity")["count"].transform(lambda one: one.ffill().shift())
    again = rows["count"] < before / 2
    count = (rows["count"] - before).where(~again, rows["count"])
    count = count.mask(count < 0)
    missing = rows["missing_counts"].astype(bool) | (count.isna() & rows["count"].notna())
    rows = rows.assign(count=count, missing_counts=missing)
    return rows.assign(cases=count.fillna(0)) if summed else rows


def _sums(rows: pd.DataFrame, rules: Cleaning) -> dict[str, Any] | None:
    """Return `dpol.data.stream.SUMS` of a stream's rows."""
    days, known = rows["days"].dropna(), rows["count"].notna()
    if days.empty:
        return None
    return {
        "read_as": rules.suppressed_sum,
        "days": [float(days.min()), float(days.max())],
        "uncovered": rules.suppressed_value if (known & rows["days"].isna()).any() else None,
    }


def _selection(rules: Cleaning) -> Selection:
    """Return how the rules choose the entities that play."""
    if isinstance(rules.entities, list):
        return "given"
    return "all" if rules.entities == "all" or rules.min_total_cases == 0 else "counts"


def _refuse_unknown(file: str, entities: pd.Series[str], listed: Sequence[str]) -> None:
    """Refuse a list that names an entity of no stream."""
    there = sorted(entities.unique())
    if unknown := sorted({*listed} - {*there}):
        lines = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in unknown[:20])
        raise DataError(
            f"{file}: correct ",
            keyed("{dataset.cleaning.entities}, which lists "),
            f"{counted(len(unknown), 'entity')} without a row, or a capacity above 0, in the"
            f" chosen groups and periods:{lines}",
        )


def _choose(
    file: str, label: str, rows: pd.DataFrame, rules: Cleaning
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return the rows of a stream's entities that play, and why the other entities do not.

    Raises:
        DataError: fewer than two entities are left.
    """
    of = rows.groupby("entity").agg(
        {"cases": "sum", "capacity": "max", "name": "last", "idle_counts": "sum"}
    )
    of["reason"] = ""
    if _selection(rules) == "counts":
        few = f"{{:.10g}} cases in all, fewer than {rules.min_total_cases:.10g}"
        of.loc[of["cases"] < rules.min_total_cases, "reason"] = of["cases"].map(few.format)
    of.loc[~(of["capacity"] > 0), "reason"] = NO_CAPACITY
    if isinstance(rules.entities, list):
        of.loc[~of.index.isin(rules.entities), "reason"] = "not listed in cleaning.entities"
    idle = of[(of["reason"] == "") & (of["idle_counts"] > 0)]
    if len(idle) and rules.capacity_zero == "error":
        raise DoubtError(file, [_without_capacity(label, idle)])
    if rules.capacity_zero == "drop":
        periods = (counted(int(n), "period") for n in idle["idle_counts"])
        of.loc[idle.index, "reason"] = [f"{IDLE} in {number}" for number in periods]
    out = of[of["reason"] != ""]
    if (kept := len(of) - len(out)) < 2:
        raise DataError(
            f"{file}: stream {label} keeps {kept} of {len(of)} entities, but needs at least 2. ",
            keyed(
                "Lower {dataset.cleaning.min_total_cases}, list more in"
                " {dataset.cleaning.entities}, add groups to {groups}, or check"
                " {dataset.columns.capacity}",
                groups=Key(("streams", label, "groups")),
            ),
        )
    records = out.reset_index()[["entity", "name", "reason"]].to_dict("records")
    dropped = [{str(key): text for key, text in row.items()} for row in records]
    return rows[~rows["entity"].isin(out.index)], dropped


def _without_capacity(label: str, idle: pd.DataFrame) -> Doubt:
    """Ask what to do with entities that have counts and no capacity."""
    shown = idle.sort_values("idle_counts", ascending=False, kind="stable")
    named = [
        f"{shortened(str(entity))} ({counted(int(n), 'period')})"
        for entity, n in shown["idle_counts"].items()
    ]
    return Doubt(
        says=f"stream {label} has {counted(int(idle['idle_counts'].sum()), 'count')} above 0 beside"
        f" a capacity of 0 or less, of {listed(named, EXAMPLES)}: drop these entities, absent"
        " to read these counts as 0, or carry the last capacity forward?",
        key=rule("capacity_zero"),
    )
