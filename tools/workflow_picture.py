"""Draw docs/images/workflow.svg, the picture of the workflow: `python tools/workflow_picture.py`.

Every rule of workflow/ is in a box, and a test compares the file with a fresh drawing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/images/workflow.svg"
COMPUTED = {
    'f"{study.name}_point"': ("STUDY_point",),
    'f"{study.name}_results"': ("games_results", "STUDY_results"),
    'f"{study.name}_shown"': ("STUDY_shown",),
}
"""Rule names that the workflow computes, by the code that computes them."""
TARGETS = ("data", "streams", "games", "results")
"""Target rules: they only name the outputs of others."""
WIDTH, HEIGHT, GAP, MARGIN = 560, 76, 24, 10


@dataclass(frozen=True)
class Box:
    """A box of the picture: rules with one purpose.

    Args:
        title: what they make.
        says: one line about the box.
        rules: their names.
        row: from 0, from top to bottom.
        column: 0 left, 1 right, None for both.
    """

    title: str
    says: str
    rules: tuple[str, ...]
    row: int
    column: int | None = None

    @property
    def left(self) -> float:
        """Left edge."""
        return MARGIN + (self.column or 0) * (WIDTH - 2 * MARGIN + GAP) / 2

    @property
    def width(self) -> float:
        """Width."""
        whole = WIDTH - 2 * MARGIN
        return whole if self.column is None else (whole - GAP) / 2

    @property
    def top(self) -> float:
        """Upper edge."""
        return MARGIN + self.row * (HEIGHT + GAP)


BOXES = (
    Box("Table", "fetched, simulated or your own", ("fetch_dataset", "simulate_dataset"), 0, 0),
    Box("Cleaning", "gaps, markers, who plays", ("clean_panel", "data"), 0, 1),
    Box("Streams", "the gains of the experts week by week", ("build_stream", "streams"), 1),
    Box("Games", "per stream, μ, suite, replicates", ("games_point", "games"), 2, 0),
    Box("Summary", "means and intervals", ("games_results",), 3, 0),
    Box("Studies", "one job per place in the grid", ("STUDY_point",), 2, 1),
    Box("Results of studies", "one or more tables per study", ("STUDY_results",), 3, 1),
    Box("Tables and figures", "one job per study", ("STUDY_shown",), 4),
    Box("Report", "one page, with the provenance of the run", ("render_report", "results"), 5),
)
ARROWS = (
    ("Table", "Cleaning"),
    ("Cleaning", "Streams"),
    ("Streams", "Games"),
    ("Streams", "Studies"),
    ("Games", "Summary"),
    ("Summary", "Studies"),
    ("Studies", "Results of studies"),
    ("Summary", "Tables and figures"),
    ("Results of studies", "Tables and figures"),
    ("Tables and figures", "Report"),
)
LIGHT = {"paper": "#ffffff", "box": "#eef3f8", "edge": "#4f6f8f", "ink": "#1a1f24"}
DARK = {"paper": "#15181b", "box": "#22303d", "edge": "#8aa8c4", "ink": "#e8ebee"}


def rules(folder: Path) -> set[str]:
    """Return the rule names of a workflow, computed ones as in COMPUTED.

    Raises:
        KeyError: a name is computed in a way that COMPUTED lacks.
    """
    text = "\n".join(path.read_text() for path in sorted(folder.rglob("*.smk")))
    text += (folder / "Snakefile").read_text()
    computed = re.findall(r"^ *name:\n +(.+),?$", text, re.M)
    names = {name for code in computed for name in COMPUTED[code]}
    return names | set(re.findall(r"^ *rule (\w+):", text, re.M))


def drawn(boxes: tuple[Box, ...] = BOXES) -> str:
    """Return the picture as SVG."""
    by_title = {box.title: box for box in boxes}
    height = max(box.top for box in boxes) + HEIGHT + MARGIN
    colours = [
        f":root {{ {'; '.join(f'--{name}: {value}' for name, value in theme.items())} }}"
        for theme in (LIGHT, DARK)
    ]
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title"'
        f' width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        '<title id="title">The workflow of dpol, from the table to the report</title>',
        f"<style>{colours[0]} @media (prefers-color-scheme: dark) {{ {colours[1]} }}",
        "text { font-family: sans-serif; font-size: 14px; fill: var(--ink) }",
        "text.title { font-weight: bold; font-size: 16px }",
        "text.rules { font-family: monospace; font-size: 12px }",
        "rect.box { fill: var(--box); stroke: var(--edge); stroke-width: 1.5 }",
        "path { fill: none; stroke: var(--edge); stroke-width: 2; marker-end: url(#tip) }",
        "marker path { fill: var(--edge); marker-end: none }</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5"'
        ' orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker>',
        f'<rect width="{WIDTH}" height="{height}" rx="8" style="fill: var(--paper)"/>',
        *(f'<path d="{_way(by_title[a], by_title[b])}"/>' for a, b in ARROWS),
        *(line for box in boxes for line in _box(box)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _way(start: Box, end: Box) -> str:
    """Return a line between two boxes: to the right, down, or up in the middle."""
    right, middle = start.left + start.width, (start.left + start.width + end.left) / 2
    if start.row == end.row:
        return f"M{right:g},{start.top + HEIGHT / 2:g} H{end.left - 1:g}"
    if start.row > end.row:
        up = end.top + HEIGHT / 2
        return f"M{right:g},{start.top + HEIGHT / 2:g} H{middle:g} V{up:g} H{end.left - 1:g}"
    narrow = min(start, end, key=lambda box: box.width)
    return f"M{narrow.left + narrow.width / 2:g},{start.top + HEIGHT:g} V{end.top - 1:g}"


def _box(box: Box) -> Iterator[str]:
    yield (
        f'<rect class="box" x="{box.left:g}" y="{box.top:g}" width="{box.width:g}"'
        f' height="{HEIGHT}" rx="6"/>'
    )
    names = ", ".join(rule for rule in box.rules if rule not in TARGETS)
    for down, kind, text in (
        (22, "title", box.title),
        (43, "says", box.says),
        (63, "rules", names),
    ):
        yield (
            f'<text class="{kind}" x="{box.left + 10:g}" y="{box.top + down:g}">'
            f"{escape(text)}</text>"
        )


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
