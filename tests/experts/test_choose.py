"""The next choice from released numbers: the loop of the experiments, and what it refuses."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

import dpol
from dpol import choose
from dpol.core.errors import DataError
from dpol.experts.play import play_rounds
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise.released import read_released
from in_process import command

ROUNDS, N = 24, 4
LOCAL = [
    (name, member.label)
    for name in REGISTRY
    for member in make_members(name)
    if member.algorithm.model == "local"
]
SKIP_GAPS = ("persistence", "window-mean", "cautious-mean", "random-effects")
"""Rules that keep no initial noise, and draw nothing, too."""


def released(noisy, stream, *, rounds=None, counts=False) -> pd.DataFrame:
    """Return the first rounds of a game as a table of released numbers."""
    rounds = rounds or noisy.n_rounds
    by = stream.capacity[:rounds] if counts else np.ones((rounds, N))
    chains = noisy.memory
    return pd.DataFrame(
        {
            "place": np.tile(stream.entities, rounds),
            "period": np.repeat(stream.periods[:rounds].astype(str), N),
            "count" if counts else "share": (by * noisy.gains[0, :rounds]).ravel(),
            "deviation": (by * noisy.noise_scale[:rounds]).ravel(),
            "capacity": stream.capacity[:rounds].ravel(),
            "noise": noisy.seeds.noise,
            **({it: np.tile(getattr(chains, it), rounds) for it in "ab"} if chains else {}),
        }
    )


def assert_same(spec, label, stream, noise, counts=False) -> None:
    """Compare the actions of an experiment with those from its released numbers."""
    (member,) = (it for it in make_members(spec) if it.label == label)
    noisy = dpol.privatize(stream, noise, 0.5, seed=3, replicates=1)
    frame = released(noisy, stream, rounds=ROUNDS - 1, counts=counts)
    game = read_released(frame, n_rounds=ROUNDS).noisy
    games = noisy, dataclasses.replace(game, initial=noisy.initial)
    coins = [noisy.seeds.algorithm(label) for _ in games]
    np.testing.assert_array_equal(*map(play_rounds, [member.algorithm] * 2, games, coins))


@pytest.mark.parametrize(("spec", "label"), LOCAL)
def test_released_numbers_give_the_choices_of_the_experiment(spec, label, random_stream) -> None:
    assert_same(spec, label, random_stream(ROUNDS, N), "isotropic-constant")


def test_a_rule_of_another_package_chooses_as_in_the_experiment(
    random_stream, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("new", "algorithm", "old-leader")[0] == 0
    monkeypatch.syspath_prepend(tmp_path / "old-leader/src")
    assert_same("old_leader:OldLeader", "OldLeader", random_stream(ROUNDS, N), "isotropic")


@pytest.mark.parametrize("spec", ["random-effects", "rw-ftpl"])
@pytest.mark.parametrize(
    ("noise", "counts"),
    [("capacity", True), ("capacity-memory", False), ("laplace-uniform", True)],
)
def test_noise_of_each_kind_is_told_by_the_table(spec, noise, counts, random_stream) -> None:
    assert_same(spec, spec, random_stream(ROUNDS, N), noise, counts)


@pytest.mark.parametrize("rule", SKIP_GAPS)
def test_every_choice_is_that_of_the_experiment(rule, random_stream) -> None:
    stream = random_stream(ROUNDS, N)
    noisy = dpol.privatize(stream, "capacity", 0.5, seed=3, replicates=1)
    frame, played = released(noisy, stream), dpol.play(rule, noisy).actions[0]
    made = {t: choose(rule, frame, period=str(stream.periods[t])) for t in (0, 1, 2, 13, 23)}
    assert {t: it.place for t, it in made.items()} == {t: stream.entities[played[t]] for t in made}
    assert [it.periods for it in made.values()] == [*made]
    assert made[23].mu == pytest.approx(0.5)
    own = frame["period"].astype(str) == str(stream.periods[13])
    other = frame.assign(share=frame["share"].where(~own, 9.0))
    other["deviation"] = other["deviation"].where(~own, 0.01)
    assert choose(rule, other, period=str(stream.periods[13])) == made[13], "its own are not read"
    assert all(next(iter(it.ranking), it.place) == it.place for it in made.values())


def table(number: str = "share", **columns) -> pd.DataFrame:
    """Return three weeks of two places, "a" the larger in the last, with other columns."""
    days = np.repeat(["2024-05-06", "2024-05-13", "2024-05-20"], 2)
    numbers = {"place": [*"ababab"], "period": days, number: [0.1, 0.5, 0.2, 0.3, 0.6, 0.5]}
    return pd.DataFrame({**numbers, "deviation": 0.1, **columns})


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("place", "", "column place, which needs the name of a place"),
        ("period", "20.05.2024", "column period, which needs dates like 2024-05-20"),
        ("period", "2024-02-31", "column period, which needs dates like 2024-05-20"),
        ("period", "2024-05-14", "as far apart as others.*'2024-05-14': 1 cell, first in row 3"),
        ("period", "2024-05-06", "one row for each place.*first in row 3.*Keep"),
        ("share", "many", "column share, which needs numbers like 0.25"),
        ("share", "1_000", "column share, which needs numbers like 0.25"),
        ("share", "inf", "column share, which needs numbers"),
        ("deviation", "0", "numbers like 0.25 above 0"),
        ("deviation", "-1", "numbers like 0.25 above 0"),
        ("deviation", "", "column deviation.*nothing: 1 cell, first in row 3"),
        ("capacity", "0", "column capacity, which needs numbers like 0.25 above 0"),
        ("noise", "isotropic", "one noise in all rows, as in the first: capacity"),
        ("a", "1", "column a, which needs numbers like 0.25 between -1 and 1"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_row(column, cell, message) -> None:
    frame = table(capacity=10.0, noise="capacity", a=0.1).astype(object)
    frame.loc[3, column] = cell
    with pytest.raises(DataError, match=f"(?s)my.csv.*{message}"):
        choose("window-mean", frame, file="my.csv")


CHAINS = {"noise": "capacity-memory", "a": 0.1, "b": 0.6}
UNEQUAL = {"deviation": [0.1, 0.2] * 3}
LOST = "lacks the column {} of a table of released numbers"
EITHER = "needs rows with either shares or counts"


@pytest.mark.parametrize(
    ("rule", "frame", "more", "message"),
    [
        *(("window-mean", table().drop(columns=it), {}, LOST.format(it))
          for it in ("place", "period", "share", "deviation")),
        ("window-mean", table().head(0), {}, EITHER),
        ("window-mean", table(count=1.0), {}, EITHER),
        ("window-mean", table("count"), {}, "counts without capacities have no known range"),
        ("window-mean", table(noise="gauss"), {}, "noise 'gauss' is not one of"),
        ("window-mean", table(), {"gain_range": 0.0}, "range must be a number in"),
        ("window-mean", table(), {"period": "2024-05-21"}, "2024-05-21 begins no period"),
        ("window-mean", table(), {"period": "next"}, "period must be a date like 2024-05-20"),
        ("window-mean", table().head(2), {}, "tells one period, so not the next; give it"),
        ("window-meen", table(), {}, "did you mean window-mean"),
        ("mf-window", table(), {}, "mf-window needs raw numbers, and a curator whom all trust"),
        ("follow-the-leader", table(), {}, "needs raw numbers"),
        ("ridge", table(), {}, "ridge is several learners; give one"),
        ("ridge", table(), {"learner": "ridge-w9"}, "ridge has no learner ridge-w9; give one"),
        ("rw-adabatch", table(), {}, "rw-adabatch must know how many periods the game has; give"),
        ("rw-adabatch", table(), {"n_rounds": 3}, "must be a whole number of at least 4, got 3"),
        ("rw-adabatch", table(noise="laplace-uniform"), {"n_rounds": 9}, "needs Gaussian noise"),
        ("rw-adabatch", table(**UNEQUAL), {"n_rounds": 9}, "RW-AdaBatch needs noise of one scale"),
        ("rw-meta", table(), {}, "rw-meta draws random numbers; give the name that you chose"),
        ("rw-meta", table(**CHAINS), {"name": "x"}, "noise as independent.*correlated; choose"),
        ("window-mean", table(), {"period": "9999-12-27"}, "more than a year after the last of"),
        ("window-mean", table(share=50.0), {}, "shares lie outside -1 to 2; if.*percent"),
        ("split-budget", table(), {}, "split-budget draws random numbers"),
        ("random-effects", table(**CHAINS).drop(columns="b"), {}, "lacks the columns a and b"),
    ],
)  # fmt: skip
def test_what_a_rule_lacks_is_refused_by_name(rule, frame, more, message) -> None:
    with pytest.raises((DataError, ValueError), match=message):
        choose(rule, frame, **more)


def test_counts_need_capacities_or_a_range() -> None:
    assert choose("window-mean", table("count", capacity=[1.0, 9.0] * 3)).place == "a"
    made = choose("window-mean", table("count"), gain_range=50)
    assert (made.place, made.mu) == ("b", pytest.approx(2**0.5 / 0.1))


GAP = 2
"""Row of the second week of place a."""


@pytest.mark.parametrize("whole", [True, False])
def test_rules_skip_a_missing_number_or_refuse_it_by_place_and_period(whole) -> None:
    frame = table().astype(object)
    frame.loc[GAP, "share"] = ""
    frame = frame if whole else frame.drop(index=GAP)
    for rule in SKIP_GAPS:
        assert choose(rule, frame).reports == {"a": (1, "2024-05-20"), "b": (1, "2024-05-20")}
    assert choose("window-mean", frame).ranking == pytest.approx({"b": 1.3 / 3, "a": 0.35})
    for rule, more in (("rw-ftpl", {}), ("ridge", {"learner": "ridge-w8-weak"})):
        with pytest.raises(DataError, match=f"a has no number for 2024-05-13, and {rule}.* skip"):
            choose(rule, frame, **more)


def test_silent_places_come_last_and_silent_periods_do_not_count() -> None:
    silent = choose("persistence", table().loc[:GAP])
    assert (silent.place, silent.silent, silent.ranking) == ("a", ("b",), {"a": 0.2, "b": None})
    assert silent.reports["b"] == (2, "2024-05-06")
    week = choose("persistence", table(), period="2024-06-03")
    assert (week.place, week.silent) == ("a", ("a", "b"))
    assert week.ranking == choose("persistence", table()).ranking


def test_a_choice_without_any_number_rests_on_nothing() -> None:
    made = choose("window-mean", table(share=""))
    assert (made.place, made.period, made.periods, made.ranking) == ("a", "2024-05-06", 0, {})
    assert (made.silent, made.mu) == (("a", "b"), None)


@pytest.mark.parametrize(
    ("days", "following"),
    [
        (["2024-01-01", "2024-02-01", "2024-04-01"], "2024-05-01"),
        (["2023-01-01", "2024-01-01", "2025-01-01"], "2026-01-01"),
        (["2024-05-06", "2024-05-07", "2024-05-09"], "2024-05-10"),
        (["2024-05-06"], "2024-05-13"),
    ],
)
def test_periods_are_months_or_days(days, following) -> None:
    frame = table().head(2 * len(days)).assign(period=np.repeat(days, 2))
    told = None if len(days) > 1 else following
    assert choose("window-mean", frame, period=told).period == following
    dated = frame.assign(period=pd.to_datetime(frame["period"]))
    assert choose("window-mean", dated, period=told) == choose("window-mean", frame, period=told)


@pytest.mark.parametrize("rule", ["rw-meta", "split-budget"])
def test_draws_follow_from_rule_name_and_period_only(rule) -> None:
    rng = np.random.default_rng(1)
    days = np.repeat([f"2024-03-{day:02}" for day in range(1, 21)], 3)
    frame = pd.DataFrame(
        {"place": [*"abc"] * 20, "period": days, "share": rng.random(60), "deviation": 0.5}
    )
    weeks = [*dict.fromkeys(days)]

    def choices(own, upto=weeks, **more):
        return [choose(rule, own, period=day, **{"name": "mine", **more}).place for day in upto]

    made = choices(frame)
    assert made == choices(frame), "the same table gives the same choices"
    assert made[:5] == choices(frame.head(15), weeks[:5]), "a new week redraws nothing older"
    corrected = frame.assign(share=frame["share"].where(frame.index < 36, 0.5))
    assert choices(corrected)[:12] == made[:12], "nor does a correction"
    assert choices(frame, name="other") != made
    labelled = {"algorithm": rule, "label": "another-try"}
    assert choose(labelled, frame, name="mine").place == choose(rule, frame, name="mine").place


def test_the_command_prints_the_choice_and_what_it_rests_on(tmp_path) -> None:
    file = tmp_path / "released.csv"
    table(capacity=10.0).to_csv(file, index=False)
    code, out, _ = command("choose", "window-mean", file)
    assert code == 0
    assert out.splitlines()[:3] == [
        "window-mean chooses for 2024-05-27: b",
        "This rests on 3 periods, and on Gaussian noise as told.",
        "Then a person who changes two counts by 1 in a period has mu = 1.415.",
    ]
    code, _, wrong = command("choose", "window-mean", tmp_path / "none.csv")
    remedy = "give a CSV table of released numbers, in UTF-8 and with commas, as TABLE"
    assert wrong.endswith(f"none.csv: no such file; {remedy}\n")
    made = json.loads(command("choose", "window-mean", file, "--json")[1])
    assert (made["place"], made["silent"], [*made["ranking"]]) == ("b", [], ["b", "a"])
    block = "{algorithm: window-mean, window: 1}"
    assert "chooses for 2024-05-27: a" in command("choose", block, file)[1]
    first = command("choose", "window-mean", file, "--period", "2024-05-06")[1]
    assert "This rests on nothing: no number is released yet." in first
    assert command("choose", "mf-window", file)[0] == 2
    file.write_text(file.read_text().replace("2024-05-20,0.5", "20/5,0.5"))
    code, _, wrong = command("choose", "window-mean", file)
    assert code == 1
    assert "'20/5': 1 cell, first in row 7" in wrong
