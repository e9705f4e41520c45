"""What bounds a verdict or a guess changes every sentence, table and page that says it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import findings
import numpy as np
import pandas as pd
import pytest

from dpol.report.lead import answer_of
from dpol.show import reported
from dpol.show.rendering import render
from dpol.studies.answer.league import league_table
from dpol.studies.answer.privacy_utility import answer_table, draw_privacy_utility
from dpol.studies.bounds import over_units, shares_of_units, with_bounds
from dpol.studies.study import Frames
from report.run_by_hand import config
from report.test_lead import FACTS, at_levels
from standings_by_hand import frames_of, standings_of
from tables_by_hand import run

OURS = "rw-ftpl", "capacity"
GAINS = {"rw-meta": 12.0, "persistence": 30.0, "rw-ftpl": 42.0}


def played(swing: float = 0.0, **record: Any) -> dict[str, pd.DataFrame]:
    """Our method keeps 70 of 100, the strongest rival 50, the paper's method 20, at each level."""
    rows = []
    for name, gain in GAINS.items():
        noise = {"noise": "capacity"} if name == "rw-ftpl" else {}
        for row in at_levels(name, *3 * [gain], **noise):
            more = swing * (name == "persistence")
            rows.append(row | {"totals": [gain - more, gain + more, gain]})
    return frames_of(standings_of(rows, OURS), **record)


def curves(frames: Frames, swing: float) -> pd.DataFrame:
    """Our method gains `swing` more in every second block of 13 rounds, and less in the others."""
    rounds = np.arange(148)
    parts = []
    for row in frames["standings"].to_dict("records"):
        mine = swing * (row["role"] == "our method")
        gains = GAINS[row["algorithm"]] / 148 + mine * (-1.0) ** (rounds // 13)
        facts = {name: row[name] for name in ("stream", "algorithm", "noise", "mu")}
        facts["period"] = pd.date_range("2021-01-03", periods=148, freq="7D")
        parts.append(pd.DataFrame({**facts, "mean_cumulative_gain": gains.cumsum()}))
    return pd.concat(parts)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """A recorder of readings of the streams by hand, in which our method keeps some shares."""

    def record(*ours: float, without: str = "") -> None:
        rows = played()["standings"].assign(treatment="a", gain_share_half_width=0.01)
        rows = rows[rows["algorithm"] != without]
        mine, shares = rows["role"] == "our method", rows["gain_share"]
        at = [rows.assign(read_as=k, gain_share=shares.mask(mine, it)) for k, it in enumerate(ours)]
        pd.concat(at).to_csv(tmp_path / "readings.csv", index=False)
        monkeypatch.setattr(reported, "FILLINGS", tmp_path / "readings.csv")

    return record


WAYS: dict[str, Callable[[Frames], str]] = {
    "lead": lambda frames: answer_of(frames, FACTS, config()).texts[1][0],
    "terminal": lambda frames: " ".join(answer_of(frames, FACTS, config()).lines),
    "league": lambda frames: render(league_table(frames, FACTS), ".html"),
    "csv": lambda frames: answer_table(frames, FACTS).numbers.to_csv(),
}
"""How a run says a verdict; .md and .tex of a table have the cells of .html."""


def said(way: str, frames: Frames) -> str:
    """Return the words on the strongest rival, of the row of our method or of the rival."""
    text = " ".join(WAYS[way](frames).replace("\xa0", " ").split())
    return text.split("(20), and ")[-1] if way in ("lead", "terminal") else text


@pytest.mark.parametrize("way", WAYS)
def test_every_place_says_what_bounds_a_verdict(way: str, readings: Callable[..., None]) -> None:
    """League and csv are of the rival and of our method; the words differ by side only."""
    behind = way == "league"
    above, ahead = ("below", "behind at") if behind else ("above", "ahead at")
    ahead = "ahead of" if way in ("lead", "terminal") else ahead
    assert above in said(way, played())
    assert "undecided" in said(way, played(swing=60.0))
    frames = played()
    steady, swinging = (frames | {"cumulative": curves(frames, by)} for by in (0.0, 0.5))
    assert "in these weeks" not in said(way, steady)
    assert "in these weeks" in said(way, swinging)
    dates = swinging["cumulative"]["period"]
    daily = swinging["cumulative"].assign(period=dates.min() + (dates - dates.min()) / 7)
    assert "in these days" in said(way, frames | {"cumulative": daily})
    readings(0.7, 0.6)
    assert above in said(way, played())
    assert "at this reading" not in said(way, played())
    readings(0.7, 0.4)
    assert ahead in said(way, played())
    assert "at this reading" in said(way, played())


def test_the_lead_counts_the_readings_at_which_ours_loses(readings: Callable[..., None]) -> None:
    readings(0.7, 0.4, 0.3, 0.5)
    told = "ahead of the strongest rival (50) at this reading (behind at 2 of 4 recorded readings)."
    assert told in said("lead", played())
    assert with_bounds(played())["baseline_against"].eq("").all()
    other = played()
    other["standings"]["oracle_gain"] += 0.5  # a stream that is alike has no recorded readings
    assert with_bounds(other)["strongest_against"].eq("").all()


def test_a_reading_that_did_not_play_a_system_does_not_agree(readings: Callable[..., None]) -> None:
    readings(0.7, without="rw-meta")
    found = with_bounds(played()).query("role == 'our method'")
    assert {*found["to_baseline_verdict"]} == {"ahead at this reading"}
    assert {*found["to_strongest_verdict"]} == {"above"}


def test_units_have_the_share_as_their_mean_and_their_lead_its_interval() -> None:
    """By hand: 148 rounds are 11 blocks, whose leads swing by 0.5 a round."""
    frames = played()
    shares = shares_of_units(frames["standings"], curves(frames, 0.5))
    ours, rival = (
        frames["standings"].query(it).index[0] for it in ("role == 'our method'", "strongest")
    )
    assert [len(shares[it]) for it in (ours, rival)] == [11, 11]
    assert shares[rival].mean() == pytest.approx(0.5)
    wide = over_units(shares[ours], shares[rival])
    assert wide is not None
    assert abs(wide[0]) < wide[1]
    assert over_units(shares[ours], None) is None


def test_the_units_of_a_mean_over_streams_are_the_streams() -> None:
    gains = {"nm": 30.0, "pa": 12.0}
    rows = (run("rw-meta", 1.0, gain, stream=it) for it, gain in gains.items())
    frame = standings_of(rows, apart=True)
    (mean,) = frame.index[frame["stream"] == ""]
    assert {it: own.tolist() for it, own in shares_of_units(frame).items()} == {mean: [0.5, 0.2]}


@pytest.mark.parametrize("way", ["lead", "terminal", "finding"])
def test_a_guess_follows_the_record_that_was_played(way: str) -> None:
    """By hand: Phi(1 / 2) = 0.6915, Phi(1) = 0.8413, Phi(3 / 2) = 0.9332."""
    ways = WAYS | {"finding": lambda it: draw_privacy_utility(it, FACTS).get_label()}
    at = {"guaranteed_mu": 1.0}
    exact = "times in 100 (a coin: 50) if each site adds noise to its exact counts"

    def told(**record: Any) -> str:
        return ways[way](played(**(at | record)))

    assert f"at most 69.2 {exact}." in told()
    assert f"at most 84.2 {exact}." in told(guaranteed_mu=2.0)
    moved = "on these cleaned counts one person's μ is up to 3 times as large"
    cleaned = "93.4 on these cleaned counts (μ up to 3 times as large)"
    assert f"at most 69.2 {exact}, {cleaned}." in told(taken_as_public=moved)
    carried = told(taken_as_public=moved, mu_carried=2.0)
    assert "and 99.9 where they repeat a missing one (6 times)." in carried
    assert "about one person in one " in told()


def test_blocks_of_pages_follow_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading that loses, a week interval over 0 and a draw of zeros that loses."""
    ours = findings.ours_at("central-texas", 0.25).copy()
    ours["to_strongest_verdict"] = "above"
    at = findings.cell_of(ours)
    rival = findings.STRONGEST, at[2]
    wins = {at: [0.9, 0.0], (*rival[0], rival[1]): [0.5, 0.0]}
    loses = wins | {at: [0.1, 0.0]}
    spread = findings.recorded("central-texas", "spread")
    half = {"narrow": 0.0, "wide": 9.0}

    def told(kept: list[Any], width: str) -> str:
        table = spread.assign(half_width=half[width])
        monkeypatch.setattr(findings, "recorded", lambda run, name: table)
        monkeypatch.setattr(findings, "READINGS", kept)
        return findings.verdict_of("central-texas", ours)

    assert told([wins], "narrow") == "above"
    assert told([wins, loses], "narrow") == "ahead at this reading"
    assert told([wins], "wide") == "above in these weeks"
