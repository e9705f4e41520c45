"""The generated parts of the manual, and the schema of a config, are of the models of today."""

from __future__ import annotations

import manual
import pytest


@pytest.mark.parametrize("path", manual.generated(), ids=lambda path: path.name)
def test_a_page_is_of_the_models(path):
    assert manual.generated()[path] == path.read_text(encoding="utf-8"), "run make format"
