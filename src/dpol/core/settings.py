"""Building blocks of a config's models: their base, and the values that many of them hold."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
T = TypeVar("T", bound=Hashable)


def all_different(values: list[T]) -> list[T]:
    """Values of which no two are equal, as 1 and 1.0 are. Raises ValueError for others."""
    if twice := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
        raise ValueError(f"must not hold {twice[0]} twice")
    return values


# What an algorithm is, is checked against the registry; one message is enough.
AlgorithmSpec = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]


MISSING = object()
"""The value of a key that is not there."""


@dataclass(frozen=True)
class Problem:
    """One broken rule of a config.

    Args:
        location: the keys that lead to the value, and the indices in lists.
        value: what is there.
        allowed: what is allowed there.
    """

    location: tuple[str | int, ...]
    value: object
    allowed: str

    @property
    def key(self) -> str:
        """The location as messages have it: dataset.endpoints[0].url."""
        parts = (f"[{it}]" if isinstance(it, int) else f".{it}" for it in self.location)
        return "".join(parts).removeprefix(".")

    def __str__(self) -> str:
        if self.value is MISSING:
            return f"{self.key}: {self.allowed}"
        shown = repr(self.value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        return f"{self.key} = {shown}: {self.allowed}"


TRUTH_VALUE = "truth_value"
"""Kind of the error of true or false in place of a number; its context holds key and value."""


class Settings(BaseModel):
    """Base of all config models: frozen, unknown keys refused, defaults checked too."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _no_truth_values(cls, raw: object) -> object:
        for key, value in raw.items() if isinstance(raw, Mapping) else ():
            field = cls.model_fields.get(key)
            if field and isinstance(value, bool) and field.annotation not in (bool, bool | None):
                about = {"key": key, "value": value}
                raise PydanticCustomError(TRUTH_VALUE, "must not be true or false", about)
        return raw

    def problems(self, source: str) -> Iterator[Problem]:
        """The rules across keys of this block that are broken; locations begin in the block.

        Args:
            source: kind of the source of the data: `gains` has neither counts nor capacities.
        """
        yield from ()
