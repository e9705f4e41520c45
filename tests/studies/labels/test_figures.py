"""Figures of learning a distribution from locally private labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text

from dpol.show import style
from dpol.studies.labels import figures
from dpol.studies.labels.registry import LEARNERS, title_of, variants
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.study import COLUMNS
from dpol.studies.study import Facts

VARIANTS = list(variants())


@dataclass(frozen=True)
class Look:
    colour: str
    marker: str
    title: str


LOOKS = {name: Look(*look, title_of(name)) for name, look in figures.looks().items()}
BASE = {"K": 4, "M": 100, "T": 30_000, "epsilon": 4.0}
SWEEPS: dict[str, tuple[str, tuple[float, ...]]] = {
    "rounds": ("T", (10_000, 1000, 30_000)),
    "labels": ("M", (100, 10, 10_000)),
    "hypotheses": ("K", (16, 2, 8)),
    "epsilons": ("epsilon", (4.0, 0.5, 1.0)),
}
STREAMS = {"PA": 146, "NM": 24}
HOSPITAL_EPSILONS = (4.0, 0.25)
Drawing = Callable[[pd.DataFrame], Figure]


def draw_risk(risks: pd.DataFrame) -> Figure:
    return figures.risk({"labels": risks}, Labels(), Facts({}, False, 0.95))


def draw_selection(risks: pd.DataFrame) -> Figure:
    return figures.selection({"labels": risks}, Labels(), Facts({}, False, 0.95))


def draw_hospitals(risks: pd.DataFrame, *, simulated: bool = False) -> Figure:
    return figures.hospitals({"labels": risks}, Labels(), Facts({}, simulated, 0.95))


ALL: list[Drawing] = [draw_risk, draw_selection, draw_hospitals]


def risk(sweep: str, hypotheses: str, algorithm: str, rule: str, value: float) -> float:
    """A number that tells its row from all others."""
    learner = VARIANTS.index((algorithm, rule))
    where = ["rounds", "labels", "hypotheses", "epsilons", "hospitals"].index(sweep)
    kind = ["random", "hard", *STREAMS].index(hypotheses)
    return 10 ** (learner / 2) * (1 + where / 10 + kind / 100) * (1 + math.log1p(value) / 1000)


def of_runs(mean: float) -> list[float]:
    """Three runs; the last has nothing that a logarithmic axis can show."""
    return [0.75 * mean, 2.25 * mean, 0.0]


def row(sweep: str, hypotheses: str, learner: tuple[str, str], **facts: float) -> dict[str, object]:
    settings = {**BASE, **facts}
    column = {**SWEEPS, "hospitals": ("epsilon", ())}[sweep][0]
    mean = risk(sweep, hypotheses, *learner, settings[column])
    return {
        "sweep": sweep,
        "hypotheses": hypotheses,
        "algorithm": learner[0],
        "sensitivity_rule": learner[1],
        **settings,
        "replicates": 7,
        "mean_kl_risk": mean,
        "kl_runs": of_runs(mean),
        "upper_bound": 3 * settings["T"] ** 0.9 if learner[0] == "exp3" else 1.5,
        "lower_bound": settings["T"] / 1e5 if hypotheses == "hard" else math.nan,
        "tv_average": mean / 1e5,
        "tv_average_runs": of_runs(mean / 1e5),
        "tv_median": mean / 7e4 if sweep == "rounds" else math.nan,
        "tv_median_runs": of_runs(mean / 7e4) if sweep == "rounds" else None,
        "best_kl": 50.0 if sweep == "hospitals" else math.nan,
    }


def table(*without: str) -> pd.DataFrame:
    """Rows of all sweeps but some; values come in no order."""
    rows = []
    for (sweep, (column, values)), learner in itertools.product(SWEEPS.items(), VARIANTS):
        for value in values:
            rows.append(row(sweep, "random", learner, **{column: value}))
            if sweep == "rounds":
                rows.append(row(sweep, "hard", learner, T=value, M=8))
    hospitals = itertools.product(STREAMS.items(), HOSPITAL_EPSILONS, VARIANTS)
    for (stream, M), epsilon, learner in hospitals:
        rows.append(row("hospitals", stream, learner, M=M, K=5, T=1000, epsilon=epsilon))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"K": int, "M": int, "T": int})
    return frame[~frame["sweep"].isin(without)].reset_index(drop=True)


def lines(ax: Axes, colour: str, linestyle: str) -> list[Line2D]:
    found = [line for line in ax.lines if line.get_linestyle() == linestyle]
    return [line for line in found if line.get_color() == colour]


def dots(ax: Axes, colour: str) -> list[tuple[float, float]]:
    """The single runs."""
    found = [line for line in ax.lines if line.get_marker() == "." and line.get_color() == colour]
    return [point for line in found for point in points(line)]


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def texts(ax: Axes) -> list[Annotation]:
    return [text for text in ax.texts if isinstance(text, Annotation)]


def flat(text: Annotation) -> str:
    return text.get_text().replace("\n", " ")


def written(ax: Axes) -> set[str]:
    return set(map(flat, texts(ax)))


PANELS = [("rounds", "random"), ("rounds", "hard")] + [
    (sweep, "random") for sweep in ("labels", "hypotheses", "epsilons")
]


def panels(figure: Figure) -> dict[tuple[str, str], Axes]:
    return dict(zip(PANELS, figure.axes, strict=True))


def test_every_registered_learner_has_a_look_of_its_own() -> None:
    assert list(LOOKS) == list(LEARNERS)
    assert len({look.marker for look in LOOKS.values()}) == len(LOOKS)
    colours = {look.colour for look in LOOKS.values()}
    assert len(colours | {style.BLACK}) == len(LOOKS) + 1


def test_every_panel_of_risks_shows_its_own_rows() -> None:
    for (sweep, hypotheses), ax in panels(draw_risk(table())).items():
        values = sorted(SWEEPS[sweep][1])
        for algorithm, rule in VARIANTS:
            look = "-" if rule == "exact" else "--"
            (line,) = lines(ax, LOOKS[algorithm].colour, look)
            expected = [
                (value, risk(sweep, hypotheses, algorithm, rule, value)) for value in values
            ]
            np.testing.assert_allclose(points(line), expected)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert ax.get_ylabel() == "KL risk (nats)"
        assert ax.get_xticks().tolist() == values


def test_every_run_of_the_exact_sensitivity_is_a_dot_near_its_setting() -> None:
    for (sweep, hypotheses), ax in panels(draw_risk(table())).items():
        values = sorted(SWEEPS[sweep][1])
        for algorithm in LOOKS:
            found = dots(ax, LOOKS[algorithm].colour)
            means = [risk(sweep, hypotheses, algorithm, "exact", value) for value in values]
            expected = [y for mean in means for y in of_runs(mean)[:2]]
            np.testing.assert_allclose([y for _, y in found], expected)
            low, high = ax.get_xlim()
            for (x, _), value in zip(found, np.repeat(values, 2), strict=True):
                assert abs(math.log(x / value)) < 0.03 * math.log(high / low)
        places = {dots(ax, look.colour)[0][0] for look in LOOKS.values()}
        assert len(places) == len(LOOKS)  # side by side


def test_two_values_are_no_rate_and_have_no_line() -> None:
    rows = table("rounds", "labels", "epsilons")
    (ax,) = draw_risk(rows[rows["K"] != 8]).axes
    assert {line.get_linestyle() for line in ax.lines} == {"None"}
    for look in LOOKS.values():
        means = [it for it in lines(ax, look.colour, "None") if it.get_marker() == look.marker]
        assert [x for it in means[-1:] for x, _ in points(it)] == [2, 16]
    assert {line.get_linestyle() for line in draw_risk(rows).axes[0].lines} == {"-", "--", "None"}


def test_titles_say_what_is_fixed() -> None:
    figure = draw_risk(table())
    shown = {key: ax.get_title(loc="left") for key, ax in panels(figure).items()}
    thousand = r"T = $3{\cdot}10^{4}$"
    assert shown == {
        ("rounds", "random"): "random class: K = 4, M = 100, ε = 4",
        ("rounds", "hard"): "hard class: K = 4, M = 8, ε = 4",
        ("labels", "random"): f"random class: K = 4, {thousand}, ε = 4",
        ("hypotheses", "random"): f"random class: M = 100, {thousand}, ε = 4",
        ("epsilons", "random"): f"random class: K = 4, M = 100, {thousand}",
    }
    axis = [ax.get_xlabel() for ax in figure.axes]
    rounds = "rounds T"
    assert axis == [rounds, rounds, "labels M", "hypotheses K", "privacy ε of one message"]
    for words in ("means over 7 runs", "not an interval", "dashed, pale: as published", "†: ours"):
        assert words in figure.get_suptitle().lower().replace("\n", " ")


def test_bounds_are_in_the_panels_of_rounds_only() -> None:
    found = panels(draw_risk(table()))
    rounds = sorted(SWEEPS["rounds"][1])
    ax = found["rounds", "random"]
    (upper,), (trivial,) = lines(ax, style.BLACK, "-."), lines(ax, style.BLACK, ":")
    np.testing.assert_allclose(points(upper), [(T, 3 * T**0.9) for T in rounds])
    np.testing.assert_allclose(points(trivial), [(T, T * math.log(4)) for T in rounds])
    (lower,) = lines(found["rounds", "hard"], style.BLACK, "-.")
    np.testing.assert_allclose(points(lower), [(T, T / 1e5) for T in rounds])
    for ax in found.values():
        black = [line for line in ax.lines if line.get_color() == style.BLACK]
        assert len(black) == {"rounds T": 2 - (ax is found["rounds", "hard"])}.get(
            ax.get_xlabel(), 0
        )


def test_lines_are_labelled_directly() -> None:
    names = {look.title for look in LOOKS.values()}
    extra = {
        ("rounds", "random"): {
            "upper bound of EXP3, Theorem 5",
            "T log K: higher bounds say nothing",
        },
        ("rounds", "hard"): {"lower bound, Theorem 3"},
    }
    for key, ax in panels(draw_risk(table())).items():
        assert written(ax) == names | extra.get(key, set())
        for look in LOOKS.values():
            (text,) = [text for text in texts(ax) if flat(text) == look.title]
            assert text.get_color() == look.colour
            (line,) = lines(ax, look.colour, "-")
            assert text.xy == pytest.approx(points(line)[-1])


@pytest.mark.parametrize("draw", [draw_risk, draw_selection])
def test_labels_lie_neither_on_each_other_nor_on_a_panel(draw: Drawing) -> None:
    figure = draw(table())
    figure.draw_without_rendering()
    outer = figure.bbox
    for ax in figure.axes:
        # Of the text alone: the line from its point may cross.
        own = [Text.get_window_extent(text) for text in texts(ax)]
        for one, two in itertools.combinations(own, 2):
            assert min(one.y1, two.y1) - max(one.y0, two.y0) < 1.0  # pixel
        for box, other in itertools.product(own, figure.axes):
            assert not box.overlaps(other.bbox)
        for box in own:
            assert box.x1 <= outer.x1 + 1
            assert box.y0 >= outer.y0 - 1


def test_all_risks_and_bounds_are_inside_their_panel() -> None:
    figure = draw_risk(table())
    for ax in figure.axes:
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        for line in ax.lines:
            for x, y in points(line):
                assert left < x < right
                assert bottom < y < top
    shared = [panels(figure)[key].get_ylim() for key in PANELS[2:]]
    assert len(set(shared)) == 1


def test_only_the_sweeps_that_were_run_are_drawn() -> None:
    (ax,) = draw_risk(table("rounds", "labels", "hypotheses")).axes
    assert ax.get_xlabel() == "privacy ε of one message"
    assert len(draw_risk(table("rounds")).axes) == 3
    easy = table()
    easy = easy[easy["hypotheses"] != "hard"]
    assert len(draw_risk(easy).axes) == 4
    assert len(draw_selection(easy).axes) == 2


def test_an_algorithm_that_was_not_run_is_neither_drawn_nor_named() -> None:
    rows = table()
    rows = rows[rows["algorithm"] != "membership"]
    for draw in ALL:
        figure = draw(rows)
        title = figure.get_suptitle().replace("\n", " ")
        assert "dots: the 7 runs, not an interval" in title
        for ax in figure.axes:
            assert not [line for line in ax.lines if line.get_color() == style.GREEN]
            assert [line for line in ax.lines if line.get_color() == style.VERMILLION]
            assert not any("membership" in text for text in written(ax))


def test_selection_shows_both_selectors_on_both_classes() -> None:
    figure = draw_selection(table())
    rounds = sorted(SWEEPS["rounds"][1])
    cases = itertools.product((("average prediction", 1e5), ("median", 7e4)), ("random", "hard"))
    for ax, ((name, scale), kind) in zip(figure.axes, cases, strict=True):
        assert name in ax.get_ylabel()
        assert ax.get_title(loc="left").startswith(f"{kind} class: K = 4")
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        for algorithm, look in LOOKS.items():
            (line,) = lines(ax, look.colour, "-")
            means = [risk("rounds", kind, algorithm, "exact", T) / scale for T in rounds]
            np.testing.assert_allclose(points(line), list(zip(rounds, means, strict=True)))
            assert not lines(ax, look.colour, "--")
            runs = [y for mean in means for y in of_runs(mean)[:2]]
            np.testing.assert_allclose(sorted(y for _, y in dots(ax, look.colour)), sorted(runs))


def test_guides_of_the_selection_have_the_slopes_that_they_are_named_by() -> None:
    for ax in draw_selection(table()).axes:
        for look, power in (("-.", -0.25), (":", -0.5)):
            (line,) = lines(ax, style.BLACK, look)
            xs, ys = np.log(points(line)).T
            np.testing.assert_allclose(np.diff(ys) / np.diff(xs), power)
            (text,) = [text for text in texts(ax) if text.xy == pytest.approx(points(line)[-1])]
            assert text.get_text().startswith({-0.25: "$T^{-1/4}$", -0.5: "$T^{-1/2}$"}[power])


def test_hospitals_show_the_excess_per_patient() -> None:
    figure = draw_hospitals(table())
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        f"{stream}: {M} hospitals, 1,000 patients" for stream, M in STREAMS.items()
    ]
    epsilons = sorted(HOSPITAL_EPSILONS)
    ticks = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    assert ticks == ["0.25", "4"]
    for ax, stream in zip(figure.axes, STREAMS, strict=True):
        for algorithm, look in LOOKS.items():
            drawn = lines(ax, look.colour, "None")
            (line,) = [it for it in drawn if it.get_marker() == look.marker]
            means = [risk("hospitals", stream, algorithm, "exact", it) for it in epsilons]
            xs, ys = np.asarray(line.get_xydata()).T
            np.testing.assert_allclose(ys, (np.array(means) - 50) / 1000)
            assert np.round(xs).tolist() == [0, 1]  # nearest to the tick of its epsilon
            runs = (np.array([of_runs(mean) for mean in means]) - 50) / 1000
            np.testing.assert_allclose([y for _, y in dots(ax, look.colour)], runs.ravel())
    zero = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert np.asarray(zero[0].get_ydata()).tolist() == [0, 0]


def test_hospitals_say_what_the_numbers_are() -> None:
    figure = draw_hospitals(table())
    assert figure.get_suptitle().startswith("Real data")
    other = draw_hospitals(table(), simulated=True)
    assert other.get_suptitle().startswith("Simulated data, not measurements")
    axis = figure.get_supylabel().replace("\n", " ")
    assert "nats per patient" in axis
    assert "below 0: a mixture beats its best member" in axis
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [look.title for look in LOOKS.values()]


@pytest.mark.parametrize("draw", ALL)
def test_files_are_byte_stable_whatever_the_order_of_the_rows(
    draw: Drawing, tmp_path: Path
) -> None:
    """Other numbers give other files."""
    rows = table()
    scaled = {name: rows[name] * 1.5 for name in ("mean_kl_risk", "tv_average", "tv_median")}
    mixed = rows.sort_values(["epsilon", "T", "K"], kind="stable")
    drawn = {"one": rows, "mixed": mixed, "other": rows.assign(**scaled)}
    for name, frame in drawn.items():
        style.save_figure(draw(frame), [tmp_path / f"{name}.svg"])
    one, two, other = ((tmp_path / f"{name}.svg").read_bytes() for name in drawn)
    assert one == two
    assert one != other
