"""Checks of single values: parameters in a config, and arguments of public functions.

Each error names the argument, the allowed values and the given one. A bad value raises ValueError,
also if its type is wrong; an object of another class raises TypeError. dpol computes in double
precision: a check returns the number as Python's float or int, and refuses what has no such number.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def check_number(name: str, value: object, interval: str, more: str = "") -> float:
    """Return a number in an interval as a float, and refuse any other value.

    Args:
        name: name of the argument.
        value: the value.
        interval: the allowed numbers, such as `(0, 1]`.
        more: the end of the message, such as "; inf means no noise".

    Raises:
        ValueError: the value is outside, NaN or not a number; true and false are not numbers.
    """
    ends, number = _ends(interval), as_float(value)
    least, most = ends
    if least < number < most or ends.get(number):
        return number
    low, high = interval[1:-1].split(", ")
    where = f"from {low} to {high}" if all(ends.values()) else f"in {interval}"
    raise ValueError(f"{name} must be a number {where}, got {_shown(value)}{more}")


@cache
def _ends(interval: str) -> dict[float, bool]:
    """Return whether each end belongs to the interval, the lower one first."""
    low, high = interval[1:-1].split(", ")
    return {float(low): interval[0] == "[", float(high): interval[-1] == "]"}


def check_numbers(interval: str, **values: object) -> None:
    """Refuse values, given by name, that `check_number` refuses. Raises ValueError."""
    for name, value in values.items():
        check_number(name, value, interval)


def check_fields(made: object, **intervals: str) -> None:
    """Make floats of fields of a frozen dataclass, by `check_number`; None stays.

    Args:
        made: the dataclass, in `__post_init__`.
        intervals: the allowed numbers of each field.

    Raises:
        ValueError: `check_number` refuses a field.
    """
    for name, interval in intervals.items():
        if (value := getattr(made, name)) is not None:
            object.__setattr__(made, name, check_number(name, value, interval))


def check_mu(mu: object) -> float:
    """Return a privacy level mu, in (0, 1e100] or inf, as a float. Raises ValueError."""
    most = "inf" if as_float(mu) == math.inf else "1e100"
    return check_number("mu", mu, f"(0, {most}]", "; 1 is usual, and math.inf means no noise")


def as_float(value: object) -> float:
    """Return a number as a float; nan for any other value, and beyond the range of floats."""
    try:
        # To ask for Real is slow, and most numbers are floats.
        if isinstance(value, (float, Real)) and not isinstance(value, bool):
            return float(value)
        return math.nan
    except OverflowError:
        return math.nan


def check_whole(name: str, value: Any, least: int = 1, most: float = math.inf) -> int:
    """Return a whole number as an int, and refuse any other value.

    Args:
        name: name of the argument.
        value: the value.
        least: the smallest allowed number. If it is 0, numbers are names and may have any size.
        most: the largest allowed number.

    Raises:
        ValueError: the value is outside, or not a whole number; true and false are not numbers.
    """
    # To ask for Integral is slow, and most whole numbers are ints.
    whole = isinstance(value, (int, Integral)) and not isinstance(value, bool)
    if whole and least <= value <= (min(most, sys.float_info.max) if least else most):
        return int(value)
    where = f"from {least} to {most}" if whole and value > most else f"of at least {least}"
    raise ValueError(f"{name} must be a whole number {where}, got {_shown(value)}")


def check_wholes(**values: object) -> None:
    """Refuse values, given by name, that `check_whole` refuses. Raises ValueError."""
    for name, value in values.items():
        check_whole(name, value)


def real_array(name: str, values: Any) -> NDArray[np.float64]:
    """Copy numbers to float64; refuse any that would lose a part.

    Raises:
        ValueError: a number is masked, complex, true or false, or beyond the range of floats.
    """
    import numpy as np

    kinds = {np.asarray(values).dtype.kind} if not isinstance(values, float) else set()
    if "c" in kinds:
        raise ValueError(f"{name} must be real numbers, not complex ones; take .real")
    if "b" in kinds:
        raise ValueError(f"{name} must be numbers, not true and false; take .astype(float)")
    if type(values) not in (float, np.ndarray) and np.ma.getmaskarray(np.ma.asarray(values)).any():
        raise ValueError(f"{name} must not have masked cells; fill or drop them")
    try:
        return np.array(values, dtype=float)
    except OverflowError:
        raise ValueError(f"{name} must be numbers below 1.8e308") from None


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is none of the choices. Raises ValueError."""
    *others, last = choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {_shown(value)}")


def check_kind(name: str, value: object, kind: type, remedy: str) -> None:
    """Refuse a value of another class. Raises TypeError, whose text ends with the remedy."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}; {remedy}")


def _shown(value: object) -> str:
    """Return a value as text for a message, at most 60 characters."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else shown[:57] + "..."
