"""Run the numerical tests under two kernels of BLAS and NumPy: `python tools/kernels.py`.

Processors round sums and products of matrices differently, because libraries choose code for what
the processor has. The first kernel is for processors without AVX-512, the second for those with it;
where this processor has none, the second is for those without AVX2 either. `dpol verify` follows
under each. The exit status is 1 if something fails under one of them.
`python tools/kernels.py tests/privacy` runs these tests only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from numpy._core import _multiarray_umath as built

TESTS = (
    "tests/privacy",
    "tests/experts",
    "tests/noise",
    "tests/lazy",
    "tests/studies/claims",
)
"""Tests whose results depend on sums, matrix products and searches."""
PLAIN, WIDE = {"X86_V2"}, {"X86_V2", "X86_V3"}
"""Kernels that NumPy may use: without AVX2, and with AVX2 but without AVX-512."""


def kernels() -> dict[str, Mapping[str, str]]:
    """Return the variables that select each kernel; empty on processors other than x86."""
    there = {name for name in built.__cpu_dispatch__ if built.__cpu_features__[name]}
    if "X86_V3" not in there:
        return {}
    found = {"Haswell": _variables("Haswell", there - WIDE)}
    if "X86_V4" in there:
        return found | {"SkylakeX": _variables("SkylakeX", set())}
    return found | {"Sandybridge": _variables("Sandybridge", there - PLAIN)}


def _variables(core: str, disabled: set[str]) -> dict[str, str]:
    return {"OPENBLAS_CORETYPE": core, "NPY_DISABLE_CPU_FEATURES": " ".join(sorted(disabled))}


def main(words: list[str]) -> int:
    """Run pytest once for each kernel, and `dpol verify` if no arguments are given."""
    runs = [["pytest", *words]]
    if not words:
        runs = [["pytest", "--numprocesses", str(os.cpu_count()), "--dist", "worksteal", *TESTS]]
        runs += [["dpol", "verify"]]
    failed = []
    chosen = kernels()
    if not chosen:
        print("On this processor NumPy has one kernel only.", flush=True)
    elif "SkylakeX" not in chosen:
        print("This processor has no AVX-512, so no kernel with it is tested.", flush=True)
    for name, variables in chosen.items() or [("the only one", {})]:
        print(f"Kernel: {name}", flush=True)
        env = {**os.environ, **variables}
        done = [subprocess.run([sys.executable, "-m", *run], env=env, check=False) for run in runs]
        if any(process.returncode for process in done):
            failed.append(name)
    if failed:
        print(f"Failed under: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
