"""Common set-up of Jinja for the templates of this package and of packages that build on it."""

from __future__ import annotations

from collections.abc import Callable

import jinja2
from markupsafe import Markup, escape

from dpol.show.words import raise_and_lower, typeset


def load_template(
    name: str, *packages: str, escape: Callable[[str], str] | None = None
) -> jinja2.Template:
    """Load a template from `templates/` of the given packages, or of `dpol.show`.

    Args:
        name: file name of the template.
        packages: packages to search before `dpol.show`.
        escape: the filter `e` of a Markdown template, which escapes nothing by itself.
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
    )
    environment.filters["typeset"] = typeset
    environment.filters["formulas"] = _with_formulas
    if escape:
        environment.filters["e"] = escape
    return environment.get_template(name)


def _with_formulas(text: str) -> Markup:
    """Typeset a text for HTML, with raised and lowered parts of its formulas."""
    return Markup(raise_and_lower(str(escape(typeset(text))), "<sup>{}</sup>", "<sub>{}</sub>"))
