"""Formulas of docstrings and pages as numbers."""

from __future__ import annotations

import math
import re

FUNCTIONS = {"log": math.log, "sqrt": math.sqrt, "exp": math.exp, "tanh": math.tanh, "max": max}


def value_of(formula: str, letters: dict[str, float]) -> float:
    """Compute a formula as one reads it: letters beside each other are multiplied."""
    names = {}
    for k, (letter, value) in enumerate(sorted(letters.items(), key=lambda it: -len(it[0]))):
        names[f"_{k}_"] = value
        formula = re.sub(rf"(?<![A-Za-z_]){re.escape(letter)}(?![A-Za-z_(])", f"_{k}_", formula)
    text = formula.replace("²", "^2").replace("³", "^3").replace("−", "-")
    text = re.sub(r"(log|sqrt) (\w+)", r"\1(\2)", text)
    atom = r"\w*[\w.]|\)"
    while (joined := re.sub(rf"({atom}) (?=[\w(])", r"\1*", text)) != text:
        text = joined
    return float(eval(text.replace("^", "**"), {"__builtins__": {}}, {**FUNCTIONS, **names}))
