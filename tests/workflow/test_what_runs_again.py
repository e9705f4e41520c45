"""What Snakemake runs after a change of a config, by the files of its jobs."""

from __future__ import annotations

import pytest

import what_runs_again as again
from pipeline import run, succeed

CHANGES = {change.words: change for change in again.CHANGES}

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def pending(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """After a run of config/config.yaml, the files of jobs that would run, by the change."""
    folder = tmp_path_factory.mktemp("default")
    succeed(run(*again.DEFAULT_RUN, "--directory", str(folder)))
    config = again.shipped("config")
    left = again.pending(folder, config)  # the page has another text of the config
    assert {*again.games_in(left), *again.tables_in(left), *again.exhibits_in(left)} == set()
    return {
        words: again.pending(folder, again.changed(config, change))
        for words, change in CHANGES.items()
    }


@pytest.mark.parametrize("words", CHANGES)
def test_only_places_that_hold_new_games_are_played(
    words: str, pending: dict[str, list[str]]
) -> None:
    config, change = again.shipped("config"), CHANGES[words]
    assert again.games_in(pending[words]) == again.new_games(config, change)
    others = {it.partition("/")[0] for it in pending[words] if it.count("/") > 1}
    reads_delta = {"batching"} if "delta" in words else set()
    assert others <= {"games", "comparison"} | reads_delta


@pytest.mark.parametrize("words", CHANGES)
def test_only_tables_that_tell_of_the_games_are_made_again(
    words: str, pending: dict[str, list[str]]
) -> None:
    of_games = {"summary", "totals", "cumulative", "switches", "replay", "standings"}
    tables = set(again.tables_in(pending[words]))
    if "title" in words:
        assert tables == set()
    elif "delta" in words:
        assert tables == of_games | {"amplification", "batching", "rates"}
    else:
        assert tables == of_games


@pytest.mark.parametrize("words", CHANGES)
def test_the_plan_of_many_streams_agrees(words: str) -> None:
    states = again.shipped("states")
    assert again.differing_games(states, CHANGES[words]) == again.new_games(states, CHANGES[words])


def test_the_page_has_the_table(pending: dict[str, list[str]]) -> None:
    """If it does not, run python tests/what_runs_again.py."""
    made = again.table(pending, again.shipped("config"), again.shipped("states"))
    assert again.MARKED.search(again.PAGE.read_text())[0].split("\n", 1)[1].startswith(made)
