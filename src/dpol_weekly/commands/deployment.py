"""`dpol deployment`: write the file that hospitals and a coordinator share, and what it costs."""

from __future__ import annotations

import argparse
import functools
import math
import sys
from collections.abc import Mapping
from typing import Any

from dpol.cli.options import Commands, number, path
from dpol.core.errors import ConfigError, OutputError

_NEW = """\
Write the file of a deployment, with a comment above every key. Options that you leave out have the
defaults in docs/reference/deployment.md."""

_COST = """\
Show what a deployment costs: the noise on the share of every entity, and how often a guess about a
person is right."""


_TOP = (
    *("name", "mu", "unit_weeks", "count_sensitivity", "names", "longest_stay", "budget_mu"),
    *("corrections", "disjoint", "seed"),
)
_BLOCKS = {"periods": ("first", "days"), "noise": ("memory", "chain_periods")}
_ABSENT = argparse.SUPPRESS  # What is not given is as the model of the file says.


def add(commands: Commands) -> None:
    """Add the command."""
    words = "write the file that all hospitals of a deployment share, or show what it costs"
    parser = commands.add_parser("deployment", help=words, allow_abbrev=False)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    new = actions.add_parser("new", help="write a file", description=_NEW, allow_abbrev=False)
    _add_new(new)
    cost = actions.add_parser(
        "cost", help="show what the noise means", description=_COST, allow_abbrev=False
    )
    cost.add_argument("file", type=path, metavar="FILE", help="the file of the deployment")
    cost.set_defaults(run=_cost, failure=1)


def _add_new(parser: argparse.ArgumentParser) -> None:
    add = functools.partial(parser.add_argument, default=_ABSENT)
    add("--name", required=True, help="name of the deployment")
    words = "identifiers and beds, such as '050002:18,050007' (no beds: reported with every count)"
    add("--entities", required=True, metavar="ID:BEDS,...", help=words)
    words = "a name to show, such as 050002=North; for several entities give it again"
    add("--title", type=_pair, action="append", metavar="ID=TEXT", help=words)
    words = "first date on which the entity reports and may be chosen; likewise"
    add("--since", type=_pair, action="append", metavar="ID=DATE", help=words)
    words = "first date on which it no longer does; likewise"
    add("--until", type=_pair, action="append", metavar="ID=DATE", help=words)
    words = "column of entity, period, count or capacity, such as count=covid; likewise"
    add("--column", type=_pair, action="append", metavar="KEY=NAME", help=words)
    words = "the file to write (default: standard output)"
    parser.add_argument("--output", type=path, metavar="FILE", help=words)

    add = functools.partial(parser.add_argument_group("periods").add_argument, default=_ABSENT)
    add("--first", required=True, metavar="DATE", help="start of the first period")
    add("--days", type=number, metavar="N", help="length of a period (default: 7)")

    add = functools.partial(parser.add_argument_group("privacy").add_argument, default=_ABSENT)
    add("--mu", type=number, required=True, help="privacy of one person of the unit")
    words = "the unit: one person in up to W periods in a row (default: 1)"
    add("--unit-weeks", type=number, metavar="W", help=words)
    words = "largest change of one count by one person (default: 1)"
    add("--count-sensitivity", type=number, metavar="S", help=words)
    add("--memory", choices=("none", "designed"), help="memory of the noise (default: none)")
    words = "with memory: begin a new chain of noise after T periods (default: 520)"
    add("--chain-periods", type=number, metavar="T", help=words)
    words = "number of periods in which the budget protects a person (default: 8)"
    add("--longest-stay", type=number, metavar="N", help=words)
    words = "ceiling of the mu of that stay, over all holders (default: the least that works)"
    add("--budget-mu", type=number, metavar="MU", help=words)
    words = "allow a period to be released again; it then counts again"
    add("--corrections", action="store_true", help=words)
    add("--disjoint", action="store_true", help="affirm that no two entities count one person")

    add = functools.partial(parser.add_argument_group("decisions").add_argument, default=_ABSENT)
    words = "the algorithm: a name, or YAML '{algorithm: NAME, PARAMETER: VALUE}' (default:"
    add("--algorithm", metavar="NAME", help=f"{words} empirical-bayes)")
    words = "number of entities that a decision names (default: 1)"
    add("--names", type=number, metavar="N", help=words)
    words = "root of the random numbers of a randomised algorithm; public (default: 0)"
    add("--seed", type=number, metavar="N", help=words)
    parser.set_defaults(run=_new, failure=1)


def _new(options: argparse.Namespace) -> None:
    import yaml

    from dpol.core.rounding import rounded_up
    from dpol_weekly.deployment import checked_deployment
    from dpol_weekly.holder.agreement import short

    given = vars(options)
    raw = {key: given[key] for key in _TOP if key in given}
    for block, keys in _BLOCKS.items():
        raw[block] = {key: given[key] for key in keys if key in given}
    raw["columns"] = _by_name("--column", given)
    raw["entities"] = _entities(given)
    if "algorithm" in given:
        raw["algorithm"] = _yaml("--algorithm", given["algorithm"])
    made = checked_deployment({"budget_mu": 100, **raw}, "the options")
    if "budget_mu" not in given:
        budget = float(rounded_up(math.sqrt(made.squared_budget()), 3))
        made = made.model_copy(update={"budget_mu": budget})
    text = yaml.safe_dump(made.model_dump(mode="json", exclude_none=True), sort_keys=False)
    try:
        if options.output is None:
            sys.stdout.write(text)
        else:
            with options.output.open("x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError:
        raise OutputError(f"{options.output}: exists already; choose another file") from None
    except OSError as error:
        wrong = f"cannot be written ({error.strerror}); choose another file"
        raise OutputError(f"{options.output}: {wrong}") from None
    # Not on the standard output, which may be the file.
    print(f"The agreement {made.name} has the hash {short(made.sha256())}.", file=sys.stderr)


def _entities(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    from dpol.core.refusals import nearest

    found: dict[str, dict[str, Any]] = {}
    for part in given["entities"].split(","):
        name, colon, beds = part.strip().partition(":")
        if name in found:
            raise ConfigError(f"--entities: {name!r} is there twice; leave one out")
        try:
            found[name] = {"capacity": number(beds)} if colon and beds != "reported" else {}
        except argparse.ArgumentTypeError as error:
            wrong = f"--entities: the beds of {name} {error}"
            raise ConfigError(f"{wrong}; write them as in 050002:18") from None
    for key in ("title", "since", "until"):
        for name, value in _by_name(f"--{key}", given).items():
            if name not in found:
                told = nearest(name, found)
                raise ConfigError(f"--{key}: --entities names no {name!r}{told}")
            found[name][key] = value
    return found


def _by_name(option: str, given: Mapping[str, Any]) -> dict[str, str]:
    """Values of an option that is given as NAME=VALUE, by name."""
    pairs = given.get(option.removeprefix("--"), [])
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{option}: {twice[0]} is there twice; leave one out")
    return dict(pairs)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise argparse.ArgumentTypeError(f"must be two texts as in 050002=North, got {text!r}")
    return name, value


def _yaml(option: str, text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"{option}: is not YAML; write a name or {{algorithm: NAME}}") from None


def _cost(options: argparse.Namespace) -> None:
    from dpol.core.intervals import NORMAL_95
    from dpol.core.rounding import rounded_up
    from dpol.privacy.account import best_guess
    from dpol_weekly.coordinator.cost import USUAL_CAPACITY, noise_on_shares
    from dpol_weekly.deployment import read_deployment

    deployment = read_deployment(options.file)
    print(f"{'entity':20} {'capacity':>10} {'noise on the share: sd':>24} {'95% within':>16}")
    for name, deviation in noise_on_shares(deployment).items():
        given = deployment.entities[name].capacity
        beds = given if isinstance(given, str) else f"{given:g}"
        sd, within = f"{100 * deviation:.3g}", f"{100 * NORMAL_95 * deviation:.3g}"
        print(f"{name:20} {beds:>10} {sd:>17} points {'+-' + within:>9} points")
    if any(it.capacity == "reported" for it in deployment.entities.values()):
        print(f"Where the capacity is reported, {USUAL_CAPACITY:g} is taken.")
    one, stay = (
        f"{rounded_up(100 * best_guess(mu), 3)} times in 100 (mu = {rounded_up(mu, 4)})"
        for mu in (deployment.mu, deployment.budget_mu)
    )
    print(
        "A guess between two equally likely possibilities for a person is right at most"
        f" {one}; for the longest stay of {deployment.longest_stay} periods at most {stay}."
    )
