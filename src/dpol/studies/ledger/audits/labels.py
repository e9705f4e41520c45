"""Audits of messages about labels: private EXP3, private WMA and yes-or-no responses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpol.core.randomness import replicate_generators
from dpol.labels.clients import (
    LabelClient,
    MembershipClient,
    Messages,
    ResponseClient,
    SampledClient,
    VectorClient,
)
from dpol.labels.clipping import Clipping
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.scheffe import ScheffeClient
from dpol.privacy.auditing import with_fitted_direction
from dpol.privacy.settings import DELTA
from dpol.studies.ledger.audits.core import Audit, Subject, by_computation, by_event
from dpol.studies.ledger.audits.settings import Audits

_EPSILON = 1.0
_EXP3 = "private EXP3, message"
_N_LABELS = 4
# Messages are cheap to draw.
_MESSAGES_PER_RUN = 10
# Larger values are cut, because infinite ones have no covariance.
_LARGEST = 1e6
_APART = "labels 0 and 2 of 3, which the two hypotheses tell apart"


def counterexample_class() -> HypothesisClass:
    """Return the class whose log-likelihoods range beyond log(KT): N' = 7 > KM = 6."""
    return HypothesisClass(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), "counterexample")


def audit_messages(settings: Audits, seed: int) -> Iterator[Audit]:
    """Audit every kind of message; likelihoods with both sensitivities, at T = 300."""
    exact = Clipping(counterexample_class(), 300, "exact")
    published = Clipping(counterexample_class(), 300, "published")
    for clipping in (exact, published):
        sampled = SampledClient(clipping, _EPSILON)
        code = "none: dpol.labels.clients computes the law"
        variant = f"{clipping.rule} sensitivity"
        subject = _subject(sampled, _EXP3, variant, "all pairs of 3 labels", code)
        yield by_computation(subject, sampled.exact_loss)
    clients = SampledClient(exact, _EPSILON), VectorClient(exact, _EPSILON, DELTA)
    for client in (*clients, VectorClient(published, _EPSILON, DELTA)):
        yield audit_likelihoods(settings, seed, client)
    yield audit_response(settings, seed, ResponseClient(_N_LABELS, _EPSILON))
    yield audit_membership(settings, seed, MembershipClient(counterexample_class(), _EPSILON))
    yield audit_scheffe(ScheffeClient(counterexample_class(), _EPSILON))


def audit_likelihoods(settings: Audits, seed: int, client: SampledClient | VectorClient) -> Audit:
    """Audit messages of private EXP3 or WMA about two labels."""
    clipping, messages = client.clipping, _messages(settings, seed, client, (0, 2))
    variant = f"{clipping.rule} sensitivity"
    values = [np.clip(sent.values[0], -_LARGEST, _LARGEST) for sent in messages]
    if isinstance(client, VectorClient):
        variant += f", {clipping.rule} composition"
        subject = _subject(client, "private WMA, message", variant)
        fitted = with_fitted_direction(*values)
        event = "an event of a linear combination of all values"
        return by_event(subject, event, [fitted], "epsilon", client.delta)
    columns = []
    for sent, value in zip(messages, values, strict=True):
        chosen = sent.index[0][:, None] == np.arange(clipping.sensitivity.shape[1])
        # Above or below a threshold, for one index.
        sides = [np.where(chosen, value[:, None], side) for side in (-2 * _LARGEST, 2 * _LARGEST)]
        columns.append(np.concatenate(sides, axis=1))
    subject = _subject(client, _EXP3, variant)
    return by_event(subject, "an event of the index and the value", [columns], "epsilon")


def audit_response(settings: Audits, seed: int, client: LabelClient) -> Audit:
    """Audit randomised response about the first and the last label."""
    ends = 0, _N_LABELS - 1
    inputs = f"the first and the last of {_N_LABELS} labels"
    subject = _subject(client, "randomised response", f"{_N_LABELS} labels", inputs)
    messages = _messages(settings, seed, client, ends)
    columns = [(sent.values[0][:, None] == ends).astype(float) for sent in messages]
    return by_event(subject, "whether the message is one of the two", [columns], "epsilon")


def audit_membership(settings: Audits, seed: int, client: LabelClient) -> Audit:
    """Audit answers about a label in one of two sets."""
    subject = _subject(client, "membership response", "public random set")
    messages = _messages(settings, seed, client, (0, 2))
    columns = [(sent.values[0] == (sent.index[0] == 0)).astype(float) for sent in messages]
    return by_event(subject, "whether the answer speaks for the first set", [columns], "epsilon")


def audit_scheffe(client: ScheffeClient) -> Audit:
    """Audit the exact worst loss of one answer about a Scheffé set, by the client's own chances."""
    code, inputs = "none: ScheffeClient.chances computes the law", "all pairs of 3 labels"
    subject = _subject(client, "membership response", "public random Scheffé set", inputs, code)
    logs = np.log(client.chances(np.eye(client.hypotheses.n_labels)[None]))
    return by_computation(subject, float(np.ptp(logs, axis=3).max()))


# ---- shared parts --------------------------------------------------------------------------------


def _subject(
    client: LabelClient, mechanism: str, variant: str, inputs: str = _APART, code: str = ""
) -> Subject:
    record = client.guarantee
    return Subject(
        mechanism=mechanism,
        variant=variant,
        code=code or f"{type(client).__name__}.privatize",
        inputs=inputs,
        adjacency=record.adjacency,
        unit=record.unit,
        requested=_EPSILON,
        recorded=record.epsilon(client.delta),
    )


def _messages(
    settings: Audits, seed: int, client: LabelClient, labels: tuple[int, int]
) -> list[Messages]:
    """Draw independent messages (1, runs) about each of two labels."""
    messages = []
    features = np.zeros(_MESSAGES_PER_RUN * settings.runs, dtype=np.int64)
    for label in labels:
        key = ("audit: labels", client.guarantee.mechanism, client.epsilon, label)
        generators = replicate_generators(seed, key, [0], "messages")
        messages.append(client.privatize(np.full((1, len(features)), label), features, generators))
    return messages
