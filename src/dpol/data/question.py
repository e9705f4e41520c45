"""The question that a run asks: what the gain of an entity is, and which entities play.

The question decides only by what the counts and their noise are divided. With count sensitivity s,
capacities c_ti and bound M, one person changes a gain by at most s / c_ti if it is a share, and by
at most s / M if it is a count. Shares lie in [0, `at_most`], counts divided by M in [0, 1].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from dpol.core.errors import DataError
from dpol.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

GAIN = "gain"
"""Key in a stream's provenance: the question, if it is not the papers'."""


class Gain(Settings):
    """A question about the entities: which has the largest share, or the largest count?"""

    of: Literal["share", "count"] = "share"
    """`share`: the gain is count / capacity, as in the papers. `count`: it is count / `bound`, with
    noise that does not depend on the capacity."""
    at_most: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    """Public bound on shares, not taken from the counts, and above 1 for several counts per unit of
    capacity (loans per seat); default: 1. `dataset.cleaning.above` says what becomes of larger."""
    min_capacity: Annotated[float, Field(gt=0, le=1e12)] | None = None
    """Smallest capacity, in every period, of an entity that plays; default: all play."""
    bound: Annotated[float, Field(gt=0, le=1e12)] | None = None
    """Public bound on counts, required if `of` is `count`; `dataset.cleaning.above` says what
    becomes of larger ones."""
    title: str | None = None
    """Title of the question, if there are several; default: its label."""

    @model_validator(mode="after")
    def _bounded(self) -> Gain:
        if (self.of == "count") != (self.bound is not None):
            raise ValueError("of: count needs bound, a public bound on counts; of: share does not")
        if self.of == "count" and self.at_most is not None:
            raise ValueError("at_most is a bound on shares; with of: count, use bound instead")
        return self

    @property
    def largest(self) -> float:
        """The upper end of the gains."""
        return self.at_most or 1.0

    @property
    def untitled(self) -> Gain:
        """The question without its title, which changes no number."""
        return self.model_copy(update={"title": None})

    @property
    def needs_capacities(self) -> bool:
        """Whether the question needs a table with capacities."""
        return self.of == "share" or self.min_capacity is not None


THE_PAPERS = Gain()
"""The question of the papers."""


def apply_question(
    rows: pd.DataFrame, label: str, gain: Gain
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Apply a question to the rows of a stream.

    Args:
        rows: rows of a canonical panel.
        label: label of the stream, for messages.
        gain: the question.

    Returns:
        The rows with a column `gain`, their `capacity` being the gain's denominator; and the
        question for the provenance, empty for the papers' question.

    Raises:
        DataError: fewer than two entities are large enough.
    """
    every = rows["entity"].nunique()
    if gain.min_capacity is not None:
        rows = rows[rows.groupby("entity")["capacity"].transform("min") >= gain.min_capacity]
    if (kept := rows["entity"].nunique()) < 2 <= every:
        raise DataError(
            f"stream {label}: {kept} of {every} entities have a capacity of at least"
            f" {gain.min_capacity:g} in every period, but 2 are needed; lower min_capacity"
        )
    bound, whole = gain.bound or gain.at_most, gain.bound or rows["capacity"]
    # The panel may hold larger shares, which another question of the run allows.
    share = rows["count"] / whole if bound else rows["density"]
    above = int((share > gain.largest).sum())
    rows = rows.assign(gain=np.minimum(share, gain.largest), capacity=whole)
    if gain.untitled == THE_PAPERS:
        return rows, {}
    asked = gain.model_dump(exclude={"title"}, exclude_none=True) | {"left_out": every - kept}
    return rows, {GAIN: asked | ({"clipped": above} if bound else {})}
