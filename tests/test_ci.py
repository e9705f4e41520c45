"""CI files: the host runs only commands that exist here, with few permissions and time limits."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FILES = {path.stem: path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")}
# Programs on the runners of the host.
PROGRAMS = {"gh"}
# Permissions to write, by job.
MAY_WRITE = {
    "publish": {"id-token", "attestations"},
    "image": {"packages"},
    "announce": {"contents"},
}


def targets(folder: Path) -> set[str]:
    """Return the targets of the Makefile of a folder."""
    file = folder / "Makefile"
    text = file.read_text() if file.is_file() else ""
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def commands_unknown(run: str) -> Iterator[str]:
    """Yield commands that nothing here provides."""
    for line in run.splitlines():
        program, *words = line.split()
        known = program in PROGRAMS
        if program == "make":
            folder, names = (words[1], words[2:]) if words[0] == "-C" else (".", words)
            known = set(names) <= targets(ROOT / folder)
        elif program.startswith(".ci/"):
            known = (ROOT / program).is_file() and bool((ROOT / program).stat().st_mode & 0o100)
        if not known:
            yield f"nothing runs {line!r}"


def faults(workflow: dict[str, Any]) -> Iterator[str]:
    """Yield faults in a workflow of the host."""
    if workflow.get("permissions") != {"contents": "read"}:
        yield "all jobs may write"
    if "concurrency" not in workflow:
        yield "runs of one branch pile up"
    for name, job in workflow["jobs"].items():
        if not 0 < job.get("timeout-minutes", 0) <= 60:
            yield f"{name} may run for hours"
        permissions = job.get("permissions", {}).items()
        written = {scope for scope, may in permissions if may == "write"}
        if written - MAY_WRITE.get(name, set()):
            yield f"{name} may write too much"
        for step in job["steps"]:
            yield from commands_unknown(step.get("run", ""))
            if "${{" in step.get("run", ""):
                yield "text from outside becomes part of a command"
            action, _, version = step.get("uses", "run@" + "0" * 40).partition("@")
            if not re.fullmatch(r"[0-9a-f]{40}", version):
                yield f"{action} may change"
            if action == "actions/checkout" and step["with"]["persist-credentials"]:
                yield "the token stays on the disk"


@pytest.mark.parametrize("name", FILES)
def test_a_workflow_of_the_host_is_sound(name: str) -> None:
    assert list(faults(yaml.safe_load(FILES[name]))) == []
    assert "secrets." not in FILES[name]
    # Pinned to a commit, with the version for people.
    assert len(re.findall(r"uses: \S+@\w{40} # v[\d.]+\n", FILES[name])) == FILES[name].count(
        "uses:"
    )


def test_the_host_runs_what_a_person_runs() -> None:
    assert FILES.keys() == {"ci", "newest", "release"}
    scripts = {"ci": ".ci/run", "newest": ".ci/newest", "release": ".ci/release"}
    assert [name for name in FILES if f"run: {scripts[name]}" not in FILES[name]] == []
    called = [line for path in (ROOT / ".ci").iterdir() for line in path.read_text().splitlines()]
    made = [line for line in called if line.startswith("make ")]
    assert made
    assert [unknown for line in made for unknown in commands_unknown(line)] == []
    named = re.findall(r"\b(?:tests|tools|requirements)/[\w./-]+", "\n".join(called))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_check_finds_every_fault() -> None:
    sound = yaml.safe_load(FILES["ci"])
    step = sound["jobs"]["all"]["steps"][0]
    wrong = [
        ({"permissions": {"contents": "write"}}, {}, {}, "all jobs may write"),
        ({}, {"timeout-minutes": 600}, {}, "all may run for hours"),
        ({}, {"permissions": {"id-token": "write"}}, {}, "all may write too much"),
        ({}, {}, {"uses": "actions/checkout@v6"}, "actions/checkout may change"),
        ({}, {}, {"with": {"persist-credentials": True}}, "the token stays on the disk"),
        ({}, {}, {"run": "make coffee"}, "nothing runs 'make coffee'"),
        ({}, {}, {"run": "make -C tests lint"}, "nothing runs 'make -C tests lint'"),
        ({}, {}, {"run": ".ci/nothing"}, "nothing runs '.ci/nothing'"),
    ]
    for top, job, first, fault in wrong:
        broken = copy.deepcopy(sound) | top
        broken["jobs"]["all"] |= job
        broken["jobs"]["all"]["steps"][0] = step | first
        assert list(faults(broken)) == [fault]


@pytest.mark.parametrize(
    ("tag", "heading", "message"),
    [
        ("v9.9.9", "[0.1.0] - 2026-01-31", "the tag is v9.9.9, but the version in"),
        ("", "[0.1.0] - 2026-01-31", "the tag is none"),
        ("v{}", "[Unreleased]", "CHANGELOG.md gives no date"),
        ("v{}", "[0.0.1] - 2026-01-31", "CHANGELOG.md gives no date"),
        ("v{}", "[{}] - 2026-01-31", "requirements/setup.sh"),
    ],
)
def test_only_a_tag_of_the_version_is_released(
    tmp_path: Path, tag: str, heading: str, message: str
) -> None:
    """The last case is right, and goes on to the build."""
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci/release", tmp_path / ".ci/release")
    (tmp_path / "Makefile").write_text("")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    (tmp_path / "CHANGELOG.md").write_text(f"## {heading.format(version)}\n")
    words = [word for word in (tag.format(version),) if word]
    done = subprocess.run([script, *words], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert message in done.stderr
