"""The runs to compare are the runs of the main study."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpol.studies.comparison.run_totals import count_replicates, find_run, run_totals
from dpol.studies.comparison.settings import System
from dpol.studies.games.collect import results_from
from dpol.studies.games.summary import schema
from game_tables import joined
from replays import MAIN, facts_of, games, played_in, stream_of

STREAM = stream_of(6, 3)
BLOCKS = games(STREAM, replicates=3)


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The summary and the total gains of some games."""
    made = results_from(*joined(BLOCKS), {STREAM.label: STREAM}, MAIN, facts_of(STREAM))
    summary, totals = (schema(name).check(made[name], name) for name in ("summary", "totals"))
    return summary, totals


def test_a_cell_has_the_total_gains_and_the_guarantee_of_its_runs(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    """The order of rows in `totals` does not matter."""
    summary, totals = tables
    cells = run_totals(summary, totals.sample(frac=1, random_state=1))
    assert count_replicates(cells) == 3
    for cell, played in zip(cells, played_in(BLOCKS), strict=True):
        assert (cell.algorithm, cell.noise, cell.mu) == (played.label, played.noise, played.mu)
        assert cell.ours == played.facts["ours"]
        assert cell.totals.tolist() == played.totals.tolist()
        assert cell.privacy == played.guarantee.as_columns()


def test_a_system_whose_noise_is_too_weak_is_not_compared(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    summary, totals = tables
    noisy = summary[(summary["model"] == "local") & (summary["mu"] < math.inf)].iloc[0]
    system = System(algorithm=noisy["algorithm"], noise=noisy["noise"])
    runs = run_totals(summary, totals)
    assert find_run(runs, system, noisy["mu"]).totals.size == 3
    weaker = summary.assign(keeps_level=False)
    with pytest.raises(ValueError, match="noise guarantees mu .* at the level .*, so it is not"):
        find_run(run_totals(weaker, totals), system, noisy["mu"])
