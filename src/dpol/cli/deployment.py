"""`dpol deployment`: write the file that hospitals and a coordinator share, and what it costs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dpol.cli.options import Commands
from dpol.core.errors import ConfigError, OutputError

_NEW = """\
Write the file of a deployment, with a comment above every key. What is not given is as the manual
says; change it in the file."""

_COST = """\
What the noise of a deployment means for every entity, and how good its decisions will be: played
on simulated epidemics, which are not yours."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "write the file that all hospitals of a deployment share, and see what it costs"
    parser = commands.add_parser("deployment", help=words, allow_abbrev=False)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    new = actions.add_parser("new", help="write a file", description=_NEW, allow_abbrev=False)
    _add_new(new)
    cost = actions.add_parser(
        "cost", help="what the noise means", description=_COST, allow_abbrev=False
    )
    cost.add_argument("file", type=Path, metavar="FILE", help="the file of the deployment")
    cost.set_defaults(run=_cost, failure=1)


def _add_new(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    words = "name of the deployment"
    add("--name", required=True, help=words)
    add("--first", required=True, metavar="DATE", help="start of the first period")
    words = "identifiers and beds, such as '050002:18,050007' (no beds: reported with every count)"
    add("--entities", required=True, metavar="ID:BEDS,...", help=words)
    add("--mu", type=float, required=True, help="privacy of one person in one period")
    add("--days", type=int, default=7, help="length of a period (default: 7)")
    add("--longest-stay", type=int, default=8, metavar="N", help="in periods (default: 8)")
    words = "ceiling of the mu of that stay (default: what independent noise needs, rounded up)"
    add("--budget-mu", type=float, metavar="MU", help=words)
    kinds = ("none", "designed")
    add("--memory", choices=kinds, default="none", help="of the noise (default: none)")
    words = "what decides (default: empirical-bayes)"
    add("--algorithm", default="empirical-bayes", metavar="NAME", help=words)
    words = "the file to write (default: standard output)"
    add("--output", type=Path, metavar="FILE", help=words)
    parser.set_defaults(run=_new, failure=1)


def _new(options: argparse.Namespace) -> None:
    from dpol.config.docs import commented_deployment
    from dpol.core.rounding import rounded_up
    from dpol.live.deployment import checked_deployment

    budget = options.budget_mu
    if budget is None and options.memory == "designed":
        raise ConfigError(
            "--memory designed: a stay costs more than with independent noise, how much depends on"
            f" the capacities; give --budget-mu ({options.mu * options.longest_stay:g} is always"
            " enough)"
        )
    if budget is None:
        budget = float(rounded_up(options.mu * max(options.longest_stay, 0) ** 0.5, 3))
    raw = {
        "name": options.name,
        "periods": {"first": options.first, "days": options.days},
        "entities": _entities(options.entities),
        "mu": options.mu,
        "noise": {"memory": options.memory},
        "algorithm": options.algorithm,
        "longest_stay": options.longest_stay,
        "budget_mu": budget,
    }
    text = commented_deployment(checked_deployment(raw, "the options"))
    if options.output is None:
        sys.stdout.write(text)
        return
    try:
        with options.output.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise OutputError(f"{options.output}: exists already; choose another file") from None
    except OSError as error:
        raise OutputError(f"{options.output}: cannot be written ({error.strerror})") from None


def _entities(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, colon, beds = part.strip().partition(":")
        if name in found:
            raise ConfigError(f"--entities: {name} is there twice; leave one out")
        try:
            found[name] = {"capacity": float(beds)} if colon else {}
        except ValueError:
            wrong = f"--entities: the beds of {name} must be a number, got {beds!r}"
            raise ConfigError(f"{wrong}; write them as in 050002:18") from None
    return found


def _cost(options: argparse.Namespace) -> None:
    from dpol.core.intervals import NORMAL_95
    from dpol.live.cost import CONFIDENCE, REPLICATES, USUAL_CAPACITY, WEEKS, cost_of
    from dpol.live.deployment import read_deployment

    deployment = read_deployment(options.file)
    try:
        cost = cost_of(deployment)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{options.file}: {error}") from None
    print(f"{'entity':20} {'capacity':>10} {'noise on the share: sd':>24} {'95% within':>16}")
    for name, deviation in cost.deviations.items():
        given = deployment.entities[name].capacity
        beds = given if isinstance(given, str) else f"{given:g}"
        sd, within = f"{100 * deviation:.3g}", f"{100 * NORMAL_95 * deviation:.3g}"
        print(f"{name:20} {beds:>10} {sd:>17} points {'+-' + within:>9} points")
    if any(it.capacity == "reported" for it in deployment.entities.values()):
        print(f"Where the capacity is reported, {USUAL_CAPACITY:g} is taken.")
    print(
        f"Decisions of {deployment.algorithm}: {cost.gain:.0%} of what foresight gains over chance"
        f" ({CONFIDENCE:.0%} interval {cost.low:.0%} to {cost.high:.0%}), on {REPLICATES}"
        f" simulated epidemics of {WEEKS} periods."
    )
