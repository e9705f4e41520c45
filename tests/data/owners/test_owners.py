"""Owners of many tables, who follow what dpol says, get the truth or a refusal."""

import pytest
from driver import fits, follow
from tidy_tables import tidy
from untidy_tables import untidy

TABLES = [*tidy(seed=1), *untidy(seed=1)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_an_owner_who_follows_the_messages_ends_as_expected(table, tmp_path):
    outcome = follow(table, tmp_path)
    assert fits(outcome, table.expect), f"{outcome}, not {table.expect}: {outcome.said}"


def test_no_two_tables_have_one_name():
    assert len({table.name for table in TABLES}) == len(TABLES)


@pytest.mark.workflow
@pytest.mark.parametrize("name", ["hidden <5", "calendar month"])
def test_a_real_run_writes_what_the_library_reads(name, tmp_path):
    [table] = [table for table in TABLES if table.name == name]
    assert follow(table, tmp_path, real=True).kind == "right"
