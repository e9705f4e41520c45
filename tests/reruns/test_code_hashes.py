"""Which code of dpol a job can run, and what changes its hash.

tests/workflow compares the code with what jobs really import, and with what Snakemake reruns.
"""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

from dpol.core.shipped import pipeline
from dpol.reruns import code_hashes
from dpol.reruns.code_hashes import (
    ROOT,
    code_of_job,
    files_by_reader,
    files_of_job,
    parts_of_job,
    reach,
)
from in_process import forget_code

CODE = """
def gains(rounds: int) -> float:
    \"\"\"Words.\"\"\"
    draw(rounds)
    return math.sqrt(rounds)
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Words", "Other words", True),
        ("draw", "# A comment.\n    draw", True),
        ("(rounds)\n", "(\n        rounds\n    )\n", True),
        ("math.sqrt", "math.cbrt", False),
        ("draw(", "draw_other(", False),  # a bare call may draw the noise
        ("return", "draw(rounds)\n    return", False),
    ],
)
def test_words_do_not_change_the_hash_of_code_and_all_else_does(
    old: str, new: str, *, same: bool
) -> None:
    changed = CODE.replace(old, new)
    assert changed != CODE
    before, after = (code_hashes._parse(it.encode())[0] for it in (CODE, changed))
    assert (before == after) == same


READERS = {
    "experts/registry.yaml": {"experts.registry"},
    "show/entries.yaml": {"show.entries"},
    "data/rules.yaml": {"data.cleaning"},
    "studies/games/results.yaml": {f"studies.games.{it}" for it in ("study", "show", "collect")},
}


def test_a_file_that_is_no_code_counts_for_the_modules_beside_it_that_name_it() -> None:
    """Jobs that make and draw tables watch their columns, and points do not."""
    readers = {
        file: {module for module, files in files_by_reader().items() if ROOT / file in files}
        for file in READERS
    }
    assert readers == {file: {f"dpol.{it}" for it in own} for file, own in READERS.items()}
    points = reach("dpol.studies.games.compute")
    assert readers["studies/games/results.yaml"].isdisjoint(points)
    suffixes = {file.suffix for files in files_by_reader().values() for file in files}
    assert suffixes.isdisjoint({".py", ".pyi"})


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


def test_an_algorithm_is_reached_by_those_that_name_it() -> None:
    """The registry has them by name, and imports one when it is asked for it."""
    tree = "dpol.experts.tree_ftpl"
    assert tree not in reach("dpol.experts.registry") | reach("dpol.studies.games.compute")
    assert tree in parts_of_job("study_point", "dpol.studies.games.compute", tree)


def test_the_imports_of_dpol_are_those_that_import_linter_sees() -> None:
    """With packages and late imports, and without imports for types."""
    graph = grimp.build_graph("dpol", exclude_type_checking_imports=True, cache_dir=None)
    for module in graph.modules:
        direct = graph.find_modules_directly_imported_by(module)
        assert reach(module) == {module}.union(
            *(reach(it) for it in direct | {module.rpartition(".")[0]} if it)
        ), module
