"""Formatting numbers as text, rounded to the nearest or to the safe side."""

from __future__ import annotations

import decimal
import math

# Bound on the relative error of floating point.
_FLOAT_ERROR = 1e-12


def fixed(value: float, digits: int = 2, sign: str = "") -> str:
    """Format a number with a fixed number of decimals, without a minus if it rounds to 0.

    Args:
        value: the number.
        digits: number of decimals.
        sign: "+" to write a plus before 0 and positive numbers.

    >>> fixed(-0.004), fixed(-1.005, 1), fixed(1234.5, 1), fixed(-0.001, 2, "+")
    ('0.00', '-1.0', '1234.5', '+0.00')
    """
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def percent(share: float, digits: int = 0) -> str:
    """Format a share in percent with `digits` decimals, without a minus if it rounds to 0.

    >>> percent(-0.004), percent(0.125), percent(-0.2), percent(-0.0004, 1)
    ('0%', '12%', '-20%', '0.0%')
    """
    return f"{fixed(100 * share, digits)}%"


def rounded_up(value: float, digits: int) -> str:
    """Format a number with `digits` significant digits, never below the number.

    Errors of floating point, up to 1e-12 of the number, are ignored.

    >>> rounded_up(2.2536, 4), rounded_up(0.1 + 0.2, 4), rounded_up(math.inf, 4)
    ('2.254', '0.3', 'inf')
    """
    return _rounded(value * (1 - _FLOAT_ERROR), digits, decimal.ROUND_CEILING)


def rounded_down(value: float, digits: int) -> str:
    """Format a number like `rounded_up`, but never above the number.

    >>> rounded_down(0.23679, 4)
    '0.2367'
    """
    return _rounded(value * (1 + _FLOAT_ERROR), digits, decimal.ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    context = decimal.Context(prec=digits, rounding=rounding)
    return f"{float(context.create_decimal_from_float(value)):.{digits}g}"
