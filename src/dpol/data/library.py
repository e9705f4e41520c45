"""Tables as gain streams, in one call: of counts, and of gains themselves.

Tables of gains are a source of their own because nobody knows how many gains one person moves: the
owner gives the sensitivity, and the record says that the unit is one round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from dpol.core.arguments import check_number, check_whole
from dpol.core.errors import ConfigError, DataError, Key, Text, in_words, keyed, needs_pipeline
from dpol.core.logs import LOGGER
from dpol.core.settings import Settings, problems_of, refusal
from dpol.core.shipped import place_of
from dpol.core.words import counted, nearest
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import DEFAULT, Dataset, GainsSource, Read, Stream
from dpol.data.stream import PUBLIC, GainStream

if TYPE_CHECKING:
    import pandas as pd


class Asked(Settings):
    """What makes a stream of a table, under the keys of a config."""

    dataset: Dataset
    streams: dict[str, Stream]
    """The stream, by any label."""
    gain: Gain = THE_PAPERS
    """The question."""


def asked(place: str, raw: Mapping[str, Any]) -> Asked:
    """Check what makes a stream of the table `place`. Raises ConfigError for broken rules."""
    try:
        return Asked.model_validate(raw)
    except ValidationError as error:
        raise refusal(place, problems_of(error, Asked, raw)) from None


def read_table(
    table: Path | str | pd.DataFrame,
    *,
    entity: str,
    period: str,
    count: str,
    capacity: str | None = None,
    group: str | None = None,
    groups: Sequence[str] | None = None,
    name: str | None = None,
    cases: Sequence[str] | None = None,
    count_days: Mapping[str, str] | None = None,
    capacity_days: Mapping[str, str] | None = None,
    capacity_per: float = 1.0,
    label: str | None = None,
    gain: Mapping[str, Any] | None = None,
    count_sensitivity: float | None = None,
    stay: int = 1,
    read: Mapping[str, Any] | None = None,
    periods: Mapping[str, Any] | None = None,
    cleaning: Mapping[str, Any] | None = None,
    public: bool = False,
) -> GainStream:
    """Read a tidy table of counts, clean it, and return its gain stream.

    The stream is the one that a run of the pipeline makes of the table. What the cleaning changed
    or left out is logged as warnings of the logger `dpol`, which Python prints.

    Args:
        table: a `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx` file, or a pandas frame.
        entity: column with the entity.
        period: column with the start of the period.
        count: column with the number of people counted.
        capacity: column with the capacity.
        group: column with the group of a row.
        groups: the groups whose rows play; required with `group`.
        name: column with the name of an entity.
        cases: columns whose sums decide whether an entity plays; the counts by default.
        count_days: columns with the `sum` and the `coverage` (days reported) of an averaged count.
        capacity_days: the same for the capacity.
        capacity_per: divisor of the capacity, such as 1000 for rates per 1,000 people.
        label: label of the stream, which keys its noise and by which games know it; by default the
            groups, or else the name of the file.
        gain: the block `gain` of a config: the question.
        count_sensitivity: the most by which one person can change one count; by default 1, but
            required where counts of several rows are added.
        stay: number of consecutive rounds in which one person may be counted.
        read: the block `dataset.read`: options of pandas for the file.
        periods: the block `dataset.periods`: length, format, first and last; a period has 7 days by
            default.
        cleaning: the block `dataset.cleaning`.
        public: whether everyone may see the counts; if not, what is drawn of them warns.

    Raises:
        ConfigError: arguments break rules; the text lists every broken rule.
        ValueError: `count_sensitivity` or `stay` is no such number.
        DataError: the table cannot be read, or `clean_stream` or `build_stream` refuses it.
        ModuleNotFoundError: a package of the extra `pipeline` is not installed.

    >>> read_table(
    ...     "data/examples/shelters.csv",
    ...     entity="shelter",
    ...     period="week_of",
    ...     count="guests",
    ...     capacity="places",
    ...     cleaning={"missing_markers": ["-"], "suppressed_markers": ["<5"]},
    ... )
    GainStream('shelters', 60 rounds x 12 experts, gains up to 1, 2023-09-04 to 2024-10-21)
    """
    if count_sensitivity is not None:
        check_number("count_sensitivity", count_sensitivity, "(0, inf)")
    check_whole("stay", stay)
    frame = None if isinstance(table, (str, Path)) else table
    place = place_of(str(table)) if frame is None else "the frame"
    columns = {
        "entity": entity, "period": period, "count": count, "capacity": capacity, "group": group,
        "name": name, "cases": cases, "capacity_per": capacity_per,
        "count_days": count_days, "capacity_days": capacity_days,
    }  # fmt: skip
    file = place if frame is None else "frame.csv"
    of = [Path(file).name.partition(".")[0]] if groups is None else groups
    label = label or ", ".join(map(str, of))
    raw = {
        "dataset": {
            "source": {"kind": "local", "file": file},
            "columns": {key: value for key, value in columns.items() if value is not None},
            "read": read or {},
            "periods": periods or {},
            "cleaning": cleaning or {},
            "public": public,
        },
        "gain": gain or {},
        "streams": {label: {"groups": ["all"] if groups is None else groups}},
    }
    try:
        with needs_pipeline():
            from dpol.data.cleaning import changes, log_warnings, played
            from dpol.data.table import read_rows, rows_of_frame

            whole, moves = asked(place, raw), count_sensitivity
            dataset = whole.dataset
            if broken := [*dataset.problems({"gain": whole.gain}, moved=moves is not None)]:
                raise refusal(place, broken)
            rows = read_rows(place, dataset) if frame is None else rows_of_frame(frame, dataset)
            _, report, (stream,) = played(rows, dataset, whole.streams, whole.gain, moves, stay)
    except (ConfigError, DataError) as error:
        error.args = (in_words(error.args, as_argument),)
        raise error from None
    log_warnings(rows.file, report)
    (cleaned,) = report["streams"]
    left_out = report["rows_dropped"] or report["rows_outside"] or cleaned["dropped"]
    who_plays = cleaned["understood"][: 1 + bool(cleaned["dropped"])]
    for line in [*(who_plays if left_out else ()), *changes(cleaned)]:
        LOGGER.warning("%s: stream %s: %s", rows.file, label, line)
    return replace(stream, provenance=stream.provenance | {PUBLIC: dataset.public})


def as_argument(key: Key) -> str:
    """Return the argument of `read_table` that stands for a key of a config."""
    named = {
        "dataset.source.file": "table",
        "dataset.columns": "the arguments",
        "privacy.count_sensitivity": "count_sensitivity",
    }
    text = ".".join(map(str, key.location))
    if text.startswith("streams.") and text.endswith(".groups"):
        return "groups"
    return named.get(text) or text.removeprefix("dataset.").removeprefix("columns.")


def read_gains(
    source: GainsSource, label: str, provenance: Mapping[str, Any], read: Read = DEFAULT
) -> GainStream:
    """Read the table of gains that a config describes as the stream `label`.

    Rounds without dates get consecutive days from 2000-01-01, and `undated` in the provenance.

    Raises:
        DataError: the file is missing or no table; a column is missing, repeated or has no name;
            a cell is empty, not a number or out of range; dates are not increasing; or there are
            fewer than two rounds or experts.
    """
    from dpol.data.table import BadCells, bad_dates, dates_of, read_file, refuse_cells, values_of

    table = read_file(source.file, read)
    present, top, rounds = [*map(str, table.cells)], source.gain_range, len(table.cells)
    experts = [name for name in present if name != source.period]
    wrong: Text = ""
    if source.period is not None and source.period not in present:
        wrong = (
            f"no column named {source.period}{nearest(source.period, present)}. Change ",
            Key(("dataset", "source", "period")),
        )
    elif "" in experts:
        place = present.index("") + 1
        wrong = f"column {place} has no name; name it, or remove it if it only numbers the rows"
    elif len(experts) < 2 or rounds < 2:
        size = f"{counted(rounds, 'round')} and {counted(len(experts), 'column')} of gains"
        wrong = f"has {size}; give at least 2 of each, a row per round and a column per expert"
    if wrong:
        raise DataError(f"{table.file}: ", wrong)
    periods, bad = np.array([], "datetime64[D]"), []  # for days from 2000-01-01
    if source.period is not None:
        days = dates_of(table.cells[source.period])
        texts = table.cells.loc[days.isna(), source.period]
        so = keyed("Write them so in the table, or change {dataset.source.period}.")
        bad.append(replace(bad_dates(texts, None), remedy=so))
        periods = days.to_numpy().astype("datetime64[D]")
    mend = keyed(
        "Fix the table, or change {dataset.source.gain_range} or {dataset.read.decimal}, or name"
        " the column of dates in {dataset.source.period}."
    )
    values = {name: values_of(table.cells[name], read) for name in experts}
    for name, gains in values.items():
        outside = table.cells.loc[~((gains >= 0) & (gains <= top)), name]  # NaN is in no range
        bad.append(BadCells(outside, f"a number in [0, {top:g}]", mend))
    refuse_cells(table.file, bad)
    try:
        return GainStream(
            label=label,
            gains=np.column_stack([*values.values()]),
            given_sensitivity=np.full(rounds, source.sensitivity),
            entities=tuple(experts),
            periods=periods,
            gain_range=top,
            provenance={**provenance, "undated": source.period is None},
        )
    except DataError as error:
        raise DataError(f"{table.file}: ", *error.args) from None
