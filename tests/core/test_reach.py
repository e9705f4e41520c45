"""Which code of dpol a job can run, and what changes its hash.

tests/workflow compares the code with what jobs really import, and with what Snakemake reruns.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from dpol.core import reach as reach_module
from dpol.core.reach import ROOT, Code, every_module, reach, room_of
from pipeline import run, succeed

STATES = """
import json
from dpol.core.reach import Code, reach
code = Code(modules=reach(["dpol.experts.persistence", "dpol.core.schemas", "dpol.show.looks"]))
print(json.dumps({room: code.state_of(room) for room in sorted(code.rooms)}))
"""


def states(folder: Path) -> dict[str, str]:
    """Return the rooms of some modules of a copy of dpol, and their states."""
    done = run(sys.executable, "-c", STATES, folder=folder, PYTHONPATH=str(folder))
    found: dict[str, str] = json.loads(succeed(done))
    return found


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of dpol."""
    folder = tmp_path_factory.mktemp("copied")
    shutil.copytree(ROOT, folder / "dpol", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def before(copied: Path) -> dict[str, str]:
    """The states of the unchanged copy."""
    return states(copied)


def changed_rooms(copied: Path, before: dict[str, str], file: str, new: str) -> set[str]:
    """Return the rooms whose state differs while a file has another text."""
    path = copied / "dpol" / file
    old = path.read_text(encoding="utf-8") if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(new, encoding="utf-8")
    after = states(copied)
    path.unlink() if old is None else path.write_text(old, encoding="utf-8")
    assert before.keys() == after.keys()
    return {room for room in before if before[room] != after[room]}


def test_comments_docstrings_and_layout_are_no_code(copied: Path, before: dict[str, str]) -> None:
    file = "experts/persistence.py"
    text = (copied / "dpol" / file).read_text(encoding="utf-8")
    words = "# A comment.\n\n" + re.sub(
        r'^( *""")(?=\w)', r"\1Other words. ", text, flags=re.MULTILINE
    )
    words = words.replace("np.zeros((", "np.zeros(\n            (")
    assert changed_rooms(copied, before, file, words) == set()
    assert changed_rooms(copied, before, file, text.replace("axis=1", "axis=-1")) == {"experts"}


@pytest.mark.parametrize(
    ("file", "rooms"),
    [
        ("experts/registry.yaml", set()),  # of `experts.registry`
        ("show/looks.yaml", {"show"}),
        ("show/new.yaml", {"show"}),  # nothing names it, so any module there may read it
        ("labels/game.py", set()),
        ("pipeline/data/table.csv", set()),  # in a wheel
    ],
)
def test_a_file_counts_for_the_modules_that_read_it(
    copied: Path, before: dict[str, str], file: str, rooms: set[str]
) -> None:
    path = copied / "dpol" / file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    assert changed_rooms(copied, before, file, f"{text}\nother = 1\n") == rooms


HASHES = """
import json, sys
from pathlib import Path
from dpol.core import reach
before, after = reach.code_of_results(), {}
for name, (file, old, new) in json.loads(sys.argv[1]).items():
    path = Path("dpol", file)
    text = path.read_text(encoding="utf-8")
    assert old in text, name
    path.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")
    reach._hash_of.cache_clear()
    reach._hash_of_module.cache_clear()
    after[name] = reach.code_of_results() != before
    path.write_text(text, encoding="utf-8")
print(json.dumps(after))
"""
NEVER = {"checks", "cli", "plan", "report", "show"}


def test_a_line_in_any_room_that_computes_changes_the_hash_of_the_code(copied: Path) -> None:
    """A bare call, too: it may draw the noise."""
    graph = reach_module._graph()
    paths = {room_of(it): reach_module._path_of(it) for it in sorted(graph.modules)}
    changes = {
        room: (path.relative_to(ROOT).as_posix(), "", "\nchanged = 1\n")
        for room, path in paths.items()
    }
    changes |= {
        "bare": (
            "experts/learners/average.py",
            "    np.exp(weights, out",
            "    np.exp2(weights, out",
        ),
        "bare, in a loop": ("noise/noisy_gains.py", "standard_normal(out", "standard_gamma(out"),
    }
    words = sys.executable, "-c", HASHES, json.dumps(changes)
    found = json.loads(succeed(run(*words, folder=copied, PYTHONPATH=str(copied))))
    assert {name for name, is_changed in found.items() if not is_changed} == NEVER
    assert {"noise", "privacy", "experts", "data", "studies.games"} <= found.keys()


def test_columns_of_a_study_count_only_if_a_job_names_them() -> None:
    modules = reach(["dpol.studies.games.compute"])
    folder = ROOT / "studies/games"
    points = Code(modules=modules)
    shown = Code(modules=modules, files=(folder / "results.yaml",))
    assert points.rooms == shown.rooms
    changed = {room for room in points.rooms if points.state_of(room) != shown.state_of(room)}
    assert changed == {"studies.games"}


def test_a_module_reaches_its_packages_and_late_imports_but_no_imports_for_types() -> None:
    assert "dpol.studies.games" in reach(["dpol.studies.games.systems"])
    assert "dpol.data.query" in reach(["dpol.plan"])  # imported by a method
    assert "dpol.noise" not in reach(["dpol.studies.study"])  # for a type
    assert reach(["numpy.random"]) == frozenset()
    assert "dpol.cli" in every_module("checks")
    assert {room_of(it) for it in every_module()} - {room_of(it) for it in every_module("cli")} == {
        "cli"
    }


def test_no_module_takes_a_name_that_a_package_loads_lazily() -> None:
    """The graph of imports does not see where such a name comes from."""
    graph = reach_module._graph()
    lazy = [path.parent.relative_to(ROOT.parent) for path in ROOT.rglob("__init__.pyi")]
    assert len(lazy) == 4
    for package in lazy:
        name = ".".join(package.parts)
        # The command takes the version, which is no lazy name.
        assert graph.find_modules_that_directly_import(name) <= {"dpol.cli"}, name


def test_only_these_modules_import_by_name() -> None:
    """The plan must know what they import: `code_of_jobs` and its like in `dpol.plan`."""
    by_name = re.compile(r"import_module\(|(?<!yaml\.)(?<!safe_)\bload(_named)?\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if by_name.search(path.read_text(encoding="utf-8"))
    }
    assert {file for file in found if not file.startswith(("checks/", "cli/"))} == {
        "core/plugins.py",
        "experts/registry.py",  # algorithms and learners
        "noise/noises.py",  # noises of other packages
        "studies/jobs.py",  # `run` and `collect`
        "studies/registry.py",  # `STUDY` of other packages, and of dpol in the config
        "studies/study.py",  # `SECTIONS`; and `STUDY`, for the file of its columns
    }
