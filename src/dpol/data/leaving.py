"""What may leave: the one question that everything asks that writes outside `results/`."""

from __future__ import annotations

from dpol.core.errors import DataError

HOLDS = "This folder holds your raw counts"
COMPUTED = "These numbers are computed from raw counts that are not public"


def warning_of(private: bool, what: str, *, never: str = "") -> str:
    """Return the warning that a file, a picture or an answer carries; empty for public counts.

    Args:
        private: `GainStream.private` or `Dataset.private`.
        what: what it does, such as "This folder holds your raw counts".
        never: why a private table must not leave in this form; empty if it may, with the warning.

    Raises:
        DataError: the table is private, and there is such a reason.
    """
    if not private:
        return ""
    if never:
        raise DataError(
            f"{what}, {never}. If everybody may see the counts of this table, write public: true"
            " under dataset in its config"
        )
    return f"{what}. Share nothing of it."
