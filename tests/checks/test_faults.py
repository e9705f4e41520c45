"""Power of the checks: each fault is refused by its check, and sound examples by none."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import dpol
from checks import sound
from checks.faults import FAULTS, refused_by, table
from dpol.checks import CheckError, audits
from dpol.checks.audits import long_settings
from dpol.checks.check import check, checks_of, verdict
from dpol.cli import main
from dpol.noise import NOISES, privatize
from dpol.privacy.auditing import audit_runs
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.losses import Loss
from dpol.studies.ledger.audits import actions, core

PAGE = Path(__file__).parents[2] / "docs/explanation/privacy.md"


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_by_its_check(name):
    seed = 1 + [*FAULTS].index(name) % 3
    found = (verdict(*each) for each in checks_of(f"checks.faults:{name}", seed))
    first = next((it for it in found if not it.holds), None)
    assert first is not None
    assert first.check.startswith(refused_by(FAULTS[name]))


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_stay_that_is_missed_by_a_week_is_refused_and_an_honest_one_is_not(seed):
    """The audit refuses the honest one with probability 1e-6."""
    *_, (_, missed) = checks_of("checks.faults:OneWeekLess", seed)
    *_, (_, honest) = checks_of("checks.sound:Forgetful", seed)
    with pytest.raises(CheckError, match=r"stay 2, .* prove mu >= "):
        missed()
    assert str(honest()).startswith("holds, proves mu >= ")


def test_all_seeds_draw_stays_of_two_and_three_weeks_and_some_of_twelve():
    stays = [
        {each.stream.stay for each in audits.short_settings(seed, stays=True)}
        for seed in range(1, 101)
    ]
    assert all({1, 2, 3} <= each <= {*range(1, 13)} for each in stays)
    assert {*range(1, 13)} == set.union(*stays)


def test_a_check_that_ends_its_process_prints_a_line_and_fails(capsys):
    assert main(["check", "checks.faults:EndsTheProcessAtOnce"]) == 1
    assert capsys.readouterr().out == (
        "the seed decides the game: its game ends the process, with exit code 0, not with actions:"
        " let step return them\n"
    )


def test_a_check_can_be_stopped():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict("any", interrupted)


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, type("Mine", (BaseException,), {})])
def test_whatever_a_check_raises_is_a_counterexample(error):
    def wrong():
        raise error("why")

    assert verdict("any", wrong).counterexample.endswith(f"{error.__name__}: why")


def test_the_page_lists_all_faults():
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["Recent", "Bank", "Tree", "Forgetful", "Sums", "InZcdp"])
def test_a_sound_example_fails_no_check(name):
    """The actions of curators prove some of what their records claim."""
    verdicts = check(f"checks.sound:{name}")
    assert [each for each in verdicts if not each.holds] == []
    curates = issubclass(getattr(sound, name), dpol.CentralAlgorithm)
    assert ("proves mu >= " in verdicts[-1].found) == curates


@pytest.mark.parametrize("name", NOISES)
def test_a_noise_of_dpol_passes_its_checks(name):
    assert {each.found for each in check(name)} == {"holds"}


def test_an_audit_says_what_it_proves_and_its_seed_reaches_the_games():
    proofs = [
        re.fullmatch(r"holds, proves mu >= ([\d.]+) of ([\d.]+)", verdicts[-1].found)
        for verdicts in (check("checks.sound:Forgetful", seed=seed) for seed in (1, 2))
    ]
    bounds = [[float(number) for number in proof.groups()] for proof in proofs if proof]
    assert len(bounds) == 2
    assert bounds[0] != bounds[1]
    assert all(0.3 * claimed < proved <= claimed for proved, claimed in bounds)


def test_a_counterexample_says_who_was_moved():
    told = check("checks.faults:NoneFromRoundTwelve", seed=7)[-1].counterexample
    assert re.match(r"with a person in round .+, at expert \d or \d \(\d+ rounds, \d experts", told)


def test_the_command_prints_a_line_for_each_check_and_sets_its_exit_code(capsys):
    assert main(["check", "checks.scales:HONEST_0"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count(": holds\n") == 3
    assert printed.err == ""
    assert main(["check", "checks.scales:WRONG_0"]) == 1
    *others, last = capsys.readouterr().out.splitlines()
    assert [line.endswith(": holds") for line in others] == [True, True]
    assert re.search("its scale is too small for its level in .*dpol computes", last)
    assert main(["check", "checks.sound:Nothing"]) == 2
    assert "has no attribute 'Nothing'" in capsys.readouterr().err


def test_games_that_count_are_no_games_that_chose_and_share_the_error(monkeypatch):
    """The choice of a setting and of an event would favour noise that was seen before."""
    seeds: dict[int, set[int]] = {}
    errors: list[float] = []

    def play(setting, stream, count, seed):
        seeds.setdefault(count, set()).add(seed)
        made = privatize(stream, setting.noise, setting.mu, seed=seed, replicates=count)
        return made.gains, made.guarantee

    def counted(*runs, confidence, **facts):
        errors.append(1 - confidence)
        return audit_runs(*runs, confidence=confidence, **facts)

    monkeypatch.setattr(core, "audit_runs", counted)
    monkeypatch.setattr(audits, "_FEW", 20)
    monkeypatch.setattr(audits, "_MANY", 40)
    audits.audit(play, [*long_settings(stays=False)][:3], [], seed=1)
    assert {count: len(each) for count, each in seeds.items()} == {20: 2, 40: 2}
    assert len(set.union(*seeds.values())) == 4
    assert sum(errors) == pytest.approx(audits.ERROR, rel=1e-6)


def test_runs_that_count_do_not_choose_the_outputs():
    """One output shows the person best, but only in runs that choose; then nothing counts."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 400, 1 + actions._COLUMNS))
    second[:, 1:] += 2.0
    second[:200, 0] += 3.0
    played = actions.AuditedGames(
        setting=next(long_settings(stays=False)),
        record=dataclasses.replace(NO_PRIVACY, loss=Loss(gaussian=1.0), stays=None),
        both=[first, second],
        combined=[*rng.standard_normal((2, 400, 1))],
    )
    row = played.audit()(1 - 1e-6)
    assert row["lower_bound"] == 0
