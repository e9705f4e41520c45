"""Settings of the data: source, format and cleaning."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, Tag, model_validator

from dpol.core.errors import Key, Text, keyed
from dpol.core.settings import MISSING, Label, Problem, Settings
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.setting_types import (
    NAME_OR_BLOCK,
    Digest,
    Endpoint,
    Identifier,
    LookName,
    Name,
    Period,
    TableFile,
    TextOrTexts,
    all_or_names,
    columns_of,
    number_or_column,
    relative,
)
from dpol.data.tables.table_format import DEFAULT, EARLIEST, LATEST, Format

Day = Annotated[datetime.date, Field(ge=EARLIEST, le=LATEST)]


class WebSource(Settings):
    """A table that is fetched once and kept."""

    kind: Literal["web"]
    """Kind of source."""
    endpoints: Annotated[list[Endpoint], Field(min_length=1)]
    """The endpoints that serve it, tried in order."""
    file: Annotated[str, AfterValidator(relative)]
    """Where to keep the table (`.csv.gz`); an existing file is used as it is."""


class LocalSource(Settings):
    """A table on this machine."""

    kind: Literal["local"]
    """Kind of source."""
    file: TableFile
    """The table: `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx`."""
    sha256: Digest | None = None
    """SHA-256 of the table; any other file is refused."""
    simulated: bool = False
    """Whether the table is made up.

    Tables and figures then say so."""


class GainsSource(Settings):
    """A table of gains on this machine: a row per round, a column per expert, no capacities.

    Every column is an expert, except the period and the sensitivity.
    """

    kind: Literal["gains"]
    """Kind of source."""
    file: TableFile
    """The table, as with `local`; rows in the order of the rounds."""
    sensitivity: Annotated[float | str, BeforeValidator(number_or_column)]
    """Largest protected change of one round's gains (L2 norm): a number, or the column with one
    per round.

    sqrt(n) times `gain_range`, for n experts, protects any change."""
    gain_range: Annotated[float, Field(ge=1e-9, le=1e9)] = 1.0
    """Largest gain; the smallest is 0."""
    period: str | None = None
    """Column with the date of the round; default: rounds are numbered."""
    simulated: bool = False
    """Whether the table is made up.

    Tables and figures then say so."""

    @property
    def others(self) -> list[str]:
        """Columns without gains."""
        named = (self.period, self.sensitivity)
        return [name for name in named if isinstance(name, str)]


class SimulatedSource(Settings):
    """A simulated table in the schema of the HHS dataset."""

    kind: Literal["simulated"]
    """Kind of source."""
    hospitals: Annotated[dict[Label, Annotated[int, Field(ge=2, le=100_000)]], Field(min_length=1)]
    """Hospitals in each group (state); cleaning drops two more."""
    weeks: Annotated[int, Field(ge=2, le=2_000)]
    """Number of weeks."""
    first_week: datetime.date = datetime.date(2020, 8, 7)
    """Start of the first week."""


Source = Annotated[
    WebSource | LocalSource | SimulatedSource | GainsSource, Field(discriminator="kind")
]


class Titles(Settings):
    """Names in the report; default: the names of the columns."""

    entity: str | None = None
    """One entity (hospital)."""
    count: str | None = None
    """What is counted (COVID patients)."""
    capacity: str | None = None
    """What the count is a share of (beds)."""


class CapacityTable(Settings):
    """A second table with the capacities of the entities."""

    file: TableFile
    """The table: `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx`."""
    entity: str = "entity"
    """Column with the entity, spelled as with the counts; required unless the layout is `wide`.

    `cleaning.identifiers` also holds for this table."""
    capacity: str = "capacity"
    """Column with its capacity; required unless the layout is `wide`."""
    period: Period | None = None
    """Column with the day from which the capacity holds; default: it always holds."""
    format: Format = DEFAULT

    @model_validator(mode="after")
    def _named(self) -> CapacityTable:
        if self.format.layout == "long" and not {"entity", "capacity"} <= self.model_fields_set:
            raise ValueError("needs entity and capacity, the names of two columns")
        if self.format.layout == "wide-periods":
            raise ValueError("format.layout must be long or wide in a table of capacities")
        return self


Capacity = Annotated[Name | Annotated[CapacityTable, Tag("[block]")], NAME_OR_BLOCK]


class DayColumns(Settings):
    """Columns that tell what a suppressed average hides; a table may lack them."""

    sum: str
    """Sum over the days reported."""
    coverage: str
    """Number of days reported."""


class Columns(Settings):
    """Names of the columns of the table; required unless `source.kind` is `gains`."""

    entity: str = "entity"
    """Entity (hospital), which becomes an expert; required unless the layout is `wide`.

    In that layout it is your word for what the columns are: all except those of the period and of
    `cleaning.drop_where`, which also leaves out a column: `{town: Total}`."""
    period: Period
    """Start of the period (week), `{year: COLUMN, month: COLUMN}`, or `{year: COLUMN, week: COLUMN,
    system: iso}`.

    Dates have the format `format.date`; a time of day is ignored. A month starts on its first day.
    In the layout `wide-periods` it is your word for what the columns are."""
    count: str = "count"
    """Number of people counted (COVID patients); required in the layout `long`.

    In the other layouts it is your word for what the cells hold."""
    capacity: Capacity | None = None
    """Capacity of the entity (beds): a column, or a second table; required for shares and
    `min_capacity`."""
    count_days: DayColumns | None = None
    """`{sum: COLUMN, coverage: COLUMN}` of a count that is an average: a suppressed count becomes
    sum / coverage.

    Where the sum is suppressed too, the count becomes `cleaning.suppressed_sum` / coverage. A table
    without these columns is read as if they were not named, and a warning says so."""
    capacity_days: DayColumns | None = None
    """The same for a column of capacities; a capacity whose sum is suppressed too is missing."""
    capacity_per: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0
    """Divisor of the capacity, such as 1000 for rates per 1,000 people; above 1 it needs
    `gain.at_most`.

    With 1000 and a population, one person moves the gain by 1000 / population."""
    group: str | None = None
    """Group of the row (state); default: one group named `all`."""
    name: str | None = None
    """Name shown for an entity (its latest); default: the identifier."""
    cases: list[str] | None = None
    """Columns summed over all periods for `cleaning.min_total_cases`; default: `count`."""
    titles: Titles = Titles()

    def called(self, column: Literal["entity", "count", "capacity"]) -> str:
        """Return a column's name for readers: its title, or its name as words.

        >>> columns = Columns(entity="hospital_pk", period="week", count="in_use", capacity="beds")
        >>> columns.called("entity"), columns.called("count")
        ('hospital', 'in use')
        """
        title: str | None = getattr(self.titles, column)
        named: str | CapacityTable | None = getattr(self, column)
        name = named.capacity if isinstance(named, CapacityTable) else named or ""
        return title or name.removesuffix("_pk").removesuffix("_id").replace("_", " ")

    def needed(self) -> list[str]:
        """Return all columns to read from the table, each once."""
        named = [self.entity, *columns_of(self.period), self.group, self.name]
        capacity = [self.capacity] if isinstance(self.capacity, str) else []
        numbers = [self.count, *capacity, *(self.cases or ())]
        return list(dict.fromkeys(name for name in [*named, *numbers] if name))

    def of_days(self) -> list[str]:
        """Return the columns of `count_days` and `capacity_days`, which the table may lack."""
        both = [days for days in (self.count_days, self.capacity_days) if days]
        return list(dict.fromkeys(name for days in both for name in (days.sum, days.coverage)))


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


class Cleaning(Settings):
    """Rules that fill gaps and choose the entities; the cleaning report counts each."""

    checked: list[LookName] = []
    """Tests of the second look whose finding is as it should be, so that dpol asks no more: a place
    is the sum of others (`totals`) or unlike them (`columns`), counts only rise (`cumulative`) or
    have decimals (`rates`), entities report less often (`periods`), and of several rows the last
    one is right (`rows`)."""
    drop_where: dict[str, TextOrTexts] = {}
    """Rows to leave out, such as totals: `{Ort: Summe}`, or several texts per column."""
    keep: dict[str, TextOrTexts] = {}
    """Rows to read, all others being left out: `{measure: occupied}`, or several texts per
    column."""
    suppressed_markers: list[str] = ["-999999"]
    """Values that mean "too small to publish"; -999999 also matches -999999.0."""
    missing_markers: list[str] = ["", "NA", "NaN", "null"]
    """Values that mean "missing"; -2 also matches -2.0."""
    suppressed_value: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    """Replaces a suppressed count; a suppressed or negative capacity is missing.

    With `columns.count_days` it only replaces a count whose coverage is unknown."""
    suppressed_sum: Annotated[float, Field(ge=1, le=3)] = 2.0
    """Replaces a suppressed sum of `columns.count_days`, which hides 1 to 3."""
    capacity_zero: Literal["error", "drop", "absent", "carry"] = "error"
    """If an entity has a count above 0 beside a capacity of 0 or less: stop the run, drop the
    entity, read that count as 0, or carry the last capacity forward.

    No share is known in such a period, and a carried capacity may make it the largest of all."""
    negative_counts: Literal["error", "missing"] = "error"
    """If a count is negative: stop the run, or treat it as missing."""
    several_rows: Literal["error", "last", "sum", "mean", "max"] = "error"
    """If an entity has several rows in a period, such as one per hour: stop the run, keep the last
    one, or take the sum, mean or maximum of their counts.

    A row that repeats another is dropped first: one with the same time of day and numbers, or, for
    `sum`, `mean` and `max`, with the same text in every column of the table. A suppressed count is
    read as `suppressed_value` before. The sum is missing if a count is missing; mean and maximum
    leave it out. Capacities have the same rule, but their mean for `sum`."""
    several_capacities: Literal["sum", "mean"] | None = None
    """What `several_rows: sum` makes of capacities: their sum, as of the sites of a hospital, or
    their mean, as of the hours of a ward; required if they differ within a period."""
    latest_by: str | None = None
    """Column of dates, as of revisions, by which `several_rows: last` finds the last row."""
    cumulative: Literal["difference"] | None = None
    """`difference`: a count is what was added to the total since the last period with one.

    A total below half of the last one began again from 0; where it falls less, the count is
    missing."""
    above: Literal["cut", "missing"] | None = None
    """Whether a count above the bound or the capacity (times `gain.at_most`) is cut to it, the
    default, or missing. Required for one that is over four times all others of its entity, or if
    more than 1% of a stream's counts are above."""
    max_carry: Annotated[int, Field(ge=0)] = 4
    """Periods for which a missing count repeats the last one, before it becomes 0."""
    max_zeroed: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Largest share of a stream's cells that become 0 because their count is missing for more than
    `max_carry` periods; more stop the run."""
    identifiers: dict[Identifier, Identifier] = {}
    """Entity of each spelling, such as `"50002": "050002"`.

    Other identifiers that differ only in case, leading zeros, a final `.0`, invisible signs or
    the like stop the run, since they may be one entity. The same holds for the groups of a stream
    and the texts of `drop_where`: a spelling that is mapped to itself is distinct."""
    entities: Annotated[list[str] | Literal["all"] | None, BeforeValidator(all_or_names)] = None
    """Identifiers of the entities that play, or `all`, whatever their counts; default: see
    `min_total_cases`."""
    min_total_cases: Annotated[float, Field(ge=0, le=1e12)] = 100.0
    """Fewest total cases of an entity that plays; the choice depends on private counts, also of
    later periods. Not together with `entities`."""
    case_factor: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Multiplier of `columns.cases`; 7 turns daily averages into weekly totals."""

    @property
    def merges_rows(self) -> bool:
        """Whether rows are parts of a period; then only rows equal in all columns are repeats."""
        return self.several_rows not in ("error", "last")


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
    "wide": ([], ["cases", "group", "name", *_DAYS]),
    "wide-periods": (["entity"], ["cases", *_DAYS]),
}
"""The keys of `columns` that a layout needs, and those that it does not use."""


class Dataset(Settings):
    """The table and how to read it."""

    source: Source
    """One of four kinds; `gains` allows no other block of the dataset except `format`."""
    licence: str | None = None
    """Licence of the table, for the report."""
    citation: str | None = None
    """Citation of the table, for the report."""
    public: bool = False
    """Whether anyone may see the counts, as with simulated data.

    If not, the results carry a warning, and no run is replayed unless `report.replay` is true."""
    format: Format = DEFAULT
    columns: Columns | None = None
    periods: Periods = Periods()
    cleaning: Cleaning = Cleaning()
    readings: dict[Label, Reading] = {}
    """Other readings of numbers that nobody measured, for the block `comparison`.

    Where such numbers are the best in periods with more than 5% of the possible gain, ours is said
    to be above a rival only if it is at every reading."""

    def read_as(self, reading: str) -> Dataset:
        """Return the dataset at one of its readings; the label of the first reading is empty."""
        other = self.readings[reading].model_dump(exclude_none=True) if reading else {}
        cleaning = self.cleaning.model_copy(update=other)
        return self.model_copy(update={"cleaning": cleaning, "readings": {}})

    @property
    def untitled(self) -> Dataset:
        """The dataset without texts that affect no number: titles, licence, citation, `public`."""
        columns = self.columns and self.columns.model_copy(update={"titles": Titles()})
        words = {"licence": None, "citation": None, "public": False}
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
    def simulated(self) -> bool:
        """Whether the table is made up, by dpol or by somebody else."""
        return bool(getattr(self.source, "simulated", self.source.kind == "simulated"))

    @property
    def private(self) -> bool:
        """Whether the results hold numbers that not everyone may see."""
        return not (self.public or self.simulated)

    def problems(self, asks: Mapping[str, Gain]) -> Iterator[Problem]:
        """Yield keys that contradict each other, or do not fit the source, layout or questions.

        Args:
            asks: the questions, by their key in the config.
        """
        kind, layout = self.source.kind, self.format.layout
        columns, rules, here = self.columns, self.cleaning, ("dataset", "columns")
        not_of_kind = keyed("must not be given because {dataset.source.kind} is {kind}", kind=kind)
        not_of_layout = keyed(
            "must not be given because {dataset.format.layout} is {layout}", layout=layout
        )
        places = {key: Key(tuple(key.split(".", 1))) for key in asks}
        if rules.entities is not None and "min_total_cases" in rules.model_fields_set:
            allowed: Text = "must not be given together with entities, which already says who plays"
            yield Problem(
                ("dataset", "cleaning", "min_total_cases"), rules.min_total_cases, allowed
            )
        if rules.latest_by and (layout != "long" or rules.several_rows != "last"):
            allowed = keyed("needs {dataset.cleaning.several_rows}: last, and the layout long")
            yield Problem(("dataset", "cleaning", "latest_by"), rules.latest_by, allowed)
        if self.periods.of and rules.several_rows != "error":
            allowed = keyed("must not be given together with {dataset.cleaning.several_rows}")
            yield Problem(("dataset", "periods", "of"), self.periods.of, allowed)
        if layout != "long" and kind in ("gains", "simulated"):
            yield Problem(("dataset", "format", "layout"), layout, not_of_kind)
        if kind == "gains":
            of_gains = {"source", "licence", "citation", "public", "format"}
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
        if layout == "wide" and isinstance(columns.capacity, str):
            allowed = "must be a block that names a second table: {file: FILE, ...}"
            yield Problem((*here, "capacity"), columns.capacity, allowed)
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
