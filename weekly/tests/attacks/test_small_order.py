"""A key of small order, under which one signature fits any text, is refused (m3).

The arithmetic of the curve is written here a second time, with Python's integers.
"""

from __future__ import annotations

import pytest

from dpol_weekly import keys
from dpol_weekly.keys import verify

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P


def square_root(value):
    """A square root modulo P, or None."""
    root = pow(value, (P + 3) // 8, P)
    if root * root % P != value % P:
        root = root * pow(2, (P - 1) // 4, P) % P
    return root if root * root % P == value % P else None


def doubled(point):
    """Twice a point of -x^2 + y^2 = 1 + D x^2 y^2."""
    x, y = point
    product = D * x * x * y * y % P
    return (
        2 * x * y * pow(1 + product, -1, P) % P,
        (y * y + x * x) * pow(1 - product, -1, P) % P,
    )


def times_eight(y):
    """Eight times the point of a y, reduced modulo P."""
    y %= P
    x = square_root((y * y - 1) * pow(D * y * y + 1, -1, P))
    assert x is not None, "no point of the curve has this y"
    return doubled(doubled(doubled((x, y))))


def test_each_listed_point_is_of_small_order_and_no_usual_one_is():
    assert [y for y in keys._SMALL_ORDER if times_eight(y) != (0, 1)] == []
    usual = 4 * pow(5, -1, P) % P  # of the base point
    assert times_eight(usual) != (0, 1)
    # Eight points have five y; 0, 1 and -1 fit in 255 bits in a second way, if at all.
    assert len({y % P for y in keys._SMALL_ORDER}) == 5
    assert {y + P for y in keys._SMALL_ORDER if y + P < 2**255} <= keys._SMALL_ORDER


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("y", sorted(keys._SMALL_ORDER))
def test_no_signature_is_good_under_such_a_key(y, sign):
    public = (y + (sign << 255)).to_bytes(32, "little").hex()
    for first in (bytes(32), bytes.fromhex(public), (1).to_bytes(32, "little")):
        assert not verify(public, (first + bytes(32)).hex(), "any text")


def test_such_a_key_would_be_taken_without_the_list(monkeypatch):
    zeros = bytes(32).hex(), bytes(64).hex()
    assert not verify(*zeros, "any text")
    monkeypatch.setattr(keys, "_SMALL_ORDER", set())
    assert any(verify(*zeros, f"text {number}") for number in range(64))
