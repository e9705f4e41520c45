"""Renew the list of packages in workflow/envs/dpol.yaml: dpol, and those of requirements/run.txt.

conda brings Python and pip only: conda-forge need not have the versions that the lock names.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "workflow/envs/dpol.yaml"


def environment() -> str:
    """Return the text of the file with the packages of pyproject.toml and the lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (ROOT / "requirements/run.txt").read_text()
    pins = re.findall(r"^([a-z0-9][^\\\n]*?) *\\$", lock, re.MULTILINE)
    head, mark, _ = FILE.read_text().partition("  - pip:\n")
    pins.insert(0, f"dpol[pipeline]=={project['version']}")
    return head + mark + "".join(f"      - {pin}\n" for pin in pins)


if __name__ == "__main__":
    FILE.write_text(environment(), encoding="utf-8")
