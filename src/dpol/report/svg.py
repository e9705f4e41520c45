"""SVG files made fit to stand in a page beside others."""

from __future__ import annotations

import html
import re

from dpol.core.errors import DataError

# One scale for all images, or the words of a narrow one would be huge; a page is 62rem wide.
_REM_A_POINT, _WIDEST = 62 / 504, 62.0
_FURNITURE = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", re.DOTALL)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(href="#|url\(#)([^")]+)')


def inline_svg(text: str, name: str, title: str, description: str) -> str:
    """An SVG image with a text alternative, whose ids begin with "figure-" and `name`.

    Ids that nothing refers to are dropped, as are metadata, comments, and the style sheet, whose
    selector `*` would reach the whole page.

    Args:
        text: an SVG file as matplotlib writes it.
        name: its file below figures/, without suffix.
        title: short name of the image.
        description: what it shows.

    Raises:
        DataError: the text holds no SVG image.
    """
    found = re.search(r"<svg\b[^>]*>(.*)</svg>", text, re.DOTALL)
    box = re.search(r'\bviewBox="([^"]+)"', text)
    if not found or not box:
        raise DataError(f"figures/{name}.svg is not an SVG image; delete it and run again")
    prefix = f"figure-{name}"
    body = _FURNITURE.sub("", found[1])
    wanted = {of for _, of in _REFERENCE.findall(body)}
    body = _ID.sub(lambda it: f' id="{prefix}-{it[1]}"' if it[1] in wanted else "", body)
    body = _REFERENCE.sub(rf"\g<1>{prefix}-\g<2>", body)
    body = re.sub(r"\n\s*", "\n", body).strip()
    width, height = box[1].split()[2:]
    shown = min(float(width) * _REM_A_POINT, _WIDEST)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' width="{width}pt" height="{height}pt" viewBox="{box[1]}" role="img"'
        f' style="--shown: {shown:.1f}rem"'
        f' aria-labelledby="{prefix}-title {prefix}-description">\n'
        f'<title id="{prefix}-title">{html.escape(title)}</title>\n'
        f'<desc id="{prefix}-description">{html.escape(description)}</desc>\n{body}\n</svg>'
    )
