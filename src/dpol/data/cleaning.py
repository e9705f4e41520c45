"""Cleaning rows into the panel of a stream, with every change counted.

The report lists each rule of `rules.yaml`, in its order, with the number of cells that it touched,
and every entity dropped. Each stream has a report of its own; `joined` makes one of all.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from dpol.core.errors import DataError, Key, in_lines, keyed
from dpol.core.logs import LOGGER
from dpol.core.words import counted, did_you_mean, escape_markdown, listed, one_line
from dpol.data.meaning import refuse_other_meanings
from dpol.data.panel import (
    EXAMPLES,
    PANEL,
    above,
    carry_capacities,
    cells_named,
    check_calendar,
    fill,
    one_row_each,
    rows_of_stream,
)
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import Cleaning, Dataset, Stream
from dpol.data.stream import (
    MANY_UNMEASURED,
    MAX_CARRY,
    SELECTION,
    SUMS,
    ZERO_OR_HIDDEN,
    GainStream,
    build_stream,
    unmeasured_best,
    unmeasured_in_words,
)
from dpol.data.table import Rows, read_rows
from dpol.data.understood import understood

RULES: Mapping[str, str] = yaml.safe_load(
    Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8")
)
"""Descriptions of the cleaning rules, by key. Duplicates and cases are counted in all rows of the
stream, everything else in the cells of the entities that play. Missing and filled cells add up:
absent, missing and negative counts are carried or 0; absent, missing, negative, suppressed and
zero capacities are carried or backfilled."""
IDLE = "a count above 0 beside a capacity of 0 or less"
"""Why an entity without a share does not play."""
ZERO_WOULD_BE_BEST = "a zero would be the best if it hid a count"
_SOURCES = ["count_source", "capacity_source"]
_OF_CASES = ["suppressed_cases", "missing_cases", "negative_cases"]
_MANY_ABOVE = 0.01  # share of the counts of a stream that may be cut without being asked for
_MANY_ZEROED = 0.01  # share of the cells of a stream that may become 0 without a warning
_MOST_BLANK = 1 / 3  # share of the cells of a stream that may have no count without being asked for
SELECTIONS = {
    "counts": "the entities with at least dataset.cleaning.min_total_cases over all periods, so"
    " the private counts decide who plays",
    "given": "those that dataset.cleaning.entities lists, whatever their counts",
    "all": "all entities, whatever their counts",
}
"""Ways to select the entities that play. An entity without any capacity never plays."""


def clean_table(
    table: Path | str | Rows,
    dataset: Dataset,
    streams: Mapping[str, Stream],
    gains: Collection[Gain] = (THE_PAPERS,),
    *,
    moved: bool = True,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a table, and return the panels of its streams as one, and their joined report.

    Args:
        table: the file, or its rows.
        dataset: how the table is read and cleaned.
        streams: the streams, by label.
        gains: the questions of the run.
        moved: whether it is said how far one person changes one count.

    Raises:
        DataError: as `dpol.data.table.read_rows` and `clean_stream`.
    """
    rows = table if isinstance(table, Rows) else read_rows(table, dataset)
    cleaned = [
        clean_stream(rows, label, stream.groups, dataset, gains, moved=moved)
        for label, stream in streams.items()
    ]
    panels, reports = zip(*cleaned, strict=True)
    return pd.concat(panels, ignore_index=True), joined(reports)


def played(
    rows: Rows,
    dataset: Dataset,
    streams: Mapping[str, Stream],
    gain: Gain,
    moves: float | None,
    stay: int,
) -> tuple[pd.DataFrame, dict[str, Any], list[GainStream]]:
    """Do what the jobs of a run do for its streams.

    Args:
        rows: the rows of the table.
        dataset: how the table is read and cleaned.
        streams: the streams, by label.
        gain: the question.
        moves: the most by which one person can change one count; None, if nobody says, for 1.
        stay: number of consecutive rounds in which one person may be counted.

    Returns:
        What `clean_table` returns, and the streams.

    Raises:
        DataError: as `clean_stream` and `dpol.data.stream.build_stream`.
    """
    panel, report = clean_table(rows, dataset, streams, [gain], moved=moves is not None)
    built = [
        build_stream(
            panel,
            of["stream"],
            moves or 1.0,
            provenance_of_stream({**report, "stream": of}),
            stay,
            gain=gain,
            counted=dataset.needed_columns.called("count"),
        )
        for of in report["streams"]
    ]
    return panel, report, built


def clean_stream(
    rows: Rows,
    label: str,
    groups: Sequence[str],
    dataset: Dataset,
    gains: Collection[Gain] = (THE_PAPERS,),
    *,
    moved: bool = True,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Clean the rows of a stream into its panel.

    Args:
        rows: the rows of the table.
        label: label of the stream.
        groups: its groups.
        dataset: how the table is read and cleaned.
        gains: the questions of the run.
        moved: whether it is said how far one person changes one count.

    Returns:
        The panel, and its report as plain values: facts of the table, and under `stream` the
        numbers of entities and periods, of the rows of each group, and of the cells that each of
        `RULES` touched; who does not play, and why; ranges of capacity and density (None without
        capacities); what suppressed sums are read as (`dpol.data.stream.SUMS`, None without sums);
        in how many periods nobody measured the largest share (`dpol.data.stream.UNMEASURED`);
        what the owner of the table should check; the number of cells that are not as reported;
        and what was understood, a line each.

    Raises:
        DataError: a cell is neither number nor date where one belongs; an entity has no name; a
            rule refuses rows or numbers; they may mean something else (`dpol.data.meaning`); too
            many counts are above their bound; too many missing ones become 0; or the stream keeps
            fewer than two entities, no period or no count.
    """
    file, rules, periods = rows.file, dataset.rules, dataset.periods
    read = rows_of_stream(rows, label, groups, dataset)
    unique, merged = one_row_each(file, read, dataset)
    refuse_other_meanings(file, label, unique, read, dataset, moved=moved)
    _, beds = carry_capacities(unique["capacity"], unique["entity"])
    whole = unique.assign(capacity=beds)
    _refuse_above(file, label, whole, rules, gains)
    over = np.all(above(whole, gains), axis=0) & (rules.above == "missing")
    missing_above = cells_named(unique[over])
    unique = unique.assign(count=unique["count"].mask(over), above_counts=over)
    if dataset.needed_columns.cases is None:
        unique["cases"] = unique["cases"].mask(over, 0.0)
    played, dropped = _choose(rows, label, unique, rules)
    if played["count"].isna().all():
        raise DataError(
            f"{file}: stream {label} has no counts: all {len(played):,} cells are missing. ",
            keyed("Check {dataset.columns.count} and {dataset.cleaning.missing_markers}"),
        )
    unreported = played.groupby("period")["count"].transform("count") == 0
    blank = [str(day.date()) for day in played.loc[unreported, "period"].unique()]
    every, played = played, played[~unreported]
    missing = check_calendar(file, label, played, periods)
    largest = max((gain.largest for gain in gains if gain.of == "share"), default=math.inf)
    table, touched = fill(every, rules, periods, largest)
    _refuse_zeroed(file, label, table, rules)
    cut, size, number = np.any(above(table, gains), axis=0), len(table), table["period"].nunique()
    bound = min((gain.bound for gain in gains if gain.bound), default=math.inf)
    by_entity = unique[unique["entity"].isin(played["entity"])].groupby("entity")
    counts = {
        **merged,
        **played[played.columns.intersection([*RULES])].sum(),
        **unique[_OF_CASES].sum(),
        **touched,
        "moved_entities": by_entity["moved"].any().sum(),
        "renamed_entities": (by_entity["name"].nunique() > 1).sum(),
        "cut_counts": (table["count"] > bound).sum(),
    }
    table = table.assign(stream=label)[[*PANEL.columns]]
    measured = dataset.needed_columns.capacity is not None
    unmeasured = unmeasured_best(table, "density" if measured else "count", _SOURCES)
    idle = played.groupby("entity")["idle_counts"].sum()
    least = min(gain.min_capacity or 0.0 for gain in gains)
    small = (table.groupby("entity")["capacity"].min() < least).sum()
    left_out = f"of these, {counted(small, 'entity')} with a capacity below {least:g} do not play"
    idle_named = [f"{name} ({counted(n, 'period')})" for name, n in idle[idle > 0].items()]
    best = unmeasured_in_words(unmeasured["periods"], unmeasured["share"], of=number)
    zeros = unmeasured.get("zero_share", 0)
    checks = {
        f"missing counts set to 0: {touched['zero_counts']:,} of {size:,} cells": (
            touched["zero_counts"] > _MANY_ZEROED * size
        ),
        f"{best}; results depend on how these are read": unmeasured["share"] > MANY_UNMEASURED,
        f"with {100 * zeros:.0f}% of the possible gain, {ZERO_WOULD_BE_BEST}": zeros,
        f"{IDLE} (cleaning.capacity_zero: {rules.capacity_zero}): {'; '.join(idle_named)}": (
            idle_named
        ),
        f"counts above their bound, cut to it (cleaning.above): {cells_named(table[cut])}": (
            cut.any()
        ),
        f"counts above their bound, read as missing (cleaning.above): {missing_above}": over.any(),
        f"periods in which no entity has a count, left out: {'; '.join(blank)}": blank,
        f"periods missing: {'; '.join(missing)}": missing,
    }
    changed = cut | ~table[_SOURCES].isin(["reported", ZERO_OR_HIDDEN]).all(axis=1)
    report = {
        "stream": label,
        "entities": table["entity"].nunique(),
        "periods": number,
        "groups": {str(name): int(n) for name, n in read["group"].value_counts().items()},
        "cells": {rule: int(counts.get(rule, 0)) for rule in RULES},
        "dropped": dropped,
        "selection": _selection(rules),
        "max_carry": rules.max_carry,
        "smallest_capacity": float(table["capacity"].min()) if measured else None,
        "largest_density": float(table["density"].max()) if measured else None,
        "sums": _sums(played, rules),
        "unmeasured": unmeasured,
        "checks": [text for text, told in checks.items() if told],
        "changed": int(changed.sum()),
        "understood": [
            *understood(rows, read, table, dropped, dataset),
            *([f"{left_out} (gain.min_capacity)"] if small else []),
        ],
    }
    facts = {key: rows.facts[key] for key in ("provenance", "read", "dropped")}
    return table, {**facts, "stream": report}


def _refuse_above(
    file: str, label: str, rows: pd.DataFrame, rules: Cleaning, gains: Collection[Gain]
) -> None:
    """Refuse many counts above their bound or capacity, unless it is said what they are."""
    cut = rows[np.any(above(rows, gains), axis=0)]
    if rules.above or len(cut) <= max(1, _MANY_ABOVE * len(rows)):
        return
    bounded = bool(np.isinf(rows["capacity"]).all())
    raise DataError(
        f"{file}: {len(cut):,} of {counted(len(rows), 'count')} of stream {label} are above their"
        f" {'bound' if bounded else 'capacity'} ({cells_named(cut)}). Set ",
        keyed(
            "{dataset.cleaning.above} to missing if they are typing errors, or to cut if they are"
            " real. If the bound is wrong, give a public one, which does not come from the counts,"
            " in {bound}; if the counts hold other signs, check {dataset.read.thousands}",
            bound=Key(("gain", "bound" if bounded else "at_most")),
        ),
    )


# ---- who plays ----------------------------------------------------------------------------------


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


def _selection(rules: Cleaning) -> str:
    """Return the key of `SELECTIONS` by which the rules choose the entities that play."""
    if isinstance(rules.entities, list):
        return "given"
    return "all" if rules.entities == "all" or rules.min_total_cases == 0 else "counts"


def _choose(
    every: Rows, label: str, rows: pd.DataFrame, rules: Cleaning
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return the rows of a stream's entities that play, and why the other entities do not.

    Raises:
        DataError: the rules list an entity without a row, fewer than two entities are left, or some
            have counts beside no capacity.
    """
    file, given = every.file, rules.entities if isinstance(rules.entities, list) else []
    there = every.table["entity"].astype("str").unique()
    if unknown := sorted({*given} - {*there}):
        near = [f"{name!r}{did_you_mean(name, there)}" for name in unknown[:20]]
        raise DataError(
            f"{file}: correct ",
            keyed("{dataset.cleaning.entities}, which lists "),
            "\n  ".join([f"{counted(len(unknown), 'entity')} without a row:", *near]),
        )
    of = rows.groupby("entity").agg(
        {"cases": "sum", "capacity": "max", "name": "last", "idle_counts": "sum"}
    )
    of["reason"] = ""
    if _selection(rules) == "counts":
        few = f"{{:.10g}} cases in all, fewer than {rules.min_total_cases:.10g}"
        of.loc[of["cases"] < rules.min_total_cases, "reason"] = of["cases"].map(few.format)
    of.loc[~(of["capacity"] > 0), "reason"] = "never reports a capacity above 0"
    if given:
        of.loc[~of.index.isin(given), "reason"] = "not listed in cleaning.entities"
    idle = of.loc[(of["reason"] == "") & (of["idle_counts"] > 0), "idle_counts"].astype(int)
    if len(idle) and rules.capacity_zero == "error":
        most = idle.sort_values(ascending=False, kind="stable").items()
        named = [f"{one_line(str(name))} ({counted(n, 'period')})" for name, n in most]
        raise DataError(
            f"{file}: stream {label} has {counted(int(idle.sum()), 'count')} above 0 beside a"
            f" capacity of 0 or less, of {listed(named, EXAMPLES)}. ",
            keyed(
                "Set {dataset.cleaning.capacity_zero} to drop, which leaves these entities out, to"
                " absent, which reads these counts as 0, or to carry, which carries the last"
                " capacity forward"
            ),
        )
    if rules.capacity_zero == "drop":
        of.loc[idle.index, "reason"] = [f"{IDLE} in {counted(n, 'period')}" for n in idle]
    out = of[of["reason"] != ""]
    if (kept := len(of) - len(out)) < 2:
        each = [f"{one_line(str(name))}: {why}" for name, why in out["reason"].items()]
        why = f" ({listed(each)})" if each else ""
        raise DataError(
            f"{file}: stream {label} keeps {kept} of {len(of)} entities, but needs at least 2{why}",
            keyed(
                ". Lower {dataset.cleaning.min_total_cases}, list more in"
                " {dataset.cleaning.entities}, change {dataset.cleaning.capacity_zero}, add groups"
                " to {groups}, or check {dataset.columns.capacity}"
                if len(of) > 1
                else ". Check {dataset.columns.entity}, or add groups to {groups}",
                groups=Key(("streams", label, "groups")),
            ),
        )
    dropped: Any = out.reset_index()[["entity", "name", "reason"]].to_dict("records")
    return rows[~rows["entity"].isin(out.index)], dropped


def _refuse_zeroed(file: str, label: str, table: pd.DataFrame, rules: Cleaning) -> None:
    """Refuse a stream in which too many counts become 0, or too many repeat an older one."""
    cells, blank = len(table), table["count_source"].isin(["zero", "carried"])
    filled, allowed = table["count_source"] == "zero", rules.max_zeroed
    how = f"that would become 0, with no count in the period nor in the {rules.max_carry} before"
    if filled.sum() / cells <= allowed:
        filled, allowed = blank, max(rules.max_zeroed, _MOST_BLANK)
        how = "without a count, which would repeat an older one or become 0"
    if filled.sum() / cells <= allowed:
        return
    most = table["entity"][filled].map(one_line).value_counts(sort=False).nlargest(EXAMPLES)
    named = [f"{one}: {counted(n, 'cell')}" for one, n in most.items()]
    start = (
        f"{file}: stream {label} has {counted(int(filled.sum()), 'cell')} of {cells:,} {how}; ",
        keyed("allowed by {dataset.cleaning.max_zeroed}: "),
        f"{int(allowed * cells + 1e-9):,}",
    )
    remedy = keyed(
        "If two names are one entity, give them one name in the table, or take a column of"
        " identifiers as {dataset.columns.entity} and the names as {dataset.columns.name}. If no"
        " row or a blank cell means none, raise {dataset.cleaning.max_zeroed} to {share}, and set"
        " {dataset.cleaning.max_carry}: 0. If a blank cell hides a count, list it in"
        " {dataset.cleaning.suppressed_markers}. If a count holds until the next one, only raise"
        " {dataset.cleaning.max_zeroed}.",
        share=f"{math.ceil(1000 * blank.sum() / cells) / 1000:g}",
    )
    raise DataError(in_lines([start, *(f"  {text}" for text in named), remedy]))


# ---- reports ------------------------------------------------------------------------------------


def provenance_of_stream(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance of a stream: its table's, and two rules of its cleaning.

    Args:
        report: a report from `clean_stream`.
    """
    stream = report["stream"]
    rules = {key: stream[key] for key in (SELECTION, MAX_CARRY, SUMS) if stream[key] is not None}
    return {**report["provenance"], **rules}


def joined(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the report of a table from those of its streams, as plain values for JSON.

    Args:
        reports: reports from `clean_stream`.
    """
    first, streams = reports[0], [it["stream"] for it in reports]
    groups = {name: number for stream in streams for name, number in stream["groups"].items()}
    return {
        "provenance": first["provenance"],
        "rows_read": first["read"],
        "rows_dropped": first["dropped"],
        "rows_outside": first["read"] - first["dropped"] - sum(groups.values()),
        "warnings": [*_warnings(streams)],
        "rules": dict(RULES),
        "streams": streams,
    }


def log_warnings(file: str, report: Mapping[str, Any]) -> None:
    """Log the warnings of a report from `joined`."""
    for text in report["warnings"]:
        LOGGER.warning("%s: %s", file, text)


def changes(stream: Mapping[str, Any]) -> list[str]:
    """Return the rules that touched cells of a stream's report, with the number of cells."""
    return [f"{text}: {stream['cells'][it]:,}" for it, text in RULES.items() if stream["cells"][it]]


def _warnings(streams: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the owner of the table should check, once for streams with the same rows."""
    labels = dict[str, list[str]]()
    for stream in streams:
        for text in stream["checks"]:
            labels.setdefault(text, []).append(stream["stream"])
    for text, of in labels.items():
        yield f"stream{'s' if len(of) > 1 else ''} {', '.join(of)}: {text}"


def report_as_markdown(report: Mapping[str, Any]) -> str:
    """Return a report from `joined` as a Markdown page."""
    streams, provenance = report["streams"], report["provenance"]
    best = [stream["unmeasured"] for stream in streams]
    rows: dict[str, list[Any]] = {
        "entities kept": [stream["entities"] for stream in streams],
        "entities dropped": [len(stream["dropped"]) for stream in streams],
        "periods": [stream["periods"] for stream in streams],
        "cells": [stream["entities"] * stream["periods"] for stream in streams],
    }
    rows |= {text: [it["cells"][rule] for it in streams] for rule, text in report["rules"].items()}
    idle = [text for text in report["rules"].values() if not any(rows[text])]
    if streams[0]["smallest_capacity"] is not None:
        rows["smallest capacity"] = [f"{stream['smallest_capacity']:g}" for stream in streams]
        rows["largest density"] = [f"{stream['largest_density']:.3f}" for stream in streams]
    rows["periods in which no measured number is the largest"] = [it["periods"] for it in best]
    rows["their share of the possible gain, %"] = [f"{100 * it['share']:.3g}" for it in best]
    zeros = [unmeasured.get("zero_share", 0) for unmeasured in best]
    if any(zeros):
        rows[f"share of the possible gain with which {ZERO_WOULD_BE_BEST}, %"] = [
            f"{100 * share:.3g}" for share in zeros
        ]
    simulated = " (simulated data)" if provenance["simulated"] else ""
    fetched = provenance.get("fetched", {})
    told = (("retrieved", "retrieved"), ("from", "url"))  # one placed by hand lacks them
    where = "".join(f", {word} {fetched[key]}" for word, key in told if key in fetched)
    lines = [
        "# Cleaning report\n",
        f"Table `{provenance['file']}`{simulated}, SHA-256 `{provenance['sha256']}`"
        f"{where}. {rows_read_of(report)}\n",
        "| " + _row(*(stream["stream"] for stream in streams)),
        "|---|" + "---:|" * len(streams),
        *(_row(text, *shown) for text, shown in rows.items() if text not in idle),
        f"\nNone of these: {'; '.join(idle)}.",
        "\n## Check in the table\n",
        *(f"- {escape_markdown(text)}" for text in report["warnings"] or ["nothing"]),
    ]
    for stream in streams:
        lines += [
            f"\n## {stream['stream']}\n\nEntities that play: {SELECTIONS[stream['selection']]}."
            "\n\n| dropped | name | reason |\n|---|---|---|",
            *(_row(*map(escape_markdown, dropped.values())) for dropped in stream["dropped"]),
            "\nWhat was understood, to confirm:\n",
            *(f"- {escape_markdown(text)}" for text in stream["understood"]),
        ]
    lines.append("\n![A row for each place, a column for each period](understood.svg)\n")
    return "\n".join(lines)


def rows_read_of(report: Mapping[str, Any]) -> str:
    """Return a sentence on the rows that were read and left out."""
    dropped = report["rows_dropped"]
    return (
        f"{report['rows_read']:,} rows read, {report['rows_outside']:,} of them outside the chosen"
        " groups and periods"
        + (f", {dropped:,} more left out by dataset.cleaning.drop_where." if dropped else ".")
    )


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
