"""The standings, recomputed from total gains by a plain program, and worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from dpol.studies.league.settings import LeaguePoint
from dpol.studies.league.standings import standings
from dpol.studies.study import schemas_in
from standings_by_hand import standings_of, tables
from tables_by_hand import INF, run

Cell = tuple[str, str, str, str, float]
"""Question, stream, algorithm, noise and mu."""


# --- A plain program ---


Plain = dict[str, Any]
"""A row of the summary, with its shares and its guarantee."""


def plainly(
    summary: pd.DataFrame, totals: pd.DataFrame, point: LeaguePoint
) -> dict[Cell, dict[str, Any]]:
    """Return what the standings say of each row."""
    cells: dict[Cell, Plain] = {}
    longer: set[tuple[str, str]] = set()
    for row in summary[summary["keeps_level"]].to_dict("records"):
        mine = totals[(totals["stream"] == row["stream"]) & (totals["noise"] == row["noise"])]
        mine = mine[(mine["algorithm"] == row["algorithm"]) & (mine["mu"] == row["mu"])]
        gains = dict(zip(mine["replicate"], mine["total_gain"], strict=True))
        most = row["oracle_gain"] - row["uniform_gain"]
        shares = [(gains[it] - row["uniform_gain"]) / most for it in sorted(gains)]
        key = point.questions[row["stream"]], row["stream"], row["algorithm"], row["noise"]
        cells[*key, row["mu"]] = row | {"shares": shares}
        if row["mu_8_weeks"] > row["mu"] * 8**0.5 * (1 + 1e-9):
            longer.add((row["algorithm"], row["noise"]))
    if point.apart:
        for question in dict.fromkeys(point.questions.values()):
            streams = {it for asked, it, *_ in cells if asked == question}
            for system in dict.fromkeys(key[2:] for key in cells if key[0] == question):
                all_of = [cells.get((question, it, *system)) for it in sorted(streams)]
                its = [it for it in all_of if it is not None]
                if len(streams) == len(its) > 1:
                    columns = zip(*(it["shares"] for it in its), strict=True)
                    cells[question, "", *system] = its[0] | {
                        "shares": [sum(column) / len(its) for column in columns],
                        "unmeasured_share": max(it["unmeasured_share"] for it in its),
                    }
    for key, it in cells.items():
        kept = "one week" if key[2:4] in longer else "the level"
        it["guarantee"] = "raw" if it["sees"] == "raw" else kept
    levels: dict[tuple[str, str, float], list[Cell]] = {}
    for key in cells:
        levels.setdefault((key[0], key[1], key[4]), []).append(key)
    found: dict[Cell, dict[str, Any]] = {}
    for level, keys in levels.items():
        same = [own for other, own in levels.items() if (other[1] == "") == (level[1] == "")]
        intervals = sum(len(own) + math.comb(len(own), 2) for own in same)
        one_level(point, intervals, {key: cells[key] for key in keys}, found)
    return found


def one_level(
    point: LeaguePoint, intervals: int, own: dict[Cell, Plain], found: dict[Cell, dict[str, Any]]
) -> None:
    replicates = len(next(iter(own.values()))["shares"])
    quantile = scipy.stats.t.ppf(1 - (1 - point.confidence) / 2 / intervals, replicates - 1)

    def interval(values: Sequence[float]) -> tuple[float, float]:
        return float(np.mean(values)), quantile * np.std(values, ddof=1) / replicates**0.5

    def apart(one: Plain, other: Plain) -> tuple[float, float]:
        return interval([a - b for a, b in zip(one["shares"], other["shares"], strict=True)])

    local = [key for key in own if own[key]["guarantee"] == "the level"]
    # A curator, who sees raw gains, can also play what sees noisy ones.
    playable = [key for key in own if key in local or own[key]["model"] == "central"]
    best, curator = (
        sorted(those, key=lambda key: -interval(own[key]["shares"])[0])[:1]
        for those in (local, playable)
    )
    for key, it in own.items():
        ahead = {
            # Without noise, an algorithm plays one game with all noises.
            (other["algorithm"], *other["shares"]) if key[-1] == INF else place
            for place, other in own.items()
            if other["guarantee"] == it["guarantee"]
            and apart(other, it)[0] - apart(other, it)[1] > 0
        }
        share, half = interval(it["shares"])
        found[key] = {
            "guarantee": it["guarantee"],
            "rank": 1 + len(ahead),
            "gain_share": share,
            "gain_share_half_width": half,
            "best": [key] == best,
            "curator": [key] == curator,
            "ci_comparisons": intervals,
        }
        gap, margin = apart(it, own[best[0]]) if best else (math.nan, math.nan)
        alike = key in local and replicates >= 10 and abs(gap) <= margin
        found[key] |= {"to_best": gap, "to_best_half_width": margin, "not_told_apart": alike}


KINDS = (
    {"algorithm": "rw-meta"},
    {"algorithm": "rw-ftpl", "noise": "capacity"},
    {"algorithm": "rw-ftpl", "noise": "capacity-memory"},
    {"algorithm": "rw-ftpl-slow", "family": "rw-ftpl"},
    {"algorithm": "tree-ftpl-min-noise", "model": "central"},
    {"algorithm": "mf-ftpl", "noise": "capacity", "model": "central"},
    {"algorithm": "persistence", "weak": True},
    {"algorithm": "ridge-w8-weak", "exhibit": "paper 1, Table 2", "column": "best-linear-model"},
    {"algorithm": "rw-meta", "noise": "capacity", "exhibit": "paper 1, Table 2",
     "column": "rw-meta", "variant": True},
)  # fmt: skip


@st.composite
def drawn(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame, LeaguePoint]:
    """Draw a table of whole gains, whose possible gain is a power of two: sums are exact."""
    streams = draw(st.integers(1, 3))
    questions = {f"s{k}": draw(st.sampled_from(["", "x"])) for k in range(streams)}
    replicates = draw(st.sampled_from([2, 4, 9, 10]))
    rows = []
    for stream in questions:
        possible = draw(st.sampled_from([16.0, 64.0]))
        fields = {"stream": stream, "uniform_gain": 4.0, "oracle_gain": 4 + possible}
        fields["unmeasured_share"] = draw(st.sampled_from([0.0, 0.05, 0.06]))
        for kind in KINDS:
            if draw(st.integers(0, 9)) == 0:
                continue  # not played in every stream
            own = {name: value for name, value in kind.items() if name not in ("algorithm", "weak")}
            for mu in (INF, 0.5):
                middle, spread = draw(st.integers(4, 19)), draw(st.sampled_from([0, 1, 3]))
                gains = [middle + spread * draw(st.integers(-1, 1)) for _ in range(replicates)]
                row = run(str(kind["algorithm"]), mu, 0.0, **fields, **own, totals=gains)
                if own.get("noise") == "capacity-memory" and mu < INF:
                    row["mu_8_weeks"] = 8 * mu
                if "weak" in kind:
                    row["guaranteed_mu"] = 2 * mu
                rows.append(row)
    confidence = draw(st.sampled_from([0.5, 0.95]))
    rows = rows or [run("rw-meta", 0.5, 5.0, stream="s0")]
    point = LeaguePoint(questions=questions, apart=draw(st.booleans()), confidence=confidence)
    return *tables(rows), point


KEY = ["question", "stream", "algorithm", "noise", "mu"]


def by_cell(frame: pd.DataFrame) -> dict[Cell, dict[str, Any]]:
    rows = {tuple(row[name] for name in KEY): row for row in frame.to_dict("records")}
    assert len(rows) == len(frame)
    return rows  # type: ignore[return-value]


@given(drawn(), st.randoms())
def test_a_plain_program_finds_the_same(
    made: tuple[pd.DataFrame, pd.DataFrame, LeaguePoint], mixed: Any
) -> None:
    summary, totals, point = made
    assert {*standings(*made)} == {*schemas_in("dpol.studies.league")["standings"].columns}
    order = mixed.sample(range(len(totals)), len(totals))
    found = by_cell(standings(summary, totals.iloc[order], point))
    expected = plainly(summary, totals, point)
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            exact = isinstance(value, str | bool | int)
            # Deviations of equal numbers are 0 or of rounding.
            wanted = value if exact else pytest.approx(value, rel=1e-9, abs=1e-14, nan_ok=True)
            assert found[key][name] == wanted, (key, name)


# --- By hand ---


def test_a_mean_has_the_weakest_guarantee_and_the_experts_of_all_streams() -> None:
    weaker = {"guaranteed_mu": 0.8, "mu_8_weeks": 2.5, "epsilon": 9.0, "n_experts": 6}
    rows = [run("rw-ftpl", 1.0, 9.0, stream=it, guaranteed_mu=0.5) for it in ("nm", "pa")]
    rows[1] |= weaker | {"best_fixed": "South", "best_fixed_gain": 45.0}
    mean = standings_of(rows, apart=True).iloc[0]
    assert mean[["guaranteed_mu", "epsilon", "n_experts"]].tolist() == [0.8, 9.0, 30]
    assert (mean["best_fixed"], mean["best_fixed_share"]) == ("", 0.625)
    assert mean["guarantee"] == "the level"


def test_one_replicate_decides_nothing_and_different_numbers_are_refused() -> None:
    one = [run("rw-meta", 1.0, 0, totals=[9]), run("rw-ftpl", 1.0, 0, totals=[30])]
    rows = standings_of(one)
    assert {*rows["rank"]} == {1}
    with pytest.raises(ValueError, match="shape"):
        standings_of([*one, run("persistence", 1.0, 0, totals=[1, 2])])


def test_where_nothing_can_be_gained_nobody_is_ahead() -> None:
    same = dict.fromkeys(("uniform_gain", "best_fixed_gain", "oracle_gain"), 9.0)
    rows = standings_of([run(name, 1.0, 9.0, **same) for name in ("rw-meta", "rw-ftpl")])
    assert rows["gain_share"].isna().all()
    assert not rows["best"].any()
    assert {*rows["rank"]} == {1}
