"""Settings of a dataset: its source, columns, periods and rules of cleaning; and of a stream."""

from __future__ import annotations

import codecs
import datetime
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    HttpUrl,
    model_validator,
)

from dpol.core.errors import Key, Text, keyed
from dpol.core.settings import MISSING, Label, Problem, Settings, all_different, inside
from dpol.core.shipped import completed
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.tidy import READERS, instead_of, line

EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
"""The range of dates; a date outside it is taken for a mistake."""
TABLES = ".csv", ".csv.gz", ".tsv", ".parquet", ".xlsx"
"""How the names of tables end."""
Day = Annotated[datetime.date, Field(ge=EARLIEST, le=LATEST)]
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\u2060\ufeff"))
ROWS = "rows.parquet"
"""The name of the file of typed rows."""
CheckName = Literal["totals", "cumulative", "rates"]
"""Tests of meaning that `cleaning.checked` may settle (`dpol.data.meaning`)."""


def without_braces(path: str) -> str:
    """Return a path that Snakemake takes as it is. Raises ValueError for any other."""
    if {*"{}"} & {*path}:
        raise ValueError("must have no braces; rename the file")
    return path


def _relative(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not path.endswith(".csv.gz") or parts[0] == "/" or ".." in parts:
        raise ValueError("must be a path below the working folder, like data/raw/table.csv.gz")
    return without_braces(path)


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError("must be 64 hexadecimal digits, as sha256sum prints them")
    return text


def _table(path: str) -> str:
    if not path.endswith(TABLES):
        kind = READERS.get(PurePosixPath(path).suffix.lower(), "csv(FILE)")
        ends = f"{', '.join(TABLES[:-1])} or {TABLES[-1]}"
        raise ValueError(f"must end in {ends}; make such a table of it: {line('other', kind=kind)}")
    return without_braces(path)


def _encoding(name: str) -> str:
    try:
        "".encode(name)  # refuses codecs that are not of texts
    except LookupError:
        raise ValueError("must be an encoding such as utf-8, utf-16 or cp1252") from None
    known = codecs.lookup(name).name.removesuffix("-sig")
    return "cp1252" if known == "iso8859-1" else known  # which has more characters, and is meant


def _strptime(form: str) -> str:
    if week := re.search("%[UW]", form):
        raise ValueError(
            f"must not have {week[0]}, which needs a weekday; write %G-W%V for ISO weeks, or make"
            f" dates: {line('weekday', form=form, day='UW'.index(week[0][1]))}"
        )
    if not re.search("%[YyGcx]", form):
        raise ValueError("must have a year, as %Y, %y or %G, such as %d.%m.%Y")
    try:
        on_monday(datetime.datetime(2021, 1, 4).strftime(form), form)
    except ValueError:
        raise ValueError("must be a format of strptime, such as %d.%m.%Y or %G-W%V") from None
    return form


def on_monday(text: str, form: str) -> datetime.datetime:
    """Return the date of a text in a format of `strptime`; of an ISO week alone, its Monday.

    Raises:
        ValueError: the text has another format.

    >>> on_monday("2021-W05", "%G-W%V").date().isoformat()
    '2021-02-01'
    """
    if lacks_weekday(form):
        text, form = f"{text} 1", f"{form} %u"
    return datetime.datetime.strptime(text, form)


def lacks_weekday(form: str) -> bool:
    """Return whether a format has an ISO week, and no day of it."""
    return "%V" in form and not re.search("%[uaAw]", form)


def _blank(sign: object) -> object:
    """Return a blank for one that does not break lines."""
    return " " if sign in ("\u00a0", "\u2009", "\u202f") else sign


def plain(text: str) -> str:
    """Return a text as dpol compares texts: stripped, composed (NFC), without invisible characters,
    and with `?` for control characters.
    """
    seen = text.translate(_INVISIBLE).strip().replace("\r\n", "\n")
    return _CONTROL.sub("?", unicodedata.normalize("NFC", seen))


def _all_or_names(value: object) -> object:
    if value in (None, "all"):
        return value
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError("must be all, or a list of at least two identifiers")
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"{name!r} must be text; put it in quotes")
    return all_different([plain(name) for name in value])


def _one_column(made: str) -> BeforeValidator:
    """Return a validator that refuses several columns, with the line that makes one of them."""

    def check(value: object) -> object:
        if isinstance(value, (list, Mapping)):
            raise ValueError(f"must be one column; make it with pandas: {made}")
        return value

    return BeforeValidator(check)


Name = Annotated[str, AfterValidator(plain)]
"""A text of a table."""
TextOrTexts = Annotated[
    list[Name],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value,
        json_schema_input_type=str | list[str],
    ),
]
"""A text, or a list of texts."""
Digest = Annotated[str, AfterValidator(_digest)]
"""A SHA-256 in hexadecimal."""
TableFile = Annotated[str, AfterValidator(_table)]
"""A path that ends as a table does."""


# ---- sources ------------------------------------------------------------------------------------


class Endpoint(Settings):
    """Web address of the table as CSV."""

    kind: Literal["socrata", "file"]
    """`socrata`: a Socrata resource that ends in `.csv`. `file`: the table as CSV, plain or gzip.

    dpol asks a Socrata server only for the rows and columns that it needs."""
    url: HttpUrl
    """Address of the endpoint."""
    sha256: Digest | None = None
    """SHA-256 of the table as served; any other is refused."""
    version: str | None = None
    """Version or date of the table."""
    licence: str | None = None
    """Licence of the table."""


class WebSource(Settings):
    """A table that is fetched once and kept."""

    kind: Literal["web"]
    """Kind of source."""
    endpoints: Annotated[list[Endpoint], Field(min_length=1)]
    """The endpoints that serve it, tried in order."""
    file: Annotated[str, AfterValidator(_relative)]
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
    """Whether the table is made up, as tables and figures then say."""


class GainsSource(Settings):
    """A table of gains on this machine: a row per round, a column per expert, no capacities.

    Every column is an expert, except the period.
    """

    kind: Literal["gains"]
    """Kind of source."""
    file: TableFile
    """The table, as with `local`; rows in the order of the rounds."""
    sensitivity: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Largest protected change of one round's gains (L2 norm).

    sqrt(n) times `gain_range`, for n experts, protects any change."""
    gain_range: Annotated[float, Field(ge=1e-9, le=1e9)] = 1.0
    """Largest gain; the smallest is 0."""
    period: Name | None = None
    """Column with the date of the round; default: rounds are numbered."""
    simulated: bool = False
    """Whether the table is made up, as tables and figures then say."""


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


TableSource = Annotated[
    WebSource | LocalSource | SimulatedSource | GainsSource, Field(discriminator="kind")
]


# ---- how a table is read ------------------------------------------------------------------------


class Read(Settings):
    """How the file is read; each key has the name that pandas gives it.

    Numbers and dates that a Parquet table or an Excel sheet stores as such are read as they are.
    """

    sep: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """Separator of CSV cells; default: a comma, in `.tsv` a tab."""
    decimal: Literal[".", ","] = "."
    """Decimal sign of numbers that are text."""
    thousands: Annotated[Literal[".", ",", " ", "'"] | None, BeforeValidator(_blank)] = None
    """Sign between groups of three digits of numbers that are text.

    A blank includes non-breaking blanks, and `'` includes the curly apostrophe."""
    encoding: Annotated[str, AfterValidator(_encoding)] = "utf-8"
    """Encoding of a CSV table, such as `utf-16`, or `cp1252`, as which `latin-1` is read too."""
    skiprows: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Lines or rows above the header, such as titles."""
    skipfooter: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Rows at the end that are no part of the table, such as notes; blank ones do not count."""
    sheet_name: str | None = None
    """Sheet of an `.xlsx` file; required if there are several."""


DEFAULT = Read()


class Titles(Settings):
    """Names in the report; default: the names of the columns."""

    entity: str | None = None
    """One entity (hospital)."""
    count: str | None = None
    """What is counted (COVID patients)."""
    capacity: str | None = None
    """What the count is a share of (beds)."""


class DayColumns(Settings):
    """Columns that tell what a suppressed average hides."""

    sum: Name
    """Sum over the days reported."""
    coverage: Name
    """Number of days reported."""


class Columns(Settings):
    """Names of the columns of the table; required unless `source.kind` is `gains`."""

    LEFT = instead_of("columns")

    entity: Name
    """Entity (hospital), which becomes an expert."""
    period: Annotated[Name, _one_column(line("weeks"))]
    """Start of the period (week): a date such as 2021-01-31, or as `periods.format` says.

    A time of day is only used for the order of several rows."""
    count: Name
    """Number of people counted (COVID patients)."""
    capacity: Annotated[Name, _one_column(line("table"))] | None = None
    """Capacity of the entity (beds); required for shares and `min_capacity`."""
    count_days: DayColumns | None = None
    """`{sum: COLUMN, coverage: COLUMN}` of a count that is an average: a suppressed count becomes
    sum / coverage.

    Where the sum is suppressed too, the count becomes `cleaning.suppressed_sum` / coverage."""
    capacity_days: DayColumns | None = None
    """The same for a column of capacities; a capacity whose sum is suppressed too is missing."""
    capacity_per: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0
    """Divisor of the capacity, such as 1000 for rates per 1,000 people; rates above 1 need
    `gain.at_most`.

    With 1000 and a population, one person moves the gain by 1000 / population."""
    group: Name | None = None
    """Group of the row (state); default: one group named `all`."""
    name: Name | None = None
    """Name shown for an entity (its latest); default: the identifier."""
    cases: list[Name] | None = None
    """Columns summed over all periods for `cleaning.min_total_cases`; default: `count`."""
    titles: Titles = Titles()

    def called(self, column: Literal["entity", "count", "capacity"]) -> str:
        """Return a column's name for readers: its title, or its name as words.

        >>> columns = Columns(entity="hospital_pk", period="week", count="in_use", capacity="beds")
        >>> columns.called("entity"), columns.called("count")
        ('hospital', 'in use')
        """
        title: str | None = getattr(self.titles, column)
        name: str = getattr(self, column) or ""
        return title or name.removesuffix("_pk").removesuffix("_id").replace("_", " ")

    @property
    def numbers(self) -> dict[str, str]:
        """The columns of numbers, by what they are to dpol."""
        named = {"count": self.count, "capacity": self.capacity}
        for what, days in (("count", self.count_days), ("capacity", self.capacity_days)):
            if days:
                named |= {f"{what}_sum": days.sum, f"{what}_days": days.coverage}
        named |= {f"cases_{k}": name for k, name in enumerate(self.cases or ())}
        return {role: name for role, name in named.items() if name}


class Periods(Settings):
    """The periods to use."""

    first: Day | None = None
    """First period, inclusive; default: the first in the table."""
    last: Day | None = None
    """Last period, inclusive; default: the last in the table."""
    format: Annotated[str, AfterValidator(_strptime)] | None = None
    """Format of dates that are text, in the signs of `strptime`, such as `%d.%m.%Y`; `%G-W%V` is
    the Monday of an ISO week. Default: 2021-01-31, with or without a time of day."""
    days: Annotated[int, Field(ge=1, le=36_600)] | None = None
    """Length of a period in days; default: 7, unless `months` is given."""
    months: Annotated[int, Field(ge=1, le=1_200)] | None = None
    """Length of a period in months, instead of `days`; periods start on the first of a month."""
    of: Literal["mean", "sum", "max", "last"] | None = None
    """Instead of `cleaning.several_rows`, if rows have any day of their period and not its first:
    `{days: 7, of: mean}` makes weeks of days, and `{days: 7, of: last}` gives places that report on
    different weekdays the same weeks. The first and the last week may have fewer days: set `first`
    and `last`."""

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

    LEFT = instead_of("cleaning")

    checked: list[CheckName] = []
    """Tests of meaning whose finding is as it should be: an entity is the sum of the others
    (`totals`), counts only rise (`cumulative`) or have decimals (`rates`)."""
    drop_where: dict[Name, TextOrTexts] = {}
    """Rows to leave out, such as totals: `{Ort: Summe}`, or several texts per column."""
    suppressed_markers: list[Name] = ["-999999"]
    """Values that mean "too small to publish"; -999999 also matches -999999.0."""
    missing_markers: list[Name] = ["", "NA", "NaN", "null"]
    """Values that mean "missing"; -2 also matches -2.0."""
    suppressed_value: Annotated[float, Field(ge=0, le=1e6)] = 2.0
    """Replaces a suppressed count; a suppressed or negative capacity is missing.

    With `columns.count_days` it only replaces a count whose coverage is unknown."""
    zeros_hide: bool = False
    """Whether a count of 0 may be a suppressed one.

    dpol still plays it as 0, and says for how much of the possible gain such a zero would be the
    best if it were read as a suppressed count is."""
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
    (in time, then in the file), or take the sum, mean or maximum of their counts.

    Rows that are equal in every column of the file are dropped first, and refused under `sum`,
    `mean` and `max`. A suppressed count is read as `suppressed_value` before. The sum is missing if
    a count is missing; mean and maximum leave it out. Capacities have the same rule; under `sum`
    they must be equal."""
    above: Literal["cut", "missing"] | None = None
    """Whether a count above the bound or the capacity (times `gain.at_most`) is cut to it, or
    missing.

    By default it is cut, but more than 1% of a stream's counts stop the run."""
    max_carry: Annotated[int, Field(ge=0)] = 4
    """Periods for which a missing count repeats the last, then is 0; 0 if no row means none."""
    max_zeroed: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Largest share of a stream's cells that become 0 because their count is missing for more than
    `max_carry` periods, or, if above a third, that have no count at all; more stop the run."""
    entities: Annotated[list[str] | Literal["all"] | None, BeforeValidator(_all_or_names)] = None
    """Identifiers of the entities that play, or `all`, whatever their counts; default: see
    `min_total_cases`."""
    min_total_cases: Annotated[float, Field(ge=0, le=1e12)] = 100.0
    """Fewest total cases of an entity that plays; the choice depends on private counts, also of
    later periods. Not together with `entities`."""
    case_factor: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Multiplier of `columns.cases`; 7 turns daily averages into weekly totals."""

    @property
    def merges_rows(self) -> bool:
        """Whether rows are parts of a period, so that no row repeats another."""
        return self.several_rows not in ("error", "last")


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
_PERIODS = {
    **{(1, "day"): "day", (7, "day"): "week"},
    **{(1, "month"): "month", (3, "month"): "quarter", (12, "month"): "year"},
}
_OF_GAINS = {"source", "licence", "citation", "caveat", "public", "read"}


class Dataset(Settings):
    """The table and how to read it."""

    LEFT = {"format": instead_of("format")}

    like: Annotated[str | None, Field(exclude=True)] = None
    """A config of dpol, such as `states`, whose dataset this is, but for the keys beside `like`.
    `dpol config show` prints all keys."""
    source: TableSource
    """One of four kinds; `gains` allows no other block of the dataset except `read`."""
    licence: str | None = None
    """Licence of the table, for the report."""
    citation: str | None = None
    """Citation of the table, for the report."""
    caveat: str | None = None
    """A caveat about the numbers, shown in the lead of the page and beside the data."""
    public: bool = False
    """Whether anyone may see the counts, as with simulated data.

    If not, the results carry a warning, and no run is replayed unless `report.replay` is true."""
    read: Read = DEFAULT
    columns: Columns | None = None
    periods: Periods = Periods()
    cleaning: Cleaning = Cleaning()

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, raw: object) -> object:
        whole = completed(raw, "dataset")
        # One of these keys replaces the other of the config that `like` names.
        own, pair = inside(inside(raw).get("cleaning")), {"entities", "min_total_cases"}
        if whole is not raw and isinstance(whole, dict) and len(pair & {*own}) == 1:
            kept = {key: it for key, it in whole["cleaning"].items() if key not in pair - {*own}}
            whole = {**whole, "cleaning": kept}
        return whole

    @property
    def untitled(self) -> Dataset:
        """The dataset without texts that affect no number: as `citation`, and `public`."""
        columns = self.columns and self.columns.model_copy(update={"titles": Titles()})
        words = {"licence": None, "citation": None, "caveat": None, "public": False}
        return self.model_copy(update={**words, "columns": columns})

    @property
    def of_rows(self) -> dict[str, Any]:
        """The keys that decide how a file becomes typed rows, which all streams share."""
        keys = self.untitled.model_dump(
            include={
                "read": True,
                "columns": {*Columns.model_fields} - {"capacity_per"},
                "periods": {"format", "days", "months", "of"},
                "cleaning": {"drop_where", "suppressed_markers", "missing_markers"},
            }
        )
        digest = {"sha256": self.source.sha256} if isinstance(self.source, LocalSource) else {}
        return {**keys, "source": self._rows | digest}

    @property
    def of_stream(self) -> dict[str, Any]:
        """The keys that decide how rows become a panel."""
        blocks = {"columns", "periods", "cleaning"}
        keys = self.untitled.model_dump(mode="json", include=blocks)
        return {**keys, "source": self._rows}

    @property
    def _rows(self) -> dict[str, Any]:
        return {"kind": "local", "file": ROWS, "simulated": self.simulated}

    @property
    def rules(self) -> Cleaning:
        """The rules of cleaning, with the rule of `periods.of` for the rows of a period."""
        of = self.periods.of
        return self.cleaning.model_copy(update={"several_rows": of}) if of else self.cleaning

    @property
    def needed_columns(self) -> Columns:
        """The columns of a table of counts. Raises ValueError for a table of gains."""
        if self.columns is None:
            raise ValueError("a table of gains has no columns of counts")
        return self.columns

    @property
    def must_have(self) -> list[str]:
        """The columns that a table of counts must have, each once."""
        of = self.needed_columns
        named = [of.entity, of.period, of.group, of.name, *of.numbers.values()]
        return list(dict.fromkeys(filter(None, [*named, *self.cleaning.drop_where])))

    @property
    def pictured(self) -> tuple[str, str]:
        """The column of a panel that plays by default, and what it is, for its picture."""
        columns = self.needed_columns
        if columns.capacity is None:
            return "count", columns.called("count")
        return "density", f"{columns.called('count')} / {columns.called('capacity')}"

    @property
    def is_papers(self) -> bool:
        """Whether counts, capacities and the filter of entities are those of the first paper."""
        return self.model_dump(include={key: {*of} for key, of in _PAPERS.items()}) == _PAPERS

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

    def problems(self, asks: Mapping[str, Gain], *, moved: bool) -> Iterator[Problem]:
        """Yield keys that contradict each other, or do not fit the source or the questions.

        Args:
            asks: the questions, by their key in the config.
            moved: whether it is said how far one person changes one count.
        """
        kind, columns, rules = self.source.kind, self.columns, self.cleaning
        not_of_kind = keyed("must not be given because {dataset.source.kind} is {kind}", kind=kind)
        file = getattr(self.source, "file", "table.csv")
        applies = {
            ".parquet": {"decimal", "thousands"},
            ".xlsx": {"decimal", "thousands", "skiprows", "skipfooter", "sheet_name"},
        }.get(PurePosixPath(file).suffix, {*Read.model_fields} - {"sheet_name"})

        def wrong(key: str, value: object, allowed: Text) -> Problem:
            return Problem(("dataset", *key.split(".")), value, allowed)

        for key, gain in asks.items():
            location = tuple(key.split(".", 1))
            if columns and columns.capacity is None and gain.needs_capacities:
                told = "is missing: name the column, or set {gain} to of: count with a bound"
                yield wrong("columns.capacity", MISSING, keyed(told, gain=Key(location)))
            if kind == "gains" and gain != THE_PAPERS:
                yield Problem(location, gain.of, not_of_kind)
        if not moved and self.rules.several_rows == "sum":
            block = ("periods", "of") if self.periods.of else ("cleaning", "several_rows")
            told = (
                "is missing, and {key} adds counts that may be of one person: how far does one"
                " person change one sum? 7, if a person may be counted on each of 7 days; 1, if"
                " only once, as an arrival"
            )
            allowed = keyed(told, key=Key(("dataset", *block)))
            yield Problem(("privacy", "count_sensitivity"), MISSING, allowed)
        for name in sorted(self.read.model_fields_set - applies):
            told = f"does not apply to {file}; remove that key"
            yield wrong(f"read.{name}", getattr(self.read, name), told)
        if self.read.decimal == self.read.thousands:
            told = "must not be that of thousands too; set {dataset.read.decimal} to {other}"
            other = "','" if self.read.decimal == "." else "'.'"
            yield wrong("read.decimal", self.read.decimal, keyed(told, other=other))
        if rules.entities is not None and "min_total_cases" in rules.model_fields_set:
            told = "must not be given together with entities, which already says who plays"
            yield wrong("cleaning.min_total_cases", rules.min_total_cases, told)
        if both := [it for it in rules.suppressed_markers if it in rules.missing_markers]:
            told = "must not be given among missing_markers too; remove it from one of them"
            yield wrong("cleaning.suppressed_markers", both[0], told)
        if self.periods.of and rules.several_rows != "error":
            told = "must not be given together with {dataset.cleaning.several_rows}"
            yield wrong("periods.of", self.periods.of, keyed(told))
        if kind == "gains":
            for key in sorted(self.model_fields_set - _OF_GAINS):
                yield wrong(key, "a block", (not_of_kind, ": there is nothing to clean"))
        elif columns is None:
            told = "is missing: name the columns of entity, period, count and capacity"
            yield wrong("columns", MISSING, told)
        if columns and columns.count == columns.capacity:
            told = "must be another column than that of the counts"
            yield wrong("columns.capacity", columns.capacity, told)


class Stream(Settings):
    """A gain stream: the entities of some groups, played as one game."""

    groups: Annotated[list[Name], Field(min_length=1)]
    """Values of the group column; `all` without such a column."""
    title: str | None = None
    """Title in tables and figures; default: the label."""
    reported_as: Label | None = None
    """The paper's label of this state (NM, PA or CA), whose numbers Table 2 shows."""


Streams = Annotated[
    dict[Label, Stream],
    BeforeValidator(
        lambda streams: completed(streams, "streams"),
        json_schema_input_type=dict[Label, Stream | str],
    ),
    Field(min_length=1),
]
"""Streams by label; `{like: states}` stands for those of a config of dpol."""
