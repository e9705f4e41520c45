"""How Sphinx builds these pages: `make docs`. A warning is an error."""

from dpol import __version__

project = "dpol"
author = "The dpol developers"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = False  # annotations name NumPy's classes, whose pages are on the network

# `name` in a docstring is code, as in Markdown.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# A package that offers names of its modules once more does not describe them twice.
autodoc_default_options = {"members": True, "ignore-module-all": True, "show-inheritance": False}
napoleon_numpy_docstring = False

# Signatures as in the code: aliases by their names, a parameter a line if there is no room.
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name
    for name in ("Actions", "ArrayLike", "BatchSizes", "Counts", "Floats", "Ints", "Points", "Sizes")
}
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
python_trailing_comma_in_multi_line_signatures = False
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "dpol"
html_copy_source = False
html_show_sphinx = False
