"""`dpol describe`: the columns of a result file and their meaning."""

from __future__ import annotations

import argparse

from dpol.core.options import Commands, add_answer_options, add_command, answer, path


def add(commands: Commands) -> None:
    """Add the command."""
    words = "print the columns of a result file and their meaning"
    text = "Print the columns of a table in results/RUN (Parquet or CSV) and their meaning."
    parser = add_command(commands, "describe", readers="Experiments", words=words, description=text)
    parser.add_argument(
        "file", type=path, metavar="FILE", help="such as results/demo/summary.parquet"
    )
    add_answer_options(parser)
    parser.set_defaults(run=_describe)


def _describe(options: argparse.Namespace) -> None:
    from dpol.report.columns import describe

    about, columns = describe(options.file)
    width = max(map(len, columns))
    lines = [about, "", *(f"{name:{width}}  {meaning}" for name, meaning in columns.items())]
    answer(options, lines, {"about": about, "columns": columns})
