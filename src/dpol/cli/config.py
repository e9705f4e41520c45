"""`dpol config`: check configs and write what is generated of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpol.cli.options import Commands, path


def add(commands: Commands) -> None:
    """Add the command."""
    words = "check configs and write what is generated of them"
    parser = commands.add_parser("config", help=words, allow_abbrev=False)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    words = "Check config files: every key and value. Tables of data are not opened."
    check = actions.add_parser("check", help="check config files", description=words)
    check.add_argument("files", nargs="+", type=path, metavar="FILE")
    check.set_defaults(run=_check, failure=1)

    words = "write what is generated of configs: files in a folder, a page in the manual"
    write = actions.add_parser("write", help=words)
    write.add_argument("folder", type=path, nargs="?", default=Path("config"), metavar="FOLDER")
    write.set_defaults(run=_write, failure=1)


def _check(options: argparse.Namespace) -> None:
    from dpol.config.experiment import load_experiment

    for file in options.files:
        experiment = load_experiment(file)
        count = len(list(experiment.jobs()))
        print(f"{file}: good (run {experiment.config.run}, {count} jobs of algorithms)")


def _write(options: argparse.Namespace) -> None:
    from dpol.config.docs import generated
    from dpol.core.files import write_text

    for name, text in generated(options.folder).items():
        write_text(options.folder / name, text)
