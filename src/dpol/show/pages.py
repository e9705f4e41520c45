"""The one set-up of Jinja: templates of this package, and of packages that build on it."""

from __future__ import annotations

import jinja2


def load_template(name: str, *packages: str) -> jinja2.Template:
    """A template out of `templates/` of the packages named, or of `dpol.show`."""
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
    return environment.get_template(name)
