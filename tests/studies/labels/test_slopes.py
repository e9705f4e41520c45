"""The table of slopes, from rows made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.core.intervals import student_factor
from dpol.labels.registry import title_of
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.slopes import slopes_table
from dpol.studies.labels.study import has_slopes
from studies.labels.by_hand import FACTS, VARIANTS, table

ROUNDS = np.array([1000, 10_000, 30_000])


def rows_of(powers, spread=0.01):
    """Return three runs with mean T^power, a share `spread` apart."""
    rows = table().assign(replicates=3)
    for name in ("tv_average", "tv_median"):
        for (algorithm, rule), power in zip(VARIANTS, powers, strict=True):
            chosen = (rows["algorithm"] == algorithm) & (rows["sensitivity_rule"] == rule)
            rows.loc[chosen, name] = rows.loc[chosen, "T"] ** power
        around = [1 - spread, 1.0, 1 + spread]
        rows[f"{name}_runs"] = [[mean * factor for factor in around] for mean in rows[name]]
    return rows


def shown(rows):
    made = slopes_table({"labels": rows}, Labels(), FACTS)
    ((group,),) = [section.groups for section in made.sections]
    return made, dict(group.lines)


def test_slopes_agree_with_the_powers_and_have_intervals_and_places():
    powers = [0.0, -0.15, -0.251, -0.3, -0.4, -0.5, -0.6, -1.0]
    made, lines = shown(rows_of(powers))
    assert list(lines) == [title_of(*variant) for variant in VARIANTS]
    centred = np.log(ROUNDS) - np.log(ROUNDS).mean()
    error = 0.01 / np.sqrt(3) / np.sqrt((centred**2).sum())
    half = student_factor(0.95, 16, 3) * error
    words = ["flatter than −1/4"] * 2 + ["open", "between −1/4 and −1/2", "between −1/4 and −1/2"]
    words += ["−1/4 or steeper", "−1/2 or steeper", "−1/2 or steeper"]
    for power, place, cells in zip(powers, words, lines.values(), strict=True):
        for cell in cells:
            assert (cell.text, cell.notes) == (f"{power:.2f} ± {half:.2f}", (place,))
    assert made.numbers["slope"].tolist() == pytest.approx(np.repeat(powers, 2).tolist())
    assert made.numbers["half_width"].tolist() == pytest.approx([half] * 16)


def test_wide_runs_leave_everything_open():
    """Power of the places above."""
    _, lines = shown(rows_of([-0.6] * 8, spread=0.5))
    assert {cell.notes for cells in lines.values() for cell in cells} == {("open",)}


def test_only_the_hard_class_counts_and_only_those_who_played():
    rows = rows_of([-0.5] * 8)
    rows.loc[rows["hypotheses"] != "hard", ["tv_average", "tv_median"]] = 7.0
    made, lines = shown(rows[rows["algorithm"] != "wma"])
    assert len(lines) == 6
    assert set(made.numbers["slope"].round(9)) == {-0.5}


@pytest.mark.parametrize(
    ("rounds", "epsilon", "expected"),
    [
        ([1000, 10_000, 100_000], 4.0, True),
        ([1000, 10_000], 4.0, False),
        ([2, 10_000, 100_000], 0.1, False),  # two rounds are too few for the hard class
    ],
)
def test_slopes_need_three_numbers_of_rounds(rounds, epsilon, expected):
    assert has_slopes(Labels(epsilon=epsilon, sweeps={"rounds": rounds})) is expected
