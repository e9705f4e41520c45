from __future__ import annotations

import pandas as pd
import pytest

from dpol.show.looks import REFUTED
from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.figure import draw
from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts
from legible import assert_legible, plain


@pytest.fixture(scope="module")
def audits(few_audits):
    """Few runs; the adversary that reacts is given what it reaches with many."""
    found = few_audits
    reacts = found.variant.str.contains("adversary that reacts")
    assert reacts.sum() == 1
    return found.assign(
        lower_bound=found.lower_bound.where(~reacts, 0.28),
        verdict=found.verdict.where(~reacts, OUTSIDE),
    )


def draw_audit(audits, narrow=False):
    facts = Facts({}, simulated=True, confidence=0.95)
    return draw({"audits": audits}, Audits(), facts, narrow=narrow)


def points(figure):
    """(x, line, colour, marker) of every audit."""
    lines = [it for it in figure.axes[0].get_lines() if it.get_marker() not in ("", "None")]
    return [(it.get_xdata()[0], it.get_ydata()[0], it.get_color(), it.get_marker()) for it in lines]


def test_lines_are_what_refutes_and_the_closest_at_their_shares_of_the_claim(audits):
    before = audits.copy()
    found = points(draw_audit(audits))
    pd.testing.assert_frame_equal(audits, before)
    share = (audits.lower_bound / audits.claimed).fillna(0.0)  # 0 of a claim of 0
    refuted, outside = audits.verdict == "violated", audits.verdict == OUTSIDE
    assert outside.any()
    closest = share[~refuted & ~outside].sort_values(ascending=False)[:5]
    expected = [*share[refuted].sort_values(ascending=False), *share[outside], *closest]
    assert [x for x, *_ in found] == pytest.approx(expected)
    assert [line for _, line, *_ in found] == list(range(len(expected)))
    markers = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
    shown = [marker for *_, marker in found][int((refuted | outside).sum()) :]
    assert shown == [markers[it] for it in audits.method[closest.index]]


def test_a_share_far_beyond_its_claim_does_not_squash_the_others(audits):
    far = audits.assign(lower_bound=[50.0] + [0.9] * (len(audits) - 1), claimed=1.0)
    far.loc[1, ["lower_bound", "claimed"]] = 0.1, 0.0
    figure = draw_audit(far)
    shares = [x for x, *_ in points(figure)]
    assert sorted(shares, reverse=True)[:3] == [1.5, 1.5, 0.9]
    assert figure.axes[0].get_xlim()[1] < 1.6


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_beyond_its_claim_stands_out_and_is_counted(audits, narrow):
    violated = audits.verdict == "violated"
    assert 0 < violated.sum() < len(audits)
    figure = draw_audit(audits, narrow)
    outside = int((audits.verdict == OUTSIDE).sum())
    seen = [True] * violated.sum() + [False] * (outside + 5)
    assert [colour == REFUTED for _, _, colour, _ in points(figure)] == seen
    assert_legible(figure)
    assert [text.get_fontweight() == "bold" for text in figure.axes[0].texts] == seen
    edge = figure.bbox.x1
    assert all(text.get_window_extent().x1 <= edge for text in figure.axes[0].texts)
    # A band behind its row: a share just above 1 would go unseen.
    assert len(figure.axes[0].patches) == violated.sum()
    counts = f"{violated.sum()} refuted and {outside} outside the promise"
    assert f"{len(audits)} audits, {counts}" in figure.get_label()
    clean = draw_audit(audits[~violated])
    assert "no claim is refuted" in plain(clean.get_suptitle())
