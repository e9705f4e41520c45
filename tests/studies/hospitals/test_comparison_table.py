"""The tables of the comparison and of ablations: every verdict follows from the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from comparison_by_hand import COMPARISON, INF, LEVELS, OURS, PAPER, cell, cells
from dpol.core.errors import DataError
from dpol.data.settings import Stream
from dpol.data.stream import GainStream
from dpol.show.table import Entry, TextTable, to_html, to_latex, to_markdown, write_with_numbers
from dpol.studies.hospitals import ablation_table as ablation_module
from dpol.studies.hospitals import comparison_table as comparison_module
from dpol.studies.hospitals.ablation import ablate
from dpol.studies.hospitals.ablation_table import ablation_table
from dpol.studies.hospitals.comparison import compare
from dpol.studies.hospitals.comparison_table import aims_of, comparison_table, verdict_of_aim
from dpol.studies.hospitals.summary import Cell, summarize

STREAMS = {"nm": Stream(groups=["NM"], title="New Mexico")}
SHARED: dict[str, Any] = {"levels": LEVELS, "confidence": 0.95}


def many() -> list[Cell]:
    """The runs by hand, repeated 50 times with less spread, so that verdicts are decided."""
    found = []
    for it in cells():
        totals = it.gains.sum(axis=1)
        middle = totals.mean()
        facts = {"family": it.played.family, "origin": it.played.origin}
        narrow = [middle + (value - middle) / 10 for value in totals] * 50
        model = it.played.guarantee.model
        found.append(cell(it.played.label, it.noise, it.mu, narrow, model=model, **facts))
    return found


@pytest.fixture(scope="module")
def stream(make_stream: Any) -> GainStream:
    return make_stream([[0.5, 0.25], [0.5, 1.0]], label="nm", provenance={"simulated": True})


@pytest.fixture(scope="module")
def summary(stream: GainStream) -> pd.DataFrame:
    return summarize(
        many(), {"nm": stream}, levels=LEVELS, delta=1e-6, confidence=0.95, comparisons=3
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    return compare(many(), COMPARISON, **SHARED)


def build(frame: pd.DataFrame, summary: pd.DataFrame) -> TextTable:
    return comparison_table(frame, summary, streams=STREAMS, levels=LEVELS)


def lines(table: TextTable) -> dict[str, tuple[Entry, ...]]:
    (section,) = table.sections
    (group,) = section.groups
    return dict(group.lines)


def change(frame: pd.DataFrame, where: pd.Series, **values: Any) -> pd.DataFrame:
    found = frame.copy()
    for name, value in values.items():
        found.loc[where, name] = value
    return found


def at(frame: pd.DataFrame, kind: str, mu: float, other: str = "", noise: str = "") -> pd.Series:
    chosen = (frame["kind"] == kind) & (frame["mu"] == mu)
    if other:
        chosen &= (frame["other_algorithm"] == other) & (frame["other_noise"] == noise)
    return chosen


# --- The comparison ---


def test_lines_are_the_levels_and_the_aims(frame: pd.DataFrame, summary: pd.DataFrame) -> None:
    table = build(frame, summary)
    assert list(lines(table)) == [
        "no privacy (μ = ∞)",
        "μ = 1",
        "μ = 0.25",
        "Aim: ours at μ = 0.25 is at or above the paper's way at μ = 1",
        "Aim: ours at μ = 1 is at or above the best of the paper's 2 learners without privacy",
    ]
    (section,) = table.sections
    assert (section.title, section.note) == ("New Mexico", "n = 2, T = 2")
    assert table.headers == ("the paper's", "ours †", "difference", "verdict")


def test_numbers_of_a_level(frame: pd.DataFrame, summary: pd.DataFrame) -> None:
    frame = change(frame, at(frame, "paper", 1.0), ci_half_width=0.111, other_ci_half_width=0.222)
    frame = change(frame, at(frame, "paper", 1.0), difference_half_width=0.333)
    paper, ours, difference, _ = lines(build(frame, summary))["μ = 1"]
    assert (paper.text, ours.text) == ("12.00 ± 0.22", "17.00 ± 0.11")
    assert difference.text == "+5.00 ± 0.33"


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        ("above", "above the paper's way"),
        ("equal", "equal to the paper's way"),
        ("below", "below the paper's way"),
        ("undecided", "undecided against the paper's way"),
    ],
)
def test_the_verdict_on_the_papers_way(
    frame: pd.DataFrame, summary: pd.DataFrame, verdict: str, text: str
) -> None:
    frame = change(frame, at(frame, "paper", INF), verdict=verdict)
    entry = lines(build(frame, summary))["no privacy (μ = ∞)"][-1]
    assert entry == Entry(text)


def test_rows_that_are_not_beaten_are_counted_and_named(
    frame: pd.DataFrame, summary: pd.DataFrame
) -> None:
    """At mu = 1 ours has 17; only kalman-a with capacity noise has more: 17.5."""
    entry = lines(build(frame, summary))["μ = 1"][-1]
    assert entry.text == "above the paper's way; not above every other private row"
    papers, ours, curator = entry.notes
    # ridge-a, ridge-b and the tree; 2 ridge, meta, 2 kalman with our noise, 3 others of ours.
    assert papers == "Above 3 of 3 rows of the papers."
    start = "Above 7 of 8 rows with parts of ours; not above kalman-a (capacity noise): -0.50 ± "
    assert ours.startswith(start)
    assert ours.endswith(", below.")
    assert curator.startswith("Best with a curator: tree, 8.50 ± ")


def test_a_row_of_the_papers_that_is_not_beaten_is_named_among_them(
    frame: pd.DataFrame, summary: pd.DataFrame
) -> None:
    frame = change(frame, at(frame, "other", 1.0, "tree", "isotropic"), verdict="undecided")
    notes = lines(build(frame, summary))["μ = 1"][-1].notes
    assert notes[0].startswith("Above 2 of 3 rows of the papers; not above tree (a curator): +8.50")
    assert notes[0].endswith(", undecided.")


def test_it_is_above_every_other_row_only_if_all_are_beaten(
    frame: pd.DataFrame, summary: pd.DataFrame
) -> None:
    frame = change(frame, at(frame, "other", 1.0), verdict="above")
    entry = lines(build(frame, summary))["μ = 1"][-1]
    assert entry.text == "above the paper's way; above every other private row"
    assert entry.notes[:2] == (
        "Above 3 of 3 rows of the papers.",
        "Above 8 of 8 rows with parts of ours.",
    )


def test_of_many_rows_that_are_not_beaten_the_worst_four_are_named(
    frame: pd.DataFrame, summary: pd.DataFrame
) -> None:
    others = at(frame, "other", 1.0)
    frame = change(frame, others & frame["other_ours"], verdict="below")
    notes = lines(build(frame, summary))["μ = 1"][-1].notes
    assert notes[1].endswith("; and 4 more.")
    named = [part.split(" (")[0] for part in notes[1].split("not above ")[1].split("; ")[:4]]
    ordered = frame[others & frame["other_ours"]].sort_values("difference")
    assert named == ordered["other_algorithm"].tolist()[:4]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["above", "above"], "reached"),
        (["above", "equal"], "reached"),
        (["equal", "undecided"], "undecided"),
        (["above", "undecided"], "undecided"),
        (["undecided", "below"], "not reached"),
        (["above", "below"], "not reached"),
    ],
)
def test_an_aim_is_reached_if_nothing_that_it_names_is_better(
    frame: pd.DataFrame, summary: pd.DataFrame, verdicts: list[str], expected: str
) -> None:
    frame = change(frame, at(frame, "aim-learner", 1.0), verdict=verdicts)
    aim = aims_of(frame)[1]
    assert verdict_of_aim(aim) == expected
    *_, entry = list(lines(build(frame, summary)).values())[-1]
    assert entry.text == expected


def test_an_aim_shows_the_best_of_the_learners(frame: pd.DataFrame, summary: pd.DataFrame) -> None:
    paper, ours, difference, verdict = list(lines(build(frame, summary)).values())[-1]
    assert paper == Entry("17.00 (all equal)", ("ridge-a",))
    assert ours.text.startswith("17.00 ± ")
    assert difference.text.startswith("+0.00 ± ")
    assert verdict == Entry("undecided", ("The interval contains 0.",))


def test_an_aim_against_the_papers_way(frame: pd.DataFrame, summary: pd.DataFrame) -> None:
    label = "Aim: ours at μ = 0.25 is at or above the paper's way at μ = 1"
    paper, ours, difference, verdict = lines(build(frame, summary))[label]
    assert paper.text.startswith("12.00 ± ")
    assert not paper.notes
    assert ours.text.startswith("15.00 ± ")
    assert difference.text.startswith("+3.00 ± ")
    assert verdict == Entry("reached")


def test_what_is_said_below_the_table(frame: pd.DataFrame, summary: pd.DataFrame) -> None:
    text = "\n".join(build(frame, summary).footers)
    assert "The paper's way: meta, isotropic noise. Ours: bayes, capacity noise." in text
    assert "Means over 100 runs" in text
    # 36 pairs, 3 of the aims, 39 means.
    assert "95% confidence interval (Student's t), Bonferroni-corrected over 78" in text
    assert "it is independent, so pairing does not narrow theirs" in text
    assert "Data: simulated" in text
    assert "capacity noise (local): μ = 1: ε = 4.89" in text
    assert "isotropic noise (local): μ = 1: ε = 4.89" in text


def test_common_noise_of_the_two_ways_is_said(summary: pd.DataFrame) -> None:
    same = COMPARISON.model_copy(update={"ours": OURS.model_copy(update={"noise": PAPER.noise})})
    text = "\n".join(build(compare(many(), same, **SHARED), summary).footers)
    assert "Of the paper's way and ours it is the same." in text


def test_the_table_is_written_in_every_format(
    frame: pd.DataFrame, summary: pd.DataFrame, tmp_path: Path
) -> None:
    table = build(frame, summary)
    assert "| μ = 1 | 12.00" in to_markdown(table)
    assert r"\begin{longtable}" in to_latex(table)
    assert "not above every other private row" in to_html(table)
    write_with_numbers(table, frame, tmp_path / "comparison.csv")
    assert len(pd.read_csv(tmp_path / "comparison.csv")) == len(frame)


@pytest.mark.parametrize("name", comparison_module.COLUMNS)
def test_a_missing_column_is_named(frame: pd.DataFrame, summary: pd.DataFrame, name: str) -> None:
    with pytest.raises(DataError, match=f"comparison has no column {name};"):
        build(frame.drop(columns=name), summary)


def test_an_empty_table_and_a_missing_stream_are_refused(
    frame: pd.DataFrame, summary: pd.DataFrame
) -> None:
    with pytest.raises(DataError, match="comparison is empty"):
        build(frame.iloc[:0], summary)
    streams = {**STREAMS, "pa": Stream(groups=["PA"])}
    with pytest.raises(DataError, match="comparison has no stream pa"):
        comparison_table(frame, summary, streams=streams, levels=LEVELS)


# --- Ablations ---


@pytest.fixture
def losses() -> pd.DataFrame:
    comparison = COMPARISON.model_copy(
        update={"ablations": [OURS.model_copy(update={"noise": "isotropic"})]}
    )
    return ablate(many(), comparison, **SHARED)


def build_ablation(losses: pd.DataFrame, summary: pd.DataFrame) -> TextTable:
    return ablation_table(losses, summary, streams=STREAMS, levels=LEVELS, ours=OURS)


def test_losses_of_every_system_at_every_level(losses: pd.DataFrame, summary: pd.DataFrame) -> None:
    table = build_ablation(losses, summary)
    titles = ["no privacy (μ = ∞)", "μ = 1", "μ = 0.25"]
    assert [it.title for it in table.sections] == [f"New Mexico, {title}" for title in titles]
    note = "n = 2, T = 2; best of the paper's learners without noise: ridge-a, 17.00"
    assert {it.note for it in table.sections} == {note}
    found = dict(table.sections[1].groups[0].lines)
    assert list(found) == [
        "meta, isotropic noise",
        "bayes, isotropic noise",
        "bayes, capacity noise (ours)",
    ]
    texts = [entry.text.split(" ±")[0] for entry in found["bayes, capacity noise (ours)"]]
    assert texts == ["17.00", "1.00", "-1.50", "0.50", "0.00", "1.00", "kalman-a"]
    assert table.headers[1:5] == ("noise", "learner", "selection", "total loss")


def test_half_widths_are_those_of_their_terms(losses: pd.DataFrame, summary: pd.DataFrame) -> None:
    terms = ("noise_loss", "learner_loss", "selection_loss", "total_loss", "own_noise_loss")
    for number, term in enumerate(terms):
        losses[f"{term}_half_width"] = 0.11 * (number + 1)
    (first, *_), *_ = (
        section.groups[0].lines for section in build_ablation(losses, summary).sections
    )
    widths = [entry.text.split("± ")[1] for entry in first[1][1:6]]
    assert widths == ["0.11", "0.22", "0.33", "0.44", "0.55"]


def test_a_loss_that_rounds_to_nothing_has_no_sign(
    losses: pd.DataFrame, summary: pd.DataFrame
) -> None:
    losses["selection_loss"] = -0.001
    assert "-0.00" not in to_markdown(build_ablation(losses, summary))


def test_ablations_say_that_the_oracle_is_biased(
    losses: pd.DataFrame, summary: pd.DataFrame
) -> None:
    text = "\n".join(build_ablation(losses, summary).footers)
    assert "biased upwards" in text
    assert "over 45 intervals of the numbers behind this table" in text


@pytest.mark.parametrize("name", ablation_module.COLUMNS)
def test_a_missing_column_of_ablations_is_named(
    losses: pd.DataFrame, summary: pd.DataFrame, name: str
) -> None:
    with pytest.raises(DataError, match=f"ablations has no column {name};"):
        build_ablation(losses.drop(columns=name), summary)
