"""Numbers as text, rounded to the nearest; and bounds, rounded to the safe side."""

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


def shortest(value: float) -> str:
    """Return the shortest text that reads back as a number; whole numbers have no decimals.

    >>> shortest(1.0), shortest(0.25), shortest(1e-6), shortest(math.inf)
    ('1', '0.25', '1e-06', 'inf')
    """
    return repr(value if isinstance(value, int) else float(value)).removesuffix(".0")


def at_most(value: float, digits: int = 3) -> str:
    """Return an upper bound as text, rounded up: the printed number is a bound, too.

    Errors of floating point, up to 1e-12 of the number, are ignored.

    Args:
        value: the bound.
        digits: number of significant digits of the text.

    >>> f"at most {at_most(69.146)}%", at_most(0.1 + 0.2), at_most(math.inf)
    ('at most 69.2%', '0.3', 'inf')
    """
    return _rounded(value * (1 - _FLOAT_ERROR), digits, decimal.ROUND_CEILING)


def at_least(value: float, digits: int = 3) -> str:
    """Return a lower bound as text, rounded down; otherwise like `at_most`.

    >>> f"at least {at_least(0.23679, digits=4)}"
    'at least 0.2367'
    """
    return _rounded(value * (1 + _FLOAT_ERROR), digits, decimal.ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if math.isfinite(value):
        context = decimal.Context(prec=digits, rounding=rounding)
        value = float(context.create_decimal_from_float(value))
    return f"{value:.{digits}g}"
