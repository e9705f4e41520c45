"""Which code of dpol a job can run, and what changes its hash.

tests/workflow compares the code with what jobs really import, and with what Snakemake reruns.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import grimp
import pytest

import dpol.experts.registry
from dpol.core.shipped import pipeline
from dpol.experts.registry import LEARNERS, REGISTRY
from dpol.reruns import code_hashes
from dpol.reruns.code_hashes import (
    ROOT,
    code_of_job,
    every_module,
    files_by_reader,
    files_of_job,
    reach,
    room_of,
)
from in_process import forget_code
from pipeline import run, succeed

HASHES = """
import json, sys
from functools import cache
from pathlib import Path
from dpol.reruns import code_hashes
code_hashes._parse = cache(code_hashes._parse)  # parsed once
reached = code_hashes.reach(
    "dpol.experts.cautious_mean", "dpol.core.schemas", "dpol.show.entries", "dpol.labels"
)
def hashes():
    for it in vars(code_hashes).values():
        if hasattr(it, "cache_clear") and it is not code_hashes._parse:
            it.cache_clear()
    return {**code_hashes.hash_by_room(reached), "results": code_hashes.code_of_results()}
before, after = hashes(), {}
for name, (file, old, new) in json.loads(sys.argv[1]).items():
    path = Path("dpol", file)
    text = path.read_text(encoding="utf-8") if path.exists() else None
    assert old in (text or "")
    path.write_text(text.replace(old, new) if old else (text or "") + new, encoding="utf-8")
    after[name] = [room for room, value in hashes().items() if before[room] != value]
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
print(json.dumps(after))
"""
COLUMNS = ROOT / "studies/games/results.yaml"
NEVER = {"checks", "cli", "plan", "report", "show"}


def changed_by(folder: Path, changes: dict[str, tuple[str, str, str]]) -> dict[str, set[str]]:
    """Return the rooms whose hash differs for each change of a file in a copy of dpol.

    A change replaces a text, or adds one at the end.
    """
    source = folder / "src"
    shutil.copytree(ROOT, source / "dpol", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(pipeline() / "workflow", folder / "workflow")
    words = sys.executable, "-c", HASHES, json.dumps(changes)
    found = json.loads(succeed(run(*words, folder=source, PYTHONPATH=str(source))))
    return {name: set(rooms) for name, rooms in found.items()}


def test_a_line_in_any_room_changes_the_hash_and_words_do_not(tmp_path: Path) -> None:
    """A bare call, too: it may draw the noise. Other files count for their readers."""
    paths = {room_of(it): code_hashes.files_of(it)[0] for it in sorted(every_module())}
    changes = {
        room: (path.relative_to(ROOT).as_posix(), "", "\nchanged = 1\n")
        for room, path in paths.items()
    }
    changes |= {
        "bare": ("experts/learners/random_effects.py", "np.exp(weights", "np.exp2(weights"),
        "in a loop": ("noise/noisy_gains.py", "standard_normal(out", "standard_gamma(out"),
    }
    file = "experts/cautious_mean.py"
    expected = {
        "comment": ((file, "", "\n# A comment.\n"), set()),
        "docstring": ((file, '"""Play the', '"""Other words. Play the'), set()),
        "layout": ((file, "np.zeros((", "np.zeros(\n            ("), set()),
        "code": ((file, "axis=1", "axis=-1"), {"experts", "results"}),
        "unread": (("experts/registry.yaml", "", "\na: 1\n"), {"results"}),
        "read": (("show/entries.yaml", "", "\na: 1\n"), {"show"}),
        "named by none": (("show/new.yaml", "", "a: 1\n"), {"show"}),
        "not reached": (("lazy/exact.py", "", "\na = 1\n"), {"results"}),
        "of the study": (("studies/games/results.yaml", "", "\n"), {"results"}),
    }
    assert changes.keys().isdisjoint(expected)
    changes |= {name: change for name, (change, _) in expected.items()}
    found = changed_by(tmp_path, changes)
    assert {name: found.pop(name) for name in expected} == {
        name: rooms for name, (_, rooms) in expected.items()
    }
    assert {name for name, rooms in found.items() if "results" not in rooms} == NEVER
    assert {"noise", "privacy", "experts", "data", "studies.games"} <= found.keys()


def test_jobs_that_make_and_draw_tables_watch_their_columns_and_points_do_not() -> None:
    readers = {it for it, files in files_by_reader().items() if COLUMNS in files}
    assert readers == {f"dpol.studies.games.{name}" for name in ("study", "show", "collect")}
    assert readers.isdisjoint(reach("dpol.studies.games.compute"))
    suffixes = {file.suffix for files in files_by_reader().values() for file in files}
    assert ".yaml" in suffixes
    assert suffixes.isdisjoint({".py", ".pyi"})


def test_a_module_reaches_its_packages_and_late_imports_but_no_imports_for_types() -> None:
    assert "dpol.studies.games" in reach("dpol.studies.games.names")
    assert "dpol.studies.answer.league" in reach("dpol.cli.league")  # imported by a function
    assert "dpol.noise" not in reach("dpol.studies.study")  # for a type
    assert {room_of(it) for it in every_module() - every_module("cli")} == {"cli"}


def test_the_script_of_a_job_counts_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, script = code_of_job("clean_stream"), tmp_path / "workflow/scripts/clean_stream.py"
    text = (pipeline() / "workflow/scripts/clean_stream.py").read_text()
    script.parent.mkdir(parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(code_hashes, "pipeline", lambda: tmp_path)
        for added, changed in (("# a comment", set()), ("changed = 1", {"script"})):
            script.write_text(f"{text}\n{added}\n")
            forget_code()
            now = code_of_job("clean_stream")
            assert {room for room in before if now[room] != before[room]} == changed
        assert script in files_of_job("clean_stream")
    forget_code()


def test_what_was_parsed_once_is_not_parsed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / code_hashes.PARSED
    kept.parent.mkdir()
    kept.write_text("[")  # damaged
    found = []
    for parse in (code_hashes._parse, None):
        monkeypatch.setattr(code_hashes, "_parse", parse)
        code_hashes._parsed.cache_clear()
        forget_code()
        found.append(code_of_job("clean_stream"))
    assert found[0] == found[1]
    monkeypatch.setattr(code_hashes, "_PARSER", b"another version")
    code_hashes._parsed.cache_clear()
    forget_code()
    with pytest.raises(TypeError):  # it parses again
        code_of_job("clean_stream")


def test_the_imports_of_dpol_are_those_that_import_linter_sees() -> None:
    graph = grimp.build_graph("dpol", exclude_type_checking_imports=True, cache_dir=None)
    for module in graph.modules:
        direct = graph.find_modules_directly_imported_by(module)
        assert reach(module) == {module}.union(
            *(reach(it) for it in direct | {module.rpartition(".")[0]} if it), named_by(module)
        ), module


def named_by(module: str) -> frozenset[str]:
    """The registry names algorithms by `module:class`, and imports them late."""
    every = (
        (*REGISTRY.values(), *LEARNERS.values()) if module == dpol.experts.registry.__name__ else ()
    )
    return reach(*(entry.module for entry in every))
