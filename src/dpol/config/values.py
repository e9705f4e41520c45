"""What the models of a config are made of: their base, and the values that many of them hold."""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
CalibrationName = Literal["isotropic", "isotropic-constant", "isotropic-worst-case", "capacity"]


def relative(path: str) -> str:
    """A path below the working folder. Raises ValueError for any other."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise ValueError("must be a path below the working folder, like data/raw/table.csv.gz")
    return path


def table_file(path: str) -> str:
    """A path of a kind of table that can be read. Raises ValueError for any other."""
    if not path.endswith((".csv", ".csv.gz", ".parquet")):
        raise ValueError("must end in .csv, .csv.gz or .parquet")
    return path


def above_zero(value: float) -> float:
    """A number above 0, which may be infinite. Raises ValueError for any other."""
    if math.isnan(value) or value <= 0:
        raise ValueError("must be above 0; .inf means no privacy noise")
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


# What an algorithm is, is checked against the registry; one message is enough.
AlgorithmSpec = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]
TableFile = Annotated[str, AfterValidator(table_file)]
Mu = Annotated[float, AfterValidator(above_zero)]


class Model(BaseModel):
    """Base of all config models: frozen, unknown keys refused, defaults checked too."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=True, use_attribute_docstrings=True
    )
