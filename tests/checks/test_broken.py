"""Power of the checks: each broken example fails its check, and sound examples fail none."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

from checks.broken import FACTORS, SCALES
from dpol.checks import audits
from dpol.checks.check import Verdict, check, checks_of, verdict
from dpol.checks.settings import fixed_settings
from dpol.cli import main
from dpol.noise import NOISES, privatize
from dpol.privacy.auditing import audit_runs
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.losses import Loss
from dpol.studies.ledger.audits import actions, core

BROKEN = {
    "NamesNoExpert": "plays small games",
    "NeedsTwoRounds": "plays small games",
    "RandomFromElsewhere": "the seed decides the game",
    "LooksAhead": "looks at the past only, and learns",
    "NeverLearns": "looks at the past only, and learns",
    "ChangesItsState": "a step changes and hides nothing",
    "RemembersElsewhere": "a step changes and hides nothing",
    "KnowsItsStates": "a step changes and hides nothing",
    "DoesNotPickle": "a step changes and hides nothing",
    "MixesReplicates": "blocks of replicates do not matter",
    "WantsNoise": "no privacy is the limit",
    "RandomWithoutNoise": "no privacy is the limit",
    **dict.fromkeys(
        [
            *SCALES,
            *FACTORS,
            *("NoComposition", "DrawnOnce", "CarriedForFree", "Differences"),
            # planted by somebody who did not write the check
            *("SharedByTwo", "UsedAgain", "RemembersRoundSix", "Bounded", "SeedOfData"),
        ],
        "actions do not refute the record",
    ),
    "ClaimsMore": "the record is complete",
    "LongerForLess": "the record is complete",
    "NamesNobody": "the record is complete",
    "AlwaysNamesPersons": "the record is complete",
    "OtherAlone": "learners play their columns",
    "TwoColumns": "learners play their columns",
    "HALF": "the scale keeps its level",
    "FLAT": "the scale is positive",
    "NOT_CONSTANT": "the scale is positive",
    "UPSIDE_DOWN": "a smaller mu means more noise",
}


def result(name: str, check: str, seed: int = 1) -> Verdict:
    """Run the check of an example whose title begins with these words."""
    [(title, run)] = [
        each for each in checks_of(f"checks.broken:{name}", seed) if each[0].startswith(check)
    ]
    return verdict(title, run)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_example_fails_its_check(name):
    assert not result(name, BROKEN[name]).holds


@pytest.mark.parametrize("name", ["Sound", "SoundBank", "SoundCurator", "SoundSums"])
def test_a_sound_example_fails_no_check(name):
    assert [each for each in check(f"checks.broken:{name}") if not each.holds] == []


SCALED = [name for name, noise in NOISES.items() if noise.mechanism is None]


@pytest.mark.parametrize("name", [*SCALED, "laplace-sample"])
def test_a_noise_of_dpol_passes_its_checks(name):
    assert {each.found for each in check(name)} == {"holds"}


AUDIT = "actions do not refute the record"


def test_an_audit_says_what_it_plays_and_proves_and_its_seed_reaches_the_games():
    verdicts = check("checks.broken:SoundForgetful", seed=1)
    assert [each for each in verdicts if not each.holds] == []
    one = verdicts[-1]
    other = result("SoundForgetful", one.check, 2)
    assert "of a person in 8 rounds with ties, nor in 32 drawn settings (8 to 40" in one.check
    words = r"holds, proves mu >= ([\d.]+) of ([\d.]+); would refute 0.9 of the noise"
    proofs = [re.fullmatch(words, each.found) for each in (one, other)]
    bounds = [[float(number) for number in proof.groups()] for proof in proofs if proof]
    assert len(bounds) == 2
    assert bounds[0] != bounds[1]
    assert all(0.3 * claimed < proved <= claimed for proved, claimed in bounds)


def test_a_counterexample_says_who_was_moved():
    told = result("NoneLate", AUDIT, seed=7).counterexample
    assert re.match(r"with a person in round .+, at expert \d or \d \(\d+ rounds, \d experts", told)


def test_an_audit_without_power_says_so():
    said = result("Blind", AUDIT)
    assert said.holds
    assert said.found.startswith("cannot tell, because a tenth of the noise would pass too (proves")


def test_the_command_prints_a_line_for_each_check_and_sets_its_exit_code(capsys):
    assert main(["check", "checks.broken:SOUND_NOISE"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count(": holds\n") == 4
    assert printed.err == ""
    assert main(["check", "checks.broken:HALF", "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check["holds"] for check in checks] == [True, True, True, False]
    assert "its scale is too small for its level in 320 of 320" in checks[3]["counterexample"]
    assert main(["check", "checks.broken:Nothing"]) == 2
    assert "has no attribute 'Nothing'" in capsys.readouterr().err


def test_games_that_count_are_no_games_that_chose_and_share_the_error(monkeypatch):
    """The choice of a setting and of an event would favour noise that was seen before."""
    seeds: dict[int, set[int]] = {}
    errors: list[float] = []

    def play(setting, stream, count, seed, share):
        seeds.setdefault(count, set()).add(seed)
        made = privatize(stream, setting.noise, setting.mu, seed=seed, replicates=count)
        return made.gains, made.guarantee

    def counted(*runs, confidence, **facts):
        errors.append(1 - confidence)
        return audit_runs(*runs, confidence=confidence, **facts)

    monkeypatch.setattr(core, "audit_runs", counted)
    settings = [*fixed_settings("isotropic", stays=False)][:3]
    audits.audit(play, settings, seed=1, games=(20, 30, 40))
    assert len(seeds) == 3
    assert len(set.union(*seeds.values())) == 2 * len(seeds)
    counts = errors[: len(settings)]  # the others tell the power
    assert sum(counts) == pytest.approx(audits.ERROR, rel=1e-6)


def test_runs_that_count_do_not_choose_the_outputs():
    """One output shows the person best, but only in runs that choose; then nothing counts."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 400, 1 + actions._COLUMNS))
    second[:, 1:] += 2.0
    second[:200, 0] += 3.0
    played = actions.AuditedGames(
        setting=next(fixed_settings("isotropic", stays=False)),
        record=dataclasses.replace(NO_PRIVACY, loss=Loss(gaussian=1.0), stays=None),
        both=[first, second],
        combined=[*rng.standard_normal((2, 400, 1))],
    )
    (row,) = core.verdicts([played.audit()], 1 - 1e-6)
    assert row["lower_bound"] == 0
