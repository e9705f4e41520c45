"""Tables as reporting systems write them: read with at most one key more, or that key is named."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.init import begin
from dpol_weekly.holder.settings import read_hospital
from releases import deployment

AGREED = deployment(
    periods={"first": "2024-01-01"}, entities={"n": {"capacity": 20}, "s": {"capacity": 20}}
)
TOLD = {"entity": "ward", "zero": "written", "decimal": ".", "thousands": "none"}
HEAD = "period,ward,count\n"
USUAL = HEAD + "2024-01-01,n,5\n2024-01-01,s,0\n2024-01-08,n,7\n2024-01-08,s,2\n"


def with_dates(first, second):
    return USUAL.replace("2024-01-01", first).replace("2024-01-08", second)


def dated(first, second, form):
    return with_dates(first, second), {"date": form}


def with_zero(text):
    return USUAL.replace("s,0", f"s,{text}")


READ = {
    "plain": (USUAL, {}),
    "no line end at the end, as of browsers": (USUAL.rstrip(), {}),
    "line ends of Windows": (USUAL.replace("\n", "\r\n"), {}),
    "line ends of an old Mac": (USUAL.replace("\n", "\r"), {}),
    "a mark of UTF-8": ("\ufeff" + USUAL, {}),
    "all quoted": (re.sub("[^,\n]+", r'"\g<0>"', USUAL), {}),
    "blanks around cells": (USUAL.replace(",", " , "), {}),
    "more columns": (USUAL.replace("\n", ",x y\n"), {}),
    "sep= above": ("sep=,\n" + USUAL, {"header": "2"}),
    "a title above": ("Patients by ward\nMonday, 8 January\n\n" + USUAL, {"header": "4"}),
    "a total below": (USUAL + "Total,,14\n", {}),
    "notes below a blank line": (USUAL + "\nSource,n,x\nrun at 2024-01-15,n,9\n", {}),
    "wards of others": (USUAL + "2024-01-01,Ward 3, West,1\n", {}),
    "a patient without a date": (USUAL + ",n,1\n", {}),
    "NULL for zero": (with_zero("NULL"), {"zero": "NULL"}),
    "- for zero": (with_zero("-"), {"zero": "-"}),
    "NA for zero": (with_zero("NA"), {"zero": "NA"}),
    "a blank for zero": (with_zero(""), {"zero": "blank"}),
    "no row for zero": (USUAL.replace("2024-01-01,s,0\n", ""), {"zero": "missing"}),
    "weeks of DHIS2": dated("2024W1", "2024W2", "YYYYWw"),
    "weeks without W": dated("202401", "202402", "YYYYww"),
    "weeks of ISO": dated("2024-W01", "2024-W02", "YYYY-Www"),
    "German": dated("01.01.2024", "8.1.2024", "D.M.YYYY"),
    "two digits of a year": dated("01.01.24", "08.01.24", "D.M.YY"),
    "American": dated("1/1/2024", "1/8/2024", "M/D/YYYY"),
    "American, two digits": dated("1/1/24", "1/8/24", "M/D/YY"),
    "midnight of SQL Server": dated("1/1/2024 12:00:00 AM", "1/8/2024 12:00:00 AM", "M/D/YYYY"),
    "a time of day": dated("2024-01-01 06:30", "2024-01-08 06:30", "YYYY-MM-DD time"),
    "without marks": dated("20240101", "20240108", "YYYYMMDD"),
    "Japanese": dated("2024/1/1", "2024/1/8", "YYYY/M/D"),
    "Dutch": dated("01-01-2024", "08-01-2024", "D-M-YYYY"),
    "last days": (with_dates("2024-01-07", "2024-01-14"), {"day": "last"}),
    "semicolons": (USUAL.replace(",", ";"), {"delimiter": ";"}),
    "tabs": (USUAL.replace(",", "\t"), {"delimiter": "tab"}),
    "bars of HL7 people": (USUAL.replace(",", "|"), {"delimiter": "|"}),
    "whole numbers with a point": (USUAL.replace("5\n", "5.0\n"), {}),
    "UTF-16": (USUAL.encode("utf-16"), {"encoding": "utf-16"}),
    "a name in Latin 1": (USUAL.replace("\n", ",Müller\n").encode("cp1252"), {}),
}


def read(content, told):
    """The counts of a table, as --init and then a run read it."""
    Path("t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    Path("d.yaml").write_text(AGREED.agreement())
    last = datetime.date(2024, 1, 14)
    begin(*map(Path, ("h.yaml", "t.csv", "d.yaml")), named=TOLD | told, through=last)
    own = read_hospital(Path("h.yaml"))
    counts = read_counts(own, AGREED, today=datetime.date(2024, 1, 15), through=last).counts
    return {at: float(it.count) for at, it in counts.items()}


@pytest.mark.parametrize("name", READ)
def test_a_shape_is_read_with_at_most_one_key_more(folder, name):
    content, told = READ[name]
    assert len(told) <= 1
    right = {("n", "2024-01-01"): 5, ("s", "2024-01-01"): 0}
    right |= {("n", "2024-01-08"): 7, ("s", "2024-01-08"): 2}
    assert read(content, told) == right


REFUSED = {
    "suppressed": (with_zero("<5"), "or name the text that means 0 in zero; do not leave out rows"),
    "two digits for four": (with_dates("01.01.24", "08.01.24"), "no row of n and s: write under"),
    "sep= above": ("sep=,\n" + USUAL, "or the line of the header, the"),
    "a sum of weeks": (USUAL + "2024-01-02,n,5\n", "or set format.day and format.date in"),
    "two rows for a week": (USUAL + "2024-01-01,n,5\n", "or name the column of entities"),
    "a comma in a cell": (USUAL + "2024-01-15,n,5,7\n", "Quote cells that hold ','"),
    "another name": (USUAL.replace(",n,", ",North,"), "no row of n: write under entities in"),
    "months": (with_dates("2024-01", "2024-02"), "no row of n and s"),
    "decimal commas": (USUAL.replace("5\n", '"5,0"\n'), "format.decimal and thousands in hospital"),
    "UTF-16": (USUAL.encode("utf-16"), "delimiter or the encoding under format"),
    "a column twice": (USUAL.replace("ward,count", "count,count"), "must name ward, count once"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_shapes_are_refused_with_the_key(folder, name):
    content, message = REFUSED[name]
    with pytest.raises((DataError, ConfigError)) as refused:
        read(content, {})
    assert message in str(refused.value)
    assert not Path("h.yaml").exists()
