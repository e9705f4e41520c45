"""Power of the checks: each broken example fails its check, and sound examples fail none."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, replace
from functools import partial

import pytest

from checks.broken import HOSPITALS, with_point
from dpol.checks.algorithms import audit_of
from dpol.checks.check import check, checks_of, counterexample
from dpol.checks.studies import points_are_plain
from dpol.cli import main
from dpol.experts.registry import make_members
from dpol.studies.drawing import drawn_in
from dpol.studies.registry import load_study

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
    "NO_FUNCTION": "functions take what jobs give",
    "OF_ANOTHER": "functions take what jobs give",
    "NO_COLUMNS": "results have columns",
    "NO_POINT": "points are plain",
    "NO_SETTINGS": "points are plain",
    "OUTSIDE": "points are plain",
    "TAKEN": "points are plain",
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


@pytest.mark.parametrize(
    ("name", "function", "wrong"),
    [
        ("run", None, "dpol.studies.paper1.batching.compute has no function run"),
        ("run", lambda point: {}, "takes point, but is given 2 arguments"),
        ("collect", lambda files: {}, "takes files, but is given 3 arguments"),
        ("collect", None, ""),
    ],
)
def test_a_function_that_a_job_cannot_call_is_told(monkeypatch, name, function, wrong):
    monkeypatch.setattr(f"dpol.studies.paper1.batching.compute.{name}", function)
    told = counterexample(dict(checks_of("batching"))["functions take what jobs give"])
    assert told.endswith(wrong)
    assert bool(told) == bool(wrong)


REMEDY = "make them a frozen dataclass, POINT in dpol.studies.paper3.compute, of text, numbers"


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        (HOSPITALS, ""),
        (replace(HOSPITALS, delta=math.inf), ""),
        (replace(HOSPITALS, epsilons=[1.0, 2.0]), "gets HospitalsPoint("),
        (replace(HOSPITALS, replicates="many"), "replicates Input should be a valid integer"),
        (replace(HOSPITALS, replicates=object()), "Unable to serialize unknown type"),
        (asdict(HOSPITALS), "gets HospitalsPoint("),
        ({}, "Field required"),
    ],
)
def test_settings_of_a_point_that_do_not_reach_its_job_are_told(settings, got):
    study = with_point(settings=settings)
    told = counterexample(partial(points_are_plain, study, study.settings()))
    assert got in told
    assert (REMEDY in told) == bool(got) == bool(told)


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        ({"runs": [1, 2], "law": {"mu": math.inf}}, ""),
        ({"runs": (1, 2)}, "but its job gets {'runs': [1, 2]}"),
        (HOSPITALS, "but its job gets {'patients_per_week': 1"),
    ],
)
def test_without_a_class_of_its_points_a_study_has_mappings(monkeypatch, settings, got):
    """So older packages work as they are."""
    monkeypatch.delattr("dpol.studies.paper3.compute.POINT")
    study = with_point(settings=settings)
    told = counterexample(partial(points_are_plain, study, study.settings()))
    assert got in told
    assert bool(got) == bool(told)


BATCHING = load_study("batching")
SECTION, *_ = BATCHING.sections
DRAWN = drawn_in(BATCHING.package)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"results": ("lazy",)}, r"shows ['lazy'], which are results of neither this study nor"),
    ],
)
def test_a_section_that_its_job_cannot_show_is_told(monkeypatch, changes, told):
    monkeypatch.setattr(
        "dpol.studies.paper1.batching.show.SECTIONS", (replace(SECTION, **changes),)
    )
    found = counterexample(dict(checks_of("batching"))["sections show its results"])
    assert told in found
    assert bool(told) == bool(found)


@pytest.mark.parametrize(
    ("section", "drawn", "told"),
    [
        ({}, {}, ""),
        (
            {"figures": ()},
            {},
            "DRAWN.figures of dpol.studies.paper1.batching.drawn do not both",
        ),
        ({}, {"figures": {}}, "do not both have ['figure-1']; make them agree"),
        ({}, {"tables": DRAWN.tables | {"other": print}}, "do not both have ['other']; make"),
        (
            {"widget": True},
            {},
            "DRAWN.widgets of dpol.studies.paper1.batching.drawn do not both",
        ),
        ({}, {"widgets": {"batching": print}}, "do not both have ['batching']; make them agree"),
        ({}, {"figures": {"figure-1": lambda frames: None}}, "takes frames, but is given 3"),
    ],
)
def test_a_name_without_a_function_or_the_reverse_is_told(monkeypatch, section, drawn, told):
    shown = (replace(SECTION, **section),)
    monkeypatch.setattr("dpol.studies.paper1.batching.show.SECTIONS", shown)
    monkeypatch.setattr("dpol.studies.paper1.batching.drawn.DRAWN", replace(DRAWN, **drawn))
    found = counterexample(dict(checks_of("batching"))["every figure and table has its function"])
    assert told in found
    assert bool(told) == bool(found)


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
