"""Settings of a table of counts: its columns, and the rules by which its cells are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, Tag, model_validator

from dpol.core.settings import Settings
from dpol.data.tables.setting_types import (
    NAMES_OR_BLOCK,
    ColumnName,
    Identifier,
    LookName,
    Period,
    TableFile,
    TextOrTexts,
    all_or_names,
    columns_of,
)
from dpol.data.tables.table_format import DEFAULT, Format


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


Capacity = Annotated[
    ColumnName | Annotated[list[str], Tag("[columns]")] | Annotated[CapacityTable, Tag("[block]")],
    NAMES_OR_BLOCK,
]


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
    entity_with: list[str] = []
    """Further columns that tell entities of one name apart, not of wide layouts: with `[city]` the
    entity is `Mercy, Boston`, also in other keys and tables."""
    period: Period
    """Start of the period (week), `{year: COLUMN, month: COLUMN}`, or `{year: COLUMN, week: COLUMN,
    system: iso}`.

    Dates have the format `format.date`; a time of day is ignored. A month starts on its first day.
    In the layout `wide-periods` it is your word for what the columns are."""
    count: str = "count"
    """Number of people counted (COVID patients); required in the layout `long`.

    In the other layouts it is your word for what the cells hold."""
    count_rows: bool = False
    """Whether each row is one event, so that `count` is your word for them and no column."""
    capacity: Capacity | None = None
    """Capacity of the entity (beds): a column, the columns whose sum it is (`[occupied, free]`), or
    a second table; required for shares and `min_capacity`."""
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
        named: str | list[str] | CapacityTable | None = getattr(self, column)
        named = " and ".join(named) if isinstance(named, list) else named
        name = named.capacity if isinstance(named, CapacityTable) else named or ""
        return title or name.removesuffix("_pk").removesuffix("_id").replace("_", " ")

    @property
    def capacities(self) -> list[str]:
        """The columns of the table whose sum is the capacity; none if a second table has it."""
        named = [self.capacity] if isinstance(self.capacity, str) else self.capacity
        return named if isinstance(named, list) else []

    def needed(self) -> list[str]:
        """Return all columns to read from the table, each once."""
        named = [self.entity, *self.entity_with, *columns_of(self.period), self.group, self.name]
        numbers = [*[self.count] * (not self.count_rows), *self.capacities, *(self.cases or ())]
        return list(dict.fromkeys(name for name in [*named, *numbers] if name))

    def of_days(self) -> list[str]:
        """Return the columns of `count_days` and `capacity_days`, which the table may lack."""
        both = [days for days in (self.count_days, self.capacity_days) if days]
        return list(dict.fromkeys(name for days in both for name in (days.sum, days.coverage)))


class Cleaning(Settings):
    """Rules that fill gaps and choose the entities; the cleaning report counts each."""

    checked: list[LookName] = []
    """Tests of the second look whose finding is as it should be, so that dpol asks no more: a place
    is the sum of others (`totals`), counts only rise (`cumulative`) or have decimals (`rates`), and
    of several rows the last one is right (`rows`)."""
    drop_where: dict[str, TextOrTexts] = {}
    """Rows to leave out, such as totals: `{Ort: Summe}`, or several texts per column."""
    keep: dict[str, TextOrTexts] = {}
    """Rows to read; all others are left out: `{measure: occupied}`, or several texts per
    column."""
    suppressed_markers: list[str] = ["-999999"]
    """Values that mean "too small to publish"; -999999 also matches -999999.0."""
    missing_markers: list[str] = ["", "NA", "NaN", "null"]
    """Values that mean "missing"; -2 also matches -2.0."""
    suppressed_value: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    """Replaces a suppressed count; a suppressed or negative capacity is missing.

    With `columns.count_days` it only replaces a count whose coverage is unknown."""
    zeros_hide: bool = False
    """Whether a count of 0 may be a suppressed one.

    dpol still plays it as 0. It says for how much of the possible gain such a zero would be the
    best if it were read as a suppressed count is; above 5%, no verdict is surer than `ahead at this
    reading`."""
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

    A row that is equal to another in every column is dropped first, unless `equal_rows` says
    otherwise. A suppressed count is read as `suppressed_value` before. The sum is missing if a
    count is missing; mean and maximum leave it out. Capacities have the same rule, but their mean
    for `sum`."""
    equal_rows: Literal["drop", "add"] | None = None
    """Whether rows with the same text in every column are one row that stands there twice (`drop`)
    or equal parts (`add`), for `several_rows` other than `last`.

    Required for `sum` and `mean` if there are such rows, unless the whole table stands there twice,
    which is dropped."""
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
    absent: Literal["error", "zero", "carry"] = "carry"
    """What it means that an entity has no row in a period: none (`zero`), as of events; or that
    nobody counted (`carry`, as `max_carry` says). `error` stops the run if more than 5% of the
    cells have no row, or if of two entities one has a row in nearly every period, and never
    both."""
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
