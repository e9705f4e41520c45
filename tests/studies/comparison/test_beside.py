"""Games beside those of a run: with correlated noise, and at every reading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.config.experiment import parse_experiment
from dpol.core.intervals import half_width
from dpol.core.schemas import write_frame
from dpol.data.stream import UNMEASURED, UNMEASURED_SHARES, GainStream, write_stream
from dpol.experts.games import play
from dpol.experts.registry import make_members
from dpol.noise import privatize
from dpol.privacy.account import best_guess
from dpol.privacy.chains import chain_norm
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.losses import Promise
from dpol.privacy.noise_laws import LAPLACE
from dpol.privacy.stays import STAYS
from dpol.studies.comparison.compute import agreed, collect, play_reading, with_verdicts
from dpol.studies.comparison.noise_memory import (
    INDEPENDENT,
    REMEMBERED,
    compare_memories,
    play_memories,
)
from dpol.studies.comparison.settings import (
    ComparisonSettings,
    MemoryPoint,
    NoiseMemories,
    NoiseRead,
    ReadingPoint,
)
from dpol.studies.comparison.study import STUDY, jobs
from dpol.studies.study import Facts, Inputs, reading_label, schemas_in
from game_tables import suite
from small_config import COMPARED, GAINS, changed, problems
from standings_by_hand import standings_of
from tables_by_hand import INF, run

FACTS = Facts({"nm": "New Mexico"}, simulated=True, confidence=0.9, delta=1e-4)
RIVALS = [NoiseRead(noise=it) for it in ("budget-absorption", "laplace-uniform", "capacity")]
ASKED = NoiseMemories(weeks=[1, 3], mus=[0.5, 0.2], rivals=RIVALS)
SETTINGS = ComparisonSettings(memory=ASKED, replicates=5)


@pytest.fixture(scope="module")
def stream(random_stream) -> GainStream:
    """A stream so long that a stay in its middle is as bad as in an endless game."""
    return replace(random_stream(60, 4, label="nm"), capacity=np.full((60, 4), 40.0))


@pytest.fixture(scope="module")
def played(stream: GainStream, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The games of both units, as their jobs write them."""
    write_stream(stream, file := tmp_path_factory.mktemp("streams") / "nm.parquet")
    inputs = Inputs(seed=1, files={"stream": file})
    _, *made = jobs(SETTINGS, FACTS).values()
    return pd.concat([play_memories(job.points[0], inputs) for job in made])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def frame(played: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Their table, as `collect` makes it."""
    played.to_parquet(file := tmp_path_factory.mktemp("memory") / "memory.parquet")
    table = collect({"memory": [str(file)]}, SETTINGS, FACTS)["memory"]
    return schemas_in(STUDY.package)["memory"].check(table, "memory")


def one(frame: pd.DataFrame, **key: Any) -> pd.Series:
    """Return the only row of the default reader with these values."""
    key["algorithm"] = "random-effects"
    (place,) = np.flatnonzero((frame[list(key)] == pd.Series(key)).all(axis=1))
    return frame.iloc[place]


def of_three_weeks(stream: GainStream) -> GainStream:
    """Return the stream for stays; its label separates its noise from that of other units."""
    return replace(stream, label=f"{stream.label}, stays of 3", stay=3)


def test_gains_come_from_noise_made_for_the_unit(frame: pd.DataFrame, stream: GainStream) -> None:
    """Played by hand."""
    long = of_three_weeks(stream)
    (member,) = make_members("random-effects")
    totals = {}
    for noise in (REMEMBERED, INDEPENDENT):
        noisy = privatize(long, noise, 0.2, seed=1, replicates=5)
        totals[noise] = play(member.algorithm, noisy).gains(long).sum(axis=1)
    row = one(frame, weeks=3, noise=INDEPENDENT, level=0.2, mu=0.2)
    assert row["unit"] == "one person in at most 3 rounds in a row"
    assert row["mean_gain"] == pytest.approx(totals[INDEPENDENT].mean())
    ahead = totals[REMEMBERED] - totals[INDEPENDENT]
    assert row["difference"] == pytest.approx(ahead.mean())
    assert row["epsilon"] == pytest.approx(epsilon_of_delta(1e-4, 0.2))
    # 11 rows of each unit and level have a mean, and all but one of them a difference.
    assert row["ci_comparisons"] == 2 * 2 * (11 + 10)
    assert row["difference_half_width"] == pytest.approx(float(half_width(ahead, 0.9, 84)))


def test_the_mu_of_a_longer_stay_follows_from_its_norm(frame: pd.DataFrame) -> None:
    """The factor is N_v / N_w with b of the record, or sqrt(v / w) for independent noise."""
    for weeks in ASKED.weeks:
        memory = one(frame, weeks=weeks, noise=REMEMBERED, level=0.2)
        same = one(frame, weeks=weeks, noise=INDEPENDENT, level=0.2)
        b = float(memory["noise_memory"].removeprefix("a = 0, b = "))
        assert b > 0.1
        assert memory["guaranteed_mu"] == pytest.approx(0.2, rel=1e-5)
        for stay, column in zip(STAYS, MU_OF_STAYS, strict=True):
            ratio = float(chain_norm(0.0, b, stay) / chain_norm(0.0, b, weeks))
            assert memory[column] == pytest.approx(0.2 * ratio, rel=1e-3)
            assert same[column] == pytest.approx(0.2 * math.sqrt(stay / weeks))
            # Correlated noise protects shorter stays better, and longer stays less.
            assert (memory[column] > same[column]) == (stay > weeks) or stay == weeks


def test_replicates_are_paired_and_epsilon_is_that_of_the_guarantee(played: pd.DataFrame) -> None:
    """Each replicate of correlated noise is 1 ahead."""
    games = played.query("weeks == 1 and mu == 0.2 and algorithm == 'random-effects'")
    games = games.assign(guaranteed_mu=0.18)
    games["totals"] = [(ours := games["totals"].iloc[0]), ours - 1]
    asked = NoiseMemories(weeks=[1], mus=[0.2])
    table = compare_memories(games, asked, delta=1e-6, confidence=0.9)
    row = one(table, noise=INDEPENDENT)
    assert row["difference"] == pytest.approx(1.0)
    assert row["difference_half_width"] == pytest.approx(0.0, abs=1e-9)
    assert row["verdict"] == "above"
    assert table["epsilon"].tolist() == [epsilon_of_delta(1e-6, 0.18)] * 2


def test_each_stream_and_unit_has_a_place() -> None:
    facts = replace(FACTS, streams={"nm": "nm", "pa": "pa"})
    systems, *places = made = jobs(SETTINGS, facts)
    assert made[systems].inputs == {"summary": "summary.parquet", "totals": "totals.parquet"}
    assert places == [f"{stream}/noise-memory/{w}-weeks" for stream in ("nm", "pa") for w in (1, 3)]
    job = made["pa/noise-memory/3-weeks"]
    (point,) = job.points
    assert isinstance(point, MemoryPoint)
    assert (point.weeks, point.replicates) == (3, 5)
    assert job.inputs == {"stream": "streams/pa.parquet"}
    assert {"dpol.noise.noises", "dpol.experts.discounted_mean"} <= {*job.code}
    (algorithm, games), *rivals = point.readers
    assert (algorithm, len(rivals)) == ("random-effects", 3)
    assert games[2:] == ((REMEMBERED, 0.2), (INDEPENDENT, 0.2))


def test_a_rival_plays_at_the_same_best_guess_and_at_the_same_epsilon(
    frame: pd.DataFrame, stream: GainStream
) -> None:
    """The best guess, or epsilon(1e-4), of mu-GDP; Gaussian noise has both at mu."""
    rows = frame.query("algorithm == 'persistence' and weeks == 3 and level == 0.5")
    epsilon = epsilon_of_delta(1e-4, 0.5)
    promised = {"mu": Promise(mu=0.5), "guess": Promise(delta=2 * best_guess(0.5) - 1)}
    promised |= {"epsilon": Promise(epsilon=epsilon, delta=1e-4), "pure": Promise(epsilon=epsilon)}
    # Two holders: in all weeks together, and in each of three.
    releases = {"budget-absorption": 2, "laplace-uniform": 6}
    losses = {
        (noise, name): LAPLACE.loss(LAPLACE.largest(promise, count), count)
        for noise, count in releases.items()
        for name, promise in promised.items()
    }
    levels = {key: loss.mu for key, loss in losses.items()}
    levels["capacity", "mu"] = 0.5
    assert list(zip(rows["noise"], rows["same"], strict=True)) == list(levels)
    assert rows["mu"].tolist() == pytest.approx(list(levels.values()), rel=1e-5)
    levels = dict(zip(levels, rows["mu"], strict=True))
    assert rows["guaranteed_mu"].tolist() == pytest.approx(list(levels.values()))
    guesses = [loss.guess for loss in losses.values()]
    assert rows["best_guess"].tolist() == pytest.approx([*guesses, best_guess(0.5)], rel=1e-5)
    curve, guess, small, pure, gaussian = rows["best_guess"].iloc[4:]
    assert guess == pytest.approx(gaussian, rel=1e-5)
    assert curve < gaussian < pure < small
    assert rows["guaranteed_mu"].iloc[5] > 0.5
    long = of_three_weeks(stream)
    totals = [
        play("persistence", privatize(long, noise, mu, seed=1, replicates=5)).gains(long).sum(1)
        for (noise, _), mu in levels.items()
    ]
    assert rows["mean_gain"].tolist() == pytest.approx([each.mean() for each in totals])


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ({"algorithm": "rw-meta"}, "algorithm = 'rw-meta': must support correlated noise;"
         " this algorithm assumes independent noise"),
        ({"algorithm": "ridge"}, "algorithm = 'ridge': must be one algorithm; ridge is a family,"
         " one for each learner"),
        ({"algorithm": "noisy-max"}, "algorithm = 'noisy-max': must be a local algorithm, which"
         " sees noisy gains"),
        ({"algorithm": "ridgge"}, "algorithm = 'ridgge': algorithm 'ridgge' is not one of"),
        ({"rivals": [{"noise": "fast", "algorithm": "rw-meta"}]}, "rivals[0].algorithm = 'rw-meta':"
         " must support correlated noise"),
        ({"rivals": [{"noise": "capacity", "algorithm": "random-effects"}]}, "rivals[0].algorithm"
         " = 'random-effects': is compared already with capacity noise; give it another label"),
        ({"rivals": [{"noise": "fast", "algorithm": {"algorithm": "persistence"}}, {"noise": "fast"}
         ]}, "rivals[1]: algorithm is not given, so it is 'persistence': is compared already with"),
        ({"weeks": [0]}, "weeks[0] = 0: must be greater than or equal to 1"),
        ({"mus": [math.inf]}, "mus[0] = inf: must be less than or equal to 1000"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_config_is_reported(block: dict[str, Any], line: str) -> None:
    told = problems({"comparison": {"memory": {"mus": [0.1], **block}}})
    assert [problem for problem in told if problem.startswith(f"comparison.memory.{line}")]


def test_gains_without_capacities_are_refused() -> None:
    told = problems(GAINS, {"comparison": {"memory": {"mus": [0.1]}}})
    line = "comparison.memory = 'a block': must not be given because dataset.source.kind is"
    assert [problem for problem in told if problem.startswith(line)]


# ---- readings ------------------------------------------------------------------------------------

READINGS = {"dataset.readings": {"ones": {"suppressed_value": 1}, "nines": {"suppressed_value": 9}}}
CONFIG = parse_experiment(changed(COMPARED, READINGS), "my.yaml")
OURS = "random-effects", "capacity"
AHEAD = "ahead at this reading"


@pytest.mark.parametrize(
    ("shares", "found", "said"),
    [
        ((0.05, 0.0), ["below", "below"], "above"),
        ((0.06, 0.05), ["above", "above"], "above"),
        ((0.06, 0.0), ["above", "undecided"], AHEAD),
        ((0.06, 0.0), ["below", "above"], AHEAD),
        ((0.06, 0.0), [], AHEAD),
        ((0.06, 0.06), ["above", "above"], AHEAD),
        ((0.0, 0.06), [], AHEAD),
    ],
)
def test_above_needs_measured_numbers_or_all_readings(
    shares: tuple[float, float], found: Sequence[str], said: str
) -> None:
    """Ours is above the paper's method, which is the strongest rival, at the level played again.

    No reading plays zeros that may hide counts.
    """
    facts = dict(zip(UNMEASURED_SHARES, shares, strict=True))
    rows = [run("rw-meta", mu, 20.0, **facts) for mu in (1.0, 0.5)]
    rows += [run(OURS[0], mu, 30.0, noise=OURS[1], **facts) for mu in (1.0, 0.5)]
    frame = standings_of(rows, OURS)
    one = {"stream": "nm", "mu": 1.0, "other_algorithm": "rw-meta", "other_noise": "isotropic"}
    made = agreed(frame, pd.DataFrame([one | {"verdict": verdict} for verdict in found]))
    made = made.set_index(["role", "mu"])
    opposite = {"above": "below", AHEAD: "behind at this reading"}
    for column in ("to_baseline_verdict", "to_strongest_verdict"):
        assert made.loc[("our method", 1.0), column] == said
        assert made.loc[("our method", 0.5), column] == (AHEAD if max(shares) > 0.05 else "above")
    assert made.loc[("the baseline", 1.0), "to_ours_verdict"] == opposite[said]
    assert made.loc[("the baseline", 1.0), "to_strongest_verdict"] == "equal"


def test_ours_and_each_rival_play_only_where_the_reading_may_matter(
    random_stream: Any, tmp_path: Path
) -> None:
    """The paper's method and the strongest rival of a level play, and no other system.

    One is of a family, of which two suites play members. Differences agree with games played by
    hand.
    """
    planned = jobs(CONFIG.block("comparison"), CONFIG.facts)
    assert dict(planned["one@nines"].inputs) == {
        "stream": "streams/one.parquet",
        "ranked": "comparison/standings/standings.parquet",
        "read": "streams/one@nines.parquet",
    }
    unmeasured = {UNMEASURED: {"periods": 4, "share": 0.06}}
    streams = {"stream": random_stream(12, 3, label="one", provenance=unmeasured)}
    for seed, reading in enumerate(("ones", "nines"), start=1):
        streams[reading] = random_stream(12, 3, label=f"one@{reading}", seed=seed)
    files = {name: tmp_path / f"{name}.parquet" for name in (*streams, "ranked")}
    for name, made in streams.items():
        write_stream(made, files[name])
    weaker = {"guaranteed_mu": 2.0}
    rows = [
        *(run("rw-meta", mu, 5.0, stream="one") for mu in (INF, 0.25)),
        *(run(OURS[0], mu, 59.0, stream="one", noise=OURS[1]) for mu in (INF, 0.25)),
        run("rw-ftpl", INF, 9.0, stream="one", noise="capacity"),
        run("ridge-w8-weak", 0.25, 8.0, stream="one", family="ridge"),
        run("ridge-w8-weak", 0.25, 58.0, stream="both", family="ridge", noise="capacity"),
        run("careful", 0.25, 58.0, stream="one", family="rw-meta", noise="capacity", **weaker),
        run("tree-ftpl-min-noise", 0.25, 58.0, stream="one", model="central"),
        run("follow-the-leader", INF, 58.0, stream="one", model="none", noise="none"),
    ]
    write_frame(standings_of(rows, OURS), files["ranked"])

    def play(reading: str) -> pd.DataFrame:
        (point,) = planned[f"one@{reading}"].points
        assert isinstance(point, ReadingPoint)
        inputs = Inputs(seed=5, files={**files, "read": files[reading]})
        return play_reading(replace(point, replicates=4), inputs)

    played = pd.concat([play("ones"), play("nines")], ignore_index=True)
    others = {INF: ("rw-ftpl", "capacity"), 0.25: ("ridge-w8-weak", "isotropic")}
    expected = [
        (reading, mu, *other)
        for reading in ("ones", "nines")
        for mu, strongest in others.items()
        for other in (("rw-meta", "isotropic"), strongest)
    ]
    keys = ["reading", "mu", "other_algorithm", "other_noise"]
    assert [*played[keys].itertuples(index=False, name=None)] == expected
    row = played.iloc[3]

    def totals(algorithm: Any, noise: str) -> Any:
        block = suite(streams["ones"], [algorithm], noise=noise, mu=0.25, seed=5,
                      replicates=range(4))  # fmt: skip
        return next(it for it in block if it.label in (*OURS, others[0.25][0])).totals

    lead = totals(*OURS) - totals("ridge", "isotropic")
    assert row["difference"] == pytest.approx(lead.mean(), rel=1e-12)
    made = with_verdicts(played, 0.9)
    half = half_width(lead, 0.9, comparisons=8)
    assert made["difference_half_width"].iloc[3] == pytest.approx(half, rel=1e-12)
    write_stream(replace(streams["stream"], provenance={}), files["stream"])
    assert play("ones").empty


def test_readings_need_our_method() -> None:
    allowed = "must not be given without comparison.ours, which they play again"
    assert problems(READINGS) == [f"dataset.readings = ['ones', 'nines']: {allowed}"]
    assert reading_label("one", "ones") not in CONFIG.streams
