"""Games on released numbers: decisions, coverage with its power, agreement, what is shown."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpol.core.errors import ConfigError, DataError
from dpol.core.intervals import share_interval
from dpol.live.decide import decide
from dpol.live.game import Choice
from dpol.live.released import read_released
from dpol.studies.jobs import join
from dpol.studies.released import STUDY, study, tables
from dpol.studies.released.figure import draw
from dpol.studies.released.settings import ReleasedGames
from dpol.studies.study import Facts, Inputs
from weekly import DESIGNED, agreed, collected, day, released

FACTS = Facts({}, True, 0.95)
RIDGE = {"algorithm": "ridge", "windows": [4], "penalties": {"medium": 1.0}}
ENTITIES = {"A": {"since": day(2)}, "B": {"title": "Bethany"}, "C": {"until": day(6)}, "D": {}}


def log(folder, *, memory=False, weeks=9, **keys):
    """A log: one comes late, one leaves, one misses a week, one grows."""
    rng = np.random.default_rng(8)
    capacity = np.tile([40.0, 80.0, 120.0, 60.0], (weeks, 1))
    capacity[4:, 1] = 90.0
    counts = np.round(capacity * (0.3 + rng.normal(0, 0.1, (weeks, 4)).cumsum(axis=0) / 2))
    counts = np.clip(counts, 0, capacity)
    counts[:2, 0] = counts[6:, 2] = counts[3, 3] = counts[7] = np.nan
    kind = {"noise": {"memory": "designed"}} if memory else {}
    deployment = agreed(folder, ENTITIES, **kind, **keys)
    own = {"memory": DESIGNED if memory else None}
    for _ in released(folder, deployment, counts, capacity, list(ENTITIES), **own):
        pass
    return folder / "coordinator/log.sqlite", deployment


def compute(settings, file, deployment):
    inputs = Inputs(1, 1e-6, released=(str(file), str(deployment)))
    every = [study.run(settings, it, inputs) for it in STUDY.points(settings, []).values()]
    return join(
        STUDY, settings, FACTS, {name: [it[name] for it in every] for name in STUDY.results}
    )


@pytest.mark.parametrize(
    ("algorithm", "memory"),
    [("empirical-bayes", False), ("random-effects", True), ("rw-meta", False), (RIDGE, False)],
    ids=str,
)
def test_decisions_are_those_of_the_command(tmp_path, algorithm, memory):
    names = 1 if algorithm == "rw-meta" else 2
    file, deployment = log(tmp_path, memory=memory, algorithm=algorithm, names=names)
    frames = compute(ReleasedGames(algorithms=["rw-ftpl"]), file, deployment)
    found = frames["released_decisions"]
    label = frames["released_algorithms"]["algorithm"].iloc[0]
    own = found[found["algorithm"] == label]
    # The log ends with a week without reports before the last one that was reported.
    assert own["period"].nunique() == 9
    for period, rows in own.groupby("period"):
        decision = decide(file.parent, period.date())
        assert tuple(rows.sort_values("rank")["entity"]) == decision.named
        outlooks = {it.entity: it for it in decision.outlooks}
        for row in rows.itertuples():
            told = outlooks[row.entity]
            expected = [
                it if it is not None else math.nan for it in (told.share, told.low, told.high)
            ]
            np.testing.assert_array_equal([row.share, row.low, row.high], expected)
            assert row.title == told.title
    assert len(set(own["entity"])) > 1
    spent = decide(file.parent).spent
    last = frames["released_reports"].iloc[-1]
    assert (last["mu"], last["mu_of_stay"]) == (spent.mu, spent.mu_of_stay)
    assert set(found["algorithm"]) == {label, "rw-ftpl"}


def test_reports_are_counted(tmp_path):
    file, deployment = log(tmp_path)
    frame = compute(ReleasedGames(algorithms=[]), file, deployment)["released_reports"]
    assert frame["entities"].tolist() == [3, 3, 4, 4, 4, 4, 3, 3, 3]
    assert frame["reported"].tolist() == [3, 3, 4, 3, 4, 4, 3, 0, 3]
    assert frame["noise_largest"].iloc[0] == pytest.approx(2**0.5 / 0.5 / 60, rel=1e-4)
    assert frame["noise_median"].iloc[2] == pytest.approx(
        2**0.5 / 0.5 * (1 / 60 + 1 / 80) / 2, 1e-4
    )
    assert math.isnan(frame["noise_median"].iloc[7])


def test_the_interval_of_a_report_holds_nine_of_ten(tmp_path):
    """Error probability of either check below 1e-6: 20,000 reports drawn from the law itself."""
    file, deployment = log(tmp_path)
    panel, n = read_released(file, deployment).panel, 20_000
    rng = np.random.default_rng(3)
    share, deviation, noise = (
        rng.normal(0.3, 0.1, n),
        rng.uniform(0.01, 0.1, n),
        rng.uniform(0.01, 0.1, n),
    )
    reported = share + deviation * rng.normal(size=n) + noise * rng.normal(size=n)
    flat = {"a": np.zeros((1, n)), "b": np.zeros((1, n)), "chain": np.zeros((1, n), int)}
    it = replace(panel, share=reported[None], noise=noise[None], place=np.ones((1, n), int), **flat)

    law = Choice((0,), share, deviation)

    def interval(known, law=law):
        return share_interval(int(study._inside(known, 0, law).sum()), n, 1 - 1e-6)

    low, high = interval(it)
    assert low < 0.9 < high
    wrong = [
        interval(replace(it, noise=it.noise / 2)),
        interval(replace(it, noise=it.noise * 2)),
        interval(it, replace(law, deviation=deviation / 2)),
    ]
    assert not any(low < 0.9 < high for low, high in wrong)
    # Of noise that remembers, only what begins a chain is checked.
    later = np.where(np.arange(n) < 100, 1, 2)[None]
    remembers = replace(it, b=it.b + 0.5, place=later)
    assert len(study._inside(remembers, 0, law)) == 100
    assert len(study._inside(it, 1, law)) == 0
    assert len(study._inside(it, 0, Choice((0,)))) == 0


def model(folder, weeks=80, n=40):
    """A log of shares that move as the algorithms suppose, nearly."""
    rng = np.random.default_rng(6)
    capacity, moves = np.full((weeks, n), 200.0), np.zeros((weeks, n))
    for week in range(1, weeks):
        moves[week] = 0.9 * moves[week - 1] + rng.normal(0, 0.01, n)
    level = 0.4 + rng.normal(0, 0.01, (weeks, 1)).cumsum(axis=0) / 2
    counts = capacity * np.clip(level + rng.normal(0, 0.03, n) + moves, 0, 1)
    names = [f"H{it}" for it in range(n)]
    deployment = agreed(folder, names, mu=0.1)
    noise = 2**0.5 / 0.1 * rng.normal(size=counts.shape)
    rows = [
        (names[i], week, f"{counts[week, i] + noise[week, i]:.4f}", "200")
        for week in range(weeks)
        for i in range(n)
    ]
    assert collected(folder / "s", folder / "in.csv", deployment, rows, mu="0.1").taken == weeks * n
    return read_released(folder / "s/log.sqlite", deployment)


def test_predictions_hold_and_half_the_noise_is_noticed(tmp_path):
    """The algorithm takes for movement what is left of the noise, and it is still noticed."""
    releases = model(tmp_path)
    panel = releases.panel
    # Who takes the noise for half of what it is: the algorithm, and the interval of the report.
    half = replace(releases, panel=replace(panel, noise=panel.noise / 2, fresh=panel.fresh / 2))
    found = []
    for own in (releases, half):
        numbers = study._decidable(own)
        member = study._member(own.deployment, None)
        _, row = study._played(own, member, numbers)
        frames = {
            "released_decisions": pd.DataFrame(
                {"period": [1], "algorithm": "empirical-bayes", "rank": 1, "entity": "A"}
            ),
            "released_algorithms": pd.DataFrame(
                [{"algorithm": "empirical-bayes", "of_deployment": True, **row}]
            ),
        }
        found.append(study.collect(frames, ReleasedGames(), FACTS)["released_algorithms"].iloc[0])
    right, wrong = found
    assert right["checked"] == 79 * 40
    assert right["effective"] <= right["checked"]
    assert 0.87 < right["coverage"] < 0.94
    assert right["coverage_low"] < right["coverage"] < right["coverage_high"]
    assert wrong["coverage_high"] < 0.9
    assert "too few" in tables._cells(wrong.to_dict())[2].text
    assert "too few" not in tables._cells(right.to_dict())[2].text


def test_agreement_and_coverage_by_hand():
    decisions = pd.DataFrame(
        [(day(it), "x", 1, name) for it, name in enumerate("ABBA")]
        + [(day(it), "x", 2, "Z") for it in range(4)]
        + [(day(it), "y", 1, name) for it, name in enumerate("BBB", start=1)],
        columns=["period", "algorithm", "rank", "entity"],
    )
    played = pd.DataFrame(
        {
            "algorithm": ["x", "y", "none"],
            "of_deployment": [True, False, False],
            "checked": [20, 0, 10],
            "covered": [18, 0, 10],
            "effective": [10.9, 0.0, 10.0],
        }
    )
    frames = {"released_decisions": decisions, "released_algorithms": played}
    x, y, none = study.collect(frames, ReleasedGames(), FACTS)["released_algorithms"].to_dict(
        "records"
    )
    assert (x["agreement"], y["agreement"]) == (1.0, pytest.approx(2 / 3))
    assert math.isnan(none["agreement"])
    assert x["coverage"] == 0.9
    assert (x["coverage_low"], x["coverage_high"]) == share_interval(9, 10, 0.975)
    assert none["coverage_high"] == 1
    assert math.isnan(y["coverage"])
    assert {row["ci_comparisons"] for row in (x, y, none)} == {2}


def test_what_plays(tmp_path):
    file, deployment = log(tmp_path, memory=True)
    frames = compute(ReleasedGames(algorithms=["empirical-bayes", "rw-ftpl"]), file, deployment)
    assert frames["released_algorithms"]["algorithm"].tolist() == ["empirical-bayes", "rw-ftpl"]
    for spec, message in (
        (RIDGE, "released.algorithms: ridge.* takes noise as independent, and this"),
        (
            {"algorithm": "bayesian-average", "label": "empirical-bayes"},
            "is the label of the deployment's algorithm",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            compute(ReleasedGames(algorithms=[spec]), file, deployment)
    alone = agreed(tmp_path / "b")
    collected(tmp_path / "s", tmp_path / "in.csv", alone, [("A", 0, "5"), ("A", 1, "6")])
    with pytest.raises(DataError, match=r"log\.sqlite: fewer than two entities have reported"):
        compute(ReleasedGames(), tmp_path / "s/log.sqlite", alone)


def test_everything_is_shown(tmp_path):
    """The tables show an algorithm that predicts nothing, and many entities."""
    file, deployment = log(tmp_path, algorithm="rw-ftpl")
    frames = compute(ReleasedGames(algorithms=[]), file, deployment)
    settings = ReleasedGames()
    for section in STUDY.tables:
        table = getattr(tables, section.build.partition(":")[2])(frames, settings, FACTS)
        assert table.name == section.name
    text = tables.algorithms(frames, settings, FACTS)
    assert text.footers[0].startswith("The true numbers are unknown: only noisy ones were released")
    assert text.sections[0].groups[0].lines[0][1][2].text == "predicts none"
    many = (
        frames["released_decisions"]
        .iloc[np.zeros(30, int)]
        .assign(
            entity=[f"E{it}" for it in range(30)],
            title=["the same name"] * 30,
            period=pd.date_range(datetime.date(2021, 1, 3), periods=30, freq="7D"),
        )
    )
    above, below = draw({**frames, "released_decisions": many}, settings, FACTS).axes
    names = [it.get_text() for it in above.get_yticklabels()]
    assert len(names) == 20
    assert names[0] == "the same name (E0)"
    assert names[-1] == "11 others"
    assert len(above.patches) == 30
    assert below.get_yscale() == "log"
