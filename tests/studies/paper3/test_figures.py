"""Figures of a table of risks made by hand: every sweep, class, stream and learner, unsorted."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from dpol.labels.registry import LEARNERS, SELECTORS, variants
from dpol.show.entries import BLACK, LABEL_LEARNERS, REFERENCES, SHORT, Dashes, marked
from dpol.studies.paper3 import figures
from dpol.studies.paper3.compute import COLUMNS
from dpol.studies.paper3.settings import COLUMN_OF
from dpol.studies.study import Facts
from legible import points

VARIANTS = list(variants())
STREAMS = {"PA": 146, "NM": 24}
BEST_KL = {"PA": 50.0, "NM": 20.0}
SETTINGS = [  # sweep, class, K, M, T, epsilon
    *(
        ("rounds", kind, 4, M, T, 4.0)
        for T in (10_000, 1000, 30_000)
        for kind, M in (("random", 100), ("hard", 8))
    ),
    *(("labels", "random", 4, M, 30_000, 4.0) for M in (100, 10, 10_000)),
    *(("hypotheses", "random", K, 100, 30_000, 4.0) for K in (16, 2, 8)),
    *(("epsilons", "random", 4, 100, 30_000, epsilon) for epsilon in (4.0, 0.5, 1.0)),
    *(("hospitals", at, 5, M, 1000, e) for e in (4.0, 0.25, 1.0) for at, M in STREAMS.items()),
]
FACTS = Facts({at: f"State of {at}" for at in STREAMS}, False, 0.95)


def risk(setting: int, learner: int) -> float:
    """Return a different number for every row."""
    return float(round(10 ** (1 + learner / 4), 1)) * (1 + setting / 50)


def of_runs(mean: float) -> list[float]:
    """Return three runs; a logarithmic axis cannot show the last one."""
    return [0.75 * mean, 2.25 * mean, 0.0]


def row(setting: int, learner: int) -> dict[str, object]:
    mean, (algorithm, rule) = risk(setting, learner), VARIANTS[learner]
    sweep, hypotheses, K, M, T, epsilon = SETTINGS[setting]
    return {
        "sweep": sweep,
        "hypotheses": hypotheses,
        "algorithm": algorithm,
        "title": LEARNERS[algorithm].title,
        "origin": LEARNERS[algorithm].origin,
        "sensitivity_rule": rule,
        "K": K,
        "M": M,
        "T": T,
        "epsilon": epsilon,
        "delta": 1e-5 if algorithm == "wma" else 0.0,
        "guaranteed_epsilon": math.inf if algorithm == "bayes" else epsilon,
        "replicates": 7,
        "mean_kl_risk": mean,
        "kl_runs": of_runs(mean),
        "upper_bound": None if sweep == "hospitals" else 3 * T**0.9 if algorithm == "exp3" else 1.5,
        "lower_bound": T / 1e5 if hypotheses == "hard" else None,
        "best_kl": BEST_KL.get(hypotheses),
        "tv_average": mean / 1e5,
        "tv_average_runs": of_runs(mean / 1e5),
    }


def selected(setting: int, place: int, name: str) -> dict[str, object]:
    """Return the row of a selector, which has no risk."""
    kept = {"sweep", "hypotheses", "K", "M", "T", "epsilon", "delta", "replicates"}
    learner = len(VARIANTS) - 1  # without privacy, so its delta is 0
    of_learner = row(setting, learner)
    tv = risk(setting, len(VARIANTS) + place) / 1e5
    return {
        **{column: value for column, value in of_learner.items() if column in kept},
        "algorithm": name,
        "title": SELECTORS[name].title,
        "origin": SELECTORS[name].origin,
        "sensitivity_rule": "exact",
        "guaranteed_epsilon": of_learner["epsilon"],
        "lower_bound": of_learner["lower_bound"],
        "tv_average": tv,
        "tv_average_runs": of_runs(tv),
    }


def table_of_risks() -> pd.DataFrame:
    every = [
        row(setting, learner)
        for setting in range(len(SETTINGS))
        for learner in range(len(VARIANTS))
    ]
    rounds = [number for number, facts in enumerate(SETTINGS) if facts[0] == "rounds"]
    every += [selected(n, place, name) for n in rounds for place, name in enumerate(SELECTORS)]
    return pd.DataFrame(every, columns=list(COLUMNS)).astype({"lower_bound": float})


# ---- figures -------------------------------------------------------------------------------------

LOOKS = {name: (look.colour, look.marker) for name, look in LABEL_LEARNERS.items()}
THEOREM, GUIDE = (REFERENCES[name].dashes for name in ("labels-theorem", "labels-guide"))
SWEEPS = [
    *(("rounds", "random"), ("rounds", "hard")),
    *((sweep, "random") for sweep in ("labels", "hypotheses", "epsilons")),
]
HOSPITALS = [("hospitals", stream) for stream in STREAMS]
PANELS = {
    "risk": [(*sweep, "mean_kl_risk") for sweep in (*SWEEPS, *HOSPITALS)],
    "selection": [(*sweep, "tv_average") for sweep in SWEEPS[:2]],
}
RISK = "mean_kl_risk"
RISKS = table_of_risks()
swept_figures = pytest.mark.parametrize("name", PANELS)
Points = list[tuple[float, float]]


@functools.cache
def drawn(name: str) -> Figure:
    """Return the figure of the whole table, for reading only."""
    drawing: Callable[..., Figure] = getattr(figures, name)
    return drawing({"labels": RISKS}, FACTS)


def expected(sweep: str, kind: str, name: str, rule: str, y: str = "mean_kl_risk") -> Points:
    """Return the swept values in order with the numbers of their rows."""
    setting = {"sweep": sweep, "hypotheses": kind, "algorithm": name, "sensitivity_rule": rule}
    rows = RISKS[(RISKS[list(setting)] == list(setting.values())).all(axis=1)]
    x = COLUMN_OF.get(sweep, "epsilon")
    return [(float(a), float(b)) for a, b in rows.sort_values(x)[[x, y]].to_numpy()]


def lines(ax: Axes, colour: str, linestyle: str, marker: str | None = None) -> list[Line2D]:
    alike = [line for line in ax.lines if line.get_color() == colour]
    alike = [line for line in alike if line.get_linestyle() == linestyle]
    return [line for line in alike if marker in (None, line.get_marker())]


def guides_of(ax: Axes) -> dict[Dashes, Points]:
    """Return the points of the black lines by their dashes, which `get_linestyle` does not give."""
    black = [line for line in ax.lines if line.get_color() == BLACK]
    return {line._unscaled_dash_pattern[1]: points(line) for line in black}


def dots(ax: Axes, colour: str) -> Points:
    """Return the points of single runs."""
    return [point for line in lines(ax, colour, "None", ".") for point in points(line)]


@swept_figures
def test_every_panel_shows_its_own_means_and_beside_them_its_runs(name: str) -> None:
    for (sweep, kind, y), ax in zip(PANELS[name], drawn(name).axes, strict=True):
        low, high = ax.get_xlim()
        assert ax.get_ylim()[0] < ax.get_ylim()[1]
        looks = {key: LOOKS[key] for key in LOOKS if name == "selection" or key in LEARNERS}
        for learner, (colour, _) in looks.items():
            (line,) = lines(ax, colour, "-")
            means = expected(sweep, kind, learner, "exact", y)
            np.testing.assert_allclose(points(line), means)
            assert ax.get_xticks().tolist() == [x for x, _ in means]
            runs = [(x, run) for x, mean in means for run in of_runs(mean)[:2]]
            for (x, run), (value, expected_run) in zip(dots(ax, colour), runs, strict=True):
                assert run == pytest.approx(expected_run)
                assert abs(math.log(x / value)) < 0.03 * math.log(high / low)
            published = [points(line) for line in lines(ax, colour, "--")]
            wanted = expected(sweep, kind, learner, "published", y)
            assert len(published) == (name != "selection")
            assert all(line == [pytest.approx(point) for point in wanted] for line in published)
        places = {dots(ax, colour)[0][0] for colour, _ in looks.values()}
        assert len(places) == len(looks)  # side by side
        hidden = {colour for key, (colour, _) in LOOKS.items() if key not in looks}
        assert not hidden & {line.get_color() for line in ax.lines}


def test_lines_of_our_learners_are_marked() -> None:
    texts = {" ".join(it.get_text().split()) for it in drawn("risk").findobj(Text)}
    assert {marked(it.title, it.origin == "ours") for it in LEARNERS.values()} <= texts


def test_bounds_are_in_the_panels_of_rounds_and_the_best_forecast_in_those_of_patients() -> None:
    rounds = (1000, 10_000, 30_000)
    easy = {THEOREM: [(T, 3 * T**0.9) for T in rounds]}
    easy[GUIDE] = [(T, T * math.log(4)) for T in rounds]
    guides = {SWEEPS[0]: easy, SWEEPS[1]: {THEOREM: [(T, T / 1e5) for T in rounds]}}
    guides |= {at: {GUIDE: [(e, BEST_KL[at[1]]) for e in (0.25, 1.0, 4.0)]} for at in HOSPITALS}
    for key, ax in zip((*SWEEPS, *HOSPITALS), drawn("risk").axes, strict=True):
        wanted, found = guides.get(key, {}), guides_of(ax)
        del found[SHORT]
        assert found == {
            dashes: [pytest.approx(point) for point in line] for dashes, line in wanted.items()
        }


def test_the_rate_of_theorem_5_starts_at_the_mean_of_exp3_and_changes_as_its_bound() -> None:
    for (sweep, kind), ax in zip(SWEEPS, drawn("risk").axes[: len(SWEEPS)], strict=True):
        rate = guides_of(ax)[SHORT]
        means, bounds = (expected(sweep, kind, "exp3", "exact", y) for y in (RISK, "upper_bound"))
        assert rate[0] == pytest.approx(means[0])
        for (x, y), (value, bound) in zip(rate, bounds, strict=True):
            assert x == value
            assert y / rate[0][1] == pytest.approx(bound / bounds[0][1])


def test_the_slopes_beside_a_selection_are_a_quarter_and_a_half() -> None:
    """From 1,000 to 30,000 rounds, a line of slope -1/2 falls to a part of 30^-0.5."""
    for ax in drawn("selection").axes:
        for dashes, slope in ((THEOREM, 1 / 4), (GUIDE, 1 / 2)):
            (first, top), *_, (last, bottom) = guides_of(ax)[dashes]
            assert bottom / top == pytest.approx((last / first) ** -slope)
            assert ax.get_ylim()[0] < bottom < top < ax.get_ylim()[1]


def test_the_finding_compares_the_ends_of_each_sweep_with_the_bound() -> None:
    """With 1,000 and 30,000 rounds, a bound of 3 T^0.9 is multiplied by 30^0.9 = 21."""
    first, *_, last = expected("rounds", "random", "exp3", "exact")
    finding = drawn("risk").get_label()
    assert f"by {last[1] / first[1]:.2g} (21) from T = 10³ to 3·10⁴" in finding
    assert finding.startswith("The risk of private EXP3 (its bound in Theorem 5) is multiplied by ")
    assert [part.split(" = ")[0][-1] for part in finding.split("; ")] == ["T", "M", "K", "ε"]


def test_the_finding_of_a_selection_is_how_far_the_estimates_are_at_the_end() -> None:
    of = "sweep == 'rounds' and hypotheses == 'random' and T == 30_000"
    ends = RISKS.query(f"{of} and sensitivity_rule == 'exact'")["tv_average"]
    assert drawn("selection").get_label() == (
        "After 3·10⁴ rounds the estimates of the algorithms are"
        f" {ends.min():.2f} to {ends.max():.2f} from the truth (TV distance)."
    )
