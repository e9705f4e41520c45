"""Renew the pictures of the documentation: `python tools/pictures.py results/central-texas ...`.

Copies figures of finished runs to docs/images/RUN-FIGURE.png, as wide as a page shows them on a
fine screen. Without a run it only draws the workflow again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import workflow_picture as workflow
from PIL import Image

IMAGES = workflow.PICTURE.parent
FIGURES = {
    "central-texas": ("figure-1", "figure-2", "labels-risk"),
    "states": ("questions",),
    "beyond": ("rivals",),
}
"""Figures that the documentation shows, by run."""
WIDEST = 1470  # pixels: twice the column of text


def copied(figure: Path, picture: Path) -> None:
    """Return a figure at page size, reduced to 256 colours."""
    with Image.open(figure) as whole:
        image = whole.convert("RGB")
    if image.width > WIDEST:
        image = image.resize(
            (WIDEST, round(image.height * WIDEST / image.width)), Image.Resampling.LANCZOS
        )
    image.quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


def main(folders: list[Path]) -> int:
    """Renew the pictures of these runs; return 1 if a run is unknown or a figure is missing."""
    workflow.PICTURE.write_text(workflow.drawn(), encoding="utf-8")
    if unknown := [str(folder) for folder in folders if folder.name not in FIGURES]:
        print(f"error: {', '.join(unknown)}: known are {', '.join(FIGURES)}", file=sys.stderr)
        return 1
    wanted = [
        (folder / f"figures/{name}.png", IMAGES / f"{folder.name}-{name}.png")
        for folder in folders
        for name in FIGURES[folder.name]
    ]
    missing = [str(figure) for figure, _ in wanted if not figure.exists()]
    if missing:
        print(f"error: {', '.join(missing)}: no such file; finish the run first", file=sys.stderr)
        return 1
    for figure, picture in wanted:
        copied(figure, picture)
        print(picture.relative_to(workflow.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
