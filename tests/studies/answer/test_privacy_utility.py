"""First figure: the cost of privacy, one line per system."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpol.studies.answer.privacy_utility import answer_table, draw_privacy_utility
from dpol.studies.answer.systems import lines_of, mean_share
from dpol.studies.games.levels import keeps_level
from dpol.studies.study import Facts
from legible import assert_legible, lines, names_of_lines, points
from tables_by_hand import FACTS, INF, main, rows, run, summary

LEVELS = {"low": 1.0, "none": INF, "high": 0.25}


def crowded() -> list[dict[str, object]]:
    """Return rows of three levels whose lines end at nearly the same share."""
    gains = {("isotropic", "local"): 30.0, ("capacity", "local"): 30.1}
    local = [
        run("rw-meta", mu, gain, noise=noise, ours=noise == "capacity")
        for (noise, _), gain in gains.items()
        for mu in LEVELS.values()
    ]
    central = [
        run(f"tree-ftpl-min-{what}", mu, 30.2, model="central")
        for what in ("noise", "regret")
        for mu in LEVELS.values()
    ]
    return [*local, *central]


def drawn(frame: pd.DataFrame, *, facts: Facts = FACTS, **report: object) -> Figure:
    return draw_privacy_utility({"summary": frame}, main(**report), facts)


def test_levels_go_from_no_privacy_to_the_strictest_and_names_do_not_overlap() -> None:
    labels = ["rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret"]
    asked = {"facts": replace(FACTS, levels=LEVELS), "algorithms": labels}
    figure = drawn(summary(crowded()), **asked)
    assert_legible(figure)
    (ax,) = figure.axes
    # By hand: Phi(1 / 2) = 0.691, Phi(1 / 8) = 0.550.
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["none", "69%", "55%"]
    shown = {name: line for name, line in lines(ax).items() if not name.startswith("_")}
    assert list(shown) == [
        "best fixed expert",
        "tree-ftpl-min-noise, isotropic noise",
        "tree-ftpl-min-regret, isotropic noise",
        "rw-meta, capacity noise †",  # 30.1 of 60 with it, 30 with isotropic noise
    ]
    assert len(names_of_lines(ax)) == 4
    del shown["best fixed expert"]
    assert all([x for x, _ in points(line)] == [0, 1, 2] for line in shown.values())


def test_points_stand_at_their_shares_and_the_finding_tells_the_first_and_last() -> None:
    # By hand: uniform random 0, oracle 60; gains 41.25 without noise and 1 / 3 at mu = 1.
    figure = drawn(summary())
    drawn_lines = lines(figure.axes[0])
    high, low = points(drawn_lines["rw-meta, isotropic noise"])
    assert high == pytest.approx((0, 41.25 / 60))
    assert low == pytest.approx((1, 1 / 180))
    assert points(drawn_lines["best fixed expert"])[0][1] == pytest.approx(0.5)
    assert figure.get_label().endswith(
        "ridge-w64-strong, isotropic noise, the best at μ = 1 in hindsight, keeps 70.0% ± 0.2 at"
        " μ = ∞, 65.0% ± 0.2 at μ = 1. At μ = 1 an attacker is right at most 69 times in 100 (a"
        " coin: 50)."
    )
    assert "always North 50%" in names_of_lines(figure.axes[0])


def test_every_algorithm_has_a_line_the_best_one_first() -> None:
    systems = lines_of(summary(), main(), FACTS)
    # The shaded family is shown by its best member with noise: 39 of 60, the other has 38.
    assert [line.algorithm for line in systems] == [
        "ridge-w64-strong",
        "tree-ftpl-min-noise",
        "rw-meta",
        "follow-the-leader",
    ]
    assert [line.model for line in systems] == ["local", "central", "local", "none"]
    assert systems[0].look.width > systems[1].look.width == systems[2].look.width


def test_the_best_noise_has_the_largest_mean_over_all_streams() -> None:
    gains = {("isotropic", "nm"): 54.0, ("isotropic", "pa"): 6.0}
    gains |= {("capacity", stream): 36.0 for stream in ("nm", "pa")}
    frame = summary(
        [run("rw-meta", 1.0, gain, noise=n, stream=s) for (n, s), gain in gains.items()]
    )
    facts = replace(FACTS, streams={"nm": "New Mexico", "pa": "Pennsylvania"})
    (line,) = lines_of(frame, main(), facts)
    assert line.noise == "capacity"


def test_the_curator_of_a_comparison_is_the_best_in_hindsight() -> None:
    gains = {INF: 10.0, 1.0: 29.0}  # what it has without noise does not count
    better = [run("mf-ftpl", mu, gain, model="central") for mu, gain in gains.items()]
    roles = {role: [("rw-meta", "isotropic")] for role in ("the baseline", "ours")}
    asked = main(roles=roles)
    *_, curator = lines_of(summary([*rows(), *better]), asked, FACTS)
    assert (curator.name, curator.algorithm) == ("a curator", "mf-ftpl")
    assert lines_of(summary(), asked, FACTS)[-1].algorithm == "tree-ftpl-min-noise"


def test_a_row_whose_guarantee_is_weaker_than_its_level_is_left_out() -> None:
    frame = summary()
    # Without Gaussian DP the bound is (e^eps + delta) / (e^eps + 1): 0.75 for log 3, and 0.690 for
    # 0.8, less than Phi(1 / 2).
    other = frame.assign(guaranteed_mu=math.nan, epsilon=math.log(3), delta=0.0)
    kept = frame, frame.assign(guaranteed_mu=frame["mu"] / 2), other.assign(epsilon=0.8)
    assert all(keeps_level(rows).all() for rows in kept)
    for weaker in (frame.assign(guaranteed_mu=frame["mu"] * 1.01), other):
        assert keeps_level(weaker).tolist() == frame["mu"].eq(INF).tolist()
        drawn_rows = lines_of(weaker.assign(keeps_level=keeps_level(weaker)), main(), FACTS)
        assert {mu for line in drawn_rows for mu in line.rows["mu"]} == {INF}


def test_the_table_names_what_is_left_out_of_it() -> None:
    strong = run("rw-meta", 1.0, 30.0)
    weak = run("rw-ftpl", 1.0, 50.0, guaranteed_mu=2.0)
    other = run("persistence", 1.0, 50.0, guaranteed_mu=2.0)
    shown = main(algorithms=["rw-meta", "rw-ftpl"])
    facts = Facts({"nm": "Here"}, simulated=False, confidence=0.95, levels={"b": 1.0})

    def footers(*played: dict[str, object]) -> str:
        frames = {"summary": summary(played)}
        return " ".join(answer_table(frames, shown, facts).footers)

    said = "Left out, since the guarantee (in brackets) is weaker: "
    named = [f"{it}, isotropic noise at μ = 1 (μ = 2)" for it in ("rw-ftpl", "persistence")]
    assert f"{said}{'; '.join(named)}." in footers(strong, weak, other)
    assert said not in footers(strong)


def test_the_half_width_of_a_mean_over_streams_is_the_mean_of_half_widths() -> None:
    frame = pd.DataFrame(
        {"mu": [1.0, 1.0], "gain_share": [0.2, 0.5], "gain_share_half_width": [0.02, 0.06]}
    )
    assert mean_share(frame, 1.0) == pytest.approx((0.35, 0.04))


def test_a_single_replicate_and_a_run_without_private_rows_are_drawn() -> None:
    one = summary([row | {"ci_half_width": INF} for row in rows()])
    assert "rw-meta, isotropic noise" in lines(drawn(one).axes[0])
    free = summary([row for row in rows() if row["model"] == "none"])
    named = ["best fixed expert", "follow-the-leader"]
    assert list(lines(drawn(free).axes[0])) == named


def test_a_rival_is_its_best_form_at_each_level() -> None:
    """Form a has less than form b without noise, and more with it."""
    gains = {"rw-meta": (40, 20), "form-a": (30, 26), "form-b": (50, 24), "mine": (50, 30)}
    played = [
        run(name, mu, gain)
        for name, own in gains.items()
        for mu, gain in zip((INF, 1.0), own, strict=True)
    ]
    paper, *forms, ours = ((name, "isotropic") for name in gains)
    roles = {"the baseline": [paper], "the tuned baseline": forms, "ours": [ours]}
    systems = {it.name: it for it in lines_of(summary(played), main(roles=roles), FACTS)}
    assert list(systems) == ["the baseline", "the tuned baseline", "ours"]
    rival = systems["the tuned baseline"]
    assert rival.rows.set_index("mu")["algorithm"].to_dict() == {INF: "form-b", 1.0: "form-a"}
    assert rival.explained.endswith(": best of 2 forms in hindsight, isotropic noise")
