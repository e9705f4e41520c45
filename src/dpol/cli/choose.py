"""`dpol choose`: the next choice of a rule, from numbers that were released."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dpol.core.options import Commands, add_answer_options, add_command, answer, between, path

if TYPE_CHECKING:
    from dpol.experts.choose import Choice

_CHOOSE = """\
Let a rule choose a place for the next period from released numbers: a table with the columns place,
period, share or count, and deviation of its noise; for counts also capacity. A run writes such a
table without numbers. The same table gives the same choice."""
_RULE = "a local rule, as in a config: a name, package.module:Class, or a block in braces"
_RANGE, _ROUNDS = between(1e-12, 1e12), between(1, 999_999, whole=True)


def add(commands: Commands) -> None:
    """Add the command."""
    words = "choose a place for the next period from released numbers"
    example = "dpol choose window-mean released.csv"
    parser = add_command(commands, "choose", words=words, example=example, description=_CHOOSE)
    parser.add_argument("rule", metavar="RULE", help=_RULE)
    parser.add_argument("table", metavar="TABLE", type=path, help="released numbers")
    for option, value, words, kind in (
        ("--period", "DATE", "first day of the period (default: that after the last number)", str),
        ("--name", "NAME", "seeds a rule that draws: chosen before the first release", str),
        ("--learner", "LABEL", "learner, if the rule has several", str),
        ("--range", "R", "largest gain (default: 1); count, without capacities", _RANGE),
        ("--rounds", "T", "periods of the whole game, for a rule that must know it", _ROUNDS),
    ):
        parser.add_argument(option, metavar=value, help=words, type=kind)
    add_answer_options(parser)
    parser.set_defaults(run=_choose)


def _choose(options: argparse.Namespace) -> None:
    from dpol.core.errors import ConfigError, DataError, UsageError
    from dpol.core.yaml_files import parse_yaml
    from dpol.data.tables.raw_table import read_raw_table
    from dpol.experts.choose import choose

    table = read_raw_table(options.table)
    block: Any = parse_yaml(options.rule, "RULE")
    rule = block if isinstance(block, dict) else options.rule
    more = {it: getattr(options, it) for it in ("period", "name", "learner")}
    size: dict[str, Any] = {"gain_range": options.range, "n_rounds": options.rounds}
    try:
        made = choose(rule, table.cells, file=table.file, **more, **size)
    except DataError as error:  # of several lines
        raise ConfigError(*error.args) from None
    except ValueError as error:
        raise UsageError(f"{error}") from None
    answer(options, _lines(made), {**asdict(made), "silent": made.silent})


def _lines(made: Choice) -> Iterator[str]:
    from dpol.core.rounding import AtMost
    from dpol.core.words import counted

    yield f"{made.rule} chooses for {made.period}: {made.place}"
    if not made.periods:
        yield "This rests on nothing: no number is released yet."
        return
    yield f"This rests on {counted(made.periods, 'period')}, and on {made.law} noise as told."
    if made.mu is not None:
        mu = AtMost(made.mu, digits=4)
        yield f"Then a person who changes two counts by 1 in a period has mu = {mu}."
    yield ""
    width = max(map(len, made.reports))
    for place in made.ranking or made.reports:
        score, last = made.ranking.get(place), made.reports[place]
        told = "nothing reported" if last is None else f"last number: {last[1]}"
        silent = " (silent in the period before)" * (place in made.silent)
        shown = "" if score is None else f"{score:.4g}"
        yield f"{place:{width}}  {shown:>9}  {told}{silent}"
