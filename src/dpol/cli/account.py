"""`dpol account`: what a guarantee means for a person."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from dpol.core.errors import UsageError
from dpol.core.options import Commands, add_answer_options, add_command, answer, between

if TYPE_CHECKING:
    from dpol.privacy.noise_laws import Promise

_ACCOUNT = (
    "Show what a Gaussian-DP parameter mu, or a pair (epsilon, delta), guarantees to a person; or"
    " which noises keep a promise."
)

_MOST_WEEKS = 104


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what mu or (epsilon, delta) guarantees, over one or several weeks"
    parser = add_command(
        commands, "account", readers="Experiments", words=words, description=_ACCOUNT
    )
    given = parser.add_mutually_exclusive_group(required=True)
    words = "Gaussian-DP parameter of the unit; one for each release about the same weeks"
    given.add_argument("--mu", type=between(1e-6, 1e3), nargs="+", help=words)
    words = "epsilon of the unit, at --delta"
    given.add_argument("--epsilon", type=between(1e-6, 1e6), help=words)
    words = (
        "list the noises that keep a promise to the unit, the least first: mu M, epsilon E (pure),"
        " epsilon E D (with delta D), or guess P (right at most P times in 100)"
    )
    given.add_argument("--promise", nargs="+", metavar=("KIND", "NUMBER"), help=words)
    words = "numbers of weeks in which a person is counted (default: 1 2 4 8 13 52)"
    weeks, usual = between(1, 999_999, whole=True), [1, 2, 4, 8, 13, 52]
    parser.add_argument("--weeks", type=weeks, nargs="+", default=usual, metavar="W", help=words)
    words = "unit of privacy: a person counted in up to W consecutive weeks (default: 1)"
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
    from dpol.privacy.account import USUAL_MEMORY, describe_noises, guesses_of, noises_for

    promise, weeks = _promise(*options.promise), options.unit_weeks
    if weeks > _MOST_WEEKS:  # composing the releases of 2,000 weeks takes minutes
        raise UsageError(f"--unit-weeks {weeks}: must be at most {_MOST_WEEKS} with --promise")
    memory = tuple(options.memory or USUAL_MEMORY)
    noises = noises_for(promise, weeks, memory)
    kept = {law: noise if math.isfinite(noise) else None for law, noise in noises.items()}
    guesses = {law: guess for law, guess in guesses_of(promise, weeks).items() if kept.get(law)}
    facts = {**vars(promise), "unit_weeks": weeks, "memory": memory, "deviations": kept}
    facts["right_guesses"] = guesses
    answer(options, describe_noises(promise, weeks, memory).splitlines(), facts)


def _weeks(options: argparse.Namespace) -> None:
    from dpol.core.rounding import rounded_down
    from dpol.privacy.account import describe_account, protection
    from dpol.privacy.gaussian_dp import compose, mu_of_epsilon

    delta, unit = options.delta, options.unit_weeks
    if options.mu:
        mu = compose(options.mu)
    else:
        # Users continue with the printed mu, so all numbers follow from it.
        mu = float(rounded_down(mu_of_epsilon(options.epsilon, delta), 4))
    memory = options.memory and tuple(options.memory)
    text = describe_account(mu, delta, options.weeks, unit, memory)
    rows = [protection(mu, delta, weeks, unit, memory) for weeks in options.weeks]
    facts = {"mu": mu, "unit_weeks": unit, "delta": delta, "memory": memory}
    answer(options, text.splitlines(), {**facts, "weeks": list(map(vars, rows))})


def _promise(kind: str, *numbers: str) -> Promise:
    from dpol.privacy.noise_laws import Promise

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
