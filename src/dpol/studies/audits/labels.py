"""Audits of the messages about labels: private EXP3, private WMA and yes-or-no responses."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
from scipy.stats import laplace

from dpol.core.randomness import Floats, replicate_generators
from dpol.privacy.audit import audit_loss, audit_runs, with_fitted_direction
from dpol.privacy.audit_laws import audit_fit
from dpol.studies.audits.core import FIT, Audited, Subject
from dpol.studies.audits.settings import Audits
from dpol.studies.labels.accounting import laplace_message_loss, scale_factor
from dpol.studies.labels.clients import (
    LABEL_UNIT,
    ONE_LABEL,
    LabelClient,
    MembershipClient,
    Messages,
    ResponseClient,
    SampledClient,
    VectorClient,
)
from dpol.studies.labels.clipping import Clipping, SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass, Ints

_EPSILON = 1.0
_N_LABELS = 4
# Messages are cheap to draw.
_MESSAGES_PER_RUN = 10
# Beyond this, values are cut: what is infinite has no covariance.
_LARGEST = 1e6
# Bins of one coordinate, for the fit.
_BINS = 12


def counterexample() -> HypothesisClass:
    """The class whose log-likelihoods range further than log(KT): N' = 7 > KM = 6."""
    return HypothesisClass(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), "counterexample")


def audit_messages(settings: Audits, seed: int) -> Iterator[Audited]:
    """Every kind of message; likelihoods under both sensitivities, at T = 300."""
    rules: tuple[SensitivityRule, ...] = ("exact", "published")
    for rule in rules:
        clipping = Clipping(counterexample(), 300, rule)
        yield audit_sampled_loss(SampledClient(clipping, _EPSILON))
    clipping = Clipping(counterexample(), 300)
    yield from audit_sampled(settings, seed, SampledClient(clipping, _EPSILON))
    for rule in rules:
        clipping = Clipping(counterexample(), 300, rule)
        vector = VectorClient(clipping, _EPSILON, settings.delta)
        yield from audit_vector(settings, seed, vector)
    yield audit_response(settings, seed, ResponseClient(_N_LABELS, _EPSILON))
    yield audit_membership(settings, seed, MembershipClient(counterexample(), _EPSILON))


# ---- private EXP3 --------------------------------------------------------------------------------


def audit_sampled_loss(client: SampledClient, asked: float = _EPSILON) -> Audited:
    """The exact worst loss of one EXP3 message, from the numbers that the client noises by."""
    clipping = client.clipping
    subject = _subject(
        client,
        "private EXP3, message",
        f"{client.clipping.rule} sensitivity",
        asked,
        code="none: dpol.studies.labels.accounting computes the law",
        inputs="all pairs of 3 labels",
    )
    losses = laplace_message_loss(
        clipping.log_cells[0], clipping.cells[0], keep=clipping.keep, scales=client.scales[0]
    )
    result = audit_loss(float(losses.max()), parameter="epsilon", claimed=subject.claimed)
    return Audited(subject, "epsilon of the worst pair", result)


def audit_sampled(
    settings: Audits, seed: int, client: SampledClient, asked: float = _EPSILON
) -> Iterator[Audited]:
    """EXP3 messages about two labels, and whether they follow the law of the exact loss."""
    clipping = client.clipping
    variant = f"{clipping.rule} sensitivity"
    subject = _subject(client, "private EXP3, message", variant, asked)
    messages = _messages(settings, seed, client, (0, 2))
    columns = []
    for found in messages:
        chosen = found.index[0][:, None] == np.arange(clipping.sensitivity.shape[1])
        value = np.clip(found.values[0], -_LARGEST, _LARGEST)[:, None]
        # Above a threshold, or below one, for one index.
        sides = [np.where(chosen, value, side) for side in (-2 * _LARGEST, 2 * _LARGEST)]
        columns.append(np.concatenate(sides, axis=1))
    yield _event(settings, subject, columns, "an event of the index and the value")

    edges, bins = _bin_laws(clipping, clipping.sensitivity[0] / asked)
    law = np.einsum("z,jzb->jb", _blocks(clipping, 0), bins) / len(bins)
    first = messages[0]
    found = _bins_of(edges, first.values[0][:, None])[np.arange(first.index.size), first.index[0]]
    yield _fit(settings, subject, np.ravel_multi_index((first.index[0], found), law.shape), law)


# ---- private WMA ---------------------------------------------------------------------------------


def audit_vector(
    settings: Audits, seed: int, client: VectorClient, asked: float = _EPSILON
) -> Iterator[Audited]:
    """WMA messages about two labels, and whether they follow the law that they should have."""
    clipping = client.clipping
    variant = f"{clipping.rule} sensitivity, {clipping.rule} composition"
    subject = _subject(client, "private WMA, message", variant, asked)
    values = [found.values[0] for found in _messages(settings, seed, client, (0, 2))]
    fitted = with_fitted_direction(*(np.clip(it, -_LARGEST, _LARGEST) for it in values))
    statistic = "an event of a linear combination of all values"
    yield _event(settings, subject, list(fitted), statistic, client.delta)

    n = clipping.sensitivity.shape[1]
    factor = scale_factor(n, asked, client.delta, clipping.rule)
    edges, bins = _bin_laws(clipping, factor * clipping.sensitivity[0])
    # The values are independent, given the block.
    given = [np.prod(it, axis=0) for it in itertools.product(*bins.transpose(0, 2, 1))]
    law = np.array([_blocks(clipping, 0) @ it for it in given]).reshape((_BINS,) * n)
    found = np.ravel_multi_index(tuple(_bins_of(edges, values[0]).T), law.shape)
    yield _fit(settings, subject, found, law)


def _blocks(clipping: Clipping, label: int) -> Floats:
    """(M,) probabilities of the blocks to which a label that has cells is mapped."""
    share = clipping.cells[0] / clipping.n_cells[0]
    own = np.arange(len(share)) == label
    return np.asarray(clipping.keep * own + (1 - clipping.keep) * share)


def _bin_laws(clipping: Clipping, scales: Floats) -> tuple[Floats, Floats]:
    """Edges (K, bins - 1), and (K, M, bins) the law of the bin of a value, given its block."""
    centres = clipping.log_cells[0]
    low, high = centres.min(axis=1) - 2 * scales, centres.max(axis=1) + 2 * scales
    edges = np.linspace(low, high, _BINS - 1, axis=1)
    below = laplace.cdf(edges[:, None], centres[..., None], scales[:, None, None])
    return edges, np.diff(below, axis=2, prepend=0.0, append=1.0)


def _bins_of(edges: Floats, values: Floats) -> Ints:
    """(N, K) numbers of the bins of values (N, K), or of (N, 1) by the edges of each of K."""
    return np.asarray((values[..., None] >= edges).sum(axis=2))


# ---- responses -----------------------------------------------------------------------------------


def audit_response(
    settings: Audits, seed: int, client: LabelClient, asked: float = _EPSILON
) -> Audited:
    """Randomised response about the first and the last label: whether it is one of them."""
    last = _N_LABELS - 1
    subject = _subject(
        client,
        "randomised response",
        f"{_N_LABELS} labels",
        asked,
        inputs=f"the first and the last of {_N_LABELS} labels",
    )
    columns = [
        (found.values[0][:, None] == (0, last)).astype(float)
        for found in _messages(settings, seed, client, (0, last))
    ]
    return _event(settings, subject, columns, "whether the message is one of the two")


def audit_membership(
    settings: Audits, seed: int, client: LabelClient, asked: float = _EPSILON
) -> Audited:
    """Answers about a label in the set of the index, or in the other one."""
    subject = _subject(client, "membership response", "public random set", asked)
    columns = [
        (found.values[0] == (found.index[0] == 0)).astype(float)
        for found in _messages(settings, seed, client, (0, 2))
    ]
    return _event(settings, subject, columns, "whether the answer speaks for the first set")


# ---- what all messages share ---------------------------------------------------------------------


def _subject(
    client: LabelClient,
    mechanism: str,
    variant: str,
    asked: float,
    *,
    code: str = "",
    inputs: str = "labels 0 and 2 of 3, which the two hypotheses tell apart",
) -> Subject:
    pair = client.guarantee.epsilon_delta
    return Subject(
        mechanism,
        variant,
        code or f"{type(client).__name__}.privatize",
        inputs,
        ONE_LABEL,
        LABEL_UNIT,
        asked,
        math.inf if pair is None else pair[0],
    )


def _messages(
    settings: Audits, seed: int, client: LabelClient, labels: tuple[int, int]
) -> list[Messages]:
    """Independent messages about each of two labels, (1, runs)."""
    found = []
    features = np.zeros(_MESSAGES_PER_RUN * settings.runs, dtype=np.int64)
    for label in labels:
        key = ("audit: labels", type(client).__name__, repr(client.guarantee.as_dict()), label)
        generators = replicate_generators(seed, key, [0], "messages")
        found.append(client.privatize(np.full((1, len(features)), label), features, generators))
    return found


def _event(
    settings: Audits, subject: Subject, columns: list[Floats], statistic: str, delta: float = 0.0
) -> Audited:
    first, second = columns
    result = audit_runs(
        first,
        second,
        parameter="epsilon",
        claimed=subject.claimed,
        confidence=settings.confidence,
        delta=delta,
    )
    return Audited(subject, statistic, result)


def _fit(settings: Audits, subject: Subject, outcomes: Ints, law: Floats) -> Audited:
    subject = dataclasses.replace(
        subject,
        mechanism=f"{subject.mechanism.removesuffix(', message')}, law of a message",
        inputs="messages about label 0",
        asked=0.0,
        recorded=0.0,
    )
    result = audit_fit(outcomes, law.ravel(), confidence=settings.confidence)
    return Audited(subject, FIT, result)
