"""Building blocks of a config's models: their base, and the values that many of them hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


def relative(path: str) -> str:
    """A path below the working folder. Raises ValueError for any other."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise ValueError("must be a path below the working folder, like data/raw/table.csv.gz")
    return path


def ends_in(*suffixes: str) -> Callable[[str], str]:
    """A check that a path has one of these ends; it raises ValueError for any other."""

    def check(path: str) -> str:
        if not path.endswith(suffixes):
            raise ValueError(f"must end in {' or '.join(', '.join(suffixes).rsplit(', ', 1))}")
        return path

    return check


LEAST_MU, MOST_MU = 1e-3, 1e3
"""Privacy levels outside drown every number in noise, or add next to none."""


def level(value: float) -> float:
    """A mu between `LEAST_MU` and `MOST_MU`, or infinity. Raises ValueError for any other."""
    if not (LEAST_MU <= value <= MOST_MU or value == math.inf):
        raise ValueError(f"must lie from {LEAST_MU:g} to {MOST_MU:g}; .inf means no privacy noise")
    return value


def no_truth_value(value: object) -> object:
    """Anything but true and false, which Python takes for 1 and 0. Raises ValueError for them."""
    if isinstance(value, bool):
        raise ValueError("must not be true or false")
    return value


def number_or_column(value: object) -> object:
    """A finite number above 0, or a name. Raises ValueError for anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (isinstance(value, str) and value) and not (number and 0 < float(str(value)) < math.inf):
        raise ValueError("must be a number above 0, or the name of a column")
    return value


def all_different(names: list[str]) -> list[str]:
    """Names of which no two are equal. Raises ValueError for others."""
    if len(set(names)) < len(names):
        raise ValueError("must not name anything twice")
    return names


def all_or_names(value: object) -> object:
    """`all`, or at least two different names. Raises ValueError for anything else."""
    if value is None or value == "all":
        return value
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError("must be all, or a list of at least two identifiers")
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"{name!r} must be text; put it in quotes")
    return all_different([name.strip() for name in value])


def spellings(value: object) -> object:
    """`exact`, or a block of texts. Raises ValueError for anything else."""
    if value == "exact":
        return value
    if not isinstance(value, Mapping):
        raise ValueError("must be exact, or a block that gives each spelling its identifier")
    for text in (*value, *value.values()):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{text!r} must be text; put it in quotes")
    return {name.strip(): str(stands_for).strip() for name, stands_for in value.items()}


# What an algorithm is, is checked against the registry; one message is enough.
AlgorithmSpec = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]
TableFile = Annotated[str, AfterValidator(ends_in(".csv", ".csv.gz", ".parquet"))]
Mu = Annotated[float, BeforeValidator(no_truth_value), AfterValidator(level)]
FiniteMu = Annotated[float, Field(ge=LEAST_MU, le=MOST_MU)]


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
            if field and isinstance(value, bool) and field.annotation is not bool:
                about = {"key": key, "value": value}
                raise PydanticCustomError(TRUTH_VALUE, "must not be true or false", about)
        return raw

    def problems(self, source: str) -> Iterator[Problem]:
        """The rules across keys of this block that are broken; locations begin in the block.

        Args:
            source: kind of the source of the data: `gains` has neither counts nor capacities.
        """
        yield from ()
