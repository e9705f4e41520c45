"""Figures of a small table of risks: every sweep, class, stream and learner, unsorted."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from dpol.data.stream import write_stream
from dpol.labels.registry import LEARNERS
from dpol.show.entries import BLACK, LABEL_LEARNERS, REFERENCES, SHORT, Dashes, marked
from dpol.studies.paper3 import figures
from dpol.studies.paper3.settings import COLUMN_OF, Labels, LabelSweeps
from dpol.studies.paper3.study import STUDY
from dpol.studies.study import Facts
from in_process import compute
from legible import points
from replays import stream_of

STREAMS = {"PA": 4, "NM": 3}
ROUNDS = (30, 300, 3000)
SETTINGS = Labels(
    n_rounds=300,
    epsilon=0.3,
    replicates=2,
    patients_per_week=1,
    sweeps=LabelSweeps(
        rounds=[300, 30, 3000],
        labels=[100, 10, 1000],
        hypotheses=[16, 2, 8],
        epsilons=[4.0, 0.5, 1.0],
    ),
)
FACTS = Facts({at: f"State of {at}" for at in STREAMS}, False, 0.95)


def table_of_risks() -> pd.DataFrame:
    """Return a real table with one more run in each row, of 0.

    A logarithmic axis cannot show it, nor means of 0: some selections are always right.
    """
    with TemporaryDirectory() as folder:
        for label, n in STREAMS.items():
            write_stream(stream_of(5, n, label), Path(folder, f"streams/{label}.parquet"))
        made = compute(STUDY, SETTINGS, seed=1, streams=[*STREAMS], folder=Path(folder))["labels"]
    for name in ("kl_runs", "tv_average_runs"):
        made[name] = made[name].map(lambda runs: [*runs, 0.0], na_action="ignore")
    return made


# ---- figures -------------------------------------------------------------------------------------

LOOKS = {name: (look.colour, look.marker) for name, look in LABEL_LEARNERS.items()}
THEOREM, GUIDE = (REFERENCES[name].dashes for name in ("labels-theorem", "labels-guide"))
SWEEPS = [
    *(("rounds", "random"), ("rounds", "hard")),
    *((sweep, "random") for sweep in ("labels", "hypotheses", "epsilons")),
]
HOSPITALS = [("hospitals", stream) for stream in STREAMS]
RISK = "mean_kl_risk"
RUNS = {RISK: "kl_runs", "tv_average": "tv_average_runs"}
PANELS = {
    "risk": [(*sweep, RISK) for sweep in (*SWEEPS, *HOSPITALS)],
    "selection": [(*sweep, "tv_average") for sweep in SWEEPS[:2]],
}
RISKS = table_of_risks()
Points = list[tuple[float, float]]


@functools.cache
def drawn(name: str) -> Figure:
    """Return the figure of the whole table, for reading only."""
    drawing: Callable[..., Figure] = getattr(figures, name)
    return drawing({"labels": RISKS}, FACTS)


def expected(sweep: str, kind: str, name: str, y: str, rule: str = "exact") -> list[tuple]:
    """Return the swept values in order with what their rows have in another column."""
    setting = {"sweep": sweep, "hypotheses": kind, "algorithm": name, "sensitivity_rule": rule}
    rows = RISKS[(RISKS[list(setting)] == list(setting.values())).all(axis=1)]
    x = COLUMN_OF.get(sweep, "epsilon")
    return [*rows.sort_values(x)[[x, y]].itertuples(index=False, name=None)]


def lines(ax: Axes, colour: str, linestyle: str) -> list[Line2D]:
    alike = [line for line in ax.lines if line.get_color() == colour]
    return [line for line in alike if line.get_linestyle() == linestyle]


def guides_of(ax: Axes) -> dict[Dashes, Points]:
    """Return the points of the black lines by their dashes, which `get_linestyle` does not give."""
    black = [line for line in ax.lines if line.get_color() == BLACK]
    return {line._unscaled_dash_pattern[1]: points(line) for line in black}


def dots(ax: Axes, colour: str) -> Points:
    """Return the points of single runs."""
    every = [line for line in lines(ax, colour, "None") if line.get_marker() == "."]
    return [point for line in every for point in points(line)]


@pytest.mark.parametrize("name", PANELS)
def test_every_panel_shows_its_own_means_and_beside_them_its_runs(name: str) -> None:
    for (sweep, kind, y), ax in zip(PANELS[name], drawn(name).axes, strict=True):
        low, high = ax.get_xlim()
        assert ax.get_ylim()[0] < ax.get_ylim()[1]
        looks = {key: LOOKS[key] for key in LOOKS if name == "selection" or key in LEARNERS}
        for learner, (colour, _) in looks.items():
            (line,) = lines(ax, colour, "-")
            means = expected(sweep, kind, learner, y)
            np.testing.assert_allclose(points(line), [it for it in means if it[1] > 0])
            assert ax.get_xticks().tolist() == [x for x, _ in means]
            runs = [
                (x, run)
                for x, of_x in expected(sweep, kind, learner, RUNS[y])
                for run in of_x
                if run > 0
            ]
            for (x, run), (value, expected_run) in zip(dots(ax, colour), runs, strict=True):
                assert run == pytest.approx(expected_run)
                assert abs(math.log(x / value)) < 0.03 * math.log(high / low)
            published = [points(line) for line in lines(ax, colour, "--")]
            wanted = expected(sweep, kind, learner, y, "published")
            assert len(published) == (name != "selection")
            assert all(line == [pytest.approx(point) for point in wanted] for line in published)
        places = {dots(ax, colour)[0][0] for colour, _ in looks.values()}
        assert len(places) == len(looks)  # side by side
        hidden = {colour for key, (colour, _) in LOOKS.items() if key not in looks}
        assert not hidden & {line.get_color() for line in ax.lines}


def test_lines_are_named_and_those_not_in_the_paper_marked() -> None:
    texts = {" ".join(it.get_text().split()) for name in PANELS for it in drawn(name).findobj(Text)}
    guides = {"lower bound, Theorem 3", "upper bound of EXP3, Theorem 5", "slope −1/2"}
    names = {marked(it.title, it.origin != "paper") for it in LEARNERS.values()}
    assert guides | names <= texts


def test_bounds_are_in_the_panels_of_rounds_and_the_best_forecast_in_those_of_patients() -> None:
    exp3 = {key: partial(expected, *key, "exp3") for key in (*SWEEPS[:2], *HOSPITALS)}
    easy, hard = (exp3[key] for key in SWEEPS[:2])
    trivial = [(T, T * math.log(4)) for T in ROUNDS]
    guides = {SWEEPS[0]: {THEOREM: easy("upper_bound"), GUIDE: trivial}}
    guides |= {SWEEPS[1]: {THEOREM: hard("lower_bound")}}
    guides |= {at: {GUIDE: exp3[at]("best_kl")} for at in HOSPITALS}
    for key, ax in zip((*SWEEPS, *HOSPITALS), drawn("risk").axes, strict=True):
        wanted, found = guides.get(key, {}), guides_of(ax)
        del found[SHORT]
        assert found == {
            dashes: [pytest.approx(point) for point in line] for dashes, line in wanted.items()
        }


def test_the_rate_of_theorem_5_starts_at_the_mean_of_exp3_and_changes_as_its_bound() -> None:
    for (sweep, kind), ax in zip(SWEEPS, drawn("risk").axes[: len(SWEEPS)], strict=True):
        rate = guides_of(ax)[SHORT]
        means, bounds = (expected(sweep, kind, "exp3", y) for y in (RISK, "upper_bound"))
        assert rate[0] == pytest.approx(means[0])
        for (x, y), (value, bound) in zip(rate, bounds, strict=True):
            assert x == value
            assert y / rate[0][1] == pytest.approx(bound / bounds[0][1])


def test_the_slopes_beside_a_selection_are_a_quarter_and_a_half_from_one_point() -> None:
    for ax in drawn("selection").axes:
        guides = guides_of(ax)
        assert guides[THEOREM][0] == guides[GUIDE][0]
        for dashes, slope in ((THEOREM, 1 / 4), (GUIDE, 1 / 2)):
            (first, top), *_, (last, bottom) = guides[dashes]
            assert bottom / top == pytest.approx((last / first) ** -slope)
            assert ax.get_ylim()[0] < bottom < top < ax.get_ylim()[1]


def test_the_finding_compares_the_ends_of_each_sweep_with_the_bound() -> None:
    finding, by = drawn("risk").get_label(), []
    for y in (RISK, "upper_bound"):
        (_, first), *_, (_, last) = expected("rounds", "random", "exp3", y)
        by.append(f"{last / first:.2g}")
    assert f"by {by[0]} ({by[1]}) from T = 30 to 3·10³" in finding
    assert finding.startswith("The risk of private EXP3 (its bound in Theorem 5) is multiplied by ")
    assert [part.split(" = ")[0][-1] for part in finding.split("; ")] == ["T", "M", "K", "ε"]


def test_the_finding_of_a_selection_is_how_far_the_estimates_are_at_the_end() -> None:
    of = "sweep == 'rounds' and hypotheses == 'random' and T == 3000 and algorithm != 'bayes'"
    ends = RISKS.query(f"{of} and sensitivity_rule == 'exact'")["tv_average"]
    assert drawn("selection").get_label() == (
        "After 3·10³ rounds the estimates of the algorithms are"
        f" {ends.min():.2f} to {ends.max():.2f} from the truth (TV distance)."
    )
