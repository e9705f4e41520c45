"""The papers whose algorithms dpol implements."""

from collections.abc import Mapping

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


def cited(title: str) -> str:
    """Return the title in quotation marks, with its arXiv number.

    >>> cited(LAZY)
    '“Private Online Learning via Lazy Algorithms” (arXiv 2406.03620)'
    """
    return f"“{title}” (arXiv {ARXIV[title]})" if title in ARXIV else f"“{title}”"
