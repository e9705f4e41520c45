"""The answer of a run: one best system and one number everywhere, in at most three sentences."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.core.schemas import write_frame
from dpol.report.door import read_crate
from dpol.report.lead import Answer, answer_of, game_of
from dpol.show.rendering import write_table
from dpol.studies.league.figure import draw_privacy_utility
from dpol.studies.league.systems import BEST, NOT_TOLD_APART, name_system
from dpol.studies.league.table import league_table
from dpol.studies.paper1.table_2 import Verdict
from dpol.studies.study import Facts, schemas_in
from legible import lines, points
from report.run_by_hand import answered, complete, config, page, record
from standings_by_hand import Row, at_levels, frames_of, played, standings_of
from tables_by_hand import INF, run, summary

LEVELS = INF, 1.0, 0.25
FACTS = replace(config().facts, streams={"nm": "Here"}, levels=LEVELS)
TWO = replace(FACTS, streams={"nm": "Here", "pa": "There"})
GAINS = {"source": {"kind": "gains", "file": "t.csv", "sensitivity": 1.0}}
PAPER = Verdict("Reproduced: the order of the columns in 6 of 6 decided pairs", "", "")
SCALE = "(0: a random choice; 100: the best of every week)"
# Phi(1 / 8) = 0.5497.
ATTACK = (
    "An attacker who knows all else is right about one person in one week at most 55% of the time"
    " (a coin: 50%)."
)


def told(
    rows: list[Row], facts: Facts = FACTS, verdict: Verdict | None = None, **asked: Any
) -> Answer:
    changes = {key: asked.pop(key) for key in ("dataset", "gain") if key in asked}
    frames = frames_of(standings_of(rows, **asked))
    return answer_of(frames, facts, config(**changes), verdict)


def said(*args: Any, **asked: Any) -> list[str]:
    """Return the answer at each level."""
    return [text for text, _ in told(*args, **asked).texts]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.) (?=[A-Z0-9])", text)


# --- Drawn runs ---

KINDS: tuple[Row, ...] = (
    {"algorithm": "rw-meta"},
    {"algorithm": "rw-meta", "noise": "capacity"},
    {"algorithm": "rw-ftpl"},
    {"algorithm": "persistence", "noise": "capacity"},
    {"algorithm": "ridge-w8-weak", "family": "ridge"},
    {"algorithm": "mine", "origin": "other", "variant": True},
    {"algorithm": "tree-ftpl-min-noise", "model": "central"},
    {"algorithm": "rw-adabatch", "guaranteed_mu": 2.0, "mu_carried": 4.0},
)


def drawn(seed: int, streams: list[str]) -> list[Row]:
    """Draw twelve runs of each system; without noise, an algorithm gains one number."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in KINDS if kind["algorithm"] == "rw-meta" or rng.random() < 0.8]
    rows = []
    for stream in streams:
        free = {kind["algorithm"]: rng.uniform(20, 60) for kind in kinds}
        for kind, mu in product(kinds, LEVELS):
            middle = free[kind["algorithm"]] if mu == INF else rng.uniform(5, 55)
            totals = middle + (mu < INF) * rng.normal(0, 4, 12)
            rows.append(run(**kind, mu=mu, gain=0.0, stream=stream, totals=[*totals]))
    return rows


def at(mu: float, name: str) -> str:
    """Return the name of a system without its mark, and at mu = inf without its noise."""
    name = name.removesuffix(" †")
    return name.partition(" with ")[0] if mu == INF else name


@pytest.mark.parametrize("verdict", [None, PAPER])
@pytest.mark.parametrize("seed", range(4))
def test_one_best_system_and_one_number_are_everywhere(
    folder: Path, tmp_path: Path, seed: int, verdict: Verdict | None
) -> None:
    """On the page, in the crate, from which the terminal has it, in the chart and in the table."""
    streams = ["nm", "pa"][: 1 + seed % 2]
    rows = drawn(seed, streams)
    frames = {"standings": standings_of(rows, apart=True), "summary": summary(rows)}
    asked: dict[str, Any] = {"streams": {it: {"groups": [it]} for it in streams}}
    asked["privacy"] = {"levels": [*LEVELS]}
    settings, hand = config(**asked), shutil.copytree(folder, tmp_path / "hand")
    for name, frame in frames.items():
        study = {"standings": "league", "summary": "games"}[name]
        schema = schemas_in(f"dpol.studies.{study}")[name]
        write_frame(complete(frame, schema), hand / f"{name}.parquet")
    table = league_table(frames, settings.facts)
    write_table(table, hand / "tables/league.csv")
    text = page(hand, verdict=verdict, **asked)
    answer = answered(hand, settings, verdict)
    record(hand, answer=answer.lines, **asked)
    assert read_crate(hand).answer == answer.lines
    assert f'<p class="lead" aria-live="polite">{answer.lines[-1]}</p>' in text
    (data,) = re.findall(r'id="answer-data">(.*?)</script>', text)
    charted = {it["name"]: it["points"] for it in json.loads(data)["panels"][0]["lines"]}
    assert len(charted) <= 4, "and the line of the best fixed expert"
    figure = draw_privacy_utility(frames, settings.facts)
    written = pd.read_csv(hand / "tables/league.csv").query("best")
    written = written.drop_duplicates("mu").set_index("mu")  # means over streams come first
    for place, mu in enumerate(LEVELS):
        cells = {
            at(mu, title): own[place]
            for title, own in chain.from_iterable(it.lines for it in table.sections[0].groups)
            if {"the best", NOT_TOLD_APART} & {*own[place].notes}
        }
        (best,) = [name for name, cell in cells.items() if "the best" in cell.notes]
        share, _, words, name = charted[BEST][place]
        assert best == at(mu, name) == at(mu, name_system(written.loc[mu]))
        assert cells[best].text == words
        assert written.loc[mu, "gain_share"] == pytest.approx(share, abs=1e-6)
        if len(streams) == 1:  # else a panel for each
            drawn_at = points(lines(figure.axes[0])[BEST])[place]
            assert drawn_at == pytest.approx((place, share), abs=1e-6)
        assert (words in figure.get_label()) == (mu != 1.0), "the finding"
        lead, _ = answer.texts[place]
        assert len(sentences(" ".join([*answer.lines[:-1], lead]))) <= 3
        assert lead.count("%") == 2 * ("at most" in lead), "an attacker's and that of a coin"
        if verdict:
            assert f"picked in hindsight, {100 * share:.0f}. " in lead
        else:
            ((rule, kept),) = re.findall(r"^At .*, (.*?) keeps (-?\d+) of 100 points", lead)
            assert f"{100 * cells[at(mu, rule)].order:.0f}" == kept
            others = re.findall(r"\((\d+) others? (?:is|are) not either\)", lead) or ["0"]
            assert int(*others) == len(cells) - 1


# --- By hand ---


def test_a_run_of_the_paper_tells_of_its_systems_and_of_the_best_in_hindsight() -> None:
    answer = told(played(), verdict=PAPER)
    assert answer.led == ("persistence", "capacity", 0.25), "which the replay begins with"
    assert answer.lines == [
        f"{PAPER.heading}.",
        f"At μ = 0.25, RW-Meta keeps 10 of 100 points {SCALE}, RW-FTPL keeps 10, the best fixed"
        " expert 50, and the best system without a curator, picked in hindsight, 40."
        f" {ATTACK}",
    ]
    rows = [it for it in played() if it["algorithm"] not in ("rw-meta", "rw-ftpl")]
    same = {"best_fixed_gain": 0.0, "oracle_gain": 0.0}
    assert "the best fixed expert" not in said([it | same for it in rows], verdict=PAPER)[0]


def test_a_table_of_ones_own_names_the_simplest_rule_and_what_privacy_costs_it() -> None:
    """Not the best in hindsight; the same system without noise gains 30 of 60, another one 36."""
    free, low, high = said(played())
    cost = 100 * (30 - 24) / 148
    assert high == (
        f"At μ = 0.25, persistence with capacity noise † keeps 40 of 100 points {SCALE}, and always"
        f" North 50. It is the simplest rule that is {NOT_TOLD_APART} (1 other is not either), and"
        f" privacy costs it {cost:.1f} exact c per 100 k a week. {ATTACK}"
    )
    assert "is not either" not in low
    assert "costs" not in free
    ridge = at_levels("ridge-w8-weak", 36.0, 42.0, 24.3, family="ridge")
    rows = [*ridge, *at_levels("persistence", 30.0, 36.0, 24.0, noise="capacity")]
    for row in rows[2::3]:
        row["totals"] = [row["mean_gain"] + (-1) ** k for k in range(10)]
    rows[2]["totals"].reverse()
    assert "persistence with capacity noise † keeps 40 " in said(rows)[2], "ridge keeps 40.5"
    assert "ridge-w8-weak with isotropic noise keeps 70 " in said(rows)[1]


def test_the_cost_has_the_interval_of_both_games_in_the_unit_of_the_count() -> None:
    """Possible gains differ: half of 60 and of 600 are 330, a mean of 165 in 148 rounds."""
    rows = at_levels("persistence", 60.0, 45.0, 30.0)
    large = {"stream": "pa", "oracle_gain": 600.0, "best_fixed_gain": 300.0}
    rows += [it | large | {"mean_gain": 10 * it["mean_gain"]} for it in rows]
    cost = 100 * (30 + 300) / 2 / 148
    for changes, expected in (
        ({}, f"{cost:.1f} exact c per 100 k a week"),
        ({"dataset": GAINS}, f"{cost:.1f} exact hundredths of a gain a round"),
        ({"gain": {"of": "count", "bound": 40}}, f"{0.4 * cost:.1f} exact c a week"),
    ):
        assert f"privacy costs it {expected}." in said(rows, TWO, apart=True, **changes)[2]
    assert f"privacy costs it {100 * 30 / 148:.1f} exact c" in said(rows, TWO)[2], "of the first"
    noisy = at_levels("persistence", 54.0, 48.0, 36.0)
    noisy = [it | {"totals": [it["mean_gain"] + (-1) ** k for k in range(20)]} for it in noisy]
    halves = standings_of(noisy)["gain_share_half_width"] * 60
    both = 100 * (halves[0] + halves[2]) / 148
    assert f"privacy costs it 12.2 ± {both:.1f} c per" in said(noisy)[2]
    assert both > 0.5


def test_below_ten_runs_the_answer_says_that_they_are_too_few() -> None:
    rows = [it | {"totals": [it["mean_gain"]] * 9} for it in played()]
    few = f"9 runs are too few to say which systems are {NOT_TOLD_APART} (10 do). Raise replicates."
    assert said(rows)[2] == f"{few} {ATTACK}"
    swings = [run("rw-meta", 1.0, 0, totals=[60.0, -12.0] * 5)]
    free, low, _ = said(swings)
    assert free == "No private system was played at no privacy (μ = ∞)."
    assert low.startswith("10 runs cannot tell rw-meta with isotropic noise from a random choice. ")


def test_means_over_streams_lead_where_people_differ_and_of_questions_the_first() -> None:
    rows = [*played(), *played("pa")]
    means, one = (said(rows, TWO, apart=apart)[1] for apart in (True, False))
    assert "of 100 points on average over 2 streams (0:" in means
    assert "of 100 points in Here (0:" in one
    asked = {"nm": "share", "pa": "patients"}
    facts = replace(TWO, questions={it: it for it in asked.values()})
    rows = [run("rw-meta", 1.0, gain, stream=it) for it, gain in {"nm": 30.0, "pa": 6.0}.items()]
    assert f"keeps 50 of 100 points in Here {SCALE}" in said(rows, facts, questions=asked)[1]


def test_below_the_answer_stands_what_nobody_measured_and_a_caveat() -> None:
    some = {"unmeasured_periods": 13, "unmeasured_share": 0.06}
    rows = [it | some for it in played()]
    dataset = config().dataset.model_copy(update={"caveat": "Zeros may hide counts."})
    (_, rest), *_ = told(rows, dataset=dataset).texts
    assert rest == (
        "In 13 of 148 weeks, with 6% of the possible gain, nobody measured the best number. Zeros"
        " may hide counts. †: not in the papers."
    )
    (_, rest), *_ = told([*rows, *played("pa")], TWO).texts
    assert rest.startswith("In 1 of 2 streams, nobody measured the best number of weeks with more")
    assert "measured" not in told(played()).texts[0][1]


def test_the_game_is_told_in_the_words_of_the_table() -> None:
    assert game_of(config()) == (
        "Each week an algorithm picks one e from earlier, noisy numbers, and gains that e’s c"
        " divided by its k."
    )
    gains = "Each round an algorithm picks one expert from earlier, noisy gains."
    assert game_of(config(dataset=GAINS)) == gains
