"""The closure of imports: what a job watches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpol.core import imports
from dpol.core.imports import PACKAGE, closure, code_hash


def names(*starts):
    return {str(path.relative_to(PACKAGE)) for path in closure(*starts)}


@pytest.mark.parametrize(
    "module", ["dpol.privacy.account", "dpol.studies.hospitals.runs", "dpol.show.table"]
)
def test_the_closure_holds_every_module_that_an_import_loads(module):
    """The closure is compared with Python itself, in a process of its own."""
    code = f"""import sys, {module}
print(*[m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'dpol'])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(map(Path, done.stdout.split())) <= set(closure(module))


def test_imports_for_type_checkers_are_not_followed():
    assert "data/stream.py" not in names("dpol.studies.study")


def test_a_study_watches_neither_registries_nor_other_studies():
    found = names("dpol.studies.batching.study")
    assert "experts/adabatch.py" in found
    assert not {"experts/registry.py", "studies/registry.py", "studies/audits/core.py"} & found


def test_a_script_is_followed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("def f():\n    from dpol.core.files import atomic_path\n")
    assert names(script) == {"__init__.py", "core/__init__.py", "core/files.py", "core/errors.py"}


def test_what_is_no_module_is_refused():
    with pytest.raises(ModuleNotFoundError, match=r"dpol\.nothing is not a module of dpol"):
        closure("dpol.nothing")


def test_the_hash_changes_with_the_code_and_with_the_data_beside_it(tmp_path, monkeypatch):
    package = tmp_path / "dpol"
    (package / "one" / "templates").mkdir(parents=True)
    watched = ["one/a.py", "two.py", "one/c.csv", "one/templates/d.css"]
    for name in ("__init__.py", "one/__init__.py", "one/b.py", *watched):
        (package / name).write_text("import dpol.two" if name == "one/a.py" else "")
    monkeypatch.setattr(imports, "PACKAGE", package)

    def after(name):
        (package / name).write_text((package / name).read_text() + " ")
        imports._imports.cache_clear()
        return code_hash("dpol.one.a")

    first = code_hash("dpol.one.a")
    assert after("one/b.py") == first
    assert len({first, *map(after, watched)}) == 1 + len(watched)
    imports._imports.cache_clear()
