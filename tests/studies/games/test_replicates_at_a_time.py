from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.data.synthetic import synthetic_stream
from dpol.experts.registry import make_members
from dpol.studies.games.compute import parts

MEMBERS = make_members("rw-ftpl")


@given(st.integers(1, 40), st.integers(1, 300), st.integers(1, 30))
def test_parts_hold_every_replicate_once_in_order_and_are_nearly_equal(count, n, rounds):
    stream = synthetic_stream("any", np.zeros((100 * rounds, n)))
    split = list(parts(stream, MEMBERS, range(7, 7 + count)))
    assert [number for part in split for number in part] == list(range(7, 7 + count))
    sizes = [len(part) for part in split]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1
    assert max(sizes) == 1 or max(sizes) * n * max(1, rounds / 10) <= 7_500


@pytest.mark.parametrize(
    ("rounds", "n", "sizes"),
    [(2, 250, [30]), (2, 251, [15, 15]), (2, 7_600, [1] * 30), (2_000, 125, [30]),
     (2_001, 125, [15, 15]), (1_000_000, 1, [6] * 5)],
)  # fmt: skip
def test_parts_by_hand(rounds, n, sizes):
    """At most 7,500 replicates times experts; of games above 1,000 rounds in proportion fewer."""
    stream = synthetic_stream("any", np.zeros((rounds, n)))
    assert [len(part) for part in parts(stream, MEMBERS, range(30))] == sizes


def test_many_learners_are_played_in_small_parts():
    """160^2 / 64 = 400 numbers for each replicate, so 18 of 30 would be too many for one part."""
    (member,) = MEMBERS
    large = replace(member, algorithm=SimpleNamespace(n_learners=160))
    stream = synthetic_stream("any", np.zeros((2, 5)))
    assert [len(part) for part in parts(stream, [member, large], range(30))] == [15, 15]
    assert [len(part) for part in parts(stream, [member], range(30))] == [30]
