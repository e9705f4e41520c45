"""Checks of the parameters that a config sets."""

from __future__ import annotations

from numbers import Real


def check_number(name: str, value: object, interval: str) -> None:
    """Refuse a parameter that is not a number in an interval, such as `(0, 1]`.

    Raises:
        ValueError: it is outside, NaN or not a number; true and false are not numbers.
    """
    low, high = interval[1:-1].split(", ")
    if isinstance(value, Real) and not isinstance(value, bool):
        number, least, most = float(value), float(low), float(high)
        ends = {least: interval[0] == "[", most: interval[-1] == "]"}
        if least < number < most or ends.get(number):
            return
    closed = interval[0] == "[" and interval[-1] == "]"
    where = f"from {low} to {high}" if closed else f"in {interval}"
    raise ValueError(f"{name} must be a number {where}, got {value!r}")
