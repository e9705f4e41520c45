from __future__ import annotations

import dataclasses
import math
import re

import pytest

import labels_plain as plain
from dpol.distributions.bayes import MembershipBayes, MessageBayes, ResponseBayes
from dpol.distributions.exp3 import PrivateEXP3
from dpol.distributions.registry import REGISTRY, Entry, Terms, make_learner, title_of
from dpol.distributions.wma import PrivateWMA
from dpol.local.hypotheses import HypothesisClass
from dpol.local.label_messages import ResponseClient

HYPOTHESES = HypothesisClass(plain.COUNTEREXAMPLE)
TERMS = Terms(300, 1.0, 1e-5)


def guarantee_of(name, rule="exact"):
    return make_learner(name, HYPOTHESES, TERMS, rule).client.guarantee


def test_the_registry_has_the_papers_algorithms_and_those_beside_them():
    kinds = {
        "wma": PrivateWMA,
        "exp3": PrivateEXP3,
        "exp3-bayes": MessageBayes,
        "membership": MembershipBayes,
        "randomised-response": ResponseBayes,
        "bayes": ResponseBayes,
    }
    assert set(kinds) <= set(REGISTRY)
    for name, kind in kinds.items():
        learner = make_learner(name, HYPOTHESES, TERMS)
        assert isinstance(learner, kind)
    assert all(entry.calibrations[0] == "exact" for entry in REGISTRY.values())
    with_both = {name for name in kinds if "published" in REGISTRY[name].calibrations}
    assert with_both == {"wma", "exp3"}


@pytest.mark.parametrize("rule", ["exact", "published"])
def test_terms_and_calibration_reach_the_learner(rule):
    wma, exp3 = (make_learner(name, HYPOTHESES, TERMS, rule) for name in ("wma", "exp3"))
    for learner in (wma, exp3):
        assert learner.client.epsilon == 1.0
        assert learner.client.sensitivity.rule == rule
        assert learner.client.sensitivity.clipping.n_rounds == 300
        assert learner.client.sensitivity.clipping.hypotheses is HYPOTHESES
    assert wma.client.composition == rule
    assert wma.client.delta == 1e-5
    assert wma.client.guarantee.epsilon_delta == (1.0, 1e-5)


def test_only_the_published_scale_of_exp3_exceeds_its_claim_on_the_counterexample():
    """Its record says 1.024; the exact loss is 1.020 (tests of label messages)."""
    exceeds = {
        (name, rule): guarantee.epsilon(1e-5) > 1
        for name, entry in REGISTRY.items()
        for rule in entry.calibrations
        if (guarantee := guarantee_of(name, rule)).model != "none"
    }
    assert [key for key, over in exceeds.items() if over] == [("exp3", "published")]


def test_whoever_is_private_has_the_epsilon_of_the_terms():
    assert guarantee_of("bayes").model == "none"
    for name in set(REGISTRY) - {"bayes"}:
        guarantee = guarantee_of(name)
        assert guarantee.model == "none" or guarantee.epsilon_delta[0] == 1.0


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        ("hedge", "exact", "algorithm 'hedge' is not one of wma, exp3, exp3-bayes, membership"),
        ("exp3", "tight", "calibration 'tight' of exp3 is not one of exact, published"),
        ("membership", "published", "calibration 'published' of membership is not one of exact$"),
    ],
)
def test_unknown_names_are_refused(name, rule, message):
    with pytest.raises(ValueError, match=message):
        make_learner(name, HYPOTHESES, TERMS, rule)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"origin": "mine"}, "origin is missing, or not one of paper, standard, ours; `origin: Cl"),
        ({"scores": None}, "it has no scores; see dpol.distributions.play.LabelAlgorithm"),
        ({"masses": None}, "it has no masses; see dpol.distributions.play.LabelAlgorithm"),
        ({"client": object()}, "it has no client with privatize and guarantee; see dpol.local.lab"),
        ({"frozen": False}, "it is no frozen dataclass; `@dataclass(frozen=True, eq=False)`"),
    ],
)
def test_what_is_no_learner_is_refused(changed, message, monkeypatch):
    client = ResponseClient(3, 1.0)
    parts = {"origin": "ours", "scores": 1, "masses": 1, "client": client, "frozen": True}
    for parts_now, wrong in ((parts, False), ({**parts, **changed}, True)):
        named = {key: it for key, it in parts_now.items() if it is not None and key != "frozen"}
        learner = dataclasses.dataclass(frozen=parts_now["frozen"])(type("Mine", (), named))()
        monkeypatch.setitem(REGISTRY, "mine", Entry(lambda h, t, rule, made=learner: made))
        if not wrong:
            assert make_learner("mine", HYPOTHESES, TERMS) is learner
            continue
        with pytest.raises(ValueError, match=re.escape(message)) as caught:
            make_learner("mine", HYPOTHESES, TERMS)
        assert str(caught.value).startswith("mine: class Mine (")


def test_learners_that_have_no_words_for_them_are_called_by_their_name():
    assert title_of("exp3-bayes") == "exp3 bayes †"
    assert title_of("randomised-response") == "randomised response"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_rounds": 1}, "n_rounds must be at least 2, got 1"),
        ({"n_rounds": math.nan}, "n_rounds must be at least 2, got nan"),
        ({"epsilon": 0.0}, "epsilon must be above 0, got 0.0"),
        ({"epsilon": -1.0}, "epsilon must be above 0, got -1.0"),
        ({"epsilon": math.nan}, "epsilon must be above 0, got nan"),
        ({"delta": 0.0}, r"delta must lie in \(0, 1\), got 0.0"),
        ({"delta": 1.0}, r"delta must lie in \(0, 1\), got 1.0"),
        ({"delta": math.nan}, r"delta must lie in \(0, 1\), got nan"),
    ],
)
def test_terms_out_of_range_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TERMS, **changed)
