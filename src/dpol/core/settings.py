"""Base class and common values of the models of a config."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
LabelOrNone = Annotated[
    str,
    BeforeValidator(lambda value: "" if value is None else value),
    Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$", max_length=64),
    WithJsonSchema({"anyOf": [{"type": "string", "maxLength": 64}, {"type": "null"}]}),
]
"""A label; null and empty text mean no label."""
T = TypeVar("T", bound=Hashable)


def all_different(values: list[T]) -> list[T]:
    """Return the values. Raises ValueError if two are equal, such as 1 and 1.0."""
    if twice := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
        raise ValueError(f"must not hold {twice[0]} twice")
    return values


# The registry checks algorithms and says what is wrong; a second message here would repeat it.
AlgorithmSpec = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]


MISSING = object()
"""Value of an absent key."""


@dataclass(frozen=True)
class Problem:
    """A broken rule in a config.

    Args:
        location: keys and list indices that lead to the value.
        value: the value in the config.
        allowed: what is allowed instead.
    """

    location: tuple[str | int, ...]
    value: object
    allowed: str

    @property
    def key(self) -> str:
        """The location in a message, such as dataset.endpoints[0].url."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.location)
        return "".join(parts).removeprefix(".")

    def __str__(self) -> str:
        if self.value is MISSING:
            return f"{self.key}: {self.allowed}"
        return f"{self.key} = {self.shown}: {self.allowed}"

    @property
    def shown(self) -> str:
        """The value in a message, cut to 80 characters."""
        shown = repr(self.value)
        return shown if len(shown) <= 80 else shown[:77] + "..."


TRUTH_VALUE = "truth_value"
"""Type of the error for a boolean instead of a number; its context has the key and the value."""


class Settings(BaseModel):
    """Base class of all config models: frozen, and unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _plain_values(cls, raw: object) -> object:
        """Refuse booleans instead of numbers, and drop keys with null whose default is null."""
        if not isinstance(raw, Mapping):
            return raw
        given = {}
        for key, value in raw.items():
            field = cls.model_fields.get(key)
            if field and isinstance(value, bool) and field.annotation not in (bool, bool | None):
                about = {"key": key, "value": value}
                raise PydanticCustomError(TRUTH_VALUE, "must not be true or false", about)
            if value is not None or field is None or field.default is not None:
                given[key] = value
        return given

    def problems(self, source: str) -> Iterator[Problem]:
        """Yield the broken rules across keys of this block; locations are relative to the block.

        Args:
            source: kind of the data source; `gains` has neither counts nor capacities.
        """
        yield from ()
