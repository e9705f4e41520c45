"""The command `dpol`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dpol import __version__
from dpol.config_docs import commented, schema, with_manual
from dpol.errors import DpolError
from dpol.experiment import load_experiment
from dpol.files import write_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, or 1 after a mistake that the user can mend."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except DpolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dpol", description="Differentially private online learning."
    )
    parser.add_argument("--version", action="version", version=f"dpol {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    config = commands.add_parser("config", help="check configs and write what is generated of them")
    actions = config.add_subparsers(required=True, metavar="ACTION")

    check = actions.add_parser("check", help="check config files")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.set_defaults(run=_check)

    write = actions.add_parser(
        "write", help="write schema.json, reference.yaml and the keys in README.md of a folder"
    )
    write.add_argument("folder", type=Path, nargs="?", default=Path("config"), metavar="FOLDER")
    write.set_defaults(run=_write)
    return parser


def _check(options: argparse.Namespace) -> None:
    for file in options.files:
        experiment = load_experiment(file)
        count = sum(1 for _ in experiment.jobs())
        print(f"{file}: good (run {experiment.config.run}, {count} jobs of algorithms)")


def _write(options: argparse.Namespace) -> None:
    for name, text in generated(options.folder).items():
        write_text(options.folder / name, text)


def generated(folder: Path) -> dict[str, str]:
    """The generated files of a config folder, by name."""
    return {
        "schema.json": schema(),
        "reference.yaml": commented(load_experiment(folder / "config.yaml").config),
        "README.md": with_manual((folder / "README.md").read_text(encoding="utf-8")),
    }
