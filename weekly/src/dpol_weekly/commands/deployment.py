"""`dpol deployment`: the file that hospitals and a coordinator share, and what it means."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from dpol.core.errors import OutputError
from dpol.core.options import Commands, add_command, path

TEMPLATE = Path(__file__).parents[1] / "deployment.yaml"
"""A file of a deployment with comments, to be filled in."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "begin or check the file that all hospitals of a deployment share"
    parser = add_command(
        commands, "deployment", readers="Coordinator", words=words, description=words
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    words = "write a file with comments, to be filled in"
    new = actions.add_parser("new", help=words, description=words, allow_abbrev=False)
    new.add_argument("file", type=path, metavar="FILE", help="the file to write")
    new.set_defaults(run=_new)

    words = "check a file, and show the hash of its agreement and what its noise means"
    check = actions.add_parser("check", help=words, description=words, allow_abbrev=False)
    check.add_argument("file", type=path, metavar="FILE", help="the file of the deployment")
    check.set_defaults(run=_check)


def _new(options: argparse.Namespace) -> None:
    from dpol.core.files import write_text

    if options.file.exists():
        raise OutputError(f"{options.file}: exists already; choose another file")
    write_text(options.file, TEMPLATE.read_text(encoding="utf-8"))
    print(f"{options.file}: fill it in, and check it with dpol deployment check {options.file}")


def _check(options: argparse.Namespace) -> None:
    from dpol.core.rounding import rounded_up
    from dpol.privacy.account import best_guess
    from dpol_weekly.deployment import read_deployment, short

    deployment = read_deployment(options.file)
    least = rounded_up(math.sqrt(deployment.squared_budget()), 4)
    print(f"The agreement {deployment.name} ({short(deployment.sha256())}) has the hash")
    print(deployment.sha256())
    print("Compare all of it, and confirm or amend by all of it.")
    print(f"Its budget_mu is {deployment.budget_mu:g}; the least that works is {least}.")
    deviation = deployment.count_noise().standard_deviation
    print(
        f"The noise on a count has a standard deviation of {deviation:.3g} people: on the share of"
        f" 100 beds {deviation:.3g} points, of 50 beds {2 * deviation:.3g}."
    )
    one, stay = (
        f"{rounded_up(100 * best_guess(mu), 3)} times in 100 (mu = {rounded_up(mu, 4)})"
        for mu in (deployment.mu, deployment.budget_mu)
    )
    print(
        "A guess between two equally likely possibilities for a person is right at most"
        f" {one}; for the longest stay of {deployment.longest_stay} periods at most {stay}."
    )
    if unbound := [name for name, it in deployment.entities.items() if it.key is None]:
        print(
            f"No key is agreed for {', '.join(unbound[:20])}{' ...' * (len(unbound) > 20)}: each"
            " reads out its key, which dpol privatize --init shows, before its first report is"
            " collected."
        )
