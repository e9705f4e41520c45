"""Run what a page of the documentation tells its readers to type.

A page's code blocks are run in their order, as a reader pastes them: in one shell, which begins in
the root of a copy of this checkout that every page has for itself. What is done with a block
depends on its language:

- `sh`: run by that bash, with the programs of `.venv` at hand;
- `python`: run from there by a process of its own, in which a warning is an error;
- `yaml`: with a path in its first line (`# config/mine.yaml`) it becomes that file; without one it
  must be keys of a config, and `config/simulated.yaml` with these keys instead of its own be valid;
- `python` with a path in its first line (`# src/dpol/...`): becomes that file;
- `diff`: applied to the copy;
- `text`: what the block before it prints; `...` stands for anything.

A comment above a block changes that: `<!-- code: plan -->` runs it, but snakemake only plans
(a dry run); `<!-- code: not run: REASON -->` checks the syntax alone.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

from dpol.config.experiment import parse_experiment
from pipeline import ROOT, run, succeed

LANGUAGES = ("sh", "python", "yaml", "diff", "text")
DIRECTIVE = re.compile(r"<!-- code: (plan|not run: .{10,}) -->\s*")
FILE = re.compile(r"# ([\w./-]+(?:\.(?:py|yaml|md)|/Snakefile))\n")


@dataclass(frozen=True)
class Block:
    """A code block: its page, the line it starts at, its language and what to do with it."""

    page: Path
    line: int
    language: str
    code: str
    plan: bool = False
    reason: str = ""
    """Reason why it is not run; empty if it is."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str:
        """The file that the block is, or an empty string."""
        found = FILE.match(self.code)
        return found[1] if found and self.language in ("python", "yaml") else ""


def pages() -> list[Path]:
    """Every page that readers see."""
    return [ROOT / "README.md", ROOT / "config/README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page.

    Raises:
        ValueError: a block has no language, or one that is not known.
    """
    found = []
    directive = ""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block" and (comment := DIRECTIVE.fullmatch(token.content)):
            directive = comment[1]
        elif token.type in ("fence", "code_block"):
            language = token.info.strip()
            line = token.map[0] + 1 if token.map else 0
            if language.startswith("{"):  # a directive of the documentation tool
                continue
            if language not in LANGUAGES:
                raise ValueError(f"{page}:{line}: language {language!r}; one of {LANGUAGES}")
            reason = directive.removeprefix("not run: ") if directive.startswith("not") else ""
            plan = directive == "plan"
            found.append(Block(page, line, language, token.content, plan, reason))
            directive = ""
        elif token.type != "inline":
            directive = ""
    return found


def copy_project(folder: Path) -> Path:
    """A copy of this checkout; snakemake in its `.venv` takes more options from a variable."""
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, succeed(run(*words, folder=ROOT)).split("\0")):
        if (ROOT / name).exists():  # not deleted since the last commit
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    environment, copy = Path(sys.prefix), folder / ".venv"
    link_all(environment, copy, besides="bin")
    link_all(environment / "bin", copy / "bin", besides="snakemake")
    for stamp in copy.glob(".*"):
        # Newer than all that make compares it with: the environment must not be set up again.
        stamp.unlink()
        stamp.touch()
    script = f'#!/bin/sh\nexec {environment}/bin/snakemake "$@" $MORE_OPTIONS\n'
    (copy / "bin/snakemake").write_text(script)
    (copy / "bin/snakemake").chmod(0o755)
    return folder


def link_all(source: Path, target: Path, besides: str) -> None:
    """Links in `target` to all that is in `source` but one name."""
    target.mkdir()
    for path in source.iterdir():
        if path.name != besides:
            (target / path.name).symlink_to(path)


@dataclass(frozen=True)
class Reader:
    """A reader who types in a copy of the project, with own variables and options of snakemake."""

    project: Path
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    options: Sequence[str] = ()

    @contextmanager
    def shell(self) -> Iterator[Shell]:
        """A bash in the root of the copy; a command that fails ends it."""
        with subprocess.Popen(
            ["bash", "-euo", "pipefail"],
            cwd=self.project,
            env={
                **self.variables,
                "PATH": f"{self.project}/.venv/bin:{self.variables['PATH']}",
                "PYTHONPATH": str(self.project / "src"),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                yield Shell(process, self.project, self.options)
            finally:
                process.kill()


@dataclass(frozen=True)
class Shell:
    """A running bash that reads commands, and the copy of the project."""

    process: subprocess.Popen[str]
    project: Path
    options: Sequence[str]

    def paste(self, block: Block) -> str:
        """Run a block, or check its syntax; returns what it printed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        options = " ".join([*self.options, *(["--dry-run"] if block.plan else [])])
        end = f"end of {block.place}"
        typed = f"export MORE_OPTIONS={shlex.quote(options)}", command(block, self.project)
        self.process.stdin.write("\n".join((*typed, f"echo {end}\n")))
        self.process.stdin.flush()
        stop = threading.Timer(600, self.process.kill)
        stop.start()
        printed = ""
        try:
            while not printed.endswith(f"{end}\n"):
                line = self.process.stdout.readline()
                assert line, f"{block.place}: exit code {self.process.wait()}\n{printed}"
                printed += line
        finally:
            stop.cancel()
        return printed.removesuffix(f"{end}\n")


def run_page(page: Path, reader: Reader, left_out: str = "") -> None:
    """Do with every block of a page what it says; an assertion fails at the first that fails.

    With `left_out`, only the blocks that are otherwise not run for this reason.
    """
    printed = ""
    with reader.shell() as shell:
        for block in blocks(page):
            if left_out and block.reason != left_out:
                continue
            if left_out:
                block = replace(block, reason="")
            if block.language == "text":
                assert matches(block.code, printed), f"{block.place}: printed instead:\n{printed}"
            elif block.file:
                (reader.project / block.file).parent.mkdir(parents=True, exist_ok=True)
                (reader.project / block.file).write_text(block.code, encoding="utf-8")
            elif block.language == "yaml":
                check_config(block, reader.project)
            else:
                printed = shell.paste(block)


def command(block: Block, project: Path) -> str:
    """The line that runs a block, or checks its syntax; it reads nothing that is typed later."""
    code = shlex.quote(block.code)
    if block.language == "diff":
        return f"printf %s {code} | git -C {shlex.quote(str(project))} apply -"
    if block.language == "python":
        check = shlex.quote(f"compile({block.code!r}, 'block', 'exec')")
        return f"python -W error -c {check if block.reason else code} < /dev/null"
    return f"bash -n -c {code}" if block.reason else f"eval {code} < /dev/null"


def check_config(block: Block, project: Path) -> None:
    """A fragment of a config: with the rest of config/simulated.yaml it must be valid."""
    fragment = yaml.safe_load(block.code)
    assert isinstance(fragment, dict), f"{block.place}: not keys and values"
    if not block.reason:
        whole = yaml.safe_load((project / "config/simulated.yaml").read_text())
        parse_experiment({**whole, **fragment}, block.place)


def matches(expected: str, printed: str) -> bool:
    """True if a text is what was printed; `...` stands for anything."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(expected, printed, options)
