"""`dpol account`: what a guarantee means for a person."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dpol.core.errors import UsageError
from dpol.core.options import Commands, add_answer_options, add_command, answer, between
from dpol.core.rounding import at_least, at_most

if TYPE_CHECKING:
    from dpol.privacy.losses import Promise

_ACCOUNT = (
    "Show what a Gaussian-DP parameter mu, or a pair (epsilon, delta), guarantees to a person; or"
    " which noises keep a promise."
)

_MOST_WEEKS = 104
_SEVERAL = 8
"""Weeks of the mean whose noise is listed too; readers of noisy counts average over weeks."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what mu or (epsilon, delta) guarantees, over one or several weeks"
    example = "dpol account --mu 0.5 --weeks 1 8"
    parser = add_command(commands, "account", words=words, example=example, description=_ACCOUNT)
    given = parser.add_mutually_exclusive_group(required=True)
    words = "Gaussian-DP parameter of one week; one for each release about the same weeks"
    given.add_argument("--mu", type=between(1e-6, 1e3), nargs="+", help=words)
    words = "epsilon of one week, at --delta, of Gaussian noise"
    given.add_argument("--epsilon", type=between(1e-6, 1e6), help=words)
    words = (
        "list noises that keep a promise to the unit, the smallest first: mu M, epsilon E (pure),"
        " epsilon E D (with delta D), or guess P (right at most P times in 100)"
    )
    given.add_argument("--promise", nargs="+", metavar=("KIND", "NUMBER"), help=words)
    words = "numbers of weeks in which a person is counted (default: 1 2 4 8 13 52)"
    weeks, usual = between(1, 999_999, whole=True), [1, 2, 4, 8, 13, 52]
    parser.add_argument("--weeks", type=weeks, nargs="+", default=usual, metavar="W", help=words)
    words = "with --promise: the person is counted in up to W consecutive weeks (default: 1)"
    parser.add_argument("--unit-weeks", type=weeks, default=1, metavar="W", help=words)
    words = (
        "memory of correlated noise, between -1 and 1 (default: independent noise; with --promise"
        " 0 0.8)"
    )
    memory = between(-0.999999, 0.999999)
    parser.add_argument("--memory", type=memory, nargs=2, metavar=("A", "B"), help=words)
    words = "delta at which epsilon is given (default: 1e-6)"
    parser.add_argument("--delta", type=between(1e-100, 0.999), default=1e-6, help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_account)


def _account(options: argparse.Namespace) -> None:
    try:
        (_noises if options.promise else _weeks)(options)
    except ValueError as error:  # the memory does not cover these weeks
        raise UsageError(f"{error}; choose another --memory, or one week only") from None


def _noises(options: argparse.Namespace) -> None:
    """Print the noises that keep a promise, the smallest noise first, as `noises_for`."""
    from dpol.privacy.account import USUAL_MEMORY, losses_for, noises_for

    promise, weeks = _promise(*options.promise), options.unit_weeks
    if weeks > _MOST_WEEKS:  # composing the releases of 2,000 weeks takes minutes
        raise UsageError(f"--unit-weeks {weeks}: must be at most {_MOST_WEEKS} with --promise")
    memory = tuple(options.memory or USUAL_MEMORY)
    noises, kept = noises_for(promise, weeks, memory), losses_for(promise, weeks)
    means = noises_for(promise, weeks, memory, over=_SEVERAL)
    deviations = {law: noise if math.isfinite(noise) else None for law, noise in noises.items()}
    cells = []
    for law, noise in deviations.items():
        if noise is None:
            cells.append((law, "cannot", "cannot", *"---"))
            continue
        deviation, of_mean, mu = (at_most(it, digits=4) for it in (noise, means[law], kept[law].mu))
        guesses, excess = (f"{at_most(100 * it)}%" for it in (kept[law].guess, kept[law].excess))
        cells.append((law, deviation, of_mean, guesses, mu, excess))
    chosen = ", ".join(f"{number:g}" for number in memory)
    period = "one week" if weeks == 1 else f"up to {weeks} weeks in a row"
    mean = f"on its {_SEVERAL}-week mean"
    head = "noise", "deviation on a count", mean, "right guesses", "mu", "excess of mu"
    lines = (
        f"Promise to one person in {period}, in the counts of two holders:",
        *f"{_in_words(promise)}.".splitlines(),
        "",
        *_table(head, cells),
        "",
        "Deviations are standard deviations. Right guesses: how often, at most, someone who",
        "knows everybody else's data is right about the person. Without the release: 50%.",
        "mu: the smallest with which the noise has Gaussian differential privacy, and so rho-zCDP",
        "with rho = mu^2/2. Its excess:",
        "how many more right guesses, at most, this mu would allow than the noise does.",
        "A person who changes a count by up to s needs s times as much. Correlated noise has",
        f"the memory ({chosen}); --memory takes others. With it, people who stay longer than",
        "promised lose more. Which promise to give: docs/explanation/privacy.md.",
    )
    facts = {**vars(promise), "unit_weeks": weeks, "memory": memory, "deviations": deviations}
    facts["noises"] = {
        law: {"best_guess": it.guess, "mu": it.mu, "excess": it.excess}
        for law, it in kept.items()
        if deviations[law]
    }
    answer(options, lines, facts)


def _in_words(promise: Promise) -> str:
    """Say what a promise limits, in one line or two."""
    if promise.mu is not None:
        said = f"mu = {promise.mu:g}: to guess is as hard as to tell two normal distributions"
        return f"{said} {promise.mu:g} standard deviations apart from each other"
    if promise.epsilon == 0:
        guesses = at_most(50 * (1 + promise.delta), digits=6)
        return f"right guesses, at most {guesses}%; some may be certain"
    odds = at_most(math.exp(promise.epsilon), digits=4)
    if promise.delta == 0:
        said = f"epsilon = {promise.epsilon:g}: no output changes an attacker's odds by more than a"
        return f"{said} factor of {odds}"
    return (
        f"epsilon = {promise.epsilon:g}, delta = {promise.delta:g}: the probability of every set of"
        f" outputs\nwith the person is at most {odds} times that without, plus {promise.delta:g}"
    )


def _weeks(options: argparse.Namespace) -> None:
    """Print what mu-GDP for one week guarantees over several numbers of weeks.

    Numbers are rounded to the safe side.
    """
    from dpol.privacy.account import account
    from dpol.privacy.gaussian_dp import mu_of_epsilon

    delta = options.delta
    if options.unit_weeks > 1:
        raise UsageError(
            "--unit-weeks: only with --promise. Of a mu of several weeks nothing smaller follows"
            " for one; dpol.account(record, weeks) reads it from the record of the noise"
        )
    if options.mu:
        mu = math.hypot(*options.mu)
    else:
        # Users continue with the printed mu, so all numbers follow from it.
        mu = float(at_least(mu_of_epsilon(options.epsilon, delta), digits=4))
    memory = options.memory and tuple(options.memory)
    rows = [account(mu, weeks, delta=delta, memory=memory) for weeks in options.weeks]
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
    facts = {"mu": mu, "delta": delta, "memory": memory}
    answer(options, lines, {**facts, "weeks": list(map(vars, rows))})


def _promise(kind: str, *numbers: str) -> Promise:
    from dpol.privacy.losses import Promise

    try:
        first, *rest = map(float, numbers)
    except ValueError:  # no number, or a word
        first, rest = math.nan, []
    usual = 0.01 <= first <= 50
    if kind == "guess" and not rest and 50.1 <= first <= 99.9:
        return Promise(delta=first / 50 - 1)
    if kind == "mu" and not rest and usual:
        return Promise(mu=first)
    if kind == "epsilon" and not rest and usual:
        return Promise(epsilon=first)
    if kind == "epsilon" and len(rest) == 1 and usual and 1e-50 <= rest[0] < 1:
        return Promise(epsilon=first, delta=rest[0])
    raise UsageError(
        f"--promise {' '.join((kind, *numbers))}: must be mu M, epsilon E, or epsilon E D, with M"
        " and E from 0.01 to 50 and D from 1e-50 to below 1; or guess P with P from 50.1 to 99.9"
    )


def _table(head: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for line in (head, tuple("-" * width for width in widths), *cells):
        yield "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
