"""Pages have what their functions write today, and results stand nowhere else."""

from __future__ import annotations

import importlib

import pages
import tables

TEXTS = {name: pages.read(name) for name in pages.tracked("*.md")}
BLOCKS = {
    name: [(mark[2], mark[3]) for mark in pages.BLOCK.finditer(text)]
    for name, text in TEXTS.items()
}
"""The file and the function or table of each block, by page."""
FILES = {file for blocks in BLOCKS.values() for file, _ in blocks}


def test_no_page_is_stale() -> None:
    stale = [name for name, text in pages.all_written().items() if pages.read(name) != text]
    assert stale == [], "run make pages"


def test_block_and_function_name_each_other() -> None:
    """The docstring of a function, or the entry of a table, has the page that has its block."""
    on_pages = {(name, *it) for name, blocks in BLOCKS.items() for it in blocks}
    named = {(of["page"], "tables.yaml", name) for name, of in tables.specs().items()}
    for file in FILES - {"tables.yaml"}:
        module = importlib.import_module(file.removesuffix(".py"))
        for function, value in vars(module).items():
            path, _, about = (getattr(value, "__doc__", None) or "").partition(": ")
            if path in TEXTS and about and value.__module__ == module.__name__:
                named.add((path, file, function))
    assert on_pages == named


def test_every_mark_is_of_a_block() -> None:
    for name, page in TEXTS.items():
        assert page.count("<!-- written by") == len(BLOCKS[name]), name
