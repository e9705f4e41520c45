"""Parameters out of range are refused, each once, through the registry as in a config."""

from __future__ import annotations

import math
import re

import pytest

from dpol.experts.registry import make_members

BROKEN = [
    ("rw-ftpl", {"unknown": 1}, "rw-ftpl has no parameter 'unknown'; it has none"),
    ("ridge", {"window": 4}, "ridge has no parameter 'window'; it has windows, penalties"),
    ("tree-ftpl-min-noise", {"objective": "min-regret"}, "has no parameter 'objective'"),
    ("tree-ftpl-min-noise", {"noise": "capacity"}, "has no parameter 'noise'"),
    ("rw-adabatch", {"alpha": 0.0}, "alpha must be a number in (0, 1e6], got 0.0"),
    ("rw-adabatch", {"bound": "chernoff"}, "bound must be borell-tis or reflection, got"),
    ("rw-meta", {"exploration_floor": -1}, "exploration_floor must be a number from 0 to 1e6"),
    ("rw-meta", {"decorrelate": 1}, "decorrelate must be true or false, got 1"),
    *(("rw-meta", {"learners": banks}, message) for banks, message in [
        ([], "learners must not be empty"),
        ("rw-ftpl", "learners must be a list, got 'rw-ftpl'"),
        (["no-such-learner"], "learner 'no-such-learner' is not one of ridge, "),
        ([5], "learner 5 is not one of"),
        ([{"learner": "ridge", "windows": [0]}], "windows must be whole numbers"),
    ]),
    *(("ridge", {"windows": w}, "windows must be whole numbers from 1 to 10000") for w in (
        [], [0], [8, 2.5],
    )),
    ("discounted-mean", {"decay": 1.1}, "decay must be a number from 0 to 1, got 1.1"),
    ("discounted-mean", {"caution": -1}, "caution must be a number from 0 to 100, got -1"),
    ("ridge", {"windows": [8, 8]}, "a window is listed twice"),
    *(("ridge", {"penalties": p}, "penalties must be named, like") for p in (
        {}, [0.1, 1.0],
    )),
    ("ridge", {"penalties": {"weak": 0}}, "penalties.weak must be a number from 1e-9 to 1e9"),
    ("fixed-share", {"rate": 0}, "rate must be a number in (0, 1e6], got 0"),
    ("fixed-share", {"share": 2}, "share must be a number in (0, 1], got 2"),
    ("mf-window", {"window": 0}, "window must be a whole number of at least 1"),
    ("mf-discounted", {"decay": 1.1}, "decay must be a number in (0, 1]"),
    *(("l2p", {"delta": d}, "delta must be a number in (0, 1)") for d in (0.0, 1.0, math.nan)),
    ("l2p", {"accountant": "hopeful"}, "accountant must be published or sound, got 'hopeful'"),
    ("l2p", {"largest_batch": 0}, "largest_batch must be a whole number of at least 1, got 0"),
    ("split-budget", {"learners": []}, "learners must not be empty"),
    ("random-effects", {"scales": []}, "scales must be a list of numbers above 0"),
    ("random-effects", {"scales": [0.5, 0]}, "scales must be a number in (0, inf), got 0"),
    ("random-effects", {"scales": [0.5, 0.5]}, "a scale is listed twice"),
    ("random-effects", {"effect": 0}, "effect must be a number in (0, inf), got 0"),
    ("random-effects", {"persistence": 1}, "persistence must be a number in [0, 1), got 1"),
    ("random-effects", {"forgetting": 1.1}, "forgetting must be a number in (0, 1], got 1.1"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "parameters", "message"), BROKEN, ids=str)
def test_a_parameter_out_of_range_is_refused(family, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_members({"algorithm": family, **parameters})


@pytest.mark.parametrize(
    "spec", ["nothing", {"algorithm": "nothing"}, {"algorithm": ["rw-ftpl"]}, 5, None], ids=str
)
def test_an_unknown_algorithm_is_refused(spec):
    with pytest.raises(ValueError, match=r"^algorithm .* is not one of persistence, "):
        make_members(spec)


def test_a_block_without_an_algorithm_is_refused():
    with pytest.raises(ValueError, match="^the key algorithm is missing$"):
        make_members({"label": "x"})
