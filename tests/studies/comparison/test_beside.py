"""Games beside those of a run, at every reading."""

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
from dpol.studies.comparison.settings import ReadingPoint
from dpol.studies.comparison.study import jobs
from dpol.studies.study import Facts, Inputs, reading_label, schemas_in
from game_tables import suite
from small_config import COMPARED, GAINS, changed, problems
from standings_by_hand import standings_of
from tables_by_hand import INF, run

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
