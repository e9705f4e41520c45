"""The question that a run asks: what the gain of an entity is, and which entities play.

The question decides only by what the counts and their noise are divided. With count sensitivity s,
capacities c_ti and bound M, one person changes a gain by at most s / c_ti if it is a share, and by
at most s / M if it is a count. Shares lie in [0, `at_most`], counts divided by M in [0, 1].
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dpol.core.settings import Settings


class Gain(Settings):
    """A question about the entities: which has the largest share, or the largest count?"""

    of: Literal["share", "count"] = "share"
    """`share`: the gain is count / capacity, as in the papers. `count`: it is count / `bound`, with
    noise that does not depend on the capacity."""
    at_most: Annotated[float, Field(ge=1e-6, le=1e6)] | None = None
    """Public bound on shares, not taken from the counts, and above 1 for several counts per unit of
    capacity (loans per seat); default: 1. `dataset.cleaning.above` says what becomes of larger."""
    min_capacity: Annotated[float, Field(gt=0, le=1e12)] | None = None
    """Smallest capacity (over `columns.capacity_per`), in every period, of an entity that plays;
    default: all play."""
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
    def is_papers(self) -> bool:
        """Whether it is the question of the papers."""
        return self.untitled == THE_PAPERS

    @property
    def needs_capacities(self) -> bool:
        """Whether the question needs a table with capacities."""
        return self.of == "share" or self.min_capacity is not None


THE_PAPERS = Gain()
"""The question of the papers."""
