"""The table of risks of learning a distribution from locally private labels."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pandas as pd

from dpol.show.papers import DISTRIBUTIONS
from dpol.show.table import (
    Entry,
    Section,
    Table,
)
from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.registry import variants
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.study import BY_RUN, COLUMNS
from dpol.studies.labels.table import labels
from dpol.studies.study import Facts

ROOT = Path(__file__).parents[3]
LEARNERS = list(variants())
HEADERS = (
    "private WMA, exact †",
    "private WMA, published",
    "private EXP3, exact †",
    "private EXP3, published",
    "EXP3 messages, Bayes learner †",
    "membership response †",
    "randomised response",
    "Bayes, no privacy",
)
SETTINGS = [
    # sweep, class, K, M, T, epsilon
    ("rounds", "random", 4, 100, 30_000, 4.0),
    ("rounds", "hard", 4, 8, 30_000, 4.0),
    ("rounds", "random", 4, 100, 1000, 4.0),
    ("rounds", "hard", 4, 8, 1000, 4.0),
    ("labels", "random", 4, 10_000, 30_000, 4.0),
    ("labels", "random", 4, 10, 30_000, 4.0),
    ("hypotheses", "random", 16, 100, 30_000, 4.0),
    ("epsilons", "random", 4, 100, 30_000, 0.5),
    ("hospitals", "PA", 5, 146, 2000, 4.0),
    ("hospitals", "NM", 5, 24, 2000, 4.0),
    ("hospitals", "PA", 5, 146, 2000, 0.25),
    ("hospitals", "NM", 5, 24, 2000, 0.25),
]


def risk(setting: int, learner: int) -> float:
    """A number that tells its row from all others."""
    return 100 * setting + 10 * learner + 1.2


def table(*without: str) -> pd.DataFrame:
    rows = []
    for (number, setting), (place, learner) in itertools.product(
        enumerate(SETTINGS), enumerate(LEARNERS)
    ):
        sweep, hypotheses, K, M, T, epsilon = setting
        if sweep in without:
            continue
        rows.append(
            {
                "sweep": sweep,
                "hypotheses": hypotheses,
                "algorithm": learner[0],
                "sensitivity_rule": learner[1],
                "K": K,
                "M": M,
                "T": T,
                "epsilon": epsilon,
                "delta": 1e-5 if learner[0] == "wma" else 0.0,
                "guaranteed_epsilon": math.inf if learner[0] == "bayes" else epsilon,
                "replicates": 7,
                "mean_kl_risk": risk(number, place),
                "kl_runs": [risk(number, place) * share for share in (0.75, 1.5, 0.5)],
                "mean_log_loss": 2 + risk(number, place) / T,
                "best_kl": 1000.0 if sweep == "hospitals" else math.nan,
                "informative_from": crossing(*learner, K, epsilon, sweep),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def crossing(name: str, rule: SensitivityRule, K: int, epsilon: float, sweep: str) -> float:
    if name not in ("wma", "exp3") or sweep == "hospitals":
        return math.nan
    return 1.25e5 * K / epsilon + (rule == "published") * 3e7


def drawn(risks: pd.DataFrame, *, simulated: bool = True) -> Table:
    return labels({"labels": risks}, Labels(), Facts({}, simulated, 0.95))


def cells_of(section: Section) -> dict[tuple[str, str], tuple[Entry, ...]]:
    return {
        (group.title, label): entries for group in section.groups for label, entries in group.lines
    }


def test_sections_groups_and_lines_are_what_was_run() -> None:
    shown = drawn(table())
    assert shown.headers == HEADERS
    layout = [(section.note, list(cells_of(section))) for section in shown.sections]
    random, hard = "random: K = 4, M = 100, ε = 4", "hard: K = 4, M = 8, ε = 4"
    PA, NM = "PA: K = 5, M = 146, T = 2,000", "NM: K = 5, M = 24, T = 2,000"
    held = "any that has the truth"
    assert layout == [
        (
            "against T",
            [(title, f"T = {T}") for title in (random, hard) for T in ("1,000", "30,000")],
        ),
        ("against M", [("random: K = 4, T = 30,000, ε = 4", f"M = {M}") for M in (10, "10,000")]),
        ("against K", [("random: M = 100, T = 30,000, ε = 4", "K = 16")]),
        ("against ε", [("random: K = 4, M = 100, T = 30,000", "ε = 0.5")]),
        ("simulated hospitals", [(t, f"ε = {e}") for t in (PA, NM) for e in (0.25, 4)]),
        ("Theorems 4, 5", [(held, f"K = {K}, ε = {e}") for K, e in ((4, 0.5), (4, 4), (16, 4))]),
    ]


def test_every_risk_is_in_its_own_cell() -> None:
    shown = [cells_of(section) for section in drawn(table()).sections]
    found = [  # in the order of the settings
        shown[0]["random: K = 4, M = 100, ε = 4", "T = 30,000"],
        shown[0]["hard: K = 4, M = 8, ε = 4", "T = 30,000"],
        shown[0]["random: K = 4, M = 100, ε = 4", "T = 1,000"],
        shown[0]["hard: K = 4, M = 8, ε = 4", "T = 1,000"],
        shown[1]["random: K = 4, T = 30,000, ε = 4", "M = 10,000"],
        shown[1]["random: K = 4, T = 30,000, ε = 4", "M = 10"],
        shown[2]["random: M = 100, T = 30,000, ε = 4", "K = 16"],
        shown[3]["random: K = 4, M = 100, T = 30,000", "ε = 0.5"],
    ]
    for number, entries in enumerate(found):
        for learner, entry in enumerate(entries):
            mean = risk(number, learner)
            digits = 0 if mean >= 100 else 1
            span = f"{mean / 2:.{digits}f} to {mean * 1.5:,.{digits}f}"
            assert entry == Entry(f"{mean:.{digits}f}", (span,))
    assert found[2][0].text == "201"
    assert found[0][0] == Entry("1.2", ("0.6 to 1.8",))


def test_hospitals_by_hand() -> None:
    """PA at 4 is setting 8: the first learner has (801.2 - 1000) / 2000; its runs half and 3/2."""
    cells = cells_of(drawn(table()).sections[4])
    first = cells["PA: K = 5, M = 146, T = 2,000", "ε = 4"][0]
    assert first == Entry("-0.0994", ("-0.2997 to +0.1009", "log loss 2.4006"))
    # NM at 0.25 is setting 11, and the Bayes mixture the eighth learner: 1171.2.
    last = cells["NM: K = 5, M = 24, T = 2,000", "ε = 0.25"][-1]
    assert last == Entry("+0.0856", ("-0.2072 to +0.3784", "log loss 2.5856"))


def test_the_first_informative_rounds_are_shown_to_two_digits() -> None:
    """1.25e5 K / epsilon, and 3e7 more as published."""
    cells = cells_of(drawn(table()).sections[5])
    found = {label: [entry.text for entry in entries] for (_, label), entries in cells.items()}
    none = ["—"] * 4
    assert found == {
        "K = 4, ε = 0.5": ["1.0 × 10^6", "3.1 × 10^7"] * 2 + none,
        "K = 4, ε = 4": ["1.2 × 10^5", "3.0 × 10^7"] * 2 + none,
        "K = 16, ε = 4": ["5.0 × 10^5", "3.0 × 10^7"] * 2 + none,
    }


def test_cells_whose_privacy_is_not_covered_are_marked() -> None:
    rows = table()
    chosen = (rows["algorithm"] == "exp3") & (rows["sensitivity_rule"] == "published")
    rows.loc[chosen & (rows["T"] == 1000), "guaranteed_epsilon"] = 4.0816
    rows.loc[chosen & (rows["sweep"] == "hospitals"), "guaranteed_epsilon"] *= 1.05
    shown = drawn(rows)
    noted = [
        (section.note, header, entry.notes[-1])
        for section in shown.sections
        for entries in cells_of(section).values()
        for header, entry in zip(shown.headers, entries, strict=True)
        if any("only" in note for note in entry.notes)
    ]
    expected = [("against T", "only ε = 4.082")] * 2
    expected += [("simulated hospitals", f"only ε = {it}") for it in (0.2625, 4.2)] * 2
    assert noted == [(where, "private EXP3, published", note) for where, note in expected]


def test_what_was_not_run_is_left_out() -> None:
    only = drawn(table("rounds", "labels", "hypotheses"))
    assert [section.note for section in only.sections] == [
        "against ε",
        "simulated hospitals",
        "Theorems 4, 5",
    ]
    hospitals = drawn(table("rounds", "labels", "hypotheses", "epsilons"))
    assert [section.note for section in hospitals.sections] == ["simulated hospitals"]
    rows = table("hospitals")
    some = drawn(rows[rows["algorithm"] != "wma"])
    assert some.headers == HEADERS[2:]
    assert "WMA has" not in " ".join(some.footers)
    assert [section.note for section in some.sections][-1] == "Theorems 4, 5"
    gone = (rows["algorithm"] == "membership") & (rows["sweep"] == "epsilons")
    dash = drawn(rows[~gone]).sections[3].groups[0].lines[0][1]
    assert [entry.text == "—" for entry in dash] == [number == 5 for number in range(8)]


def test_the_privacy_of_every_learner_is_told_as_it_is() -> None:
    rows = table()
    rows.loc[rows["algorithm"] == "membership", "delta"] = 1e-4
    rows.loc[rows["algorithm"] == "randomised-response", "guaranteed_epsilon"] = math.inf
    text = " ".join(drawn(rows).footers)
    assert (
        "; private WMA has δ = 1e-05, membership response † has δ = 0.0001, all others δ = 0. “only"
        in text
    )
    assert "but for “randomised response”, “Bayes, no privacy”, which see the labels;" in text
    of_bayes = " ".join(drawn(table()).footers)
    assert "line, but for “Bayes, no privacy”, which sees the labels; private WMA has δ" in of_bayes


def test_footers_record_the_privacy_and_what_is_ours() -> None:
    text = " ".join(drawn(table()).footers)
    for words in (
        "7 runs",
        "the smallest and the largest of the 7, which is not a confidence interval",
        "local model",
        "one person's label in one round",
        "two labels of the same round",
        "WMA has δ = 1e-05",
        "“only ε”",
        "simulated, not measured",
        DISTRIBUTIONS,
        "†: ours, not in the paper: the exact sensitivity and composition; EXP3 messages",
    ):
        assert words in text
    real = drawn(table(), simulated=False)
    assert "simulated" not in " ".join((*real.footers, *(s.note for s in real.sections)))


def test_the_numbers_behind_the_table_have_no_lists() -> None:
    rows = table()
    numbers = labels({"labels": rows}, Labels(), Facts({}, True, 0.95)).numbers
    pd.testing.assert_frame_equal(numbers, rows.drop(columns=list(BY_RUN)))


def test_the_order_of_the_rows_does_not_matter_within_a_class() -> None:
    rows = table()
    mixed = rows.sort_values(["epsilon", "T"], kind="stable")
    assert drawn(mixed) == drawn(rows)
