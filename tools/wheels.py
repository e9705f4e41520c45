"""Which locked packages have no wheel for a version of Python, by the index that pip asks.

    python tools/wheels.py requirements/run.txt 3.12 3.13 3.14 [NAME ...]

Without names it asks for every package of the file, which takes minutes. A package without a wheel
is built on the user's machine: from Python alone with the locked setuptools, or with a compiler.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement


def locked(file: Path, names: set[str], version: str) -> list[str]:
    """Return the packages of a lock file, with their versions, that a version of Python needs."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if "==" in line]
    needed = [Requirement(line.rstrip("\\ ")) for line in lines]
    return [
        f"{it.name}{it.specifier}"
        for it in needed
        if not names or it.name in names
        if it.marker is None or it.marker.evaluate({"python_version": version})
    ]


def has_wheel(package: str, version: str) -> bool:
    """Return whether pip finds a wheel for this machine and a version of Python."""
    words = ["install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet"]
    words += ["--only-binary", ":all:", "--python-version", version, "--target", "nowhere"]
    command = [sys.executable, "-m", "pip", *words, package]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> None:
    """Print a line for each package without a wheel; exit with 1 if there is one."""
    file, *words = sys.argv[1:]
    versions = [word for word in words if word[0].isdigit()]
    missing = [
        f"Python {version}: no wheel of {package}"
        for version in versions
        for package in locked(Path(file), {*words} - {*versions}, version)
        if not has_wheel(package, version)
    ]
    print("\n".join(missing) or "every package has a wheel")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
