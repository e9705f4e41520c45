"""Run the code blocks of a documentation page.

The blocks of a page run in order, as a reader pastes them: in one shell, in the root of the page's
own copy of this checkout. The language of a block decides what happens:

- `sh`: runs in that bash, with the programs of `.venv`;
- `python`: runs in a process of its own, where a warning is an error;
- `yaml`: with a path in its first line (`# config/mine.yaml`) becomes that file; without one it
  must hold keys of a config, and `config/simulated.yaml` with these keys must be valid;
- `python` with a path in its first line (`# src/dpol/...`): becomes that file;
- `text`: is the output of the block before it; `...` stands for anything.

A comment above a block changes this: with `<!-- code: plan -->` snakemake only plans (a dry run);
with `<!-- code: not run: REASON -->` only the syntax is checked; the command in
`<!-- code: by hand: COMMAND -->` does first what the text lets the reader do in an editor.
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

LANGUAGES = ("sh", "python", "yaml", "text")
DIRECTIVE = re.compile(r"<!-- code: (plan|not run: .{10,}|by hand: .{10,}) -->\s*")
FILE = re.compile(r"# ([\w./-]+(?:\.(?:py|yaml|md)|/Snakefile))\n")


@dataclass(frozen=True)
class Block:
    """A code block: its page, first line, language and what to do with it."""

    page: Path
    line: int
    language: str
    code: str
    plan: bool = False
    reason: str = ""
    """Reason why it is not run; empty if it is."""
    by_hand: str = ""
    """Command that does what the reader does in an editor before."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str:
        """Path of the file that the block becomes, or an empty string."""
        named = FILE.match(self.code)
        return named[1] if named and self.language in ("python", "yaml") else ""


def pages() -> list[Path]:
    """Return the paths of all pages."""
    return [ROOT / "README.md", ROOT / "config/README.md", *docs_pages()]


def docs_pages() -> list[Path]:
    """Return the paths of the pages in docs, without what `make docs` built of them."""
    return sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page.

    Raises:
        ValueError: a block has no language, or an unknown one.
    """
    blocks = []
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
            kind, _, said = directive.partition(": ")
            reason, by_hand = (said if kind == it else "" for it in ("not run", "by hand"))
            plan = kind == "plan"
            blocks.append(Block(page, line, language, token.content, plan, reason, by_hand))
            directive = ""
        elif token.type != "inline":
            directive = ""
    return blocks


def copy_project(folder: Path) -> Path:
    """Copy this checkout; snakemake in its `.venv` takes more options from a variable."""
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, succeed(run(*words, folder=ROOT)).split("\0")):
        if (ROOT / name).exists():  # not deleted since the last commit
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    environment, copy = Path(sys.prefix), folder / ".venv"
    link_all(environment, copy, besides="bin")
    link_all(environment / "bin", copy / "bin", besides="snakemake")
    for stamp in copy.glob(".*"):
        # Newer than all files that make compares it with, so make keeps the environment.
        stamp.unlink()
        stamp.touch()
    script = f'#!/bin/sh\nexec {environment}/bin/snakemake "$@" $MORE_OPTIONS\n'
    (copy / "bin/snakemake").write_text(script)
    (copy / "bin/snakemake").chmod(0o755)
    return folder


def link_all(source: Path, target: Path, besides: str) -> None:
    """Link everything in `source` except one name from `target`."""
    target.mkdir()
    for path in source.iterdir():
        if path.name != besides:
            (target / path.name).symlink_to(path)


@dataclass(frozen=True)
class Reader:
    """A reader of a page, with a copy of the project, variables and options of snakemake."""

    project: Path
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    options: Sequence[str] = ()

    @contextmanager
    def shell(self) -> Iterator[subprocess.Popen[str]]:
        """Start a bash in the root of the copy; a failing command ends it."""
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
                yield process
            finally:
                process.kill()

    def paste(self, block: Block, shell: subprocess.Popen[str]) -> str:
        """Run a block, or check its syntax, and return its output."""
        options = " ".join([*self.options, *(["--dry-run"] if block.plan else [])])
        end = f"end of {block.place}"
        before = block.by_hand or ":"
        typed = f"export MORE_OPTIONS={shlex.quote(options)}", before, command(block)
        shell.stdin.write("\n".join((*typed, f"echo {end}\n")))
        shell.stdin.flush()
        stop = threading.Timer(600, shell.kill)
        stop.start()
        printed = ""
        try:
            while not printed.endswith(f"{end}\n"):
                line = shell.stdout.readline()
                assert line, f"{block.place}: exit code {shell.wait()}\n{printed}"
                printed += line
        finally:
            stop.cancel()
        return printed.removesuffix(f"{end}\n")


def run_page(page: Path, reader: Reader, left_out: str = "") -> None:
    """Run every block of a page; an assertion fails at the first failing block.

    With `left_out`, run only the blocks that are marked as not run for this reason.
    """
    read, printed = blocks(page), ""
    if left_out:
        read = [replace(it, reason="") for it in read if it.reason == left_out]
    with reader.shell() as shell:
        for block in read:
            if block.language == "text":
                assert matches(block.code, printed), f"{block.place}: printed instead:\n{printed}"
            elif block.file:
                (reader.project / block.file).parent.mkdir(parents=True, exist_ok=True)
                (reader.project / block.file).write_text(block.code, encoding="utf-8")
            elif block.language == "yaml":
                check_config(block, reader.project)
            else:
                printed = reader.paste(block, shell)


def command(block: Block) -> str:
    """Return the line that runs a block or checks its syntax, without reading later input."""
    code = shlex.quote(block.code)
    if block.language == "python":
        check = shlex.quote(f"compile({block.code!r}, 'block', 'exec')")
        return f"python -W error -c {check if block.reason else code} < /dev/null"
    return f"bash -n -c {code}" if block.reason else f"eval {code} < /dev/null"


def check_config(block: Block, project: Path) -> None:
    """Check that config/simulated.yaml with the keys of a block is valid."""
    fragment = yaml.safe_load(block.code)
    assert isinstance(fragment, dict), f"{block.place}: not keys and values"
    if not block.reason:
        whole = yaml.safe_load((project / "config/simulated.yaml").read_text())
        parse_experiment({**whole, **fragment}, block.place)


def matches(expected: str, printed: str) -> bool:
    """Return whether a text is what was printed; `...` stands for anything."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(expected, printed, options)
