"""Checks of single values: parameters in a config, and arguments of public functions.

Each error names the argument, the allowed values and the given one. A bad value raises ValueError,
also if its type is wrong; an object of another class raises TypeError.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def check_number(name: str, value: object, interval: str, more: str = "") -> None:
    """Refuse a value that is not a number in an interval.

    Args:
        name: name of the argument.
        value: the value.
        interval: the allowed numbers, such as `(0, 1]`.
        more: the end of the message, such as "; inf means no noise".

    Raises:
        ValueError: the value is outside, NaN or not a number; true and false are not numbers.
    """
    low, high = interval[1:-1].split(", ")
    if _is_number(value):
        number, least, most = float(value), float(low), float(high)
        ends = {least: interval[0] == "[", most: interval[-1] == "]"}
        if least < number < most or ends.get(number):
            return
    closed = interval[0] == "[" and interval[-1] == "]"
    where = f"from {low} to {high}" if closed else f"in {interval}"
    raise ValueError(f"{name} must be a number {where}, got {_shown(value)}{more}")


def check_mu(mu: object) -> None:
    """Refuse a value that is not a privacy level mu. Raises ValueError."""
    if not (_is_number(mu) and mu > 0):
        raise ValueError(
            f"mu must be a number above 0, such as 1, got {_shown(mu)}; math.inf means no noise"
        )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_whole(name: str, value: object, least: int = 1) -> None:
    """Refuse a value that is not a whole number of at least `least`. Raises ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {_shown(value)}")


def real_array(name: str, values: Any) -> NDArray[np.float64]:
    """Copy numbers to float64; refuse any that would lose a part.

    Raises:
        ValueError: a number is masked, complex, or true or false.
    """
    import numpy as np

    kinds = {np.asarray(values).dtype.kind} if not isinstance(values, float) else set()
    if "c" in kinds:
        raise ValueError(f"{name} must be real numbers, not complex ones; take .real")
    if "b" in kinds:
        raise ValueError(f"{name} must be numbers, not true and false; take .astype(float)")
    if not isinstance(values, float) and np.ma.getmaskarray(np.ma.asarray(values)).any():
        raise ValueError(f"{name} must not have masked cells; fill or drop them")
    return np.array(values, dtype=float)


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
