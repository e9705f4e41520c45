"""Formulas that people wrote into pages are what the code computes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.special import ndtr

import dpol
from docs.test_statements import CHECKOUT, evaluated
from dpol.data.stream import GainStream
from dpol.experts.switching import BOUNDS
from dpol.labels import bounds
from dpol.labels.clients import ResponseClient
from dpol.privacy.account import account, best_guess
from dpol.studies.ledger.claims import experts, lazy

MU, BEDS, LEAST, S = 0.4, 30.0, 20.0, 1.5
STREAM = GainStream(
    label="two",
    gains=np.full((3, 2), 0.1),
    capacity=np.tile([LEAST, BEDS], (3, 1)),
    entities=("small", "large"),
    periods=np.datetime64("2021-01-03") + 7 * np.arange(3),
    count_sensitivity=S,
)


def noise(name: str, mu: float = MU) -> float:
    """Return the standard deviation of the noise on the gain of the larger hospital."""
    noisy = dpol.privatize(STREAM, name, mu, seed=1, replicates=1)
    return float(noisy.noise_scale[0, -1])


BED: Mapping[str, float] = {"s": S, "μ": MU, "c": BEDS}
COMPOSED: Mapping[str, float] = {"ε": 0.5, "δ": 0.01, "λ": 0.2}
OURS, PRIVACY, PAPERS = (f"docs/explanation/{it}.md" for it in ("ours", "privacy", "papers"))
CONFIG, GLOSSARY = "config/README.md", "docs/reference/glossary.md"
FORMULAS: list[tuple[str, str, str, Mapping[str, float], float]] = [
    (OURS, "the noise √2 s/(μc)", "√2 s/(μ c)", BED, noise("capacity")),
    (OURS, "N(0, 2s²/μ²)", "2 s²/μ²", BED, (BEDS * noise("capacity")) ** 2),
    (
        OURS,
        "2(n − 1)Φ(−gap/(η√(2B)))",
        "2 (n − 1) p",
        {"n": 7, "p": float(ndtr(-9 / (2 * math.sqrt(10))))},
        float(BOUNDS["reflection"].tail(np.array(9 / (2 * math.sqrt(10))), 7)),
    ),
    (PRIVACY, "√2 s/(μ min c)", "√2 s/(μ c)", {**BED, "c": LEAST}, noise("isotropic")),
    (PRIVACY, "η_i = √2 s/(μc_i)", "√2 s/(μ c)", BED, noise("capacity")),
    (PRIVACY, "has √w times this μ", "√w", {"w": 9}, account(MU, 9).mu / MU),
    (PAPERS, "(η + 2/η) √(2 T log n)", "", {"η": 3, "T": 50, "n": 7}, experts.ftpl_bound(50, 7, 3)),
    (PAPERS, "e^ε/(e^ε + M − 1)", "", {"ε": 0.5, "M": 9}, ResponseClient(9, 0.5).keep),
    (
        PAPERS,
        "δ + (1 + e^ε)((1 + e^ε)Σλ + δ)",
        "δ + (1 + e^ε) ((1 + e^ε) λ + δ)",
        COMPOSED,
        lazy.mended_delta(0.2, 0.01, 0.5),
    ),
    (
        PAPERS,
        "√((K − 1) log K/(2T))/tanh(ε/2)",
        "√((K − 1) log K/(2 T))/tanh(ε/2)",
        {"K": 8, "T": 50, "ε": 0.5},
        bounds.posterior_tv(8, 50, bounds.kept_by_design(8, 0.5)),
    ),
    (CONFIG, "√2 / (μ · capacity of i)", "√2 s/(μ c)", BED, noise("capacity")),
    (CONFIG, "max(Δ_t / μ, √2)", "max(d/μ, √2)", {"d": 0.2, "μ": 0.4}, math.sqrt(2)),
    (GLOSSARY, "at most Φ(μ/2)", "p", {"p": float(ndtr(MU / 2))}, best_guess(MU)),
]
"""A page, its words, the formula as `evaluated` reads it, its letters, and what code computes."""


@pytest.mark.parametrize(("page", "text", "formula", "letters", "value"), FORMULAS)
def test_a_formula_of_a_page_is_what_the_code_computes(page, text, formula, letters, value):
    assert text in (CHECKOUT / page).read_text(encoding="utf-8")
    plain = re.sub(r"√(\w)", r"sqrt(\1)", formula or text).replace("√(", "sqrt(")
    assert evaluated(plain, letters) == pytest.approx(value, rel=1e-6)
