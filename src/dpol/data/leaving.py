"""What may leave: the one question that everything asks that writes outside `results/`."""

from __future__ import annotations

HOLDS = "This folder holds your raw counts"
COMPUTED = "These numbers are computed from raw counts that are not public"


def warning_of(private: bool, what: str) -> str:
    """Return the warning that a file, a picture or an answer carries; empty for public counts.

    Args:
        private: `GainStream.private` or `Dataset.private`.
        what: what it does, such as "This folder holds your raw counts".
    """
    return f"{what}. Share nothing of it." if private else ""
