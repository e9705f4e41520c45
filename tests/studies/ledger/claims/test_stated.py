"""Formulas that texts take from docstrings are what the functions compute."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpol.labels import bounds
from dpol.studies.ledger.claims import dartboard, experts, labels, lazy, lemmas, lower_bound
from dpol.studies.ledger.claims.core import stated
from formulas import value_of

SCALES = np.array([3.0, 2.0, 5.0, 4.0])
"""Noise of sums of four rounds; the sums after the last round choose nothing."""
OF_SCALES = {"S_1": 3.0, "Σ max(S_t+1 − S_t, 0)": 3.0, "Σ 1/S_t": 1 / 3 + 1 / 2 + 1 / 5}
HARD = min(math.expm1(0.5) ** 2, 1) * math.exp(0.5)
FORMULAS: list[tuple[Callable[..., object], tuple[object, ...], dict[str, float]]] = [
    (experts.ftpl_bound, (50, 7, 3.0), {"T": 50, "n": 7, "η": 3}),
    (experts.adabatch_bound, (50, 7, 3.0, 0.3), {"T": 50, "n": 7, "η": 3, "α": 0.3}),
    (experts.meta_bound, (50, 7, 3.0), {"T": 50, "m": 7, "η": 3}),
    (experts.meta_bound, (50, 7, 0.5), {"T": 50, "m": 7, "η": 0.5}),
    (experts.matrix_bound, (SCALES, 7), {"n": 7, **OF_SCALES}),
    (lazy.regret_of_batches, (50, 7, 3, 0.2), {"T": 50, "d": 7, "B": 3, "η": 0.2}),
    (dartboard.bound, (50, 7, 3, 0.1, 0.2), {"T": 50, "d": 7, "B": 3, "p": 0.1, "η": 0.2}),
    (dartboard.rate_of_updates, (50, 7, 0.5), {"T": 50, "d": 7, "ε": 0.5}),
    (lemmas.mended_delta, (0.2, 0.01, 0.5), {"λ": 0.2, "δ": 0.01, "ε": 0.5, "e": math.e}),
    (lower_bound.most_gain, (50, 7, 5, 0.5), {"T": 50, "d": 7, "E": 5, "B": 10, "ε": 0.5}),
    (labels.sensitivity_bound, (7, 50), {"K": 7, "T": 50}),
    (bounds.kept_by_design, (8, 0.5), {"K": 8, "ε": 0.5}),
    (bounds.posterior_tv, (7, 50, 0.3), {"K": 7, "T": 50, "kept": 0.3}),
    (bounds.posterior_risk, (7, 50, 0.3), {"K": 7, "T": 50, "kept": 0.3}),
    (bounds.lower_bound, (3, 400, 0.5), {"T": 400, "a": bounds.hardness(3, 400, 0.5)}),
    (bounds.lower_bound_of_tv, (3, 400, 0.5), {"K": 3, "T": 400, "m": HARD}),
]
"""Functions, arguments, and what the letters of their formulas are then."""


@pytest.mark.parametrize(("bound", "arguments", "letters"), FORMULAS, ids=lambda it: str(it)[:40])
def test_a_formula_is_what_its_function_computes(bound, arguments, letters):
    assert value_of(stated(bound), letters) == pytest.approx(float(bound(*arguments)), rel=1e-12)


def test_another_number_or_sign_is_found():
    right = stated(lazy.regret_of_batches)
    letters = {"T": 50, "d": 7, "B": 3, "η": 0.2}
    value = value_of(right, letters)
    assert value == math.log(7) / 0.2 + 0.2 * 50 * 3 / 8
    for wrong in (right.replace("8", "4"), right.replace("+", "-"), right.replace("log(d)", "d")):
        assert abs(value_of(wrong, letters) - value) > 0.1
