"""The notebook shows what its cells do, where dpol is installed without the extra `pipeline`."""

from __future__ import annotations

import json
import sys
from typing import Any

from dpol.core.errors import PIPELINE
from pipeline import ROOT, run, succeed
from run_notebook import read


def told(notebook: dict[str, Any]) -> list[Any]:
    """Return the outputs; pictures, whose bytes depend on the version of Matplotlib, as a word."""
    outputs = [it for cell in notebook["cells"] for it in cell.get("outputs", ())]
    for it in outputs:
        if "image/png" in it.get("data", {}):
            it["data"]["image/png"] = "a picture"
    return outputs


def test_the_notebook_holds_the_outputs_of_a_run_without_the_pipeline() -> None:
    missing = sorted(PIPELINE - {"matplotlib"})
    code = f"import json, sys; sys.modules |= dict.fromkeys({missing}); "
    code += "from run_notebook import executed, read; print(json.dumps(executed(read())))"
    printed = succeed(run(sys.executable, "-W", "error", "-c", code, folder=ROOT / "tests/helpers"))
    assert told(json.loads(printed)) == told(read()), "run make pages"
    assert "a picture" in str(told(read()))
