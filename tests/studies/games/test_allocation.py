"""Division of help in the games: against a plain version, by hand, and its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import optimize

from dpol.core.errors import DataError
from dpol.core.intervals import half_width
from dpol.core.randomness import Floats
from dpol.core.schemas import write_frame
from dpol.data.stream import GainStream, write_stream
from dpol.experts.interface import LocalAlgorithm, forecasts_gains
from dpol.experts.play import rounds
from dpol.experts.registry import make_members
from dpol.noise import NoisyGains, privatize
from dpol.noise.seeds import Seeds
from dpol.studies.games.allocation import (
    NAMES,
    SCHEMA,
    demand_of,
    play_and_divide,
    references,
    table_of_divided,
)
from dpol.studies.games.allocation_shown import allocation_table, shown_rows
from dpol.studies.games.collect import _resamples, _spread, allocation_rows, collect
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import tables_of
from dpol.studies.games.settings import Allocation, Games, Report
from dpol.studies.games.summary import schema
from dpol.studies.study import Facts

LEVELS = {"none": math.inf, "low": 0.5}
MEAN, ANNOUNCED = "mean-need", "announced-need"
ALLOCATION = Allocation(
    needs={"all": 0.0, "surge": 0.2}, shares=[0.5, 1.0], units=[MEAN, ANNOUNCED], guarantee=0.6
)
SEED = 5


def stream_of(label: str = "A", n: int = 4, T: int = 12, seed: int = 2) -> GainStream:
    """Return a stream of slowly moving shares of entities whose sizes differ."""
    rng = np.random.default_rng(seed)
    capacity = np.tile(np.linspace(20, 150, n), (T, 1)) + rng.integers(0, 4, (T, n))
    capacity[T // 2, 1] = 45  # most beds of a larger one are closed for a week
    level = 0.2 + 0.1 * np.sin(np.arange(T) / 3)[:, None]
    gains = np.clip(
        level + 0.05 * rng.standard_normal(n) + 0.03 * rng.standard_normal((T, n)), 0, 1
    )
    return GainStream(
        label=label,
        gains=gains,
        capacity=capacity,
        entities=tuple(f"e{i}" for i in range(n)),
        periods=np.datetime64("2021-01-01") + 7 * np.arange(T),
    )


STREAM = stream_of()


def played(
    stream: GainStream = STREAM,
    replicates: Sequence[int] = range(3),
    algorithms: Sequence[Any] = ("random-effects",),
    noise: str = "capacity",
    levels: Sequence[float] = tuple(LEVELS.values()),
    **changes: Any,
) -> list[Any]:
    """Return the rows of the games of a suite."""
    members = [member for name in algorithms for member in make_members(name)]
    demand = demand_of(stream, ALLOCATION)
    rows = []
    for mu in levels:
        facts: Any = {"noise": noise, "mu": mu, "seed": SEED, "replicates": replicates, **changes}
        block = play_suite(stream, members, demand=demand, **facts)
        rows += [row for runs in block.played for row in runs.divided]
    return rows


def frame_of(rows: Sequence[Any]) -> pd.DataFrame:
    return pa.Table.from_pylist(rows, schema=SCHEMA).to_pandas()


def facts_of(*streams: GainStream) -> Facts:
    labels = {stream.label: stream.label for stream in streams}
    return Facts(labels, True, 0.95, levels=LEVELS, seed=SEED)


MAIN = Games(report=Report(noise="capacity"), allocation=ALLOCATION)


# ---- against a plain version ---------------------------------------------------------------------


def plain_equal_chances(m: Floats, s: Floats, units: float, own: Floats) -> Floats:
    """Find z by bisection."""

    def total(z: float) -> float:
        return float(np.maximum(m - own + z * s, 0.0).sum()) - units

    z = optimize.brentq(total, -1e4, 1e4, xtol=1e-12)
    return np.maximum(m - own + z * s, 0.0)


def plain_shares(weights: Floats) -> Floats:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))


def plain(
    stream: GainStream, source: NoisyGains, rule: str, need: str, follow: str, share: float
) -> Any:
    """Return the (R, T - 1, n) unmet need of a rule, one replicate, round and entity at a time.

    Return the (R, T - 1) units too.
    """
    member: Any = make_members("random-effects")[0].algorithm
    seeds = Seeds(
        seed=SEED,
        stream=stream.label,
        noise="capacity",
        mu=source.guarantee.mu,
        replicates=tuple(range(source.n_replicates)),
    )
    beta, beds = ALLOCATION.needs[need], stream.capacities_for("a test")
    counts = stream.gains * beds
    wanted = np.maximum(counts - beta * beds, 0.0)
    given = np.full((source.n_replicates, stream.n_rounds - 1), share * wanted.sum() / len(wanted))
    unmet = np.zeros((source.n_replicates, stream.n_rounds - 1, stream.n_experts))
    totals: list[list[float]] = [[] for _ in range(source.n_replicates)]
    for t, (state, _) in enumerate(rounds(member, source, seeds.algorithm("x"))):
        if t == 0:
            continue
        forecast, own = member.forecast(state), beta * beds[t - 1]
        for r in range(source.n_replicates):
            m = (forecast.level[r] + forecast.scores[r]) * beds[t - 1]
            totals[r].append(sum(max(x, 0.0) for x in m))
            moves = [math.log(b / a) ** 2 for a, b in zip(totals[r], totals[r][1:], strict=False)]
            tau = math.sqrt((0.04 + sum(moves)) / len(totals[r]))
            s = np.sqrt(forecast.variance[r] * beds[t - 1] ** 2 + (tau * m) ** 2)
            noisy = source.gains[r, t - 1] * beds[t - 1]
            if follow == ANNOUNCED:
                given[r, t - 1] = share * sum(max(x - o, 0.0) for x, o in zip(m, own, strict=True))
            units = given[r, t - 1]
            expected = units * plain_shares(np.maximum(m - own, 0.0))
            theta = {"guarantee": ALLOCATION.guarantee, "equal-chances": 0.0}.get(rule)
            if theta is None:
                weights = {
                    "last": np.maximum(noisy - own, 0.0),
                    "forecast": expected,
                    "floor": beds[t - 1],
                    "exact": np.maximum(counts[t - 1] - own, 0.0),
                    "oracle": wanted[t],
                }
                division = units * plain_shares(weights[rule])
            else:
                floor = theta * expected
                division = floor + plain_equal_chances(m, s, (1 - theta) * units, own + floor)
            unmet[r, t - 1] = np.maximum(wanted[t] - division, 0.0)
    return unmet, given


@pytest.mark.parametrize("mu", [0.5, math.inf])
@pytest.mark.parametrize(
    ("follow", "rule"),
    [
        *product((MEAN, ANNOUNCED), ("last", "forecast", "guarantee", "equal-chances")),
        *product((ANNOUNCED,), ("floor", "exact", "oracle")),
    ],
)
def test_every_rule_is_what_a_plain_version_divides(follow: str, rule: str, mu: float) -> None:
    source = privatize(STREAM, "capacity", mu, seed=SEED, replicates=3)
    small = np.median(STREAM.capacities_for("a test"), axis=0) < 50
    assert 0 < small.sum() < 4
    rows = [
        row for row in played(levels=[mu]) if (row["units_follow"], row["rule"]) == (follow, rule)
    ]
    assert len(rows) == 4
    for row in rows:
        unmet, units = plain(STREAM, source, rule, row["need"], follow, row["units_share"])
        for name, wanted in {
            "unmet": unmet.sum(axis=(1, 2)),
            "unmet_small": unmet[..., small].sum(axis=(1, 2)),
            "by_round": unmet.sum(axis=(0, 2)),
            "by_entity": unmet.sum(axis=(0, 1)),
            "units": units.mean(axis=1),
        }.items():
            if rule == "oracle" and name in ("unmet_small", "by_entity"):
                wanted = np.full_like(wanted, math.nan)
            np.testing.assert_allclose(row[name], wanted, rtol=1e-9, atol=1e-9, err_msg=name)


# ---- no look ahead -------------------------------------------------------------------------------


def test_a_division_depends_on_earlier_releases_only() -> None:
    demand, member = demand_of(STREAM, ALLOCATION), make_members("random-effects")[0].algorithm
    assert isinstance(member, LocalAlgorithm)
    source = privatize(STREAM, "capacity", 0.5, seed=SEED, replicates=2)
    gains = source.gains.copy()
    gains[:, 6:] += 0.3  # from round 7 on
    changed = replace(source, gains=gains)
    before, after = (
        {
            (row["rule"], row["need"], row["units_follow"], row["units_share"]): row["by_round"]
            for row in play_and_divide(member, given, _coins(source), demand, FACTS)[1]
        }
        for given in (source, changed)
    )
    for key in before:
        np.testing.assert_array_equal(before[key][:6], after[key][:6])  # rounds 2 to 7
    assert any((before[key][6:] != after[key][6:]).any() for key in before)


FACTS: dict[str, Any] = {
    "stream": "A",
    "algorithm": "x",
    "noise": "capacity",
    "mu": 0.5,
    "first": 0,
}


def _coins(source: NoisyGains) -> Any:
    assert source.seeds is not None
    return source.seeds.algorithm("x")


def test_units_for_the_announced_need_go_where_it_is_announced() -> None:
    """Where units are all that is forecast, every entity gets its forecast, with equal chances."""
    rows = [row for row in played(levels=[0.5]) if row["units_follow"] == ANNOUNCED]
    of = {(row["rule"], row["need"], row["units_share"]): row["unmet"] for row in rows}
    assert {rule for rule, *_ in of} == {*NAMES, "oracle"} - {"best-fixed"}
    for need in ALLOCATION.needs:
        for rule in ("guarantee", "equal-chances"):
            np.testing.assert_allclose(of[rule, need, 1.0], of["forecast", need, 1.0], rtol=1e-9)
            assert (np.abs(of[rule, need, 0.5] / of["forecast", need, 0.5] - 1) > 1e-3).any()


def test_actions_are_those_of_a_game_without_division() -> None:
    members = make_members("random-effects")
    facts: Any = {"noise": "capacity", "mu": 0.5, "seed": SEED, "replicates": range(3)}
    (divided,) = play_suite(STREAM, members, demand=demand_of(STREAM, ALLOCATION), **facts).played
    (alone,) = play_suite(STREAM, members, **facts).played
    assert divided.divided
    assert not alone.divided
    np.testing.assert_array_equal(divided.actions, alone.actions)


# ---- references by hand --------------------------------------------------------------------------


def test_references_by_hand() -> None:
    """Counts of 10 and 10, 30 and 10, 20 and 40 people in 100 and 300 beds; 40 units."""
    stream = GainStream(
        label="H",
        gains=np.array([[0.1, 1 / 30], [0.3, 1 / 30], [0.2, 4 / 30]]),
        capacity=np.array([[100.0, 300.0]] * 3),
        entities=("a", "b"),
        periods=np.datetime64("2021-01-01") + 7 * np.arange(3),
    )
    demand = demand_of(stream, Allocation(needs={"all": 0.0}, shares=[1.0]))
    np.testing.assert_allclose(demand.units, [[40.0]])
    rows = {row["rule"]: row for row in references("H", demand)}
    # The floor gives 10 and 30 units; exact counts give 20 and 20, then 30 and 10.
    unmet = {"floor": [20.0, 20.0], "exact": [10.0, 30.0], "oracle": [0.0, 20.0]}
    for rule, by_round in unmet.items():
        np.testing.assert_allclose(rows[rule]["by_round"], by_round, atol=1e-9, err_msg=rule)
    np.testing.assert_allclose(rows["best-fixed"]["unmet"], [30.0])  # 20 to 30 units for a
    np.testing.assert_allclose(rows["exact"]["by_entity"], [10.0, 30.0], atol=1e-9)
    np.testing.assert_allclose(rows["exact"]["unmet_small"], [0.0])
    assert np.isnan(rows["oracle"]["by_entity"]).all()


def test_the_forecast_without_noise_is_not_exact() -> None:
    """A forecast smooths even what has no noise; a rule that saw the truth would not."""
    rows = [
        row
        for row in played(levels=[math.inf])
        if (row["units_follow"], row["units_share"]) == (MEAN, 1.0)
    ]
    exact = [
        row for row in references("A", demand_of(STREAM, ALLOCATION)) if row["rule"] == "exact"
    ]
    of = {
        (row["rule"], row["need"]): row["unmet"]
        for row in (*rows, *exact)
        if row["units_share"] == 1
    }
    for need in ALLOCATION.needs:
        assert of["last", need] == pytest.approx(np.full(3, of["exact", need][0]))
        assert (np.abs(of["forecast", need] - of["exact", need]) > 1e-3).all()


# ---- the table -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    streams = STREAM, stream_of("B", n=6, seed=3)
    rows = [row for stream in streams for row in played(stream, replicates=range(4))]
    return schema("allocation").check(allocation_rows(frame_of(rows), facts_of(*streams)), "x")


def test_blocks_of_replicates_give_the_same_table(table: pd.DataFrame) -> None:
    streams = STREAM, stream_of("B", n=6, seed=3)
    rows = [
        row
        for stream in streams
        for block in ([2, 3], [0, 1])
        for row in played(stream, replicates=block)
    ]
    again = allocation_rows(frame_of(rows), facts_of(*streams))
    order = ["stream", "need", "units_follow", "units_share", "rule", "noise", "level"]
    one, other = (
        each[table.columns].sort_values(order, ignore_index=True) for each in (table, again)
    )
    pd.testing.assert_frame_equal(one, other, rtol=1e-9)


def test_rows_without_a_stream_are_sums_of_counts_and_means_of_shares(table: pd.DataFrame) -> None:
    key = ["need", "units_follow", "units_share", "rule", "noise", "level"]
    streams = table[table["stream"] != ""].groupby(key)
    means = table[table["stream"] == ""].set_index(key)
    for name in ("units", "total_need", "unmet"):
        pd.testing.assert_series_equal(means[name].sort_index(), streams[name].sum())
    for name in ("avoided", "served_small", "served_others", "served_worst", "over_last"):
        expected = streams[name].mean()
        pd.testing.assert_series_equal(means[name].sort_index(), expected, check_exact=False)


def test_a_share_is_a_ratio_of_sums_over_the_rounds() -> None:
    """A mean of the ratios of rounds is another number, as the second assertion shows."""
    stream = stream_of("A")
    rows = played(stream, levels=[0.5])
    table = allocation_rows(frame_of(rows), facts_of(stream))
    got = table[(table["stream"] == "A") & (table["rule"] == "last")].iloc[0]
    ends = {row["rule"]: row for row in references("A", demand_of(stream, ALLOCATION))
            if (row["need"], row["units_share"]) == (got["need"], got["units_share"])}  # fmt: skip
    assert got["units_follow"] == MEAN
    (last,) = (
        row
        for row in rows
        if (row["rule"], row["need"], row["units_follow"], row["units_share"])
        == ("last", got["need"], MEAN, got["units_share"])
    )
    floor, oracle = ends["floor"]["by_round"], ends["oracle"]["by_round"]
    unmet = np.asarray(last["by_round"]) / 3
    assert got["avoided"] == pytest.approx((floor - unmet).sum() / (floor - oracle).sum())
    at = floor - oracle > 1e-9
    assert got["avoided"] != pytest.approx(
        ((floor - unmet)[at] / (floor - oracle)[at]).mean(), rel=1e-2
    )
    assert got["unmet"] == pytest.approx(unmet.mean())


def test_the_served_are_those_of_small_entities_and_those_of_others() -> None:
    rows = played(levels=[0.5])
    table = allocation_rows(frame_of(rows), facts_of(STREAM))
    table = table[(table["stream"] == "A") & (table["rule"] == "forecast")]
    beds = STREAM.capacities_for("a test")
    small = np.median(beds, axis=0) < 50
    for got in table[table["units_follow"] == MEAN].to_dict("records"):
        (row,) = (
            row
            for row in rows
            if all(
                row[name] == got[name] for name in ("rule", "need", "units_follow", "units_share")
            )
        )
        need = np.maximum(STREAM.gains * beds - ALLOCATION.needs[got["need"]] * beds, 0)[1:]
        unmet = np.mean(row["unmet_small"]), np.mean(row["unmet"] - row["unmet_small"])
        served = [
            1 - own / need[:, of].sum() for own, of in zip(unmet, (small, ~small), strict=True)
        ]
        assert [got["served_small"], got["served_others"]] == pytest.approx(served)


def test_intervals_of_streams_hold_jointly_and_so_do_those_of_means(table: pd.DataFrame) -> None:
    means = table["stream"] == ""
    assert set(table.loc[~means, "ci_comparisons"]) == {4 * (~means).sum()}  # four scores a row
    assert set(table.loc[means, "ci_comparisons"]) == {4 * means.sum()}


def test_the_spread_of_resamples_is_half_of_their_middle_95_percent() -> None:
    resampled = np.append(np.linspace(-3, 7, 1001)[::-1], [math.nan] * 500)
    assert _spread(resampled) == pytest.approx(0.95 * 10 / 2)
    assert math.isnan(_spread(np.full(3, math.nan)))


def test_help_by_noise_that_is_weaker_than_its_level_is_left_out(tmp_path: Path) -> None:
    files: dict[str, list[str]] = {"stream": [str(tmp_path / "stream.parquet")]}
    write_stream(STREAM, files["stream"][0])
    for noise, times in (("capacity", 1.0), ("isotropic", 1.01)):
        facts: Any = {"noise": noise, "mu": 0.5, "seed": SEED, "replicates": range(2)}
        demand = demand_of(STREAM, ALLOCATION)
        block = play_suite(STREAM, make_members("random-effects"), demand=demand, **facts)
        (own,) = block.played
        weaker = replace(own.guarantee, mu=times * 0.5)
        block = replace(block, played=(replace(own, guarantee=weaker),))
        for name, made in {**tables_of(block), "divided": table_of_divided(own.divided)}.items():
            files.setdefault(name, []).append(str(tmp_path / f"{noise}/{name}.parquet"))
            write_frame(made, files[name][-1])
    tables = collect(files, MAIN, facts_of(STREAM))
    assert set(tables["summary"]["noise"]) == {"capacity", "isotropic"}
    assert set(tables["allocation"]["noise"]) == {"capacity", "none"}


def test_replicates_with_units_of_their_own_are_paired() -> None:
    """The floor and the oracle divide the units of the same replicate."""
    rows = played(levels=[0.5])
    table = allocation_rows(frame_of(rows), facts_of(STREAM))
    of = {
        (row["rule"], row["need"], row["units_share"]): row["unmet"]
        for row in rows
        if row["units_follow"] == ANNOUNCED
    }
    table = table[(table["stream"] == "A") & (table["units_follow"] == ANNOUNCED)]
    for got in table[table["rule"] == "forecast"].to_dict("records"):
        units = got["need"], got["units_share"]
        floor, own, oracle = (of[rule, *units] for rule in ("floor", "forecast", "oracle"))
        assert np.ptp(floor) > 1
        shares = (floor - own) / (floor - oracle)
        assert got["avoided"] == pytest.approx(shares.mean())
        assert got["unmet"] == pytest.approx(own.mean() / (STREAM.n_rounds - 1))
        half = half_width(shares, 0.95, got["ci_comparisons"])
        assert got["avoided_half_width"] == pytest.approx(half)
        last = table[(table["rule"] == "last") & (table["need"] == units[0])]
        last = last.set_index("units_share").loc[units[1], "avoided"]
        assert got["over_last"] == pytest.approx(got["avoided"] - last)


def test_the_floor_avoids_nothing_and_the_oracle_everything(table: pd.DataFrame) -> None:
    assert table.loc[table["rule"] == "floor", "avoided"].to_numpy() == pytest.approx(0.0)
    assert table.loc[table["rule"] == "oracle", "avoided"].to_numpy() == pytest.approx(1.0)
    assert table.loc[table["rule"] == "oracle", "served_worst"].isna().all()
    fixed = table["noise"] == "none"
    halves = table.loc[fixed, ["unmet_half_width", "avoided_half_width"]]
    assert (halves == 0).all(axis=None)
    assert (table.loc[fixed, "replicates"] == 1).all()


def test_two_algorithms_share_the_rows_of_the_last_counts() -> None:
    rows = played(algorithms=["random-effects", "empirical-bayes"])
    table = allocation_rows(frame_of(rows), facts_of(STREAM))
    own = table[(table["stream"] == "A") & (table["level"] == "low")]
    announced = own[own["units_follow"] == ANNOUNCED].groupby("rule")["algorithm"].nunique()
    assert len(announced) == 7
    assert (announced == 2).all()
    own = own[own["units_follow"] == MEAN]
    assert own.groupby("rule")["algorithm"].nunique().to_dict() == {
        "equal-chances": 2,
        "forecast": 2,
        "guarantee": 2,
        "last": 1,
    }
    assert (own.loc[own["rule"] == "last", "replicates"] == 3).all()


def test_blocks_of_rounds_are_resampled_together() -> None:
    """Every round is as likely as any other, and neighbours come together."""
    draws = _resamples(66, 1)
    assert (draws.sum(axis=1) == 66).all()
    # Each mean has a standard error of 0.03: five of them, for 66 rounds, fail in 4e-5 of seeds.
    assert np.abs(draws.mean(axis=0) - 1).max() < 0.15
    together = np.corrcoef(draws[:, 10], draws[:, 11])[0, 1]
    apart = np.corrcoef(draws[:, 10], draws[:, 40])[0, 1]
    assert together > 0.7 > 0.2 > abs(apart)


def test_the_table_shows_who_is_served(table: pd.DataFrame) -> None:
    shown = allocation_table({"allocation": table}, MAIN, facts_of(STREAM))
    headers = [column.title for column in shown.columns]
    assert headers[-4:] == [
        "unmet at μ = 0.5",
        "small, need met",
        "others, need met",
        "worst off, need met",
    ]
    titles = [section.title.split(":")[0] for section in shown.sections]
    assert titles == ["all", "all", "surge", "surge"] * 2
    for index, section in enumerate(shown.sections):
        assert ("of the announced need" in section.title) == (index >= 4)
        assert [name for name, _ in section.groups[0].lines] == [
            *("floor", "last noisy counts", "forecast", "with a guarantee", "equal chances"),
            *("last exact counts", "best fixed")[: 2 if index < 4 else 1],
        ]
        assert all(len(cells) == 6 for _, cells in section.groups[0].lines)
    assert "known in hindsight only, and not private" in shown.footers[-1]
    alone = table[table["units_follow"] == ANNOUNCED]
    shown = allocation_table({"allocation": alone}, MAIN, facts_of(STREAM))
    assert len(shown.sections) == 4
    assert "hindsight" not in shown.footers[-1]


def test_the_report_chooses_what_is_shown() -> None:
    two = ["random-effects", "empirical-bayes"]
    rows = [
        row for noise in ("capacity", "isotropic") for row in played(algorithms=two, noise=noise)
    ]
    table = allocation_rows(frame_of(rows), facts_of(STREAM))

    def shown(**report: Any) -> set[tuple[str, str]]:
        kept = shown_rows(table, Games(report=Report(**report), allocation=ALLOCATION))
        assert set(kept["rule"]) == set(NAMES)
        own = kept[kept["algorithm"] != ""]
        return set(zip(own["algorithm"], own["noise"], strict=True))

    assert shown(algorithms=two[::-1], noise="isotropic") == {("empirical-bayes", "isotropic")}
    assert shown(algorithms=["rw-meta", *two]) == {("random-effects", "isotropic")}
    assert shown(noise="capacity-memory") == {("random-effects", "capacity")}


# ---- refusals ------------------------------------------------------------------------------------


def test_only_algorithms_that_forecast_gains_divide() -> None:
    assert not played(
        algorithms=["rw-ftpl", "persistence", "rw-adabatch"], noise="isotropic-constant"
    )
    known = [forecasts_gains(member.algorithm) for member in make_members("empirical-bayes")]
    assert known == [True]
    assert not forecasts_gains(make_members("tree-ftpl-min-noise")[0].algorithm)
    with pytest.raises(
        DataError, match="nothing was divided; play random-effects in a local suite"
    ):
        allocation_rows(pd.DataFrame(), facts_of(STREAM))
