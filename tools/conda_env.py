"""Renew workflow/envs/dpol.yaml: a release of dpol with the packages of requirements/run.txt.

conda brings Python and pip only: conda-forge need not have the versions that the lock names.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "workflow/envs/dpol.yaml"
# immutables 0.21, which Snakemake needs, has no wheel for Python 3.14.
PYTHON = ">=3.11,<3.14"


def environment() -> str:
    """Return the text of the file, from pyproject.toml and the lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (ROOT / "requirements/run.txt").read_text()
    pins = re.findall(r"^([a-z0-9][^\\\n]*?) *\\$", lock, re.MULTILINE)
    lines = [
        "# Made by tools/conda_env.py of requirements/run.txt.",
        "channels:",
        "  - conda-forge",
        "  - nodefaults",
        "dependencies:",
        "  # With its channel: Snakemake refuses a plain `python` where it injects this file.",
        f"  - conda-forge::python{PYTHON}",
        "  - pip",
        "  - pip:",
        *(f"      - {pin}" for pin in [f"dpol[pipeline]=={project['version']}", *pins]),
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    FILE.write_text(environment(), encoding="utf-8")
