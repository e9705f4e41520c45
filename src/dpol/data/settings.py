"""Settings of a dataset: its source, table, periods and readings; and of a stream."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from dpol.core.errors import Key, Text, keyed
from dpol.core.settings import MISSING, Label, Problem, Settings
from dpol.core.shipped import completed
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.sources import LocalSource, TableSource
from dpol.data.tables.settings import CapacityTable, Cleaning, Columns, Titles
from dpol.data.tables.table_format import DEFAULT, EARLIEST, LATEST, Format

Day = Annotated[datetime.date, Field(ge=EARLIEST, le=LATEST)]


class Periods(Settings):
    """The periods to use."""

    first: Day | None = None
    """First period, inclusive; default: the first in the table."""
    last: Day | None = None
    """Last period, inclusive; default: the last in the table."""
    days: Annotated[int, Field(ge=1, le=36_600)] | None = None
    """Length of a period in days; default: 7, unless `months` is given."""
    months: Annotated[int, Field(ge=1, le=1_200)] | None = None
    """Length of a period in months, instead of `days`; periods start on the first of a month.

    If all dates of the table are the last day of a month, they are the ends of periods."""
    of: Literal["mean", "sum", "max", "last"] | None = None
    """Instead of `cleaning.several_rows`, if rows have any day of their period and not its first:
    `{days: 7, of: mean}` makes weeks of days, and `{days: 7, of: last}` gives places that report on
    different weekdays the same weeks."""

    @model_validator(mode="after")
    def _ordered(self) -> Periods:
        if self.first and self.last and self.first > self.last:
            raise ValueError(f"first ({self.first}) must not be after last ({self.last})")
        if self.months and self.days:
            raise ValueError("days and months must not be given together")
        if self.months and self.of:
            raise ValueError("of needs days, not months; leave out one of them")
        return self

    @property
    def length(self) -> tuple[int, Literal["day", "month"]]:
        """Length of a period and its unit."""
        return (self.months, "month") if self.months else (self.days or 7, "day")


class Reading(Settings):
    """Another reading of numbers that nobody measured: keys of `cleaning`, with other values."""

    suppressed_value: Annotated[float, Field(ge=0, le=1e6)] | None = None
    """Instead of `cleaning.suppressed_value`."""
    suppressed_sum: Annotated[float, Field(ge=1, le=3)] | None = None
    """Instead of `cleaning.suppressed_sum`."""
    capacity_zero: Literal["drop", "absent", "carry"] | None = None
    """Instead of `cleaning.capacity_zero`."""


_PAPERS: dict[str, dict[str, Any]] = {
    "columns": {
        "count": "inpatient_beds_used_covid_7_day_avg",
        "capacity": "inpatient_beds_7_day_avg",
        "capacity_per": 1.0,
        "cases": [
            "previous_day_admission_adult_covid_suspected_7_day_sum",
            "previous_day_admission_pediatric_covid_suspected_7_day_sum",
        ],
    },
    "cleaning": {"min_total_cases": 100.0, "entities": None, "case_factor": 1.0},
}
"""Keys of the first paper's experiment."""
_DAYS = ["count_days", "capacity_days"]
_OF_LAYOUTS: dict[str, tuple[list[str], list[str]]] = {
    "long": (["entity", "count"], []),
    "wide": ([], ["cases", "group", "name", "entity_with", *_DAYS]),
    "wide-periods": (["entity"], ["cases", "entity_with", *_DAYS]),
}
"""The keys of `columns` that a layout needs, and those that it does not use."""


_PERIODS = {
    **{(1, "day"): "day", (7, "day"): "week"},
    **{(1, "month"): "month", (3, "month"): "quarter", (12, "month"): "year"},
}


class Dataset(Settings):
    """The table and how to read it."""

    like: Annotated[str | None, Field(exclude=True)] = None
    """A config of dpol, such as `states`, whose dataset this is, but for the keys beside `like`.
    `dpol config show` prints all keys."""
    source: TableSource
    """One of four kinds; `gains` allows no other block of the dataset except `format`."""
    licence: str | None = None
    """Licence of the table, for the report."""
    citation: str | None = None
    """Citation of the table, for the report."""
    caveat: str | None = None
    """A caveat about the numbers, shown in the lead of the page and beside the data."""
    public: bool = False
    """Whether anyone may see the counts, as with simulated data.

    If not, the results carry a warning, and no run is replayed unless `report.replay` is true."""
    format: Format = DEFAULT
    columns: Columns | None = None
    periods: Periods = Periods()
    cleaning: Cleaning = Cleaning()
    readings: dict[Label, Reading] = {}
    """Other readings of numbers that nobody measured, for the block `comparison`.

    Where such numbers are the best in periods with more than 5% of the possible gain, our method is
    said to be above a rival only if it is at every reading."""

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, raw: object) -> object:
        return completed(raw, "dataset")

    def read_as(self, reading: str) -> Dataset:
        """Return the dataset at one of its readings; the label of the first reading is empty."""
        other = self.readings[reading].model_dump(exclude_none=True) if reading else {}
        cleaning = self.cleaning.model_copy(update=other)
        return self.model_copy(update={"cleaning": cleaning, "readings": {}})

    @property
    def untitled(self) -> Dataset:
        """The dataset without texts that affect no number: as `citation`, and `public`."""
        columns = self.columns and self.columns.model_copy(update={"titles": Titles()})
        words = {"licence": None, "citation": None, "caveat": None, "public": False}
        return self.model_copy(update={**words, "columns": columns})

    def as_local(self, file: str) -> Dataset:
        """Return the dataset with its table on this machine; fetching affects no number."""
        pinned = self.source.sha256 if isinstance(self.source, LocalSource) else None
        source = LocalSource(kind="local", file=file, sha256=pinned, simulated=self.simulated)
        return self.untitled.model_copy(update={"source": source})

    @property
    def rules(self) -> Cleaning:
        """The rules of cleaning, with the rule of `periods.of` for the rows of a period."""
        of = self.periods.of
        return self.cleaning.model_copy(update={"several_rows": of}) if of else self.cleaning

    @property
    def read_columns(self) -> list[str] | None:
        """The columns that the table must have, each once; None for all."""
        rules = self.rules
        if self.format.layout != "long" or rules.merges_rows:
            return None
        named = [*self.needed_columns.needed(), *rules.drop_where, *rules.keep]
        named += [rules.latest_by] if rules.latest_by else []
        return list(dict.fromkeys(named))

    @property
    def needed_columns(self) -> Columns:
        """The columns of a table of counts. Raises ValueError for a table of gains."""
        if self.columns is None:
            raise ValueError("a table of gains has no columns of counts")
        return self.columns

    @property
    def is_papers(self) -> bool:
        """Whether counts, capacities and the filter of entities are those of the first paper."""
        return self.model_dump(include={key: {*of} for key, of in _PAPERS.items()}) == _PAPERS

    @property
    def capacity_files(self) -> list[str]:
        """The second table, if the columns name one."""
        second = self.columns and self.columns.capacity
        return [second.file] if isinstance(second, CapacityTable) else []

    @property
    def period(self) -> str:
        """Name of a round: day, week, month, quarter, year or period."""
        named = _PERIODS.get(self.periods.length, "period")
        return "round" if self.columns is None else named

    @property
    def simulated(self) -> bool:
        """Whether the table is made up, by dpol or by somebody else."""
        return bool(getattr(self.source, "simulated", self.source.kind == "simulated"))

    @property
    def private(self) -> bool:
        """Whether the results hold numbers that not everyone may see."""
        return not (self.public or self.simulated)

    @property
    def sums(self) -> Key | None:
        """The key by which counts are added that may be of one person; None if none are."""
        if self.rules.several_rows == "sum" and self.periods.of:
            return Key(("dataset", "periods", "of"))
        if self.rules.several_rows == "sum":
            return Key(("dataset", "cleaning", "several_rows"))
        return Key(("dataset", "cleaning", "cumulative")) if self.rules.cumulative else None

    def problems(self, asks: Mapping[str, Gain], *, moved: bool) -> Iterator[Problem]:
        """Yield keys that contradict each other, or do not fit the source, layout or questions.

        Args:
            asks: the questions, by their key in the config.
            moved: whether it is said how far one person changes one count.
        """
        if not moved and (sums := self.sums):
            allowed: Text = keyed(
                "is missing, and {key} adds counts that may be of one person: how far does one"
                " person change one sum? 7, if a person may be counted on each of 7 days; 1, if"
                " only once, as an arrival",
                key=sums,
            )
            yield Problem(("privacy", "count_sensitivity"), MISSING, allowed)
        kind, layout = self.source.kind, self.format.layout
        columns, rules, here = self.columns, self.cleaning, ("dataset", "columns")
        not_of_kind = keyed("must not be given because {dataset.source.kind} is {kind}", kind=kind)
        not_of_layout = keyed(
            "must not be given because {dataset.format.layout} is {layout}", layout=layout
        )
        places = {key: Key(tuple(key.split(".", 1))) for key in asks}
        least, cleaning = rules.min_total_cases, ("dataset", "cleaning")
        if rules.entities is not None and "min_total_cases" in rules.model_fields_set:
            allowed = "must not be given together with entities, which already says who plays"
            yield Problem((*cleaning, "min_total_cases"), least, allowed)
        if rules.latest_by and (layout != "long" or rules.several_rows != "last"):
            allowed = keyed("needs {dataset.cleaning.several_rows}: last, and the layout long")
            yield Problem((*cleaning, "latest_by"), rules.latest_by, allowed)
        if self.periods.of and rules.several_rows != "error":
            allowed = keyed("must not be given together with {dataset.cleaning.several_rows}")
            yield Problem(("dataset", "periods", "of"), self.periods.of, allowed)
        if layout != "long" and kind in ("gains", "simulated"):
            yield Problem(("dataset", "format", "layout"), layout, not_of_kind)
        if kind == "gains":
            of_gains = {"source", "licence", "citation", "caveat", "public", "format"}
            for key in sorted(self.model_fields_set - of_gains):
                allowed = not_of_kind, ": there is nothing to clean"
                yield Problem(("dataset", key), "a block", allowed)
            for key, gain in asks.items():
                if gain != THE_PAPERS:
                    yield Problem(places[key].location, gain.of, not_of_kind)
        if columns is None:
            if kind != "gains":
                allowed = "is missing: name the columns of entity, period, count and capacity"
                yield Problem(here, MISSING, allowed)
            return
        given, (needed, idle) = columns.model_fields_set, _OF_LAYOUTS[layout]
        for key in needed:
            if key not in given:
                yield Problem((*here, key), MISSING, "is missing and has no default")
        for key in idle:
            if key in given:
                value = "a block" if key in _DAYS else getattr(columns, key)
                yield Problem((*here, key), value, not_of_layout)
        if layout == "wide-periods" and not isinstance(columns.period, str):
            allowed = keyed("must be a word because {dataset.format.layout} is wide-periods")
            yield Problem((*here, "period"), "a block", allowed)
        if layout == "wide" and columns.capacities:
            allowed = "must be a block that names a second table: {file: FILE, ...}"
            yield Problem((*here, "capacity"), ", ".join(columns.capacities), allowed)
        for key, gain in asks.items():
            if columns.capacity is None and gain.needs_capacities:
                allowed = keyed(
                    "is missing: name the column, or set {gain} to of: count with a bound",
                    gain=places[key],
                )
                yield Problem((*here, "capacity"), MISSING, allowed)


class Stream(Settings):
    """A gain stream: the entities of some groups, played as one game."""

    groups: Annotated[list[str], Field(min_length=1)]
    """Values of the group column; `all` without such a column."""
    title: str | None = None
    """Title in tables and figures; default: the label."""
    reported_as: Label | None = None
    """The paper's label of this state (NM, PA or CA), whose numbers Table 2 shows.

    The run warns if hospitals, weeks or fewest beds are not the paper's."""


Streams = Annotated[
    dict[Label, Stream],
    BeforeValidator(
        lambda streams: completed(streams, "streams"),
        json_schema_input_type=dict[Label, Stream | str],
    ),
    Field(min_length=1),
]
"""Streams by label; `{like: states}` stands for those of a config of dpol."""
