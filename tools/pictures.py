"""Renew the pictures of the documentation: `python tools/pictures.py results/central-texas ...`.

Copies figures of finished runs to docs/images/RUN-FIGURE.png, as wide as a page shows them on a
fine screen. The top of a page, docs/images/page.png, is a screenshot of 1300 by 1180 pixels:
`chromium --headless --hide-scrollbars --window-size=1300,1180 --screenshot=page.png PAGE`.
"""

import sys
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parents[1] / "docs/images"
FIGURES = {
    "central-texas": ("figure-1", "figure-2", "labels-risk"),
    "mine": ("figure-2",),
}
"""Figures that the documentation shows, by run."""
WIDEST = 1470  # pixels: twice the column of text


def copied(figure: Path, picture: Path) -> None:
    """Copy a figure at page size, reduced to 256 colours."""
    with Image.open(figure) as whole:
        image = whole.convert("RGB")
    image.thumbnail((WIDEST, image.height), Image.Resampling.LANCZOS)
    image.quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    for run in map(Path, sys.argv[1:]):
        for name in FIGURES[run.name]:
            copied(run / f"figures/{name}.png", IMAGES / f"{run.name}-{name}.png")
