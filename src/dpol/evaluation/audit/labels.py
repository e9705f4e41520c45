"""Audits of the messages about labels: private EXP3, private WMA and yes-or-no responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpol.config import Audit
from dpol.evaluation.audit.core import Audited
from dpol.local.clipping import Clipping, LikelihoodSensitivity, Rule
from dpol.local.hypotheses import HypothesisClass
from dpol.local.label_messages import (
    LABEL_UNIT,
    ONE_LABEL,
    LabelClient,
    MembershipClient,
    ResponseClient,
    SampledClient,
    VectorClient,
)
from dpol.privacy.audit import AuditResult, audit_loss, audit_runs, with_fitted_direction
from dpol.privacy.message_loss import laplace_message_loss
from dpol.randomness import Floats, replicate_generators

_EPSILON = 1.0
_N_LABELS = 4


def counterexample() -> HypothesisClass:
    """The class whose log-likelihoods range further than log(KT): N' = 7 > KM = 6."""
    return HypothesisClass(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), "counterexample")


def audit_messages(settings: Audit, seed: int) -> Iterator[Audited]:
    """Every kind of message; likelihoods under both sensitivities, at T = 300."""
    clipping = Clipping(counterexample(), 300)
    rules: tuple[Rule, ...] = ("exact", "published")
    for rule in rules:
        yield audit_sampled(SampledClient(LikelihoodSensitivity(clipping, rule), _EPSILON))
    for rule in rules:
        sensitivity = LikelihoodSensitivity(clipping, rule)
        vector = VectorClient(sensitivity, _EPSILON, settings.delta, composition=rule)
        yield audit_vector(settings, seed, vector)
    yield audit_response(settings, seed, ResponseClient(_N_LABELS, _EPSILON))
    yield audit_membership(settings, seed, MembershipClient(counterexample(), _EPSILON))


def audit_sampled(client: SampledClient, claimed: float = _EPSILON) -> Audited:
    """The exact worst loss of one EXP3 message."""
    clipping = client.sensitivity.clipping
    losses = laplace_message_loss(
        clipping.log_cells[0], clipping.cells[0], keep=clipping.keep, scales=client.scales[0]
    )
    result = audit_loss(float(losses.max()), parameter="epsilon", claimed=claimed)
    name = f"{client.sensitivity.rule} sensitivity"
    return Audited("private EXP3, message", name, ONE_LABEL, LABEL_UNIT, result)


def audit_vector(
    settings: Audit, seed: int, client: VectorClient, claimed: float = _EPSILON
) -> Audited:
    """WMA messages about the two labels that the counterexample tells apart."""
    first, second = _outputs(settings, seed, client, (0, 2), lambda messages: messages.values)
    fitted = with_fitted_direction(first, second)
    result = _audit(settings, *fitted, claimed=claimed, delta=client.delta)
    rule = client.sensitivity.rule
    name = f"{rule} sensitivity, {client.composition} composition"
    return Audited("private WMA, message", name, ONE_LABEL, LABEL_UNIT, result)


def audit_response(
    settings: Audit, seed: int, client: LabelClient, claimed: float = _EPSILON
) -> Audited:
    """Randomised response about two labels: whether the message is one of them."""
    outputs = _outputs(
        settings, seed, client, (0, 1), lambda messages: (messages.labels == 0)[..., None]
    )
    result = _audit(settings, *outputs, claimed=claimed)
    return Audited("randomised response", f"{_N_LABELS} labels", ONE_LABEL, LABEL_UNIT, result)


def audit_membership(
    settings: Audit, seed: int, client: LabelClient, claimed: float = _EPSILON
) -> Audited:
    """Answers about a label in the set of the index, or in the other one."""
    outputs = _outputs(
        settings,
        seed,
        client,
        (0, 2),
        lambda messages: (messages.member == (messages.index == 0))[..., None],
    )
    result = _audit(settings, *outputs, claimed=claimed)
    return Audited("membership response", "public random set", ONE_LABEL, LABEL_UNIT, result)


def _outputs(
    settings: Audit,
    seed: int,
    client: LabelClient,
    labels: tuple[int, int],
    statistics: Callable[[Any], Any],
) -> list[Floats]:
    """(runs, k) statistics of independent messages about each of two labels."""
    found = []
    features = np.zeros(settings.runs, dtype=np.int64)
    for label in labels:
        key = ("audit: labels", type(client).__name__, repr(client.guarantee.as_dict()), label)
        generators = replicate_generators(seed, key, [0], "messages")
        messages = client.privatize(np.full((1, settings.runs), label), features, generators)
        found.append(np.asarray(statistics(messages)[0], dtype=float))
    return found


def _audit(
    settings: Audit, first: Floats, second: Floats, *, claimed: float, delta: float = 0.0
) -> AuditResult:
    return audit_runs(
        first,
        second,
        parameter="epsilon",
        claimed=claimed,
        confidence=settings.confidence,
        delta=delta,
    )
