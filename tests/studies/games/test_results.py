"""What follows from a summary, computed by hand."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpol.studies.games.collect import results_from, switching_gains
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.study import Facts
from game_tables import joined, suite
from replays import stream_of
from tables_by_hand import run, summary

# --- Shares ---


def test_shares_are_empty_where_every_choice_gains_the_same() -> None:
    """A rounding error of the mean, over nothing that can be gained, is no share."""
    same = dict.fromkeys(("uniform_gain", "best_fixed_gain", "oracle_gain"), 30.0)
    row = summary([run("rw-meta", 1.0, 30.0 + 1e-12, **same)]).iloc[0]
    shares = row[["best_fixed_share", "gain_share", "gain_share_half_width"]]
    assert shares.isna().all()


# --- Gains of the best sequences, beside all sequences of small games ---

gains_of = st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-4, 9).map(float))
)


@given(gains_of)
def test_every_sequence_was_tried(gains):
    T, n = gains.shape
    best = np.full(T + 3, -np.inf)  # more switches than rounds add nothing
    for sequence in product(range(n), repeat=T):
        switches = sum(one != two for one, two in pairwise(sequence))
        best[switches:] = np.maximum(best[switches:], gains[np.arange(T), sequence].sum())
    np.testing.assert_array_equal(switching_gains(gains, T + 2), best)


# --- Blocks of replicates ---


def test_blocks_of_replicates_give_the_results_of_all_replicates_at_once() -> None:
    """Jobs of blocks come by level; results keep the order of noises."""
    algorithms, noises, levels = ["rw-ftpl", "persistence"], ["isotropic", "capacity"], (1.0, 0.5)
    suites = {"local": {"noises": noises, "algorithms": algorithms}}
    main = GamesSettings(suites=suites, report=Report(algorithms=algorithms))
    streams = {"a": stream_of(12, 4, "a")}
    facts = Facts({"a": "a"}, True, 0.95, levels=levels, replayed=True)

    def played(noise: str, mu: float, block: range):
        return suite(streams["a"], algorithms, noise=noise, mu=mu, replicates=block)

    blocks = product(levels, (range(100), range(100, 200)), noises)
    parts = joined(played(noise, mu, block) for mu, block, noise in blocks)
    made = dict(results_from(*parts, streams, main, facts))
    whole = joined(played(noise, mu, range(200)) for noise, mu in product(noises, levels))
    expected = dict(results_from(*whole, streams, main, facts))
    assert made.keys() == {"summary", "totals", "cumulative", "switches", "replay"}
    for name, frame in expected.items():
        near = {"rtol": 0, "atol": 1e-12} if name == "cumulative" else {"check_exact": True}
        pd.testing.assert_frame_equal(made[name], frame, **near)
