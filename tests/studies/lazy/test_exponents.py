"""The table of fitted exponents: fits by hand, intervals, and the powers in them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from dpol.core.intervals import student_factor
from dpol.show.table import Entry, to_markdown
from dpol.studies.lazy import STUDY
from dpol.studies.lazy.exponents import exponents_table, fitted_exponents, powers_within
from dpol.studies.lazy.settings import BLOCKS, MATRIX, PRESET, TREE, WEIGHTS, Lazy
from dpol.studies.lazy.shown import TITLES
from dpol.studies.study import Facts

FACTS = Facts({}, False, 0.9)
POWERS = {"l2p-sound": (1 / 3, -2 / 3), PRESET: (0.4, -0.8), TREE: (0.5, -1.0), WEIGHTS: (0.5, 0.0)}
"""Powers of T and of epsilon that the regrets below have."""


def table(relative: float = 0.0) -> pd.DataFrame:
    """Return regrets that are powers of T and epsilon, with `relative` errors."""
    rows = []
    for adversary, T, epsilon, (name, (a, b)) in itertools.product(
        ("stochastic", "lower-bound"), (1000, 100, 30_000), (4.0, 0.1), POWERS.items()
    ):
        mean = 7 * T**a * epsilon**b
        game = {"adversary": adversary, "T": T, "d": 10, "epsilon": epsilon, "algorithm": name}
        rows.append({**game, "mean_regret": mean, "standard_error": relative * mean})
    return pd.DataFrame(rows).assign(replicates=20)


def by_game(exponents: pd.DataFrame) -> pd.DataFrame:
    return exponents.set_index(["adversary", "of", "at", "algorithm"]).sort_index()


def test_exponents_of_powers_are_those_powers():
    exponents = by_game(fitted_exponents(table(), 0.9))
    # 2 adversaries, 3 algorithms (weights are not private), 2 epsilons and 3 T.
    assert len(exponents) == 2 * 3 * (2 + 3) == exponents["ci_comparisons"].iloc[0]
    for (_, of, _, name), row in exponents.iterrows():
        assert row["exponent"] == pytest.approx(POWERS[name][of == "epsilon"])
        assert (row["half_width"], row["sizes"]) == (0, 3 if of == "T" else 2)
    exact = [{"of": "T", "half_width": 1e-9, "exponent": power} for power in (0.4, 0.39)]
    assert [powers_within(row) for row in exact] == [["T^(2/5)"], []]


def test_intervals_of_leaders_hold_however_their_noise_is_shared_between_epsilons():
    """By hand: half-widths of independent means are a root of squares, others at least a sum."""
    rows = table(0.05)
    rows["standard_error"] *= np.random.default_rng(0).uniform(0.2, 2, len(rows))
    exponents = by_game(fitted_exponents(rows, 0.9))
    factor = student_factor(0.9, len(exponents), 20)
    for (adversary, of, at, name), row in exponents.iterrows():
        other = "epsilon" if of == "T" else "T"
        part = rows[(rows["adversary"] == adversary) & (rows["algorithm"] == name)]
        part = part[part[other] == at]
        x = np.log(part[of].to_numpy())
        weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        errors = np.abs(weights * (part["standard_error"] / part["mean_regret"]).to_numpy())
        independent = factor * math.hypot(*errors)
        if name == TREE and of == "epsilon":
            assert row["half_width"] >= factor * errors.sum() * (1 - 1e-12) > independent
        else:
            assert row["half_width"] == pytest.approx(independent)


def test_regrets_that_are_no_powers_have_no_exponent():
    rows = table()
    rows.loc[(rows["algorithm"] == PRESET) & (rows["T"] == 100), "mean_regret"] = -1.0
    exponents = fitted_exponents(rows, 0.9)
    of_preset = exponents[exponents["algorithm"] == PRESET]
    assert set(of_preset["of"]) == {"epsilon"}
    assert set(of_preset["at"]) == {1000, 30_000}
    none = exponents_table({"lazy": rows.assign(mean_regret=0.0)}, Lazy.model_construct(), FACTS)
    assert "—" in to_markdown(none)


def test_cells_have_exponent_interval_and_powers():
    rows = pd.concat([table(0.001), table(0.3).assign(algorithm=BLOCKS).query("T == 100")])
    rows = rows[(rows["algorithm"] != BLOCKS) | (rows["adversary"] == "stochastic")]
    rows = rows.drop_duplicates(["adversary", "T", "epsilon", "algorithm"])
    shown = exponents_table({"lazy": rows}, Lazy.model_construct(), FACTS)
    assert [(section.title, section.note) for section in shown.sections] == [
        *((f"{name} losses", "exponent of T") for name in ("stochastic", "lower-bound")),
        *((f"{name} losses", "exponent of ε") for name in ("stochastic", "lower-bound")),
    ]
    (group,) = shown.sections[0].groups
    assert (group.title, [label for label, _ in group.lines]) == ("d = 10", ["ε = 0.1", "ε = 4"])
    cells = dict(zip(shown.headers, group.lines[0][1], strict=True))
    assert cells[TITLES["l2p-sound"]].text.startswith("0.33 ± ")
    assert cells[TITLES["l2p-sound"]].notes == ("T^(1/3)", "off by 0%")
    assert cells[TITLES[PRESET]].notes == ("T^(2/5)", "off by 0%")
    assert cells[TITLES[BLOCKS]] == Entry("—")  # at one T only
    assert TITLES[MATRIX] not in shown.headers
    counts = [note for note in shown.footers if note.startswith(TITLES["l2p-sound"])]
    assert counts[0].endswith("of 4 intervals, T^(1/3) in 4, T^(2/5) in 0, T^(1/2) in 0.")
    assert counts[1].endswith("of 6 intervals, ε^(-2/3) in 6, ε^(-4/5) in 0, 1/ε in 0.")


@pytest.mark.parametrize(("rounds", "epsilons", "asked"), [([9], [1, 2], True), ([9], [1], False)])
def test_one_size_has_no_table_of_exponents(rounds, epsilons, asked):
    settings = Lazy(n_rounds=rounds, n_experts=[2], epsilons=epsilons)
    sections = STUDY.sections_of(settings, FACTS)
    names = [table.name for section in sections for table in section.tables]
    assert ("lazy-exponents" in names) == asked
