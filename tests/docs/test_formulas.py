"""Formulas that people wrote, on pages and in docstrings, are what the code computes."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import dpol
from code_blocks import ROOT
from dpol.data.stream import GainStream
from dpol.experts.batches import BOUNDS as SWITCHING
from dpol.experts.registry import REGISTRY
from dpol.labels import bounds
from dpol.labels.clients import ResponseClient
from dpol.privacy.account import account, best_guess
from dpol.privacy.matrix_mechanism import decayed_sums
from dpol.studies.ledger.claims import dartboard, experts, lazy
from dpol.studies.ledger.claims.core import stated

_TOKEN = re.compile(r"\d+(?:\.\d+)?|sqrt|log|exp|tanh|max|min|kept|[A-Za-zα-ω²³]|[-+*/^(),]")
_FUNCTIONS = {"sqrt", "log", "exp", "tanh", "max", "min"}


def evaluated(text: str, values: Mapping[str, float]) -> float:
    """Evaluate a formula in which neighbours are multiplied, and `log d` needs no brackets.

    >>> evaluated("2 η T² log d/(e^ε + 1)", {"η": 0.5, "T": 2, "d": math.e, "ε": 0.0})
    2.0
    """
    code, before = "", ""
    for token in _TOKEN.findall(text.replace("−", "-")):
        starts = token == "(" or (token.isalnum() and token not in "²³")
        bare = before in _FUNCTIONS and token != "("
        if starts and (before == ")" or (before.isalnum() and before not in _FUNCTIONS)):
            code += "*"
        shown = {"^": "**", "²": "**2", "³": "**3"}.get(token, token)
        code += f"({shown})" if bare else shown
        before = token
    known = {name: getattr(math, name) for name in ("sqrt", "log", "exp", "tanh", "e")}
    return float(eval(code, known | {"max": max, "min": min, **values}))


LETTERS = {
    **{"eta": "η", "alpha": "α", "epsilon": "ε", "delta": "δ", "often": "λ", "epochs": "E"},
    **{"n_hypotheses": "K", "n_pairs": "K", "n_rounds": "T"},
}
"""Letters of arguments that have a longer name in the code."""
WHOLE = {"T": (500, 9000), "n": (2, 60), "m": (2, 60), "d": (2, 60), "B": (2, 20), "E": (2, 60)}
WHOLE["K"] = (2, 20)
BOUNDS: tuple[Callable[..., Any], ...] = (
    *(experts.ftpl_bound, experts.adabatch_bound, experts.meta_bound),
    *(lazy.mended_delta, dartboard.bound, bounds.lower_bound),
)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_a_formula_is_what_its_function_computes(bound: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        given, letters = {}, {}
        for name in inspect.signature(bound).parameters:
            letter = LETTERS.get(name, name)
            drawn = rng.uniform(0.05, 2.0) if letter != "p" else np.exp(rng.uniform(-8, 0))
            given[name] = int(rng.integers(*WHOLE[letter])) if letter in WHOLE else float(drawn)
            letters[letter] = given[name]
        if bound is bounds.lower_bound:  # its formula has a letter that is no argument
            letters["a"] = bounds.hardness(letters["K"], letters["T"], letters["ε"])
        assert evaluated(stated(bound), letters) == pytest.approx(float(bound(**given)), rel=1e-9)


def test_where_factorised_windows_have_less_noise_than_fresh_noise() -> None:
    """A sum of w rounds is the difference of two released sums, or has noise of sqrt(w)."""
    rounds, window = map(int, re.findall(r"\d+", REGISTRY["noisy-max"].when))
    prefix = decayed_sums(rounds)
    for w in range(1, 40):
        noise = np.linalg.norm(prefix.left[w:] - prefix.left[:-w], axis=1).max()
        fresh = math.sqrt(w) / np.linalg.norm(prefix.right, axis=0).max()
        assert (noise < fresh) == (w >= window)


# ---- on pages ------------------------------------------------------------------------------------

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
BEYOND, PRIVACY, PAPERS = (f"docs/explanation/{it}.md" for it in ("beyond", "privacy", "papers"))
CONFIG, GLOSSARY = "config/README.md", "docs/reference/glossary.md"
FORMULAS: list[tuple[str, str, str, Mapping[str, float], float]] = [
    (BEYOND, "the noise √2 s/(μc)", "√2 s/(μ c)", BED, noise("capacity")),
    (BEYOND, "N(0, 2s²/μ²)", "2 s²/μ²", BED, (BEDS * noise("capacity")) ** 2),
    (
        PAPERS,
        "2(n − 1)Φ(−gap/(η√(2B)))",
        "2 (n − 1) p",
        {"n": 7, "p": float(ndtr(-9 / (2 * math.sqrt(10))))},
        float(SWITCHING["reflection"].tail(np.array(9 / (2 * math.sqrt(10))), 7)),
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
    (CONFIG, "√2 / (μ · capacity of i)", "√2 s/(μ c)", BED, noise("capacity")),
    (CONFIG, "max(Δ_t / μ, √2)", "max(d/μ, √2)", {"d": 0.2, "μ": 0.4}, math.sqrt(2)),
    (GLOSSARY, "at most Φ(μ/2)", "p", {"p": float(ndtr(MU / 2))}, best_guess(MU)),
]
"""A page, its words, the formula as `evaluated` reads it, its letters, and what code computes."""


@pytest.mark.parametrize(("page", "text", "formula", "letters", "value"), FORMULAS)
def test_a_formula_of_a_page_is_what_the_code_computes(page, text, formula, letters, value):
    assert text in (ROOT / page).read_text(encoding="utf-8")
    plain = re.sub(r"√(\w)", r"sqrt(\1)", formula or text).replace("√(", "sqrt(")
    assert evaluated(plain, letters) == pytest.approx(value, rel=1e-6)
