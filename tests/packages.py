"""A wheel with given files, as pip accepts it."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

INFO = {
    "METADATA": "Metadata-Version: 2.1\nName: some-cases\nVersion: 1.2\n",
    "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
    "RECORD": "",
}


def write_wheel(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the wheel of some-cases 1.2 into a new folder; its code would leave a trace."""
    folder.mkdir()
    wheel = folder / "some_cases-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("some_cases/__init__.py", "open('executed', 'w').close()")
        for name, content in files.items():
            packed.writestr(name, content)
        for name, text in INFO.items():
            packed.writestr(f"some_cases-1.2.dist-info/{name}", text)
    return wheel
