"""Renew the pictures of the documentation: `python tools/pictures.py results/central-texas ...`.

Copies figures of finished runs to docs/images/RUN-FIGURE.png, as wide as a page shows them on a
fine screen, and the top of the page of central-texas to docs/images/page.png, by Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
FIGURES = {
    "central-texas": ("figure-1", "figure-2", "labels-risk"),
    "flu": ("promises",),
    "mine": ("figure-2",),
    "states": ("privacy-utility",),
}
"""Figures that the documentation shows, by run."""
WIDEST = 1470  # pixels: twice the column of text


SCREEN = 1300, 1180  # pixels of the page that README shows


def page_shown(page: Path, picture: Path) -> None:
    """Write the top of a page as a person sees it.

    Raises:
        OSError: there is no Chromium, or it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder, "page.png")
        width, height = SCREEN
        words = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--screenshot={shot}"]
        words += [f"--window-size={width},{height}", page.resolve().as_uri()]
        done = subprocess.run(["chromium", *words], capture_output=True, text=True)
        if done.returncode or not shot.exists():
            raise OSError(f"{page}: Chromium made no picture: {done.stderr[-300:]}")
        copied(shot, picture)


def copied(figure: Path, picture: Path) -> None:
    """Return a figure at page size, reduced to 256 colours."""
    with Image.open(figure) as whole:
        image = whole.convert("RGB")
    if image.width > WIDEST:
        image = image.resize(
            (WIDEST, round(image.height * WIDEST / image.width)), Image.Resampling.LANCZOS
        )
    image.quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


def main(folders: list[Path]) -> None:
    """Renew the pictures of these runs.

    Raises:
        KeyError: the documentation shows no figure of a run.
        FileNotFoundError: the run has no such figure yet.
    """
    for folder in folders:
        for name in FIGURES[folder.name]:
            copied(folder / f"figures/{name}.png", IMAGES / f"{folder.name}-{name}.png")
        if folder.name == "central-texas":
            page_shown(folder / "report/index.html", IMAGES / "page.png")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
