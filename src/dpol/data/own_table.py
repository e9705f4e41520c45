"""A table of counts as a gain stream in one call, for users of the library."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from dpol.core.arguments import check_number, check_whole
from dpol.core.errors import ConfigError, DataError
from dpol.core.extras import needs_pipeline
from dpol.core.logs import LOGGER
from dpol.core.near import nearest
from dpol.core.refusals import problems_of, refusal
from dpol.core.settings import Problem, Settings
from dpol.core.shipped import place_of
from dpol.core.words import counted, shortened
from dpol.core.yaml_files import read_yaml
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import Dataset, LocalSource, Stream
from dpol.data.stream import GainStream, build_stream

if TYPE_CHECKING:
    from dpol.data.guess import Look
    from dpol.data.panel import CleanPanel

_MANUAL = "The page Configs of the documentation"
_NAMED = 5
"""Number of entities that a warning names."""


class _Asked(Settings):
    """What a table is read as, under the keys of a config."""

    dataset: Dataset
    gain: Gain = THE_PAPERS
    groups: Annotated[list[str], Field(min_length=1)] | None = None


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
) -> GainStream:
    """Read a table of counts, clean it, and return its gain stream.

    The stream is the one that a run of the pipeline makes of the table. Without all of `entity`,
    `period` and `count`, dpol looks at the table as `dpol new dataset` does, and asks for what the
    table does not show. A config that this command wrote can be given instead of the table. What
    the cleaning changed or left out is logged as warnings of the logger `dpol`, which Python
    prints.

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
        count_sensitivity: the most by which one person can change one count; 1 by default, or more
            if dpol sees suppressed counts.
        stay: number of consecutive rounds in which one person may be counted.
        format: the block `dataset.format`: layout, sheet, numbers and dates.
        periods: the block `dataset.periods`: length, first and last; a period has 7 days by
            default.
        cleaning: the block `dataset.cleaning`.

    Raises:
        ConfigError: arguments break rules, or the table does not show everything; the text lists
            every broken rule or question.
        ValueError: `count_sensitivity` or `stay` is no such number.
        DataError: the table cannot be read, or `clean_panel` or `build_stream` refuses it.
        ModuleNotFoundError: a package of the extra `pipeline` is not installed.

    >>> read_table(
    ...     "data/examples/shelters.csv",
    ...     count="guests",
    ...     capacity="places",
    ...     cleaning={"missing_markers": ["", "-"]},
    ... )
    GainStream('shelters', 60 rounds x 12 experts, gains up to 1, 2023-09-04 to 2024-10-21)
    """
    check_number("count_sensitivity", count_sensitivity or 1, "(0, inf)")
    check_whole("stay", stay)
    file = place_of(str(path))
    if file.endswith(".yaml"):
        return _read_config(file, label)
    named = {
        "entity": entity, "period": period, "count": count, "capacity": capacity, "group": group,
        "name": name, "cases": cases and list(cases),
    }  # fmt: skip
    columns = {key: value for key, value in named.items() if value is not None}
    blocks = {"columns": columns, "format": format or {}, "periods": periods or {}}
    blocks |= {"cleaning": cleaning or {}, "gain": gain or {}}
    with needs_pipeline():
        if not {"entity", "period", "count"} <= columns.keys():
            look = _look(file, blocks)
            blocks = {key: {**getattr(look, key), **block} for key, block in blocks.items()}
            count_sensitivity = count_sensitivity or look.count_sensitivity
            groups = groups or ([*look.groups] if group else None)
        asked = blocks.pop("gain")
        blocks["columns"] = {**blocks["columns"], "capacity_per": capacity_per}
        dataset = {"source": {"kind": "local", "file": file}, **blocks}
        raw = {"dataset": dataset, "gain": asked, "groups": groups}
        try:
            return _stream_of(str(path), raw, label, count_sensitivity or 1.0, stay)
        except (ConfigError, DataError) as error:
            raise type(error)(_of_arguments(str(error))) from None


def _look(file: str, blocks: Mapping[str, Mapping[str, Any]]) -> Look:
    """Look at a table, with the arguments as what its owner tells.

    Raises:
        ConfigError: the table does not show everything.
    """
    from dpol.data.guess import UnclearError, look_at

    gain, cleaning = blocks["gain"], blocks["cleaning"]
    told: dict[str, Any] = {
        **{key: name for key, name in blocks["columns"].items() if isinstance(name, str)},
        **blocks["format"],
        "at_most": gain.get("bound") or gain.get("at_most"),
        "each_day": cleaning.get("several_rows"),
        "missing": cleaning.get("missing_markers"),
        "suppressed": cleaning.get("suppressed_markers"),
    }
    try:
        return look_at(Path(file), {key: value for key, value in told.items() if value is not None})
    except UnclearError as unclear:
        questions = "".join(f"\n  {key}: {question}" for key, question in unclear.asked.items())
        raise ConfigError(
            f"{file}: does not show everything. Name its columns as arguments:{questions}\nOr run"
            f" dpol new dataset {shlex.quote(file)}, and read the config that it writes"
        ) from None


def _of_arguments(text: str) -> str:
    """Name arguments in a message about a config."""
    text = text.replace("under dataset.columns in the config", "as arguments")
    text = re.sub(r"streams\..*?\.groups", "groups", text.replace("dataset.source.file", "path"))
    return re.sub(r"\bdataset\.(columns\.(?!titles))?", "", text)


def _read_config(file: str, label: str | None) -> GainStream:
    """Return a stream of a config of a local table, by default its first."""
    config: Any = read_yaml(file)
    streams, privacy = config["streams"], config["privacy"]
    label = label or next(iter(streams))
    if label not in streams:
        raise ConfigError(f"{file}: no stream {label}{nearest(label, streams)}")
    groups = streams[label]["groups"]
    raw = {
        "dataset": config["dataset"],
        "gain": config.get("gain", {}),
        "groups": None if groups == ["all"] else groups,
    }
    weeks = privacy.get("unit", {}).get("weeks", 1)
    with needs_pipeline():
        return _stream_of(file, raw, label, privacy.get("count_sensitivity", 1.0), weeks)


def _stream_of(
    place: str, raw: dict[str, Any], label: str | None, count_sensitivity: float, stay: int
) -> GainStream:
    """Do what the jobs `clean_panel` and `build_stream` of a run do.

    Raises:
        ConfigError: `raw` breaks rules of a config.
    """
    from dpol.data.cleaning import clean_table
    from dpol.data.panel import provenance_of_stream

    try:
        asked = _Asked.model_validate(raw)
    except ValidationError as error:
        raise refusal(place, problems_of(error, _Asked, raw), _MANUAL) from None
    dataset, gain, source = asked.dataset, asked.gain, asked.dataset.source
    broken = [*dataset.problems({"gain": gain})]
    if not isinstance(source, LocalSource):
        broken.append(Problem(("dataset", "source", "kind"), source.kind, "must be local"))
    if broken:
        raise refusal(place, broken, _MANUAL)
    file = place_of(source.file)
    if label is None:
        label = ", ".join(asked.groups or [Path(file).name.partition(".")[0]])
    streams = {label: Stream(groups=asked.groups or ["all"])}
    at_most = gain.largest if gain.of == "share" else 1.0
    panel, report = clean_table(file, dataset, streams, at_most)
    for line in _changes(panel):
        LOGGER.warning("%s: stream %s: %s", file, label, line)
    return build_stream(
        panel.table,
        label,
        count_sensitivity,
        provenance_of_stream(report, label),
        stay=stay,
        gain=gain,
        max_clipped=dataset.cleaning.max_clipped,
        counted=dataset.untitled.columns.called("count"),
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
        named = [f"{shortened(it['entity'])} ({it['reason']})" for it in report.dropped[:_NAMED]]
        if more := len(report.dropped) - len(named):
            named.append(f"and {more:,} more")
        yield f"{counted(len(report.dropped), 'entity')} left out: {', '.join(named)}"
