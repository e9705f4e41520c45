"""The one set-up of Jinja: templates of this package, and of packages that build on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jinja2

from dpol.show.words import typeset

# Braces and percent signs are LaTeX's own.
_DELIMITERS: Any = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
}


def load_template(
    name: str, *packages: str, escape: Callable[[str], str] | None = None
) -> jinja2.Template:
    """A template out of `templates/` of the packages named, or of `dpol.show`.

    Args:
        name: its file.
        packages: whose templates come before those of `dpol.show`.
        escape: what the filter `e` does in a template of LaTeX or Markdown, in which nothing is
            escaped without it; such a template is written with `<% %>` and `<< >>`.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package) for package in (*packages, "dpol.show")]
        ),
        autoescape=jinja2.select_autoescape(("html.j2",)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        **(_DELIMITERS if escape else {}),
    )
    environment.filters["typeset"] = typeset
    if escape:
        environment.filters["e"] = escape
    return environment.get_template(name)
