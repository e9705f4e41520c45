"""Power of the checks: each broken example fails its check, and sound examples fail none."""

from __future__ import annotations

import json
import re

import pytest

from dpol.checks.algorithms import audit_of
from dpol.checks.check import check, checks_of, counterexample
from dpol.cli import main
from dpol.experts.registry import make_members

BROKEN = {
    "NamesNoExpert": "plays small games",
    "NeedsTwoRounds": "plays small games",
    "RandomFromElsewhere": "the seed decides the game",
    "LooksAhead": "looks at the past only, and learns",
    "NeverLearns": "looks at the past only, and learns",
    "ChangesItsState": "a step changes and hides nothing",
    "RemembersElsewhere": "a step changes and hides nothing",
    "DoesNotPickle": "a step changes and hides nothing",
    "MixesReplicates": "blocks of replicates do not matter",
    "WantsNoise": "no privacy is the limit",
    "RandomWithoutNoise": "no privacy is the limit",
    **dict.fromkeys(
        [
            *("ShrinksWithData", "NoneAtZero", "NoneLate", "NoneOnTheLast"),
            *("OneReleaseOfAStay", "NoComposition", "DrawnOnce"),
            # planted by somebody who did not write the check
            *("TooSmallByRootTwo", "NoneInRoundTwo", "NoneAtATie"),
            *("SharedByTwo", "UsedAgain", "RemembersRoundSix", "Bounded"),
            *("RoundedWithTies", "SeedOfData"),
        ],
        "actions do not refute the record",
    ),
    "ClaimsMore": "the record is complete",
    "NamesNobody": "the record is complete",
    "OtherAlone": "learners play their columns",
    "TwoColumns": "learners play their columns",
    "HALF": "the record keeps the level",
    "OF_GAINS": "the scale does not depend on gains",
    "FLAT": "the scale is positive",
    "NOT_CONSTANT": "the scale is positive",
    "UPSIDE_DOWN": "a smaller mu means more noise",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_example_fails_its_check(name):
    [run] = [
        run for title, run in checks_of(f"checks.broken:{name}") if title.startswith(BROKEN[name])
    ]
    assert counterexample(run)


@pytest.mark.parametrize(
    "name", ["Sound", "SoundCurator", "SoundForgetful", "SoundSums", "SoundBank", "SOUND_NOISE"]
)
def test_a_sound_example_fails_no_check(name):
    assert [verdict for verdict in check(f"checks.broken:{name}") if not verdict.holds] == []


def test_the_check_says_whom_it_moves_and_its_seed_reaches_the_games():
    *_, (title, _) = checks_of("checks.broken:SoundForgetful")
    assert "a person in any one of 7 rounds, at any two of 3 experts, or in rounds 3 to 5" in title
    (member,) = make_members("checks.broken:SoundForgetful")
    one, other = (audit_of(member, seed)[1].lower_bound for seed in (1, 2))
    assert one != other
    told = {str(verdict.counterexample) for verdict in check("checks.broken:NoneLate", seed=7)} - {
        ""
    }
    assert any(re.search("with a person in round [567]", each) for each in told)


def test_the_command_prints_a_line_for_each_check_and_sets_its_exit_code(capsys):
    assert main(["check", "checks.broken:SOUND_NOISE"]) == 0
    printed = capsys.readouterr()
    assert (printed.out.count(": holds\n"), printed.err) == (4, "")
    assert main(["check", "checks.broken:HALF", "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check["holds"] for check in checks] == [True, True, True, False]
    assert "above the requested 0.25; make its scale larger" in checks[3]["counterexample"]
    assert main(["check", "checks.broken:Nothing"]) == 2
    assert "has no attribute 'Nothing'" in capsys.readouterr().err
