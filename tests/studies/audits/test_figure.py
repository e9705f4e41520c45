from __future__ import annotations

import pandas as pd
import pytest

from dpol.show.looks import REFUTED
from dpol.studies.audits import STUDY
from dpol.studies.audits.figure import draw
from dpol.studies.audits.settings import Audits
from dpol.studies.jobs import compute
from dpol.studies.study import Facts
from legible import assert_legible, plain


@pytest.fixture(scope="module")
def audits():
    return compute(STUDY, Audits(runs=300), seed=1)["audits"]


def draw_audit(audits):
    return draw({"audits": audits}, Audits(), Facts({}, simulated=True, confidence=0.95))


def points(figure):
    """(x, line, colour, marker) of every audit."""
    lines = [it for it in figure.axes[0].get_lines() if it.get_marker() not in ("", "None")]
    return [(it.get_xdata()[0], it.get_ydata()[0], it.get_color(), it.get_marker()) for it in lines]


def test_every_audit_has_a_line_at_its_share_of_the_claim(audits):
    before = audits.copy()
    found = points(draw_audit(audits))
    pd.testing.assert_frame_equal(audits, before)
    share = (audits.lower_bound / audits.claimed).fillna(0.0)  # 0 of a claim of 0
    assert [x for x, *_ in found] == pytest.approx(share)
    assert [line for _, line, *_ in found] == list(range(len(audits)))
    markers = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
    assert [marker for *_, marker in found] == [markers[it] for it in audits.method]


def test_a_share_far_beyond_its_claim_does_not_squash_the_others(audits):
    far = audits.assign(lower_bound=[50.0] + [0.9] * (len(audits) - 1), claimed=1.0)
    far.loc[1, ["lower_bound", "claimed"]] = 0.1, 0.0
    figure = draw_audit(far)
    assert [x for x, *_ in points(figure)][:3] == [1.5, 1.5, 0.9]
    assert figure.axes[0].get_xlim()[1] < 1.6


def test_what_is_beyond_its_claim_stands_out_and_is_counted(audits):
    violated = audits.verdict == "violated"
    assert 0 < violated.sum() < len(audits)
    figure = draw_audit(audits)
    assert [colour == REFUTED for _, _, colour, _ in points(figure)] == list(violated)
    assert_legible(figure)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert [text.endswith("claimed: refuted") for text in texts] == list(violated)
    # A band behind its row: a share just above 1 would go unseen.
    rows = [patch.get_extents().y0 for patch in figure.axes[0].patches]
    assert len(rows) == violated.sum()
    assert plain(figure.get_suptitle()).endswith(f"{violated.sum()} refuted")
    clean = draw_audit(audits[~violated])
    assert plain(clean.get_suptitle()).endswith("no claim is refuted")
