from __future__ import annotations

import math

import pandas as pd

from dpol.show.table import Section, Table, TableCell
from dpol.studies.paper3.settings import Labels
from dpol.studies.paper3.table import labels_table
from studies.paper3.by_hand import FACTS, SETTINGS, SIMULATED, risk, table

RANDOM = "random: K = 4, M = 100, ε = 4"
PA = "PA: K = 5, M = 146, T = 1,000"


def drawn(risks: pd.DataFrame, *, simulated: bool = True) -> Table:
    return labels_table({"labels": risks}, Labels(), SIMULATED if simulated else FACTS)


def cells_of(section: Section) -> dict[tuple[str, str], tuple[TableCell, ...]]:
    return {
        (group.title, label): entries for group in section.groups for label, entries in group.lines
    }


def test_every_risk_is_in_its_own_cell() -> None:
    shown = {at: cell for part in drawn(table()).sections for at, cell in cells_of(part).items()}
    for number, (sweep, kind, *facts, features) in enumerate(SETTINGS):
        K, M, T, epsilon = (f"{value:,g}" for value in facts)
        parts = {"hypotheses": f"K = {K}", "labels": f"M = {M}", "rounds": f"T = {T}"}
        parts["epsilons"] = f"ε = {epsilon}"
        swept = "epsilons" if sweep == "hospitals" else sweep
        line = features if swept == "features" else parts.pop(swept)
        entries = shown[f"{kind}: {', '.join(parts.values())}", line]
        for learner, entry in enumerate(entries):
            mean = risk(number, learner)
            if sweep == "hospitals":
                ends = [f"{(kl - 50) / 1000:+.4f}" for kl in (mean, 0.0, 2.25 * mean)]
                extra = (f"log loss {2 + mean / 1000:.4f}",)
            else:
                digits = 0 if mean >= 100 else 1
                ends = [f"{kl:,.{digits}f}" for kl in (mean, 0.0, 2.25 * mean)]
                extra = ()
            assert entry == TableCell(ends[0], (f"{ends[1]} to {ends[2]}", *extra))
    assert shown[RANDOM, "T = 10,000"][0] == TableCell("10.0", ("0.0 to 22.5",))
    assert shown[RANDOM, "T = 10,000"][4] == TableCell("100", ("0 to 225",))
    # 10 (1 + 17 / 50) nats in 1,000 rounds, compared with 50 of the best forecast.
    assert shown[PA, "ε = 4"][0] == TableCell("-0.0366", ("-0.0500 to -0.0198", "log loss 2.0134"))


def test_the_first_informative_rounds_are_shown_to_two_digits() -> None:
    """They are 1.25e5 K / epsilon, and 3e7 more for the published rule."""
    cells = cells_of(drawn(table()).sections[6])
    shown = {label: [entry.text for entry in entries] for (_, label), entries in cells.items()}
    for label, exact, published in (
        ("K = 4, ε = 0.5", "1.0 × 10^6", "3.1 × 10^7"),
        ("K = 4, ε = 4", "1.2 × 10^5", "3.0 × 10^7"),
        ("K = 16, ε = 4", "5.0 × 10^5", "3.0 × 10^7"),
    ):
        assert shown[label] == [exact, published] * 2 + ["—"] * 4


def test_cells_whose_privacy_is_not_covered_are_marked() -> None:
    rows = table()
    chosen = (rows["algorithm"] == "exp3") & (rows["sensitivity_rule"] == "published")
    rows.loc[chosen & (rows["T"] == 1000), "guaranteed_epsilon"] = 4.0816
    hospitals = chosen & (rows["sweep"] == "hospitals")
    rows.loc[hospitals, "guaranteed_epsilon"] = rows.loc[hospitals, "epsilon"] * 1.05
    shown = drawn(rows)
    noted = [
        (section.note, header, entry.notes[-1])
        for section in shown.sections
        for entries in cells_of(section).values()
        for header, entry in zip(shown.headers, entries, strict=True)
        if any("only" in note for note in entry.notes)
    ]
    expected = [("against T", "only ε = 4.082")] * 2
    expected += [("simulated hospitals", f"only ε = {epsilon}") for epsilon in (0.2625, 4.2)] * 2
    assert noted == [(where, "private EXP3, published", note) for where, note in expected]


def test_footers_state_the_privacy_of_every_learner() -> None:
    rows = table()
    rows.loc[rows["algorithm"] == "membership", "delta"] = 1e-4
    rows.loc[rows["algorithm"] == "randomised-response", "guaranteed_epsilon"] = math.inf
    text = " ".join(drawn(rows).footers)
    deltas = "private WMA has δ = 1e-05, membership response † has δ = 0.0001, all others δ = 0."
    assert f"; {deltas} “only" in text
    assert "except for “randomised response”, “Bayes, no privacy”, which see the labels;" in text
    text = " ".join(drawn(table()).footers)
    assert "line, except for “Bayes, no privacy”, which sees the labels; private WMA has δ" in text
