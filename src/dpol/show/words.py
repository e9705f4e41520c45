"""Texts that messages, tables and figures share, and the papers that they cite."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from dpol.core.words import at_least, fixed

EXPERTS = "Prediction with Expert Advice under Local Differential Privacy"
LAZY = "Private Online Learning via Lazy Algorithms"
DARTBOARD = "Private Online Prediction from Experts: Separations and Faster Rates"
DISTRIBUTIONS = "Online Distribution Learning with Local Privacy Constraints"

ARXIV: Mapping[str, str] = {
    EXPERTS: "2512.06971",
    LAZY: "2406.03620",
    DARTBOARD: "2210.13537",
    DISTRIBUTIONS: "2402.00315",
}
"""arXiv numbers, by title."""

SYMBOLS = {"mu": "μ", "epsilon": "ε"}
"""Symbols of privacy parameters."""

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def cited(title: str) -> str:
    """Return the title in quotation marks, with its arXiv number.

    >>> cited(LAZY)
    '“Private Online Learning via Lazy Algorithms” (arXiv 2406.03620)'
    """
    return f"“{title}” (arXiv {ARXIV[title]})" if title in ARXIV else f"“{title}”"


def power(value: float) -> str:
    """Write a number in short: as a power of ten from 1000 on and below 0.01.

    >>> power(250), power(10_000), power(30_000), power(0.001)
    ('250', '10⁴', '3·10⁴', '10⁻³')
    """
    exponent = math.floor(math.log10(value) + 1e-9)
    lead = round(value / 10**exponent, 6)
    if -3 < exponent < 3 or lead != round(lead):
        return f"{value:,g}" if value < 1e6 else f"{value:.3g}"
    raised = f"10{str(exponent).translate(_RAISED)}"
    return raised if lead == 1 else f"{lead:g}·{raised}"


def typeset(text: str) -> str:
    """Typeset a text: minus, at most, at least, powers of ten.

    >>> typeset("-0.5 <= 1e-06, 2.5e+08, T^(-1/4) at 10^8, mf-window-8, 2021-01-15")
    '−0.5 ≤ 10⁻⁶, 2.5·10⁸, T^(−1/4) at 10⁸, mf-window-8, 2021-01-15'
    """
    text = re.sub(r"(?<![\w.])(\d[\d.]*)e([-+]?)0*(\d+)\b", _as_power, text)
    text = re.sub(r"\b10\^(-?\d+)", lambda match: f"10{match[1].translate(_RAISED)}", text)
    text = re.sub(r"(?<![\w.)\]-])-(?=\d)", "−", text)
    text = re.sub(r"\bsqrt\(", "√(", text)
    return text.replace("<=", "≤").replace(">=", "≥")


_RAISED_PART = re.compile(r"\^(\((?:[^()]|\([^()]*\))*\)|[-−±]?\w+)")
_LOWERED_PART = re.compile(r"(?<!\w)([^\W\d_])_(\d+|\w(?:\+1)?)(?!\w)")


def raise_and_lower(text: str, raised: str, lowered: str) -> str:
    """Typeset powers and indices of formulas, which are written as in T^(1/3) and x_t.

    Args:
        text: the text.
        raised: format of what is raised.
        lowered: format of what is lowered.

    >>> raise_and_lower("T^((1 - a)/3), [0, 1]^n, S_t+1, gain_share", "<u>{}</u>", "<l>{}</l>")
    'T<u>(1 - a)/3</u>, [0, 1]<u>n</u>, S<l>t+1</l>, gain_share'
    """
    text = _LOWERED_PART.sub(lambda match: match[1] + lowered.format(match[2]), text)
    return _RAISED_PART.sub(lambda match: raised.format(_bare(match[1])), text)


def _bare(part: str) -> str:
    return part[1:-1] if part.startswith("(") else part


def _as_power(match: re.Match[str]) -> str:
    raised = (match[2].strip("+") + match[3]).translate(_RAISED)
    return f"10{raised}" if match[1] == "1" else f"{match[1]}·10{raised}"


def each(texts: Iterable[str]) -> str:
    """Join distinct texts in their order.

    >>> each(["person", "hospital", "person"])
    'person / hospital'
    """
    return " / ".join(dict.fromkeys(texts))


def mu_title(mu: float) -> str:
    """Write a Gaussian-DP parameter.

    >>> mu_title(float("inf")), mu_title(0.25)
    ('μ = ∞', 'μ = 0.25')
    """
    return "μ = ∞" if mu == float("inf") else f"μ = {mu:g}"


def privacy_title(mu: float) -> str:
    """Name a privacy level.

    >>> privacy_title(float("inf")), privacy_title(0.25)
    ('no privacy (μ = ∞)', 'μ = 0.25')
    """
    return f"no privacy ({mu_title(mu)})" if mu == float("inf") else mu_title(mu)


def proved(audit: Mapping[Hashable, Any]) -> str:
    """Write the bound that an audit, a row of its table, proves on a privacy parameter.

    >>> proved({"parameter": "epsilon", "method": "sampled", "lower_bound": 0.98765})
    'ε ≥ 0.987'
    """
    symbol, bound = SYMBOLS[audit["parameter"]], audit["lower_bound"]
    exact = audit["method"] == "exact"
    return f"{symbol} = {bound:.3g}" if exact else f"{symbol} ≥ {at_least(bound)}"


def joint_confidence(confidences: Iterable[float]) -> str:
    """Return a lower bound on the joint confidence of several bounds (Bonferroni).

    >>> joint_confidence([0.975, 0.975, 1.0])
    '95%'
    """
    joint = max(0.0, 1 - sum(1 - confidence for confidence in confidences))
    return f"{at_least(100 * joint, digits=4)}%"


# ---- notes below a table -------------------------------------------------------------------------


def amount(mean: float, half_width: float) -> str:
    """Write a mean and the half-width of its interval, unless the half-width is NaN.

    >>> amount(41.25, 0.126), amount(-0.001, float("nan"))
    ('41.25 ± 0.13', '0.00')
    """
    return fixed(mean) + ("" if math.isnan(half_width) else plus_minus(half_width))


def plus_minus(half_width: float, digits: int = 2) -> str:
    """Write a half-width as it stands behind its number.

    >>> [plus_minus(half) for half in (0.125, 0.001, 0.0, float("inf"))]
    [' ± 0.12', ' ± <0.01', ' exact', ' ± ∞']
    """
    if half_width in (0.0, float("inf")):
        return " ± ∞" if half_width else " exact"
    text = f"{half_width:,.{digits}f}"
    return f" ± {text}" if float(text.replace(",", "")) > 0 else f" ± <{10.0**-digits:.{digits}f}"


def describe_data(simulated: bool) -> str:
    """A sentence that says if the data are simulated."""
    return "Data: simulated, not measured." if simulated else "Data: real."


COVERS = (
    "The intervals cover the noise (the randomness of the runs) on this one data set. They do not"
    " cover other data, such as other states or years."
)
"""Limits of every interval of a run."""


def describe_interval(
    confidence: float, comparisons: int, intervals: str = "cells", covers: str = COVERS
) -> str:
    """Define the half-widths.

    Args:
        confidence: joint confidence of all intervals.
        comparisons: number of intervals.
        intervals: what each interval is for, in the plural.
        covers: what the intervals cover.
    """
    return (
        f"±: half-width of the {100 * confidence:g}% confidence interval (Student's t),"
        f" Bonferroni-corrected over {comparisons:,} {intervals}. exact: all runs give the"
        f" same number. {covers}"
    )
