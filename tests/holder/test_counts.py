from __future__ import annotations

import pytest

from dpol.core.errors import DataError
from dpol_weekly.holder.counts import read_counts
from releases import deployment

NAMES = ["0100 A", 'B, "x" é', "A", "B", "C", *(f"A{i}" for i in range(2))]
NAMES += [f"B{i}" for i in range(98)]
MADE = deployment(entities={name: {} for name in NAMES})
WITH_BEDS = deployment(entities={name: {"capacity": 20} for name in NAMES})
HEADER = "state,hospital,week,covid,beds\n"


@pytest.fixture
def read(tmp_path):
    """Read a table given as text or bytes."""

    def reader(table, made=MADE, **options):
        path = tmp_path / "counts.csv"
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        return read_counts(path, made, **options)

    return reader


def test_a_table_by_hand(read):
    table = HEADER + (
        "NM,0100 A,2021-01-08T00:00:00.000, 3.4 ,12\n"
        "\n"
        'PA,"B, ""x"" é",2021-01-08,0,0.5\r\n'
        "NM,0100 A,2021-01-15 00:00,007.,12.0\n"
    )
    expected = [
        ("2", "0100 A", "2021-01-08", "3.4", "12"),
        ("4", 'B, "x" é', "2021-01-08", "0", "0.5"),
        ("5", "0100 A", "2021-01-15", "007.", "12.0"),
    ]

    def told(found):
        return [(it.where.split()[-1], it.entity, it.period, it.count, it.capacity) for it in found]

    assert told(read(table)) == told(read(b"\xef\xbb\xbf" + table.encode())) == expected
    assert [count.capacity for count in read(table, WITH_BEDS)] == ["20"] * 3
    assert "3.4" not in repr(read(table)[0])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        # Suppressed counts are small ones: which rows are there would tell them.
        ("NM,A,2021-01-08,{},5", "covid must hold a number .*; do not leave out rows because"),
        ("NM,A,2021-01-08,3,{}", "beds must hold a number above 0"),
    ],
)
@pytest.mark.parametrize(
    "cell",
    [
        *("", "NA", "-1", "-999999", "<4", "nan", "inf", "1e3", "1e400", "0x1f", "1/2", "3,4", "١"),
        *("1_0", ".5", "+1", "1.2.3", "1" * 10, "0." + "1" * 41, "4 5", "\x00", "suppressed"),
    ],
)
def test_what_is_no_count_is_refused(read, row, message, cell):
    with pytest.raises(DataError, match=f"line 2: column {message}"):
        read(HEADER + row.format(f'"{cell}"') + "\n")


@pytest.mark.parametrize(
    "table",
    [
        HEADER + "NM,{}\ta,2021-01-08,1,5\n",
        HEADER + "NM,A,{},1,5\n",
        HEADER + "NM,A,2021-01-08,{},5\n",
        HEADER + "NM,A,2021-01-08,1,{}\n",
        HEADER + "NM,A,2021-01-08,1,5,{}\n",
        HEADER + 'NM,A,2021-01-08,1,"{}\n',
        HEADER + '"{}"1,A,2021-01-08,1,5\n',
        HEADER + "NM,A,2021-01-08,97531,5\nNM,A,2021-01-08,97531,5\n",
        HEADER + "NM,A,2021-01-08,97531,1.230\n",
        "A,2021-01-08,{},5\n",  # no header
    ],
)
def test_no_message_repeats_a_cell(read, table):
    with pytest.raises(DataError) as caught:
        read(table.format("97531x"))
    assert "97531" not in str(caught.value)


@pytest.mark.parametrize("zero", ["0", "0.0", "000", "0."])
def test_a_capacity_of_zero_is_refused_and_a_count_of_zero_is_not(read, zero):
    with pytest.raises(DataError, match="line 2: column beds must hold a number above 0"):
        read(HEADER + f"NM,A,2021-01-08,1,{zero}\n")
    assert len(read(HEADER + f"NM,A,2021-01-08,{zero},1\n")) == 1


@pytest.mark.parametrize(
    "date",
    [
        *("", "2021-13-01", "2021-02-30", "08/01/2021", "2021-1-8", "20210108", "2021-W01-1"),
        *("x", "0000-01-01", "٢021-01-08", "２０２１-01-08"),
        # Years that nobody means.
        *("1899-12-31", "2101-01-01", "0001-01-01", "9999-12-31"),
        # What follows is not midnight, or may be another day elsewhere.
        *("2024-01-06T16:00:00-08:00", "2024-01-07T00:00:00+00:00", "2024-01-07T00:00:00Z"),
        *("2024-01-07Tgarbage", "2024-01-07 25:61", "2024-01-07x", "2024-01-07T12:00"),
        *("2024-01-07T", "2024-01-07 00:00:00.", "2024-01-0700:00", "2024-01-07T００:00"),
    ],
)
def test_what_is_no_date_is_refused(read, date):
    with pytest.raises(DataError, match="line 2: column week must hold a date like 2021-01-31"):
        read(HEADER + f"NM,A,{date},1,5\n")


@pytest.mark.parametrize("time", ["", "T00:00", " 00:00:00", "T00:00:00.000"])
def test_midnight_is_accepted(read, time):
    (count,) = read(HEADER + f"NM,A,2024-01-05{time},1,5\n")
    assert count.period == "2024-01-05"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "is empty; give a CSV table with a header"),
        ("\n", "has no column named hospital in its first line"),
        (HEADER, "has a header but no rows"),
        (HEADER + "\n\n", "has a header but no rows"),
        ("hospital,week,covid\nA,2021-01-08,1\n", "has no column named beds in its first line"),
        ("covid,week,hospital,beds,covid\n", "more than one column named covid"),
        (HEADER + "NM,A,2021-01-08,1\n", "line 2: has 4 cells where the header has 5"),
        (HEADER + "NM,A,2021-01-08,1,5,6\n", "line 2: has 6 cells where the header has 5"),
        (
            HEADER + "NM,A,2021-01-08,1,5\nNM,B,2021-01-08,1,5\nNM, A,2021-01-08T00:00,2,5\n",
            "line 4: the same entity and period as line 2; keep the line that is right",
        ),
        (HEADER + 'NM,"A,2021-01-08,1,5\n', r"line 2: is not CSV \(unexpected end of data\)"),
        (HEADER + 'NM,"A"B,2021-01-08,1,5\n', "line 2: is not CSV"),
        (HEADER + "N" * 200_000 + ",A,2021-01-08,1,5\n", r"line 2: is not CSV \(field larger"),
        (HEADER.replace(",", ";") + "NM;A;2021-01-08;1,5;5\n", "are separated by semicolons"),
        (HEADER.replace(",", "\t") + "NM\tA\n", "are separated by semicolons, tabs"),
        ("beds, all;" + HEADER.replace(",", ";"), "choose English"),
        ("site,week,covid,beds\n", "its columns are site, week, covid, beds; choose one of these"),
        ("NM,A,x,<4\n", "has no column named hospital in its first line; add a first line with"),
        (HEADER.encode("utf-16"), "is not UTF-8 text; save it as CSV in UTF-8"),
        (HEADER.encode() + b"NM,\xe9,2021-01-08,1,5\n", "is not UTF-8 text"),
        (HEADER.encode("utf-16-le"), "has no column named hospital"),
    ],
)
def test_a_table_with_a_fault_is_refused(read, table, message):
    with pytest.raises(DataError, match=message):
        read(table)


@pytest.mark.parametrize("end", ["", "\nNM,A,2021-01-15,3,5"])
def test_a_table_that_is_cut_in_its_last_cell_is_noticed(read, end):
    table = HEADER + "NM,A,2021-01-08,1,51" + end
    with pytest.raises(DataError, match="has no line end, so the table may be cut short.*--no-fin"):
        read(table)
    assert read(table, no_final_newline=True) == read(table + "\n")
    assert read(table + "\r") == read(table + "\r\n")


def test_many_counts_above_their_capacity_are_asked_about(read):
    """1.230 beds are 1230 to a German spreadsheet; one count above its capacity in 100 may be."""
    rows = [f"NM,A{i},2021-01-08,97531,1.230\n" for i in range(2)]
    rows += [f"NM,B{i},2021-01-08,5,5\n" for i in range(98)]
    table = HEADER + "".join(rows)
    with pytest.raises(DataError, match=r"more than 1% of the counts.*thousands.*--over-cap"):
        read(table)
    assert len(read(table, over_capacity=True)) == 100
    assert len(read(HEADER + "".join([*rows[1:], "NM,C,2021-01-08,5,5\n"]))) == 100
