"""The paper's Table 2 on the streams of a run, beside the paper's own numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import yaml

from dpol.config.experiment import parse_experiment
from dpol.experts.registry import make_members
from dpol.show.reported import REPORTED, load_reported
from dpol.show.table import Table
from dpol.show.words import amount
from dpol.studies.games.collect import with_columns
from dpol.studies.games.names import TABLE_2
from dpol.studies.games.settings import columns_in_paper
from dpol.studies.games.study import STUDY
from dpol.studies.paper1.table_2 import COLUMNS, ORDER, column_pairs, table_2, verdict
from dpol.studies.study import Facts
from in_process import command
from paper_run import FACTS, REPLICATES, SUITES, VARIANT, frames
from pipeline import ROOT
from small_config import DELETED, changed

TREES = ["tree-ftpl-min-noise", "tree-ftpl-min-regret"]
COLUMNS_SHOWN = ["rw-meta", *TREES, "best-linear-model", "careful"]
LEVELS = [math.inf, 1.0, 0.25]


def table(*, facts: Facts = FACTS, **changes: Any) -> Table:
    """Return Table 2 of the run, with columns of its summary changed."""
    made = frames()
    return table_2(made | {"summary": made["summary"].assign(**changes)}, facts)


def rows_shown() -> pd.DataFrame:
    """Return the best row of the summary for each stream, level and column; ties by label."""
    rows = frames()["summary"].query("noise == 'isotropic'").sort_values("algorithm")
    best = rows.groupby(["stream", "mu", "column"])["mean_gain"].idxmax()
    return rows.loc[best].set_index(["stream", "mu", "column"])


def test_the_grey_rows_are_the_published_numbers() -> None:
    numbers = table().numbers
    paper = numbers[numbers["source"] == "paper"]
    published = pd.read_csv(REPORTED, keep_default_na=False, na_values=[""])
    same = paper[["stream", "column", "mu", "mean_gain", "ci_half_width"]]
    same = same.rename(columns={"column": "algorithm"}).reset_index(drop=True)
    # The run does not play μ = 0.5.
    published = published[published["mu"] != 0.5].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, published, check_dtype=False, check_exact=True)
    sizes = paper.groupby("stream", sort=False)["n_experts"].first()
    assert sizes.to_dict() == {"NM": 24, "PA": 146, "CA": 293}
    assert set(paper["n_rounds"]) == {148}


def test_a_line_has_the_numbers_of_a_level() -> None:
    shown = table()
    assert [column.title for column in shown.columns] == [
        *("RW-Meta", "Min Noise", "Min Regret", "best linear model", "careful, not in the paper")
    ]
    titles = [section.title for section in shown.sections]
    states = [f"{state}, in the paper" for state in ("New Mexico", "Pennsylvania", "California")]
    assert titles == ["A & B", "Bavaria", *states]
    cited = [group.cited for section in shown.sections for group in section.groups]
    assert cited == [False] * 2 + [True] * 3
    numbers = shown.numbers.set_index(["stream", "mu", "column"]).sort_index()
    for section, stream in zip(shown.sections, ("a", "b", "NM", "PA", "CA"), strict=True):
        own = section.groups[0].lines
        assert [label for label, _ in own] == ["μ = ∞", "μ = 1", "μ = 0.25"]
        for (_, cells), mu in zip(own, LEVELS, strict=True):
            rows = numbers.loc[stream, mu].reindex(COLUMNS_SHOWN)
            expected = [*map(amount, rows["mean_gain"], rows["ci_half_width"])]
            assert [cell.text.replace("—", "nan") for cell in cells] == expected
            if stream in FACTS.streams:
                assert cells[3].notes == (rows["algorithm"].iloc[3].removeprefix("ridge-"),)


STATE = {"reported": {"a": "PA", "b": None}}
THE_WEEKS = {
    "n_rounds": 148,
    "first_period": pd.Timestamp("2020-08-09"),
    "last_period": pd.Timestamp("2023-06-04"),
}
BOTH, HOSPITALS = "other weeks and hospitals", "same weeks, other hospitals"


@pytest.mark.parametrize(
    ("changes", "facts", "notes"),
    [
        ({}, {}, [BOTH] * 3),
        (THE_WEEKS, {}, [HOSPITALS] * 3),
        (THE_WEEKS | {"n_rounds": 147}, {}, [BOTH] * 3),
        (THE_WEEKS | {"first_period": pd.Timestamp("2020-08-07")}, {}, [BOTH] * 3),
        (THE_WEEKS | {"last_period": pd.Timestamp("2023-05-28")}, {}, [BOTH] * 3),
        (THE_WEEKS, STATE, [HOSPITALS, "same weeks, same state", HOSPITALS]),
        (THE_WEEKS, {"simulated": True}, ["real hospitals"] * 3),
    ],
)
def test_it_says_how_the_papers_data_differ(
    changes: dict[str, Any], facts: dict[str, Any], notes: list[str]
) -> None:
    shown = table(facts=replace(FACTS, **facts), **changes)
    assert [section.note.split("; ")[1] for section in shown.sections[2:]] == notes


def moved(gains: dict[str, float], spread: float = 0.0) -> dict[str, pd.DataFrame]:
    """Give each game these mean gains, and 0 to others; replicates differ by the spread."""
    made = frames()
    totals = made["totals"]
    apart = np.resize([-spread, spread], REPLICATES)[totals["replicate"]]
    gain = totals["algorithm"].astype(str).map(gains).fillna(0.0) + apart * (
        totals["algorithm"] == TREES[1]
    )
    means = made["summary"]["algorithm"].map(gains).fillna(0.0)
    return made | {
        "totals": totals.assign(total_gain=gain),
        "summary": made["summary"].assign(mean_gain=means, **THE_WEEKS),
    }


def test_the_verdict_says_what_is_reproduced() -> None:
    """In New Mexico at no privacy the paper has 43.91 > 40.14 > 26.48 > 13.38."""
    gains = {"rw-meta": 20.07, TREES[0]: 15.0, TREES[1]: 10.0, "ridge-w8-weak": 30.0}

    def told(changes: dict[str, float], spread: float = 0.0, **facts: Any) -> list[str]:
        found = verdict(moved(gains | changes, spread), replace(FACTS, **facts))
        assert found is not None
        assert len(f"{found.heading} {found.said}".split()) <= 80
        assert bool(found.why) == ((gains | changes)["rw-meta"] > 15)
        ranked, *said = found.said.split(". ")
        assert ranked.endswith(
            "best linear model (picked afterwards), RW-Meta (the paper’s method), Min Noise,"
            " Min Regret"
        )
        return [found.heading, *said]

    state = {"reported": {"a": "NM", "b": None}}
    yes = "Reproduced: the order of 4 columns at 3 levels in 36 of 36 decided pairs"
    other = "Total gains are not comparable: other hospitals."
    assert told({}) == [yes, other]
    # 20.07 are 50% of 40.14 and 89% of 22.46.
    assert told({}, **state)[1] == "Total gains of RW-Meta are 50 to 89% of the paper’s."
    assert told({}, **state, simulated=True)[1].endswith("hospitals are simulated.")
    no = "Not reproduced: the order of 4 columns at 3 levels in 30 of 36 decided pairs"
    assert told({"rw-meta": 12.0}) == [
        *(no, "Reversed: RW-Meta and Min Noise in 6 of 6 cases", other)
    ]
    equal = "Equal: best linear model and RW-Meta in 6 of 6 cases"
    assert told({"ridge-w8-weak": 20.07}) == [no, equal, other]
    wide = told({}, spread=10.0)
    assert wide[0] == f"{yes.replace('36', '18')} (18 undecided)"
    assert wide[1].startswith("Undecided: ")
    assert told({"rw-meta": 12.0}, spread=10.0)[0].startswith("Not reproduced: ")
    assert table_2(moved(gains), FACTS).footers[2].startswith(f"{yes}. Table 2 ranks")
    alone = replace(FACTS, streams={"a": "A & B"})
    found = verdict(moved(gains, 10.0), alone)
    assert found is not None
    assert re.search(r"Undecided: .* at μ = ∞, μ = 1 and μ = 0\.25[, ]", found.said)


def test_below_it_stand_the_ratios_that_the_paper_tells_and_the_best_linear_models() -> None:
    """The shares of RW-Meta in the best linear model are 86.8% to 91.4% in the paper's table."""
    gains = {"rw-meta": 20.0, "ridge-w8-weak": 25.0, "rw-ftpl": 16.0}
    made = moved(gains)
    summary = made["summary"]
    of_a = (summary["algorithm"] == "ridge-w64-strong") & (summary["stream"] == "a")
    summary.loc[of_a & (summary["mu"] == 1.0), "mean_gain"] = 40.0
    classical = summary[summary["algorithm"] == "rw-meta"].assign(algorithm="rw-ftpl", column="")
    classical = classical.assign(mean_gain=16.0, exhibit="")
    with_ftpl = made | {"summary": pd.concat([summary, classical], ignore_index=True)}
    *_, beside, share = table_2(with_ftpl, FACTS).footers[:5]
    levels = "1.25 (μ = ∞), 1.25 (μ = 1), 1.25 (μ = 0.25)"
    assert beside == f"Gain of RW-Meta divided by that of RW-FTPL, which it extends: {levels}."
    assert share == (
        "Gain of RW-Meta as a share of that of the best linear model: 80.0% (μ = ∞),"
        " 50.0% to 80.0% (μ = 1), 80.0% (μ = 0.25). The paper says about 90%, and its table has"
        " 86.8% to 91.4%. The best linear model is w8-weak at μ = ∞; w64-strong and w8-weak at"
        " μ = 1; w8-weak at μ = 0.25."
    )


def test_without_the_papers_question_its_numbers_are_not_beside_those_of_the_run() -> None:
    other = replace(FACTS, asks_the_papers=False, reported={"a": "NM", "b": None})
    shown = table(facts=other)
    assert not any(group.cited for section in shown.sections for group in section.groups)
    assert set(shown.numbers["source"]) == {"run"}
    assert "grey" not in " ".join(shown.footers).lower()
    assert verdict(frames(), other) is None
    assert "(other question: not comparable)." in shown.footers[0]
    assert "suppressed" not in " ".join(shown.footers)
    asked = table()
    assert "not comparable" not in asked.footers[0]
    assert asked.footers[3].startswith("Gain of RW-Meta as a share of that of")
    assert (
        "best linear model: of 12 linear models, the one with the largest mean" in asked.footers[4]
    )


def gains_of_runs() -> pd.DataFrame:
    """Return the total gains of all replicates by stream, level and algorithm."""
    totals = frames()["totals"].query("noise == 'isotropic'")
    key = ["stream", "mu", "algorithm"]
    return totals.pivot_table("total_gain", key, "replicate", observed=True)


def half_of(sample: Any, intervals: int) -> Any:
    factor = scipy.stats.t.ppf(1 - 0.05 / 2 / intervals, REPLICATES - 1) / math.sqrt(REPLICATES)
    return factor * np.std(sample, ddof=1)


def test_the_csv_has_the_best_rows_of_the_summary_and_rows_of_the_paper_alone() -> None:
    numbers, best = table().numbers, rows_shown()
    run, paper = (numbers[numbers["source"] == it] for it in ("run", "paper"))
    assert len(run) + len(paper) == len(numbers)
    run = run.set_index(best.index.names)
    shared = [it for it in COLUMNS if it in best]
    assert {*COLUMNS} - {*shared} == {*run.index.names, "source", "stream_title"}
    pd.testing.assert_frame_equal(run[shared].sort_index(), best[shared], check_dtype=False)
    assert {column for *_, column in run.index} == {*COLUMNS_SHOWN}
    # 3 levels, 2 streams: Table 2 with the variant, and RW-Meta and ridge with the other noise.
    assert {*run["ci_comparisons"]} == {6 * (3 + 12 + 1) + 6 * (1 + 12)}
    assert {*run["replicates"]} == {REPLICATES}
    unknown = ["noise", "model", "origin", "ci_comparisons", "uniform_gain", "best_fixed_gain"]
    unknown += ["oracle_gain", "gain_share", "simulated"]
    assert [it for it in COLUMNS if paper[it].isna().all()] == unknown


def test_noise_without_privacy_is_noted() -> None:
    """Min Regret adds noise at every level."""
    assert "Min Regret: adds noise even where no privacy is requested." in table().footers


# ---- runs without it -----------------------------------------------------------------------------

CHANGED = [
    {"algorithm": "rw-meta", "label": "rw-meta", "exploration_floor": 0.5},
    {"algorithm": "ridge", "windows": [8, 16, 32]},
    {"algorithm": "ridge", "windows": [64]},
]


@pytest.mark.parametrize(
    ("suites", "lacking"),
    [
        ({"more": {"algorithms": [VARIANT]}}, ""),
        (
            {"local": SUITES["local"] | {"noises": ["capacity"]}},
            "rw-meta, ridge-w8-weak, ridge-w8-medium and 10 others",
        ),
        ({"central": {"algorithms": [TREES[0]]}}, TREES[1]),
        ({"local": {"algorithms": CHANGED}}, "rw-meta"),
        (
            {"local": {"algorithms": ["rw-meta", {"algorithm": "ridge", "windows": [8, 16, 32]}]}},
            "ridge-w64-weak, ridge-w64-medium and ridge-w64-strong",
        ),
    ],
)
def test_a_run_without_it_says_that_it_is_left_out(
    suites: dict[str, Any], lacking: str, tmp_path: Path
) -> None:
    raw: dict[str, Any] = yaml.safe_load((ROOT / "config/simulated.yaml").read_text())
    raw |= {"suites": SUITES | suites, "report": {"algorithms": [TREES[0]]}}
    main = parse_experiment(raw, "my.yaml").games
    several = replace(FACTS, questions={"one": "One", "two": "Two"})
    for facts, shows in ((FACTS, not lacking), (several, False)):
        names = [section.name for section in STUDY.sections_of(main, facts)]
        assert names.count("paper") == shows
    said = (
        f"no Table 2 and no Figure 2: no suite plays {lacking} as the paper does; a variant needs"
    )
    said = [f"{said} a label of its own"] if lacking else []
    for file, sensitivity, left_out in (("my.yaml", 1, said), ("other.yaml", 2, [])):
        raw["privacy"]["count_sensitivity"] = sensitivity
        (tmp_path / file).write_text(yaml.safe_dump(raw))
        code, out, _ = command("config", "check", tmp_path / file)
        told = [line.removeprefix(f"{tmp_path / file}: ") for line in out.splitlines()]
        assert (code, told[1:]) == (0, left_out), "of the paper's question alone"


# ---- the order of its columns, by paired differences ---------------------------------------------


def test_the_order_is_that_of_every_line_of_the_paper() -> None:
    for _, line in load_reported().groupby(["stream", "mu"]):
        assert tuple(line.sort_values("mean_gain", ascending=False)["algorithm"]) == ORDER


def test_differences_are_paired_and_allow_for_the_choice_of_the_largest() -> None:
    pairs = column_pairs(frames()["summary"], frames()["totals"])
    assert {*zip(pairs["column"], pairs["other"], strict=True)} == {*combinations(ORDER, 2)}
    assert len(pairs) == 2 * 3 * 6
    gains = gains_of_runs()
    linear = [it for it in gains.index.unique("algorithm") if it.startswith("ridge")]
    # Three pairs of single algorithms, and twelve linear models against each of three.
    intervals = 2 * 3 * (3 + 12 * 3)
    for row in pairs.itertuples():
        one = linear if row.column == "best-linear-model" else [row.column]
        other = gains.loc[row.stream, row.mu, row.other]
        apart = [gains.loc[row.stream, row.mu, name] - other for name in one]
        for name, sign in (("lower", -1), ("difference", 0), ("upper", 1)):
            ends = [it.mean() + sign * half_of(it, intervals) for it in apart]
            assert getattr(row, name) == pytest.approx(max(ends))


def test_runs_without_the_papers_columns_have_no_pairs() -> None:
    summary, totals = frames()["summary"], frames()["totals"]
    for without in (summary.query("column == 'rw-meta'"), summary.assign(variant=True)):
        assert column_pairs(without, totals).empty


# ---- which column shows a game -------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        {"algorithm": "ridge", "windows": [5]},
        "persistence",
    ],
)
def test_what_is_no_variant_of_the_papers_algorithms_has_no_column(entry: object) -> None:
    """The run above has the columns of the paper's algorithms and of a variant."""
    assert {*columns_in_paper(make_members(entry), "isotropic")} == {("", False)}


@pytest.mark.parametrize(
    ("changes", "beside"),
    [
        ({}, []),
        ({"mine": ["persistence", "rw-adabatch"]}, ["persistence", "rw-adabatch"]),
        ({"local": ["rw-meta", "ridge", "rw-ftpl"]}, ["rw-meta", "rw-ftpl"]),
    ],
)
def test_what_a_config_plays_itself_is_beside_the_paper(
    changes: dict[str, list[str]], beside: list[str]
) -> None:
    noises = ["isotropic-constant"]
    own = {label: {"noises": noises, "algorithms": names} for label, names in changes.items()}
    suites = {"local": None, "central": None} if "mine" not in changes else {"central": None}
    config = parse_experiment(changed({"suites": suites | own, "report": DELETED}), "x")
    assert config.games.beside == beside
    again = parse_experiment(config.whole(), "x")
    assert again.games.beside == beside, "also of a config whose defaults are written out"
    named = config.whole() | {"report": {"algorithms": ["tree-ftpl-min-noise"]}}
    assert parse_experiment(named, "x").games.beside == ["tree-ftpl-min-noise"]


def test_an_algorithm_without_the_papers_noise_has_a_column_that_names_its_own() -> None:
    rows = [
        ("rw-meta", "isotropic", "rw-meta", 1.0),
        ("both", "isotropic", "", 1.0),
        ("both", "capacity", "", 1.0),
        ("other", "capacity", "", 1.0),
        ("weak", "isotropic", "", 2.0),
        ("unnamed", "isotropic", "", 1.0),
    ]
    cells = pd.DataFrame(rows, columns=["algorithm", "noise", "column", "guaranteed_mu"])
    cells = cells.assign(mu=1.0, exhibit="", variant=False)
    made = with_columns(cells, ["rw-meta", "both", "other", "weak"])
    assert made["column"].tolist() == ["rw-meta", "both", "", "other, capacity noise", "", ""]
    assert made["variant"].tolist() == [False, True, False, True, False, False]
    assert made["exhibit"].eq(TABLE_2).tolist() == made["variant"].tolist()
