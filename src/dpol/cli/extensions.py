"""`dpol check` and `dpol new`: the user's own algorithms, learners and noises."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from dpol.cli import Commands, add_command, between, dataset
from dpol.core.errors import OutputError, UsageError
from dpol.core.files import write_text
from dpol.core.words import printable

_CHECK = """\
Run the conformance checks on an algorithm, a bank of learners or a noise, with default parameters.
Each check prints one line: it holds, or a counterexample; an audit adds what it proved, or says why
it cannot tell. The exit code is 1 if a check fails.
package.module:Class may be in this folder, but a run finds it only if its package is installed. The
checks find mistakes, not intent. A package runs with your permissions and can read your data.
Review it before you install it, and trust its numbers as far as you trust its authors."""
_NEW = """\
Write a small package of your own into a new folder: its code, its entry point, a test that
runs the conformance checks, and a config."""
_KINDS = "algorithm", "learner", "noise"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def add(commands: Commands) -> None:
    """Add the commands."""
    words = "run the conformance checks on an algorithm, learner or noise"
    example = "dpol check forgetful-leader"
    check = add_command(commands, "check", words=words, example=example, description=_CHECK)
    words = "as in a config: a registered name, or package.module:Class"
    check.add_argument("name", metavar="NAME", help=words)
    words = "root seed of the games and of drawn settings (default: 1)"
    seeds = between(0, 2**63, whole=True)
    check.add_argument("--seed", type=seeds, default=1, metavar="SEED", help=words)
    check.set_defaults(run=_check)

    words = "start a package for an algorithm, learner or noise, or a config for a table"
    new = add_command(commands, "new", words=words, example="dpol new algorithm forgetful-leader")
    kinds = new.add_subparsers(dest="kind", required=True, metavar="KIND")
    for kind in _KINDS:
        words, example = f"start a package for your own {kind}", f"dpol new {kind} my-{kind}"
        parser = add_command(kinds, kind, words=words, example=example, description=_NEW)
        parser.add_argument("name", metavar="NAME", help="name of the folder and its content")
        parser.set_defaults(run=_new)
    dataset.add(kinds)


def _check(options: argparse.Namespace) -> int:
    from dpol.checks.check import check
    from dpol.core.plugins import is_installed

    module, _, named = options.name.partition(":")
    try:
        sys.path.append(str(Path.cwd()))  # last: modules of this folder hide no package
        verdicts = check(options.name, seed=options.seed)
    except ValueError as error:
        raise UsageError(str(error)) from None
    for verdict in verdicts:
        print(printable(f"{verdict.check}: {verdict.counterexample or verdict.found}"))
    top = module.partition(".")[0]
    if named and not is_installed(top):
        said = f"{top} is only in this folder, where no run finds it; make it a package"
        remedy = "(dpol new algorithm NAME writes one) and pip install it"
        print(f"warning: {printable(said)} {remedy}", file=sys.stderr)
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _new(options: argparse.Namespace) -> None:
    from dpol.experts.registry import LEARNERS, REGISTRY
    from dpol.noise import NOISES
    from dpol.show.rendering import load_template

    name, folder = options.name, Path(options.name)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name}: use lower-case letters, digits and single hyphens, and begin with a letter"
        )
    if name in {**REGISTRY, **LEARNERS, **NOISES}:
        raise UsageError(f"{name}: dpol has one of this name; choose another")
    if folder.exists():
        raise OutputError(f"{folder}: exists already; choose another name, or another folder")
    words = {
        "name": name,
        "module": name.replace("-", "_"),
        "kind": "".join(word.capitalize() for word in name.split("-")),
        "title": name.replace("-", " ").capitalize(),
    }
    templates = Path(__file__).parent / "templates"
    for part in ("package", options.kind):  # what all packages have, and what such a one has
        for template in sorted((templates / part).rglob("*.jinja")):
            file = template.relative_to(templates / part).as_posix()
            path = folder / file.removesuffix(".jinja").replace("MODULE", words["module"])
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, load_template(f"{part}/{file}", "dpol.cli").render(words))
    print(f"Written: {folder}/. Begin with {folder / 'README.md'}")
