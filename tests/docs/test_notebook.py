"""The notebook runs where dpol is installed without the extra `pipeline`."""

from __future__ import annotations

import sys
from pathlib import Path

from dpol.core.extras import PIPELINE
from pipeline import ROOT, run, succeed


def test_the_notebook_draws_its_figure_without_the_pipeline(tmp_path: Path) -> None:
    missing = sorted(PIPELINE - {"matplotlib"})
    code = f"import sys; sys.modules |= dict.fromkeys({missing}); "
    code += f"exec(compile(open({str(ROOT / 'docs/notebook.py')!r}).read(), 'notebook', 'exec'))"
    succeed(run(sys.executable, "-W", "error", "-c", code, folder=tmp_path, MPLBACKEND="agg"))
    assert "<svg" in (tmp_path / "cost-of-privacy.svg").read_text()
