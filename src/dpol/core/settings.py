"""Base class and common values of the models of a config."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from dpol.core.errors import Key, Text

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Value = TypeVar("Value")
Left: TypeAlias = str | Mapping[str, str]
"""What to do about a key of an earlier release; of a block, about each of its keys."""


def all_different(values: list[Value]) -> list[Value]:
    """Return the values. Raises ValueError if two are equal, such as 1 and 1.0."""
    if twice := [value for n, value in enumerate(values) if value in values[:n]]:
        raise ValueError(f"must not hold {twice[0]} twice")
    return values


Different = Annotated[list[Value], AfterValidator(all_different)]
"""Different values, perhaps none."""
Several = Annotated[list[Value], Field(min_length=1), AfterValidator(all_different)]
"""One or more different values."""


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
    allowed: Text

    @property
    def text(self) -> Text:
        """The key, its value and what is allowed."""
        value = "" if self.value is MISSING else f" = {self.shown}"
        return Key(self.location), f"{value}: ", self.allowed

    @property
    def shown(self) -> str:
        """The value in a message, cut to 80 characters."""
        shown = repr(self.value)
        return shown if len(shown) <= 80 else shown[:77] + "..."


_NUMBER = re.compile(r"\b(int|float)\b")


@dataclass(frozen=True)
class _Boolean:
    """A boolean where none belongs; a number does not accept it, as it accepts True for 1."""

    value: bool

    def __repr__(self) -> str:
        return repr(self.value)


def _without_booleans(value: object, kind: Any) -> object:
    """Return a value for a field of some type; a boolean for a number is a `_Boolean`."""
    if isinstance(value, bool) and _NUMBER.search(str(kind)) and "bool" not in str(kind):
        return _Boolean(value)
    if isinstance(value, list):
        return [_without_booleans(item, kind) for item in value]
    if isinstance(value, Mapping) and get_origin(kind) is dict:
        return {key: _without_booleans(item, get_args(kind)[1]) for key, item in value.items()}
    return value


class Settings(BaseModel):
    """Base class of all config models: frozen, and unknown keys are refused."""

    LEFT: ClassVar[Mapping[str, Left]] = {}
    """Keys of an earlier release, each with what to do instead."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _plain_values(cls, raw: object) -> object:
        """Keep booleans from numbers, and drop keys with null whose default is null."""
        if not isinstance(raw, Mapping):
            return raw
        given = {}
        for key, value in raw.items():
            field = cls.model_fields.get(key)
            if value is not None or field is None or field.default is not None:
                given[key] = _without_booleans(value, field and field.annotation)
        return given
