from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpol.cli import main
from dpol.privacy.account import account


@pytest.fixture
def run(capsys):
    """Exit code, standard output and standard error of `dpol account`."""

    def runner(*arguments):
        try:
            code = main(["account", *arguments])
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return runner


def table(out):
    """(weeks, mu, epsilon, right guesses) of every line; each rho is mu^2 / 2, rounded up."""
    lines = re.findall(r"^ *(\d+) +(\S+) +(\S+) +(\S+) +(\S+)%$", out, re.MULTILINE)
    rows = [(weeks, mu, *rest) for weeks, mu, _, *rest in lines]
    for _, mu, rho, *_ in lines:
        assert float(rho) == pytest.approx(float(mu) ** 2 / 2, rel=2e-3)
    return [(int(weeks), *map(float, numbers)) for weeks, *numbers in rows]


def test_mu_becomes_epsilon(run):
    code, out, err = run("--mu", "0.5", "--delta", "1e-6", "--weeks", "1", "4", "8")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "One person in one week has Gaussian differential privacy with mu = 0.5."
    assert lines[3] == "weeks     mu    rho  epsilon at delta 1e-06  right guesses, at most"
    assert table(out) == [(1, 0.5, 2.255, 59.9), (4, 1.0, 4.887, 69.2), (8, 1.415, 7.287, 76.1)]


def test_epsilon_becomes_mu(run):
    code, out, _ = run("--epsilon", "1", "--delta", "1e-6", "--weeks", "1")
    assert code == 0
    assert table(out) == [(1, 0.2367, 1.0, 54.8)]


def test_releases_of_the_same_week_add_up(run):
    """0.3 and 0.4 are 0.5 together; over four weeks 1."""
    rows = table(run("--mu", "0.3", "0.4")[1])
    assert [row[0] for row in rows] == [1, 2, 4, 8, 13, 52]
    assert rows[2] == (4, 1.0, 4.887, 69.2)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(100, 5000))
def test_the_mu_shown_for_an_epsilon_does_not_exceed_it(run, thousandths):
    epsilon = thousandths / 1000
    [(_, mu, shown, guess)] = table(run("--epsilon", f"{epsilon}", "--weeks", "1")[1])
    exact = account(mu)
    assert exact.epsilon <= epsilon
    assert exact.epsilon <= shown
    assert 100 * exact.best_guess <= guess


@pytest.mark.parametrize("words", ["--mu 1 --delta 1e-100", "--mu 1 --delta 0.999"])
def test_the_ends_of_ranges_are_in_them(run, words):
    assert run(*words.split())[0] == 0


def test_noise_with_memory_is_dearer_for_those_who_stay(run):
    out = run("--mu", "1", "--memory", "0.2", "0.6", "--weeks", "1", "2", "4", "8")[1]
    ratios = [1.0, 1.697, 2.83, 4.493]
    assert [row[1] for row in table(out)] == pytest.approx(ratios, abs=2e-3)
    assert "square root" not in out
    assert "Gaussian and correlated (0.2, 0.6)" in out
    # One week is covered by every memory.
    out = run("--mu", "1", "--memory", "0.6", "-0.2", "--weeks", "1")[1]
    assert table(out)[0][:2] == (1, 1.0)


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
def test_wrong_arguments_are_refused_in_one_line(run, words, message):
    code, out, err = run(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.match(f"error: {message}", err)


def test_a_reader_who_stops_early_is_no_error():
    program = Path(sys.executable).parent / "dpol"
    command = [program, "account", "--mu", "0.5", "--weeks", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)
