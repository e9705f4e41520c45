"""Another algorithm on the same log: its choices, and those of the deployment's own."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol_weekly.coordinator.alternative import TwoChoices, alternative
from dpol_weekly.coordinator.decide import decide
from weekly import Coordinator, day

# The largest share of the last week is that of A, B, B and C; the largest sum is of A, A, B and B.
BY_HAND = {"A": (60, 50, 10, 10), "B": (20, 60, 70, 10), "C": (10, 10, 10, 90)}


def state(folder, counts, entities="ABC", **keys):
    """A coordinator's folder with counts of each entity, of 100 beds; None: no report."""
    world = Coordinator(folder, entities, **keys)
    rows = [
        (name, week, str(count), "100")
        for name, of in counts.items()
        for week, count in enumerate(of)
        if count is not None
    ]
    world.put(*rows)
    return world.folder


def contents(folder):
    return {it: it.read_bytes() for it in folder.rglob("*") if it.is_file()}


def test_another_algorithm_by_hand(tmp_path, capsys):
    folder = state(tmp_path, BY_HAND, algorithm="rw-ftpl")
    before = contents(folder)
    capsys.readouterr()
    assert main(["decide", str(folder), "--algorithm", "persistence"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{day(1)}: A",
        f"{day(2)}: B (rw-ftpl: A)",
        f"{day(3)}: B",
        f"{day(4)}: C (rw-ftpl: B)",
        "persistence names the same as rw-ftpl in 2 of 4 periods.",
    ]
    assert main(["decide", str(folder), "--algorithm", "persistence", "--period", day(1)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{day(1)}: A",
        "persistence names the same as rw-ftpl in 1 of 1 period.",
    ]
    assert contents(folder) == before


@pytest.mark.parametrize("algorithm", ["empirical-bayes", "rw-ftpl", "rw-meta", "persistence"])
def test_the_deployments_own_algorithm_agrees_always_and_with_decide(tmp_path, algorithm):
    """Entities may come late, leave, or miss weeks."""
    rng = np.random.default_rng(5)
    counts = {name: rng.integers(10, 60, 9).tolist() for name in "ABCD"}
    counts["B"][4] = counts["C"][6] = None
    counts["A"][6:] = counts["D"][:3] = [None] * 3
    entities = {"A": {"until": day(6)}, "B": {}, "C": {}, "D": {"since": day(3)}}
    folder = state(tmp_path, counts, entities=entities, algorithm=algorithm)
    found = alternative(folder, algorithm)
    assert [it.agrees for it in found.choices] == [True] * 9
    for it in found.choices:
        assert it.named == decide(folder, datetime.date.fromisoformat(it.period)).named
    assert len({it.named for it in found.choices}) > 1


def test_the_same_entities_in_another_order_agree(tmp_path):
    assert TwoChoices(period=day(1), named=("A", "B"), deployed=("B", "A")).agrees
    assert not TwoChoices(period=day(1), named=("A", "B"), deployed=("A", "C")).agrees
    folder = state(tmp_path, BY_HAND, names=2)
    choices = alternative(folder, "random-effects").choices
    assert {len(it.named) for it in choices} == {2}


def test_a_period_needs_two_entities_that_may_be_chosen(tmp_path):
    counts = {"A": (60, 50, 10), "B": (None, 60, 70), "C": (None, None, None)}
    entities = {"A": {"until": day(3)}, "B": {}, "C": {}}
    found = alternative(state(tmp_path, counts, entities=entities), "persistence")
    assert [it.period for it in found.choices] == [day(2)], "A left, and only B is left to choose"


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ("ridge", "'ridge': stands for 12: .*; these can decide: rw-ftpl, rw-meta, persistence,"),
        ("noisy-max", "'noisy-max': noisy-max needs raw counts.*these can decide: rw-ftpl"),
        ("kalmn", "'kalmn': is not an algorithm; did you mean kalman.; these can decide: rw-ftpl"),
    ],
)
def test_an_algorithm_that_cannot_play_is_refused_with_those_that_can(tmp_path, algorithm, message):
    with pytest.raises(ConfigError, match=f"algorithm = .*{message}"):
        alternative(state(tmp_path, BY_HAND), algorithm)


def test_what_cannot_be_replayed_is_refused(tmp_path, capsys):
    folder = state(tmp_path, {"A": (60, 50)})
    with pytest.raises(DataError, match="no period can be decided: two entities must have"):
        alternative(folder, "rw-ftpl")
    folder = state(tmp_path / "memory", BY_HAND, noise={"memory": "designed"})
    with pytest.raises(
        ConfigError, match="rw-meta takes noise as independent.*can decide: rw-ftpl, pers"
    ):
        alternative(folder, "rw-meta")
    with pytest.raises(SystemExit):
        main(["decide", str(folder), "--check", "--algorithm", "rw-ftpl"])
    assert "not allowed with argument --check" in capsys.readouterr().err
