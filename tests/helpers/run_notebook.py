"""Execute the notebook of the documentation, and write its outputs into it.

    python tests/helpers/run_notebook.py

The outputs are what Jupyter shows: what a cell prints, the value of its last line, and the figures
of pyplot.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt

matplotlib.use("agg")

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, which run in their order."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count = 1 + sum("outputs" in done for done in cells)
            outputs = outputs_of("".join(cell["source"]), names, count)
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def outputs_of(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell, and return what it prints and the value of its last line."""
    *lines, last = ast.parse(source).body
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        if not isinstance(last, ast.Expr):
            lines.append(last)
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines_of(text)})
    if value is not None:
        data = {"text/plain": lines_of(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines_of(value._repr_html_())
        outputs.append({"output_type": "execute_result", "execution_count": count, "data": data})
    for figure in map(plt.figure, plt.get_fignums()):
        picture = io.BytesIO()
        figure.savefig(picture, dpi=80, metadata={"Software": None})
        shown = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        outputs.append({"output_type": "display_data", "data": shown})
    plt.close("all")
    return [{**it, "metadata": {}} if "data" in it else it for it in outputs]


def lines_of(text: str) -> list[str]:
    """Return a text as notebooks hold it."""
    return text.splitlines(keepends=True)


def read() -> dict[str, Any]:
    """Read the notebook."""
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


if __name__ == "__main__":
    text = json.dumps(executed(read()), indent=1, ensure_ascii=False)
    NOTEBOOK.write_text(f"{text}\n", encoding="utf-8")
