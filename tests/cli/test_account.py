"""`dpol account` prints what a guarantee means, rounded to the safe side."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.privacy.account import account
from in_process import command


def run(words: str) -> tuple[int, str, str]:
    """Return the exit code, standard output and standard error of `dpol account`."""
    return command("account", *words.split())


def table(words: str) -> list[tuple[float, ...]]:
    """(weeks, mu, epsilon, right guesses) of every line; each rho is mu^2 / 2, rounded up."""
    code, out, err = run(words)
    assert (code, err) == (0, "")
    lines = re.findall(r"^ *(\d+) +(\S+) +(\S+) +(\S+) +(\S+)%$", out, re.MULTILINE)
    for _, mu, rho, *_ in lines:
        assert float(rho) == pytest.approx(float(mu) ** 2 / 2, rel=2e-3)
    return [(float(weeks), float(mu), *map(float, rest)) for weeks, mu, _, *rest in lines]


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("--mu 0.5 --weeks 1 4", [(1, 0.5, 2.255, 59.9), (4, 1, 4.887, 69.2)]),
        ("--mu 0.5 --weeks 8", [(8, 1.415, 7.287, 76.1)]),
        ("--epsilon 1 --delta 1e-6 --weeks 1", [(1, 0.2367, 1, 54.8)]),
        # 0.3 and 0.4 are 0.5 together.
        ("--mu 0.3 0.4 --weeks 4", [(4, 1, 4.887, 69.2)]),
        # One week is covered by every memory.
        ("--mu 0.5 --memory 0.6 -0.2 --weeks 1", [(1, 0.5, 2.255, 59.9)]),
    ],
)  # fmt: skip
def test_a_guarantee_grows_with_the_weeks(words: str, rows: list[tuple[float, ...]]) -> None:
    assert table(words) == rows


def test_the_words_of_an_answer() -> None:
    lines = run("--mu 0.5")[1].splitlines()
    assert lines[0] == "One person in one week has Gaussian differential privacy with mu = 0.5."
    assert lines[3] == "weeks      mu    rho  epsilon at delta 1e-06  right guesses, at most"
    assert [row[0] for row in table("--mu 0.5")] == [1, 2, 4, 8, 13, 52]
    for end in ("1e-100", "0.999"):
        assert table(f"--mu 1 --delta {end}"), "the ends of ranges are in them"


def test_noise_with_memory_is_dearer_for_those_who_stay() -> None:
    words = "--mu 1 --memory 0.2 0.6 --weeks 1 2 4 8"
    assert [row[1] for row in table(words)] == pytest.approx([1, 1.697, 2.83, 4.493], abs=2e-3)
    assert "If the noise is Gaussian and correlated (0.2, 0.6):" in run(words)[1]


@settings(max_examples=60)
@given(st.integers(100, 5000))
def test_the_mu_shown_for_an_epsilon_does_not_exceed_it(thousandths: int) -> None:
    epsilon = thousandths / 1000
    [(_, mu, shown, guess)] = table(f"--epsilon {epsilon} --weeks 1")
    exact = account(mu)
    assert exact.epsilon <= min(epsilon, shown)
    assert 100 * exact.best_guess <= guess


HELP = r".*; see dpol account --help"
NOT_COVERED = "memory: b must be at least a and at least 0 .* during the stay is not covered"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "one of the arguments --mu --epsilon is required" + HELP),
        ("--mu 1 --epsilon 1", "argument --epsilon: not allowed with argument --mu" + HELP),
        ("--mu 0", "argument --mu: must lie from 1e-06 to 1000, got '0'" + HELP),
        ("--mu 0.5 x", "argument --mu: must be a number, got 'x'" + HELP),
        ("--epsilon nan", r"argument --epsilon: must lie from 1e-06 to 1e\+06, got 'nan'" + HELP),
        ("--mu 1 --weeks 1.5", ".*--weeks: must be a whole number from 1 to 999999" + HELP),
        (f"--mu 1 --weeks {'9' * 5000}", ".*--weeks: must be a whole number from 1 to 9999" + HELP),
        ("--mu 1 --memory 0.6 0.2", NOT_COVERED),
        ("--mu 1 --memory -0.5 -0.2 --weeks 1 2", NOT_COVERED + "; choose another --memory"),
    ],
    ids=lambda it: it[:40],
)
def test_wrong_arguments_are_refused_in_one_line(words, message):
    code, out, err = run(words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.match(f"error: {message}", err)


def test_a_reader_who_stops_early_is_no_error():
    program = Path(sys.executable).parent / "dpol"
    command = [program, "account", "--mu", "0.5", "--weeks", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)
