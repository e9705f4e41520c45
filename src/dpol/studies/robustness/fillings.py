"""How the first paper's totals, and our comparison, depend on cells that nobody measured.

A treatment says whether suppressed averages are told by their sums, and what becomes of a hospital
with patients and no beds.
"""

from __future__ import annotations

import math
from itertools import chain, product

import pandas as pd

from dpol.data.settings import THE_PAPERS
from dpol.data.stream import build_stream
from dpol.experts.registry import make_members
from dpol.noise import NO_NOISE
from dpol.studies.comparison.ranked import rank
from dpol.studies.games.compute import play_suite
from dpol.studies.games.names import CELL, LINEAR, PAPERS
from dpol.studies.games.settings import GamesSettings, Report, lacks_of_table_2
from dpol.studies.robustness.settings import TREATMENTS, Fillings, RobustnessPoint, Table
from dpol.studies.robustness.systems import panel_of
from dpol.studies.study import Facts, Inputs


def play_fillings(block: Fillings, point: RobustnessPoint, inputs: Inputs) -> pd.DataFrame:
    """Play all suites at all levels; rows of local systems and of the columns of Table 2."""
    table, suites = filled(block.table, point.of, point.read_as), point.settings.suites
    panel = panel_of(table)
    streams = [build_stream(panel, label, 1.0, {}, gain=THE_PAPERS) for label in table.streams]
    played = (
        play_suite(
            stream,
            [*chain(*map(make_members, entries))],
            noise=noise,
            mu=mu,
            seed=inputs.seed,
            replicates=range(block.replicates),
        )
        for suite in suites.values()
        for stream, (noise, entries), mu in product(streams, suite.by_noise.items(), block.mus)
        if noise != NO_NOISE or mu == math.inf
    )
    settings = GamesSettings(
        report=Report().resolved(suites),
        plays_table_2=not lacks_of_table_2(suites.values()),
    )
    titles = dict.fromkeys(table.streams, "")
    facts = Facts(titles, simulated=False, confidence=point.confidence, levels=tuple(block.mus))
    tables = rank(played, streams, settings, facts, ours=point.settings.system)
    compared = tables["standings"][[*CELL, "role", "strongest"]]
    rows = tables["summary"].merge(compared, on=CELL, validate="one_to_one")
    rows = rows.assign(treatment=TREATMENTS[point.of][0], read_as=point.read_as)
    # Of the linear models the best is kept, which Table 2 shows.
    of = ["stream", "family", "noise", "mu"]
    best = rows.sort_values(["mean_gain", "strongest"]).drop_duplicates(of, keep="last").index
    rows = rows[(rows["family"] != LINEAR) | rows.index.isin(best)]
    return rows[(rows["model"] == "local") | rows["family"].isin(PAPERS)]


def filled(table: Table, treatment: str, read_as: float) -> Table:
    """Return a table whose unmeasured cells get a treatment of `TREATMENTS` and a value."""
    _, sums, zero = TREATMENTS[treatment]
    raw = table.model_dump(mode="json")
    for name in {"count_days", "capacity_days"}.difference(sums):
        raw["dataset"]["columns"][name] = None
    values = {"suppressed_value": read_as, "suppressed_sum": read_as, "capacity_zero": zero}
    raw["dataset"]["cleaning"] |= values
    return Table.model_validate(raw)
