"""Correlated noise compared with independent noise: who pays what, verdicts, how it is shown."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from comparison_by_hand import OURS, PAPER
from dpol.core.intervals import half_width
from dpol.data.stream import GainStream
from dpol.experts.games import play
from dpol.experts.registry import make_members
from dpol.noise import privatize
from dpol.privacy.chains import chain_norm
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show.table import Table
from dpol.studies.comparison import (
    STUDY,
    games_with_memory,
    noise_memory_figure,
    noise_memory_table,
    points,
)
from dpol.studies.comparison.noise_memory import (
    INDEPENDENT,
    REMEMBERED,
    compare_memories,
    play_units,
)
from dpol.studies.comparison.settings import Comparison, NoiseMemories
from dpol.studies.study import Facts, schemas_of
from legible import assert_legible
from small_config import GAINS, problems
from tables_by_hand import has_footer, lines

FACTS = Facts({"nm": "New Mexico"}, simulated=True, confidence=0.9, replicates=5)
ASKED = NoiseMemories(weeks=[1, 3], mus=[0.5, 0.2], times=2.0)
SETTINGS = Comparison(baseline=PAPER, ours=OURS, memory=ASKED)


def compared(
    stream: GainStream,
    asked: NoiseMemories = ASKED,
    replicates: int = 5,
    confidence: float = 0.9,
    seed: int = 1,
) -> pd.DataFrame:
    """The table of games that are played here."""
    members, games = make_members("empirical-bayes"), games_with_memory(asked)
    played = [
        play_units(stream, weeks, members, games, seed=seed, replicates=range(replicates))
        for weeks in asked.weeks
    ]
    found = compare_memories(pd.concat(played), asked, delta=1e-6, confidence=confidence)
    return schemas_of(STUDY)["memory"].check(found, "memory")


@pytest.fixture(scope="module")
def stream(random_stream) -> GainStream:
    """Long enough for a stay in the middle to be as bad as in a game without end."""
    return replace(random_stream(60, 4, label="nm"), capacity=np.full((60, 4), 40.0))


@pytest.fixture(scope="module")
def frame(stream: GainStream) -> pd.DataFrame:
    return compared(stream)


def one(frame: pd.DataFrame, **key: Any) -> pd.Series:
    """The row with these values."""
    (place,) = np.flatnonzero((frame[list(key)] == pd.Series(key)).all(axis=1))
    return frame.iloc[place]


def test_a_row_for_memory_and_two_for_independent_noise(frame: pd.DataFrame) -> None:
    assert len(frame) == 2 * 2 * 3
    own = frame[(frame["weeks"] == 3) & (frame["level"] == 0.2)]
    assert list(zip(own["noise"], own["times"], own["mu"], strict=True)) == [
        (REMEMBERED, 1.0, 0.2),
        (INDEPENDENT, 1.0, 0.2),
        (INDEPENDENT, 2.0, 0.4),
    ]
    assert set(own["unit"]) == {"one person in at most 3 rounds in a row"}


def test_gains_are_those_of_noise_for_the_unit(frame: pd.DataFrame, stream: GainStream) -> None:
    """Played by hand; the label keeps the noise apart from that of suites and other units."""
    long = replace(stream, stay=3, label="nm, stays of 3")
    (member,) = make_members("empirical-bayes")
    totals = {}
    for noise, mu in ((REMEMBERED, 0.2), (INDEPENDENT, 0.4)):
        noisy = privatize(long, noise, mu, seed=1, replicates=5)
        totals[noise] = play(member.algorithm, noisy).gains(long).sum(axis=1)
    row = one(frame, weeks=3, noise=INDEPENDENT, mu=0.4, level=0.2)
    assert row["mean_gain"] == pytest.approx(totals[INDEPENDENT].mean())
    ahead = totals[REMEMBERED] - totals[INDEPENDENT]
    assert row["difference"] == pytest.approx(ahead.mean())
    # A mean in each of 12 rows, a difference in each of 8.
    assert row["ci_comparisons"] == 20
    assert row["difference_half_width"] == pytest.approx(float(half_width(ahead, 0.9, 20)))


def test_a_longer_stay_pays_as_its_norm_says(frame: pd.DataFrame) -> None:
    """N_v / N_w, with b of the table; the root of v / w for independent noise."""
    for weeks in ASKED.weeks:
        memory = one(frame, weeks=weeks, noise=REMEMBERED, level=0.2)
        same = one(frame, weeks=weeks, noise=INDEPENDENT, level=0.2, times=1.0)
        b = memory["smallest_b"]
        assert b == memory["largest_b"] > 0.1
        assert memory["guaranteed_mu"] == pytest.approx(0.2, rel=1e-5)
        for stay, column in zip(STAYS, MU_OF_STAYS, strict=True):
            ratio = float(chain_norm(0.0, b, stay) / chain_norm(0.0, b, weeks))
            assert memory[column] == pytest.approx(0.2 * ratio, rel=1e-3)
            assert same[column] == pytest.approx(0.2 * math.sqrt(stay / weeks))
            # Shorter stays pay less with memory, longer ones more.
            assert (memory[column] > same[column]) == (stay > weeks) or stay == weeks


def test_where_the_design_takes_no_memory_the_laws_are_equal(stream: GainStream) -> None:
    asked = NoiseMemories(weeks=[4], mus=[20])
    found = compared(stream, asked, replicates=40, confidence=0.95, seed=3)
    memory, same, _ = found.to_dict("records")
    assert memory["largest_b"] == 0
    assert [memory[it] for it in MU_OF_STAYS] == pytest.approx([same[it] for it in MU_OF_STAYS])
    # Two independent draws of one law, not one draw: simultaneous 95% intervals.
    assert 0 < abs(same["difference"]) <= same["difference_half_width"]
    assert same["verdict"] == "undecided"


ABOVE, BELOW, UNCLEAR = (9.0, 0.1), (-9.0, 0.1), (0.1, 5.0)


@pytest.mark.parametrize(
    ("ahead", "aims"),
    [
        ([ABOVE, BELOW, ABOVE, ABOVE], ["reached", "not reached", "reached", "reached"]),
        ([ABOVE, UNCLEAR, BELOW, ABOVE], ["not reached", "undecided", "not reached", "reached"]),
        ([ABOVE, ABOVE, UNCLEAR, ABOVE], ["undecided", "reached", "undecided", "reached"]),
    ],
)
def test_aims_are_reached_or_not_in_every_unit_or_in_one(
    ahead: list[tuple[float, float]], aims: list[str]
) -> None:
    """Differences and their spread: each unit at the same, then at twice the mu."""
    asked = NoiseMemories(weeks=[1, 3], mus=[0.2], times=2.0)
    parts = []
    for weeks, differences in ((1, ahead[:2]), (3, ahead[2:])):
        games = {(REMEMBERED, 0.2): [0.0] * 5}
        for mu, (mean, spread) in zip((0.2, 0.4), differences, strict=True):
            games[INDEPENDENT, mu] = [-mean + spread * step for step in (-2, -1, 0, 1, 2)]
        for (noise, mu), gains in games.items():
            facts = {"stream": "nm", "weeks": weeks, "noise": noise, "mu": mu, "guaranteed_mu": mu}
            parts.append(pd.DataFrame({**facts, "replicate": range(5), "total_gain": gains}))
    found = compare_memories(pd.concat(parts), asked, delta=1e-6, confidence=0.9)
    rows = found[found["noise"] == INDEPENDENT]
    names = {ABOVE: "above", BELOW: "below", UNCLEAR: "undecided"}
    assert rows["verdict"].tolist() == [names[it] for it in ahead]
    assert rows["aim_verdict"].tolist() == aims
    assert set(found[found["noise"] == REMEMBERED]["aim_verdict"]) == {""}


def test_the_noise_of_a_unit_is_drawn_for_it_alone(frame: pd.DataFrame) -> None:
    """Shared noise of another scale would give the counts back."""
    totals = frame[frame["noise"] == INDEPENDENT].groupby("mu")["mean_gain"]
    assert (totals.nunique() == totals.size()).all()


def test_points_are_one_for_each_stream_and_unit() -> None:
    facts = replace(FACTS, streams={"nm": "nm", "pa": "pa"})
    systems, *labels = found = points(SETTINGS, facts)
    assert found[systems]["inputs"] == {"summary": "summary.parquet", "totals": "totals.parquet"}
    assert labels == [f"{it}/noise-memory/{w}-weeks" for it in ("nm", "pa") for w in (1, 3)]
    point = found["pa/noise-memory/3-weeks"]
    assert (point["weeks"], point["replicates"]) == (3, 5)
    assert point["inputs"] == {"stream": "streams/pa.parquet"}
    assert point["games"][3:] == [[REMEMBERED, 0.2], [INDEPENDENT, 0.2], [INDEPENDENT, 0.4]]


SYSTEMS = {"baseline": PAPER.model_dump(), "ours": OURS.model_dump()}


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ({"algorithm": "rw-meta"}, "algorithm = 'rw-meta': must support correlated noise;"
         " this algorithm assumes independent noise"),
        ({"algorithm": "kalman"}, "algorithm = 'kalman': must be one algorithm; kalman is a family,"
         " one for each learner"),
        ({"algorithm": "noisy-max"}, "algorithm = 'noisy-max': must be a local algorithm, which"
         " sees noisy gains"),
        ({"algorithm": "kalmann"}, "algorithm = 'kalmann': algorithm 'kalmann' is not one of"),
        ({"weeks": [2, 2]}, "weeks = [2, 2]: must not hold 2 twice"),
        ({"weeks": [0]}, "weeks[0] = 0: must be greater than or equal to 1"),
        ({"times": 1}, "times = 1: must be greater than 1"),
        ({"mus": [math.inf]}, "mus[0] = inf: must be less than or equal to 1000"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_config_is_told(block: dict[str, Any], line: str) -> None:
    told = problems({"comparison": {**SYSTEMS, "memory": {"mus": [0.1], **block}}})
    assert [it for it in told if it.startswith(f"comparison.memory.{line}")]


def test_gains_without_capacities_are_refused() -> None:
    told = problems(GAINS, {"comparison": {**SYSTEMS, "memory": {"mus": [0.1]}}})
    line = "comparison.memory = 'a block': must not be given because dataset.source.kind is"
    assert [it for it in told if it.startswith(line)]


@pytest.fixture(scope="module")
def shown(frame: pd.DataFrame) -> Table:
    return noise_memory_table.build({"memory": frame}, SETTINGS, FACTS)


def test_the_table_has_a_line_for_each_unit_and_the_aim_of_all(
    shown: Table, frame: pd.DataFrame
) -> None:
    (section,) = shown.sections
    assert (section.title, section.note) == ("New Mexico", "n = 4, T = 60")
    assert [group.title for group in section.groups] == ["μ = 0.5", "μ = 0.2"]
    *units, (name, aim) = section.groups[1].lines
    assert [label for label, _ in units] == ["1 week", "3 weeks"]
    same = one(frame, weeks=3, noise=INDEPENDENT, level=0.2, times=1.0)
    more = one(frame, weeks=3, noise=INDEPENDENT, level=0.2, times=2.0)
    memory = one(frame, weeks=3, noise=REMEMBERED, level=0.2)
    cells = units[1][1]
    assert [it.text.split(" ± ")[0] for it in cells[:4]] == [
        f"{same['mean_gain']:.2f}",
        f"{memory['mean_gain']:.2f}",
        f"{same['difference']:+.2f}",
        f"{more['difference']:+.2f}",
    ]
    assert cells[2].text.endswith(f", {same['verdict']}")
    assert cells[3].text.endswith(f", {more['aim_verdict']}")
    assert cells[4].text == f"{memory['smallest_b']:g}"
    assert cells[5].text.split(", ")[0] == f"{memory['mu_1_week']:.3g}"
    assert cells[5].notes == ("independent: 0.115, 0.163, 0.231, 0.327",)
    assert (name, aim[2].text) == ("Aim: at or above in every unit", same["aim_verdict"])


def test_the_table_says_what_is_guaranteed_to_whom(shown: Table) -> None:
    for text in (
        "one person in at most w rounds in a row",
        "over 20 intervals",
        "Data: simulated",
        "2 times the μ",
    ):
        assert has_footer(shown, text), text
    (mechanisms,) = shown.following
    said = {label for _, label, _ in lines(mechanisms)}
    assert "capacity-memory Gaussian noise on every gain vector" in said
    assert "μ = 0.5" in mechanisms.titles


def test_the_figure_draws_differences_and_what_stays_pay(frame: pd.DataFrame) -> None:
    drawn = noise_memory_figure.draw({"memory": frame}, SETTINGS, FACTS)
    assert_legible(drawn)
    above, below = drawn.axes
    bars = {box.get_label(): box.lines[0] for box in above.containers}
    assert list(bars) == ["1", "3"]
    rows = frame[(frame["noise"] == INDEPENDENT) & (frame["times"] == 1) & (frame["weeks"] == 3)]
    np.testing.assert_allclose(bars["3"].get_ydata().astype(float), rows["difference"])
    assert bars["3"].get_linestyle() == "None", "no line through two points"
    lines = {line.get_label(): line for line in below.lines}
    memory = one(frame, weeks=3, noise=REMEMBERED, level=0.2)
    paid = [memory[it] for it in MU_OF_STAYS]
    np.testing.assert_allclose(lines[f"3 {REMEMBERED}"].get_ydata(), paid)
    assert {lines[f"3 {it}"].get_linestyle() for it in (INDEPENDENT, REMEMBERED)} == {"-", "--"}
    assert [text.get_text() for text in below.texts] == ["1 week", "3 weeks"]
    assert above.xaxis_inverted(), "the further right, the more private"
