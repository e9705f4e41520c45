"""Names next to the ends of lines."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.show.direct_labels import spread

LABELS = st.lists(st.tuples(st.floats(-0.2, 1.2), st.floats(0.01, 0.1)), min_size=1, max_size=10)


def test_spread_by_hand() -> None:
    assert spread([0.9, 0.2], [0.1, 0.1]) == pytest.approx([0.9, 0.2])
    # 0.5 and 0.52 want to touch: a block of height 0.2 around their mean 0.51.
    assert spread([0.52, 0.5], [0.1, 0.1]) == pytest.approx([0.56, 0.46])
    assert spread([1.0, 0.0], [0.1, 0.2]) == pytest.approx([0.95, 0.1])
    assert spread([], []) == []


@given(LABELS)
def test_spread_keeps_order_and_room(labels: list[tuple[float, float]]) -> None:
    wanted, sizes = zip(*labels, strict=True)
    places = spread(wanted, sizes)
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    for one, two in itertools.pairwise(order):
        assert places[two] - places[one] >= (sizes[one] + sizes[two]) / 2 - 1e-9
    for place, size in zip(places, sizes, strict=True):
        assert size / 2 - 1e-9 <= place <= 1 - size / 2 + 1e-9
