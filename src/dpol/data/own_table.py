"""A table of counts as a gain stream in one call, for users of the library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from dpol.core.arguments import check_number, check_whole
from dpol.core.errors import ConfigError, DataError, Key, in_words
from dpol.core.extras import needs_pipeline
from dpol.core.logs import LOGGER
from dpol.core.refusals import problems_of, refusal
from dpol.core.settings import Problem, Settings
from dpol.core.shipped import place_of
from dpol.core.words import counted, listed, nearest, shortened
from dpol.core.yaml_files import read_yaml
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import Dataset, Stream
from dpol.data.sources import LocalSource
from dpol.data.stream import PUBLIC, GainStream, build_stream

if TYPE_CHECKING:
    from dpol.data.panel import CleanPanel

_NAMED = 5
"""Number of entities that a warning names."""


class _Asked(Settings):
    """What a table is read as, under the keys of a config."""

    dataset: Dataset
    gain: Gain = THE_PAPERS
    """The question."""
    groups: Annotated[list[str], Field(min_length=1)] | None = None
    """The groups whose rows play."""


def read_table(
    path: Path | str,
    *,
    entity: str | None = None,
    period: str | Mapping[str, str] | None = None,
    count: str | None = None,
    capacity: str | Mapping[str, Any] | None = None,
    group: str | None = None,
    groups: Sequence[str] | None = None,
    name: str | None = None,
    cases: Sequence[str] | None = None,
    capacity_per: float = 1.0,
    label: str | None = None,
    gain: Mapping[str, Any] | None = None,
    count_sensitivity: float | None = None,
    stay: int = 1,
    format: Mapping[str, Any] | None = None,
    periods: Mapping[str, Any] | None = None,
    cleaning: Mapping[str, Any] | None = None,
    public: bool = False,
) -> GainStream:
    """Read a table of counts, clean it, and return its gain stream.

    The stream is the one that a run of the pipeline makes of the table. `dpol new dataset` finds
    the columns of a table; the config that it writes can be given instead of the table. What the
    cleaning changed or left out is logged as warnings of the logger `dpol`, which Python prints.

    Args:
        path: a `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx` file, or the `.yaml` of a config,
            of which only `label` is chosen.
        entity: column with the entity.
        period: column with the start of the period, or its two columns: year and month.
        count: column with the number of people counted.
        capacity: column with the capacity, or the block of a second table.
        group: column with the group of a row.
        groups: the groups whose rows play; required with `group`.
        name: column with the name of an entity.
        cases: columns whose sums decide whether an entity plays; the counts by default.
        capacity_per: divisor of the capacity, such as 1000 for rates per 1,000 people.
        label: label of the stream, which keys its noise and by which games know it; by default the
            groups, or else the name of the file; of a config, its first stream.
        gain: the block `gain` of a config: the question.
        count_sensitivity: the most by which one person can change one count; by default 1, but
            required where counts of several rows are added.
        stay: number of consecutive rounds in which one person may be counted.
        format: the block `dataset.format`: layout, sheet, numbers and dates.
        periods: the block `dataset.periods`: length, first and last; a period has 7 days by
            default.
        cleaning: the block `dataset.cleaning`.
        public: whether everyone may see the counts; if not, what is drawn of them warns.

    Raises:
        ConfigError: arguments break rules; the text lists every broken rule.
        ValueError: `count_sensitivity` or `stay` is no such number.
        DataError: the table cannot be read, or `clean_panel` or `build_stream` refuses it.
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
    file = place_of(str(path))
    if file.endswith(".yaml"):
        with needs_pipeline():
            return _read_config(file, label)
    if period is None:
        raise ConfigError(
            f"{path}: name its entity, period, count and capacity, or give the config that dpol new"
            " dataset writes for it"
        )
    columns = {
        "entity": entity, "period": period, "count": count, "capacity": capacity, "group": group,
        "name": name, "cases": cases and list(cases), "capacity_per": capacity_per,
    }  # fmt: skip
    dataset = {
        "source": {"kind": "local", "file": file},
        "columns": {key: value for key, value in columns.items() if value is not None},
        "format": format or {},
        "periods": periods or {},
        "cleaning": cleaning or {},
        "public": public,
    }
    raw = {"dataset": dataset, "gain": gain or {}, "groups": groups}
    try:
        with needs_pipeline():
            return _stream_of(str(path), raw, label, count_sensitivity, stay)
    except (ConfigError, DataError) as error:
        error.args = (in_words(error.args, as_argument),)
        raise error from None


def as_argument(key: Key) -> str:
    """Return the argument of `read_table` that stands for a key of a config."""
    match key.location:
        case ("dataset", "source", "file"):
            return "path"
        case ("dataset", "columns"):
            return "the arguments"
        case ("dataset", "cleaning", name) if key.value:
            return f'in the arguments:\ncleaning={{"{name}": {key.value}}}'
        case ("privacy", "count_sensitivity"):
            return "count_sensitivity"
        case ("streams", _, "groups"):
            return "groups"
        case ("dataset", "columns", *inner) | ("dataset", *inner):
            return str(Key(tuple(inner)))
    return str(key)


def _read_config(file: str, label: str | None) -> GainStream:
    """Return a stream of a config of a local table, by default its first."""
    config: Any = read_yaml(file)
    try:
        streams, privacy, dataset = (config[key] for key in ("streams", "privacy", "dataset"))
        label = label or next(iter(streams))
        if label not in streams:
            raise ConfigError(f"{file}: no stream {label}{nearest(label, streams)}")
        groups = streams[label]["groups"]
        gain, weeks = config.get("gain", {}), privacy.get("unit", {}).get("weeks", 1)
        moved = privacy.get("count_sensitivity")
    except (AttributeError, KeyError, StopIteration, TypeError):
        raise ConfigError(
            f"{file}: is not the config of a run, with dataset, streams and privacy; dpol new"
            " dataset TABLE writes one"
        ) from None
    groups = None if groups == ["all"] else groups
    raw = {"dataset": dataset, "gain": gain, "groups": groups}
    return _stream_of(file, raw, label, moved, weeks, beside=Path(file).parent)


def _stream_of(
    place: str,
    raw: dict[str, Any],
    label: str | None,
    count_sensitivity: float | None,
    stay: int,
    beside: Path | None = None,
) -> GainStream:
    """Do what the jobs `clean_panel` and `build_stream` of a run do.

    A table that is not where it should be, seen from the current folder, is looked for in the
    folder `beside`.

    Raises:
        ConfigError: `raw` breaks rules of a config.
    """
    from dpol.data.cleaning import clean_table
    from dpol.data.panel import provenance_of_stream

    try:
        asked = _Asked.model_validate(raw)
    except ValidationError as error:
        raise refusal(place, problems_of(error, _Asked, raw)) from None
    dataset, gain, source = asked.dataset, asked.gain, asked.dataset.source
    if not isinstance(source, LocalSource):
        raise refusal(place, [Problem(("dataset", "source", "kind"), source.kind, "must be local")])
    if broken := [*dataset.problems({"gain": gain}, moved=count_sensitivity is not None)]:
        raise refusal(place, broken)
    file = place_of(source.file)
    if beside and not Path(file).is_file() and (beside / source.file).is_file():
        file = str(beside / source.file)
    if label is None:
        label = ", ".join(asked.groups or [Path(file).name.partition(".")[0]])
    streams = {label: Stream(groups=asked.groups or ["all"])}
    panel, report = clean_table(file, dataset, streams, [gain])
    for line in _changes(panel):
        LOGGER.warning("%s: stream %s: %s", file, label, line)
    return build_stream(
        panel.table,
        label,
        1.0 if count_sensitivity is None else count_sensitivity,
        provenance_of_stream(report, label) | {PUBLIC: dataset.public},
        stay=stay,
        gain=gain,
        counted=dataset.untitled.needed_columns.called("count"),
    )


def _changes(panel: CleanPanel) -> Iterator[str]:
    """Yield what the cleaning of the only stream left out or changed, a line each."""
    (report,) = panel.reports
    if panel.rows_dropped:
        yield f"rows left out by cleaning.drop_where: {panel.rows_dropped:,}"
    if panel.rows_outside:
        yield f"rows outside the chosen groups and periods: {panel.rows_outside:,}"
    yield from report.changes()
    if report.dropped:
        named = (f"{shortened(it['entity'])} ({it['reason']})" for it in report.dropped)
        yield f"{counted(len(report.dropped), 'entity')} left out: {listed(named, _NAMED)}"
