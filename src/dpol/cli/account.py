"""`dpol account`: what a guarantee means for a person."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

from dpol.cli import Commands, add_command, between
from dpol.core.errors import UsageError
from dpol.core.words import at_least, at_most


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what mu or (epsilon, delta) guarantees, over one or several weeks"
    example = "dpol account --mu 0.5 --weeks 1 8"
    parser = add_command(commands, "account", words=words, example=example)
    given = parser.add_mutually_exclusive_group(required=True)
    words = "Gaussian-DP parameter of one week; one for each release about the same weeks"
    given.add_argument("--mu", type=between(1e-6, 1e3), nargs="+", help=words)
    words = "epsilon of one week, at --delta, of Gaussian noise"
    given.add_argument("--epsilon", type=between(1e-6, 1e6), help=words)
    words = "numbers of weeks in which a person is counted (default: 1 2 4 8 13 52)"
    weeks, usual = between(1, 999_999, whole=True), [1, 2, 4, 8, 13, 52]
    parser.add_argument("--weeks", type=weeks, nargs="+", default=usual, metavar="W", help=words)
    words = "memory of correlated noise, between -1 and 1 (default: independent noise)"
    memory = between(-0.999999, 0.999999)
    parser.add_argument("--memory", type=memory, nargs=2, metavar=("A", "B"), help=words)
    words = "delta at which epsilon is given (default: 1e-6)"
    parser.add_argument("--delta", type=between(1e-100, 0.999), default=1e-6, help=words)
    parser.set_defaults(run=_account)


def _account(options: argparse.Namespace) -> None:
    """Print what mu-GDP for one week guarantees over several numbers of weeks.

    Numbers are rounded to the safe side.
    """
    from dpol.privacy.account import account
    from dpol.privacy.gaussian_dp import mu_of_epsilon

    delta = options.delta
    if options.mu:
        mu = math.hypot(*options.mu)
    else:
        # Users continue with the printed mu, so all numbers follow from it.
        mu = float(at_least(mu_of_epsilon(options.epsilon, delta), digits=4))
    memory = options.memory and tuple(options.memory)
    try:
        rows = [account(mu, weeks, delta=delta, memory=memory) for weeks in options.weeks]
    except ValueError as error:  # the memory does not cover these weeks
        raise UsageError(f"{error}; choose another --memory, or one week only") from None
    head = "weeks", "mu", "rho", f"epsilon at delta {delta:g}", "right guesses, at most"
    cells = [
        (
            f"{row.weeks:d}",
            *(at_most(it, digits=4) for it in (row.mu, row.rho, row.epsilon)),
            f"{at_most(100 * row.best_guess)}%",
        )
        for row in rows
    ]
    growth = "If the noise is Gaussian and independent, mu grows by the square root of the weeks:"
    if memory is not None:
        a, b = memory
        growth = f"If the noise is Gaussian and correlated ({a:g}, {b:g}):"
    lines = (
        f"One person in one week has Gaussian differential privacy with mu ="
        f" {at_most(mu, digits=4)}.",
        growth,
        "",
        *_table(head, cells),
        "",
        "rho = mu^2/2: zero-concentrated differential privacy, which adds up over releases.",
        "Right guesses: how often, at most, someone who knows everybody else's data guesses",
        "correctly whether the person was counted. Without the release: 50%.",
    )
    print(*lines, sep="\n")


def _table(head: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for line in (head, tuple("-" * width for width in widths), *cells):
        yield "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
