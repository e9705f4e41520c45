"""Configure Sphinx, which builds these pages: `make docs`. A warning is an error."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from docutils.nodes import Node, Text, TextElement, document, literal, reference, system_message
from docutils.parsers.rst.roles import code_role
from docutils.parsers.rst.states import Inliner
from pydantic import BaseModel
from sphinx.addnodes import desc_annotation, pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment
from sphinx.util.inspect import object_description
from sphinx.util.nodes import make_refnode

import dpol
from dpol.studies.registry import STUDIES

sys.path.insert(0, str(Path(__file__).parent))

from reference_modules import write_pages

write_pages()

project = "dpol"
author = "The dpol developers"
copyright = author
version = release = dpol.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = False  # annotations name NumPy's classes, whose pages are on the network

# `name` in a docstring is code, as in Markdown, and leads to what has that name.
default_role = "name"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# A package that offers names of its modules once more does not describe them twice.
autodoc_default_options = {"members": True, "ignore-module-all": True}
napoleon_numpy_docstring = False

# Signatures as in the code: aliases by their names, a parameter a line if there is no room.
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name
    for name in (
        "Actions",
        "ArrayLike",
        "BatchSizes",
        "Counts",
        "Floats",
        "Ints",
        "Points",
    )
}
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
python_trailing_comma_in_multi_line_signatures = False
toc_object_entries_show_parents = "hide"
LONGEST_VALUE = 60  # characters of a constant or default that is still shown

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "dpol"
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_copy_source = False
html_show_sphinx = False

# What only Sphinx needs stands here: a code host shows the pages as they are.
CONTENTS = """
```{toctree}
:hidden:
tutorial
teach
reference/glossary
```
```{toctree}
:hidden:
:caption: Understand
explanation/papers
explanation/beyond
explanation/privacy
explanation/workflow
```
```{toctree}
:hidden:
:caption: Do
how-to/add-dataset
how-to/extend
how-to/verify
how-to/elsewhere
```
```{toctree}
:hidden:
:caption: Look up
reference/config
reference/recorded
reference/hospitals
reference/league
reference/tables
reference/exhibits
reference/references
reference/library
```
"""
MORE = {
    "index": CONTENTS,
    "reference/library": "\n```{toctree}\n:glob:\nlibrary/*\n```\n",
}
OUTSIDE = {
    "reference/config": "config/README.md",
    "reference/recorded": "verify/runs/README.md",
    "reference/hospitals": "data/hospitals/README.md",
}
"""Pages that stand elsewhere in the repository, where a code host shows them."""
HOMES = {
    f"dpol.{name}": f"dpol{module}.{name}"
    for module, name in re.findall(
        r"^from (\.\S+) import (\w+)", Path(dpol.__file__).with_suffix(".pyi").read_text(), re.M
    )
}
"""Public names, and the modules that define them."""
RUN = Path(__file__).parents[1] / "results" / "central-texas"
"""The default run; its page is the Play page, if the run is finished."""
IS_PLAYED = (RUN / "ro-crate-metadata.json").exists()
PLAY = "play/report/index.html"


def add_contents(app: Sphinx, page: str, text: list[str]) -> None:
    """Add the lists of pages, and include the pages that are outside this folder."""
    if page == "index" and IS_PLAYED:  # raw: Sphinx has no page of this name
        text[0] = text[0].replace("**play**", f'<a href="{PLAY}"><strong>play</strong></a>', 1)
    text[0] += MORE.get(page, "")
    for name, path in OUTSIDE.items():
        if page == name:
            docs = f"{'../' * path.count('/')}docs/"
            text[0] = f"```{{include}} ../../{path}\n:relative-docs: {docs}\n```\n"
        text[0] = re.sub(rf"\((?:\.\./)+{path}#", f"(/{name}.md#", text[0])


def add_play(app: Sphinx, error: Exception | None) -> None:
    """Add the Play page, with the files of the run that it links to."""
    if not IS_PLAYED:
        print(
            f"No Play page, because {RUN} is no finished run: snakemake --cores 2", file=sys.stderr
        )
        return
    others = shutil.ignore_patterns("logs", "provenance", "streams", *STUDIES)
    shutil.copytree(RUN, app.outdir / "play", ignore=others, dirs_exist_ok=True)


def link_code(app: Sphinx, page: document) -> None:
    """Make a link of code that is a name with dots if something has that name."""
    for code in [*page.findall(literal)]:
        name = code.astext().partition("(")[0]
        if re.fullmatch(r"[A-Za-z]\w*(\.\w+)+", name) and not isinstance(
            code.parent, (reference, pending_xref)
        ):
            options = {"refdomain": "py", "reftype": "obj", "refspecific": True}
            link = pending_xref("", reftarget=HOMES.get(name, name), **options)
            code.replace_self(link)
            link += code


def keep_colon(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Hide the colon before which Napoleon expects the type of an attribute."""
    if what in ("attribute", "data", "property"):
        lines.insert(0, "\\")  # joined with the next line, and not shown


def plain_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str
) -> tuple[str, str] | None:
    """Show no parameters of classes that nobody calls, alias names, and no long defaults."""
    if isinstance(obj, type) and (
        issubclass(obj, BaseModel) or getattr(obj, "_is_protocol", False)
    ):
        return "", ""
    if signature is None:
        return None
    for field in fields(obj) if isinstance(obj, type) and is_dataclass(obj) else ():
        if field.default is not MISSING and len(repr(field.default)) > LONGEST_VALUE:
            signature = signature.replace(object_description(field.default), "...")
    forward = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return forward.sub(r"\1", signature), forward.sub(r"\1", returns or "")


def skip_keys(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the keys of config models: the manual of the config explains them."""
    models = app.env.current_document.autodoc_module.split(".")[:2] == ["dpol", "config"]
    key = what == "class" and not isinstance(obj, (property, FunctionType))
    return True if models and key else None


def cut_values(app: Sphinx, page: document) -> None:
    """Cut long values of constants, which their descriptions explain."""
    for node in page.findall(desc_annotation):
        if node.astext().startswith(" = ") and len(node.astext()) > LONGEST_VALUE:
            node.children = [Text(" = ...")]


def name_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *more: Any, **options: Any
) -> tuple[list[Node], list[system_message]]:
    """Make a link of a name if something has that name, and code of all else."""
    role = PyXRefRole() if re.fullmatch(r"[A-Za-z_][\w.]*", text) else code_role
    return role("py:obj", rawtext, text, lineno, inliner, *more, **options)


def link_field(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: TextElement
) -> reference | None:
    """Link the name of a field to its class, where fields are described."""
    domain, owner = env.domains.python_domain, node["reftarget"].rpartition(".")[0]
    classes = domain.find_obj(env, None, None, owner, "class", 1) if owner else []
    if len(classes) != 1 or node.get("refdomain") != "py":
        return None
    ((owner, found),) = classes
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, shown, owner)


def setup(app: Sphinx) -> None:
    app.connect("build-finished", add_play)
    app.connect("missing-reference", link_field)
    app.add_role("name", name_role)
    app.connect("source-read", add_contents)
    app.connect("doctree-read", cut_values)
    app.connect("doctree-read", link_code)
    app.connect("autodoc-skip-member", skip_keys)
    app.connect("autodoc-process-docstring", keep_colon, priority=400)  # Napoleon has 500
    app.connect("autodoc-process-signature", plain_signature)
