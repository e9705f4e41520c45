"""A holder's table is read by its file alone, or refused; no count decides which."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpol.core.errors import DataError
from dpol_weekly.tables import Format, parse_count, parse_date, read_table

numbers = st.integers(0, 3).flatmap(lambda places: st.decimals(0, 10**6, places=places))
GROUPS = {".": ["", ",", " ", "\u00a0", "\u202f", "'", "\u2019"], ",": ["", ".", " ", "'"]}
DECLARED = {"": "none", "\u00a0": " ", "\u202f": " ", "\u2019": "'"}
DEFAULT = Format(decimal=".", thousands=",")


@given(number=numbers, signs=st.sampled_from([(d, g) for d in GROUPS for g in GROUPS[d]]))
@example(number=Decimal("1012"), signs=(".", ","))
@example(number=Decimal("13.571"), signs=(".", ""))
@example(number=Decimal("13.571"), signs=(",", "."))
@example(number=Decimal("999"), signs=(".", ","))
@settings(max_examples=200)
def test_every_number_that_an_exporter_writes_is_read_as_itself(number, signs):
    """With and without groups and final zeros, before the point nothing, or as R writes 100000."""
    sign, between = signs
    whole, _, rest = f"{number:,f}".partition(".")
    text = whole.replace(",", between) + (sign + rest if rest else "")
    texts = {text, re.sub(f"[{sign}]?0*$", "", text) if rest else text}
    if rest and number < 1:
        texts.add(sign + rest)
    if number and number % 10**5 == 0:
        texts.add(f"{int(number):.0e}" if number % 10**6 == 0 or number < 10**6 else text)
    for written in texts - {""}:
        form = Format(decimal=sign, thousands=DECLARED.get(between, between))
        found = parse_count(written, form)
        assert found is not None
        assert Decimal(found) == number, written


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "<4", "nan", "inf", "0x1f", "١", "1_0", "1.2.3", "1" * 10, "suppressed", "."),
        *("0." + "1" * 41, "4 5", "\x00", "3'4", "7\u00a05", "12,34", "1,01", "0,571", "1e999"),
        *("1,000'000", "1e-99", ",5", "+3"),
    ],
)
def test_what_is_no_number_of_people_is_none(text):
    assert parse_count(text, DEFAULT) is None


@pytest.mark.parametrize("text", ["13,571", "13 571", "13'571", "13\u00a0571"])
def test_groups_are_read_only_where_they_are_declared(text):
    """Behind a wrong decimal sign, a seventh of a person would be a hundred people."""
    none = Format(decimal=".", thousands="none")
    assert (parse_count(text, none), parse_count("13.571", none)) == (None, "13.571")
    assert parse_count("13.571", Format(decimal=",", thousands="none")) is None


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        ("M/D/YYYY", "1/8/2024 12/31/2024 13/01/2024", "2024-01-08 2024-12-31 None"),
        ("D/M/YYYY", "1/8/2024 12/31/2024 30/2/2024", "2024-08-01 None None"),
        ("D.M.YYYY", "01.02.2024 2024-01-08 1.2.24", "2024-02-01 None None"),
        ("D.M.YY", "01.02.24 1.2.2024", "2024-02-01 None"),
        ("YYYYWw", "2024W1 2024W53 2024-W01", "2024-01-01 None None"),
        ("YYYYww", "202401 202453 20241", "2024-01-01 None None"),
        ("YYYYMMDD", "20240108 2024115", "2024-01-08 None"),
        ("D/M/YYYY time", "1/8/2024T23:59 1/8/2024", "2024-08-01 2024-08-01"),
        ("YYYY-Www", "2020-W53 2021-W53 2021-W00 2021-W5", "2020-12-28 None None None"),
        ("YYYY-MM-DD", "2024-01-08T00:00:00 2024-1-8 20240108", "2024-01-08 None None"),
        ("YYYY-MM-DD", "2024-01-08T12:00 2024-01-08T00:00Z", "None None"),
        ("YYYY-MM-DD", "1899-12-31 1900-01-01 2100-12-31 2101-01-01",
         "None 1900-01-01 2100-12-31 None"),
    ],
)  # fmt: skip
def test_dates_that_do_not_exist_or_are_written_otherwise_are_none(pattern, texts, expected):
    assert [str(parse_date(text, pattern)) for text in texts.split()] == expected.split()


# ---- files ---------------------------------------------------------------------------------------


@given(content=st.binary(max_size=60))
@example(content=b'a,b\n"')
@example(content=b"a,b\n\x00,1\n")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_table_or_a_data_error(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    try:
        table = read_table(tmp_path / "t.csv", ["a", "b"], DEFAULT, may_be_empty=False)
    except DataError:
        return
    assert [[*cells] for _, cells, _ in table.lines[:1]] == [["a", "b"]] * len(table.lines[:1])


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_csv_table_is_read_as_its_form_says(tmp_path, mark):
    lines = [["sep=x"], ["Fälle", "x"], ['"a', 'b"', "7"], ["c", " 8 "], [], ["below", "9"]]
    (tmp_path / "t.csv").write_text("\n".join(mark.join(line) for line in lines))
    form = DEFAULT.model_copy(update={"delimiter": mark, "header": 2})
    table = read_table(tmp_path / "t.csv", ["x", "Fälle"], form, may_be_empty=False)
    cells = [(3, {"x": "7", "Fälle": f"a{mark}b"}, 2), (4, {"x": "8", "Fälle": "c"}, 2)]
    assert table == (cells, 2, 1)
