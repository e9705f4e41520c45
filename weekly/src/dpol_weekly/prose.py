"""What commands print: text templates of the parts of this package."""

from __future__ import annotations

from dpol.core.rounding import at_most
from dpol.core.safe_text import printable
from dpol.core.words import counted
from dpol.show.pages import load_template


def lines_of(template: str, part: str, **facts: object) -> list[str]:
    """Return the lines of a template.

    Args:
        template: name of the template, without `.txt.j2`.
        part: the part of this package that holds it, such as `holder`.
        facts: what it shows. It also has `counted`, `up` (a bound, such as a mu, whose text
            is rounded up) and `shown` (a path, which may hold line ends).
    """
    text = load_template(f"{template}.txt.j2", f"dpol_weekly.{part}").render(
        counted=counted,
        up=lambda number, digits=4: at_most(number, digits=digits),
        shown=lambda path: printable(str(path)),
        **facts,
    )
    return text.splitlines()
