"""`dpol release` and `dpol choose`: releasing counts, and choosing from what was released."""

from __future__ import annotations

import argparse
import datetime
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dpol.cli.pipeline import config_named
from dpol.core.errors import ConfigError, DataError, UsageError, without_keys
from dpol.core.options import Commands, add_answer_options, add_command, answer, between, path
from dpol.core.rounding import at_most
from dpol.core.words import counted, listed, one_line

if TYPE_CHECKING:
    from dpol.experts.choose import Choice
    from dpol.noise.release import Release

_RELEASE = """\
Release the counts of all periods that have ended, each once, into a table beside the config, with
the noise that its run decided on. The noise comes from a secret beside that table, which only you
may have: the same count gives the same row."""
_CHOOSE = """\
Let the rule that a run decided on choose a place for the next period, from the numbers that dpol
release wrote; or let another rule choose from a table with the columns place, period, share or
count, and deviation of its noise; for counts also capacity. The same table gives the same
choice."""
_RULE = """config of a run; or, before TABLE, a local rule as in a config: a name,
package.module:Class, or a block in braces"""
_TABLE = "give a CSV table of released numbers, in UTF-8 and with commas, as TABLE"
_RANGE, _ROUNDS = between(1e-12, 1e12), between(1, 999_999, whole=True)


def add(commands: Commands) -> None:
    """Add the command."""
    words = "release the counts of ended periods, with noise"
    example = "dpol release wards.yaml"
    parser = add_command(commands, "release", words=words, example=example, description=_RELEASE)
    parser.add_argument("config", metavar="CONFIG", help="config of a run")
    words = "release counts that have changed another time, which costs privacy"
    parser.add_argument("--again", action="store_true", help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_release)

    words = "choose a place for the next period from released numbers"
    example = "dpol choose wards.yaml"
    parser = add_command(commands, "choose", words=words, example=example, description=_CHOOSE)
    parser.add_argument("rule", metavar="CONFIG | RULE", help=_RULE)
    parser.add_argument("table", metavar="TABLE", type=path, nargs="?", help="released numbers")
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


def _release(options: argparse.Namespace) -> None:
    from dpol.report.decision import read_decision, release_ended

    file, today = str(config_named(options.config, "dpol release CONFIG")), datetime.date.today()
    config, _, noise, mu = read_decision(file)
    path, made = release_ended(file, config, noise, mu, today=today, again=options.again)
    told = {"released": str(path), "new": made.new, "changed": made.changed}
    answer(options, _released(f"{path}: ", made, noise, mu, again=options.again), told)


def _released(path: str, made: Release, noise: str, mu: float, *, again: bool) -> Iterator[str]:
    from dpol.privacy.account import best_guess

    periods = counted(len({period for _, period in made.new}), "period")
    rows = f"{counted(len(made.new), 'count')} of {periods} released, with {noise} noise"
    yield path + (rows if made.new else "every count of an ended period is released already")
    if made.changed:
        before, after = (at_most(100 * best_guess(mu * math.sqrt(made.times + n))) for n in (0, 1))
        which = f"changed after the release ({listed(map(' '.join, made.changed), 5)})"
        done = "Released another time: an" if again else "Not released again. With --again, an"
        yield f"warning: {counted(len(made.changed), 'count')} {which}."
        yield f"{done} attacker is right about a person at most {after} times in 100, not {before}."


def _choose(options: argparse.Namespace) -> None:
    from dpol.core.yaml_files import parse_yaml
    from dpol.experts.choose import choose
    from dpol.noise.released import read_texts

    more = {it: getattr(options, it) for it in ("period", "name", "learner")}
    size: dict[str, Any] = {"gain_range": options.range, "n_rounds": options.rounds}
    rule: Any = options.rule
    if options.table is None:
        from dpol.noise.keyed import key_of
        from dpol.report.decision import read_decision, read_own_release, read_own_secret

        if any(value for it, value in (more | size).items() if it != "period"):
            raise UsageError("of these options only --period goes with CONFIG, which says the rest")
        config_file = str(config_named(rule, "dpol choose CONFIG, or dpol choose RULE TABLE"))
        config, rule, *_ = read_decision(config_file)
        file, cells = read_own_release(config_file)
        cells = cells.drop(columns="noise")  # several after another decision, all of one law
        more["name"] = key_of(read_own_secret(config_file), "choose").hex()
        size["gain_range"] = next(iter(config.gains.values())).largest
    else:
        file = options.table
        try:
            cells = read_texts(file)
        except DataError as error:
            raise DataError(without_keys(error.args, _TABLE)) from None
        block = parse_yaml(rule, "RULE")
        rule = block if isinstance(block, dict) else rule
    try:
        made = choose(rule, cells, file=str(file), **more, **size)
    except DataError as error:  # of several lines
        raise ConfigError(*error.args) from None
    except ValueError as error:
        raise UsageError(f"{error}") from None
    answer(options, _lines(made), {**asdict(made), "silent": made.silent})


def _lines(made: Choice) -> Iterator[str]:
    yield f"{made.rule} chooses for {made.period}: {one_line(made.place)}"
    if not made.periods:
        yield "This rests on nothing: no number is released yet."
        return
    yield f"This rests on {counted(made.periods, 'period')}, and on {made.law} noise as told."
    if made.mu is not None:
        mu = at_most(made.mu, digits=4)
        change = f"{made.change:g} in a period has mu = {mu}."
        yield f"Then a person who changes two counts by {change}"
    yield ""
    width = max(len(one_line(it)) for it in made.reports)
    for place in made.ranking or made.reports:
        score, last = made.ranking.get(place), made.reports[place]
        told = "nothing reported" if last is None else f"last number: {last[1]}"
        silent = " (silent in the period before)" * (place in made.silent)
        shown = "" if score is None else f"{score:.4g}"
        yield f"{one_line(place):{width}}  {shown:>9}  {told}{silent}"
