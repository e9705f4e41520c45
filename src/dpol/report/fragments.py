"""Readers of the figures and tables of a run; an error names the file, and the remedy."""

from __future__ import annotations

import base64
from pathlib import Path
from xml.etree import ElementTree

from dpol.core.schemas import readable


def read_fragment(path: Path) -> str:
    """Read a table as HTML. Raises DataError if it is missing or is not a table."""
    with readable(path):
        text = path.read_text(encoding="utf-8")
        if "</table>" not in text:
            raise ValueError("it holds no table")
    return text


def read_image(path: Path) -> tuple[str, float, str]:
    """Read a figure as base64, its width in points, and its finding.

    Raises:
        DataError: the file is missing or is not a figure.
    """
    with readable(path):
        image = path.read_bytes()
        root = ElementTree.fromstring(image)
        width = float(root.attrib["viewBox"].split()[2])
    finding = root.findtext("{http://www.w3.org/2000/svg}title") or ""
    return base64.b64encode(image).decode(), width, finding
