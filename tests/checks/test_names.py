"""The names that `dpol check` takes."""

from __future__ import annotations

import pytest

import dpol
from dpol.checks import check
from dpol.studies.registry import STUDY_GROUP


@pytest.mark.parametrize("name", ["my-study", "my_study"])
def test_a_name_is_found_with_hyphens_and_with_underscores(monkeypatch, name):
    theirs = {STUDY_GROUP: {"my_study": "dpol.studies.claims.study:STUDY"}}
    monkeypatch.setattr(check, "registered", lambda group: theirs.get(group, {}))
    monkeypatch.setattr("dpol.studies.registry.registered", lambda group: theirs.get(group, {}))
    assert all(verdict.holds for verdict in dpol.check(name))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("rw_fptl", "rw-ftpl"),
        ("kallman", "kalman"),
        ("capcity", "capacity"),
        ("batchng", "batching"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_name_of_any_kind(name, meant):
    refusal = "is not an algorithm, a learner, a noise or a study; install its package"
    with pytest.raises(ValueError, match=rf"{refusal} .+; did you mean {meant}\?$"):
        dpol.check(name)
