"""Run the numerical tests under another kernel of BLAS and NumPy: `python .ci/kernels.py`.

Processors round sums and products of matrices differently, because libraries choose code for what
the processor has. `make test` runs the tests with this processor's own code. Here they run, and
`dpol verify` after them, as on a processor without AVX-512, or, if this one has none, without AVX2.
The exit status is 1 if something fails. `python .ci/kernels.py tests/privacy` runs only these
tests.
"""

from __future__ import annotations

import os
import subprocess
import sys

from numpy._core import _multiarray_umath as built

TESTS = (
    "tests/privacy",
    "tests/experts",
    "tests/noise",
    "tests/lazy",
    "tests/studies/ledger",
    "tests/checks",
    "tests/test_seed_tree.py",
)
"""Tests whose results depend on sums, matrix products and searches; the last three are those of
`make test-ledger`, which .ci/run runs here alone."""
PLAIN, WIDE = {"X86_V2"}, {"X86_V2", "X86_V3"}
"""What NumPy may use: neither AVX2 nor AVX-512, or AVX2 without AVX-512."""


def other_kernel() -> dict[str, str]:
    """Return the variables that select it; empty on processors other than x86."""
    there = {name for name in built.__cpu_dispatch__ if built.__cpu_features__[name]}
    if "X86_V3" not in there:
        return {}
    core, kept = ("Haswell", WIDE) if "X86_V4" in there else ("Sandybridge", PLAIN)
    return {"OPENBLAS_CORETYPE": core, "NPY_DISABLE_CPU_FEATURES": " ".join(sorted(there - kept))}


def main(words: list[str]) -> int:
    """Run pytest under the other kernel, and `dpol verify` if no arguments are given."""
    runs = [["pytest", *words]]
    if not words:
        runs = [["pytest", "--numprocesses", str(os.cpu_count()), "--dist", "worksteal", *TESTS]]
        runs += [["dpol", "verify"]]
    variables = other_kernel()
    print(f"Kernel: {variables.get('OPENBLAS_CORETYPE', 'the only one')}", flush=True)
    env = {**os.environ, **variables}
    done = [subprocess.run([sys.executable, "-m", *run], env=env, check=False) for run in runs]
    return int(any(process.returncode for process in done))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
