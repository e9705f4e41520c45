from __future__ import annotations

import itertools

import pandas as pd
import pytest

from dpol.show.looks import REFUTED
from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.settings import Audits
from dpol.studies.audits.shown import draw_audits
from dpol.studies.study import Facts
from legible import plain


@pytest.fixture(scope="module")
def audits(few_audits):
    """Few runs, but the bound of many runs for the adversary that reacts."""
    reacts = few_audits.variant.str.contains("adversary that reacts")
    assert reacts.sum() == 1
    return few_audits.assign(
        lower_bound=few_audits.lower_bound.where(~reacts, 0.28),
        verdict=few_audits.verdict.where(~reacts, OUTSIDE),
    )


def draw_audit(audits):
    facts = Facts({}, simulated=True, confidence=0.95)
    return draw_audits({"audits": audits}, Audits(), facts)


def points(figure):
    """Return (x, line, colour, marker) of every audit."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0], line.get_color(), line.get_marker())
        for line in figure.axes[0].get_lines()
        if line.get_marker() not in ("", "None")
    ]


def test_refuted_and_closest_audits_are_drawn_at_their_shares_of_the_claim(audits):
    before = audits.copy()
    drawn = points(draw_audit(audits))
    pd.testing.assert_frame_equal(audits, before)
    share = (audits.lower_bound / audits.claimed).fillna(0.0)  # 0 of a claim of 0
    refuted, outside = audits.verdict == "violated", audits.verdict == OUTSIDE
    assert outside.any()
    closest = share[~refuted & ~outside].sort_values(ascending=False)[:5]
    expected = [*share[refuted].sort_values(ascending=False), *share[outside], *closest]
    assert [x for x, *_ in drawn] == pytest.approx(expected)
    places = [line for _, line, *_ in drawn]
    steps = {after - before for before, after in itertools.pairwise(places)}
    assert places[0] == 0
    assert steps <= {1.0, 1.5}
    markers = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
    shown = [marker for *_, marker in drawn][int((refuted | outside).sum()) :]
    assert shown == [markers[method] for method in audits.method[closest.index]]


def test_refuted_claims_are_counted(audits):
    violated = audits.verdict == "violated"
    assert 0 < violated.sum() < len(audits)
    figure = draw_audit(audits)
    seen = [True] * violated.sum() + [False] * (int((audits.verdict == OUTSIDE).sum()) + 5)
    assert [colour == REFUTED for _, _, colour, _ in points(figure)] == seen
    outside = f"{(audits.verdict == OUTSIDE).sum()} attacked what no claim covers"
    counts = f"{violated.sum()} refuted the claim, and {outside}"
    assert f"Of {len(audits)} audits {counts}" in figure.get_label()
    clean = draw_audit(audits[~violated])
    assert "no claim is refuted" in plain(clean.get_suptitle())
