"""Power of the laws: each broken example is refused by its law, and sound ones are not refused."""

from __future__ import annotations

import json

import pytest

from dpol.cli import main
from dpol.laws.check import check, counterexample, laws_of

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
    "ReadsAnyNoise": "plays any noise that it can read",
    "ReachesByFrames": "raw gains are out of reach",
    "ReachesByMemory": "raw gains are out of reach",
    "ReachesBySeed": "raw gains are out of reach",
    "ReachesForFiles": "raw gains are out of reach",
    "ForgetsItsNoise": "actions do not refute the record",
    "ClaimsMore": "the record is complete",
    "NamesNobody": "the record is complete",
    "OtherAlone": "learners play their columns",
    "TwoColumns": "learners play their columns",
    "HALF": "the record keeps the level",
    "OF_GAINS": "the scale does not depend on gains",
    "FLAT": "the scale is positive",
    "NOT_CONSTANT": "the scale is positive",
    "UPSIDE_DOWN": "less mu is more noise",
    "NO_FUNCTION": "functions take what jobs give",
    "NO_COLUMNS": "results have columns",
    "OUTSIDE": "points are plain",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_example_is_refused_by_its_law(name):
    assert counterexample(dict(laws_of(f"laws.broken:{name}"))[BROKEN[name]])


@pytest.mark.parametrize("name", ["Sound", "SoundCurator", "SoundBank", "SOUND_NOISE"])
def test_a_sound_example_is_not_refused(name):
    assert [it for it in check(f"laws.broken:{name}") if not it.holds] == []


def test_the_command_says_one_line_a_law_and_its_exit_code(capsys):
    assert main(["check", "laws.broken:SOUND_NOISE"]) == 0
    assert capsys.readouterr().out.count(": holds\n") == 4
    assert main(["check", "laws.broken:HALF", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [it["holds"] for it in told["laws"]] == [True, True, True, False]
    assert "where 0.25 is asked; make its scale larger" in told["laws"][3]["counterexample"]
    assert main(["check", "laws.broken:Nothing"]) == 2
    assert "has no attribute 'Nothing'" in capsys.readouterr().err
