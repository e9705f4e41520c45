"""Audits of L2P for experts and of its predecessors: exact loss, and the law of L2P's code."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import softmax

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.interface import CuratorSetup
from dpol.experts.play import RawGains, guarantee_of, setup_of
from dpol.lazy.accounting import ACCOUNTANTS, Accountant, LazyGame
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.convex.accounting import ConvexGame
from dpol.lazy.convex.lazy_weights import lazy_weights_epsilon
from dpol.lazy.dartboard import dartboard_epsilon, most_redraws
from dpol.lazy.exact import exact_epsilon, paths_and_shadow, worst_epsilon
from dpol.lazy.transform import NORMALISERS, LazyParameters, advance, start
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import ONE_ROUND, WHOLE_LOSSES
from dpol.studies.audits.core import Audited, Subject, by_computation, by_fit
from dpol.studies.audits.settings import Audits

_NAMES = {c: name for name, c in NORMALISERS.items()}
_BATCHES = 4
# Batch losses, up to B = 2, of four experts; each expert's differ between batches.
_LOSSES = np.array([[0.0, 2.0, 1.0, 0.5], [2.0, 0.0, 0.5, 1.0], [0.0, 1.0, 2.0, 0.0]])


def audit_lazies(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit L2P for experts: each accountant's claim, its calibration, and its code.

    Of the dartboard and of lazy regularised weights, audit the claim of the sound accountant.
    """
    yield audit_lazy(settings, "sound", LazyParameters(2, 0.01, 0.001))
    eta = 0.5 / math.log(2 * _BATCHES / settings.delta)  # at the edge of its preconditions
    yield audit_lazy(settings, "published", LazyParameters(1, 0.999 * eta, 0.5, normaliser=2.0))
    yield audit_dartboard(settings)
    yield audit_lazy_weights(settings, beta=0.05, regulariser=50.0, p=0.3)
    # At a large delta, a small mu has epsilon 0, which no parameters reach.
    if epsilon_of_delta(settings.delta, settings.mu) > 0:
        yield audit_calibration(settings)
    for normaliser in NORMALISERS.values():
        yield from audit_law(settings, seed, LazyParameters(2, 0.7, 0.5, normaliser=normaliser))


def audit_lazy(settings: Audits, accountant: Accountant, parameters: LazyParameters) -> Audited:
    """Audit an accountant's claim on two experts and four batches."""
    B = parameters.batch_size
    game = LazyGame(_BATCHES * B, settings.delta, normaliser=parameters.normaliser)
    claim = ACCOUNTANTS[accountant](game, B, parameters.eta, parameters.fake_switch)
    variant = f"{accountant} accountant"
    return _audit_loss(settings.delta, variant, parameters, _BATCHES, claim, claim)


def audit_dartboard(settings: Audits) -> Audited:
    """Audit the claim for the dartboard on two experts and four batches."""
    B, eta, p = 2, 0.1, 0.01
    game = LazyGame(_BATCHES * B, settings.delta)
    limit = most_redraws("sound", game, B, eta, p)
    claim = dartboard_epsilon(game, B, eta, p)
    played = LazyParameters(B, eta, p, shadow=False, limit=limit)
    return _audit_loss(settings.delta, "sound accountant", played, _BATCHES, claim, claim)


def audit_calibration(settings: Audits) -> Audited:
    """Audit the parameters of `LazyWeights` for mu by their exact epsilon."""
    algorithm, delta = LazyWeights(settings.delta), settings.delta
    stream = synthetic_stream("audit: two experts", np.full((_BATCHES, 2), 0.5))
    source = RawGains(stream, settings.mu, 1)
    setup = setup_of(source)
    assert isinstance(setup, CuratorSetup)
    parameters = algorithm.init(setup).parameters
    batches = math.ceil(_BATCHES / parameters.batch_size)
    asked = epsilon_of_delta(delta, settings.mu)
    recorded = guarantee_of(algorithm, source).epsilon(delta)
    return _audit_loss(delta, "as calibrated for mu", parameters, batches, asked, recorded)


def _audit_loss(
    delta: float, variant: str, played: LazyParameters, batches: int, asked: float, recorded: float
) -> Audited:
    subject = _subject(
        mechanism="L2P for experts" if played.shadow else "dartboard",
        variant=variant,
        code="none: dpol.lazy.exact computes the law",
        inputs=f"2 experts, {batches} batches; all neighbours on a grid of losses",
        asked=asked,
        recorded=recorded,
    )
    losses = np.arange(played.batch_size + 1).tolist()
    loss = 0.0  # the first point is drawn before any loss is known
    if batches > 1:
        limit = None if played.shadow else int(played.limit)
        loss = worst_epsilon(2, batches - 1, played, losses, delta=delta, limit=limit)
    return by_computation(subject, loss, delta)


def _subject(**fields: Any) -> Subject:
    """Return the subject of an audit; its inputs differ in one round's losses."""
    return Subject(adjacency=WHOLE_LOSSES, unit=ONE_ROUND, **fields)


def audit_law(settings: Audits, seed: int, parameters: LazyParameters) -> Iterator[Audited]:
    """Audit the running code of L2P against its computed distribution: all points and shadow."""
    subject = _subject(
        mechanism="L2P for experts, law of its outputs",
        variant=f"{_NAMES[parameters.normaliser]} normaliser",
        code="dpol.lazy.transform.start and advance",
        inputs="4 experts, 4 batches; the same losses in all runs",
        asked=0.0,
        recorded=0.0,
    )
    shape = [_LOSSES.shape[1]] * (_BATCHES + 1)
    law = paths_and_shadow(_LOSSES[None], parameters).reshape(shape)
    yield by_fit(subject, _play(settings, seed, parameters), law, settings)


def audit_lazy_weights(settings: Audits, beta: float, regulariser: float, p: float) -> Audited:
    """Audit the claim for lazy regularised weights on an interval, cut into 15 points."""
    T, D = _BATCHES, 2.0
    game = ConvexGame(n_rounds=T, dimension=1, diameter=D, lipschitz=1.0, delta=settings.delta)
    claim = lazy_weights_epsilon(game, p, beta, regulariser, T - 1)
    subject = _subject(
        mechanism="lazy regularised weights",
        variant="sound accountant",
        code="none: dpol.studies.audits.lazy computes the law",
        inputs=f"15 points of an interval, {T} rounds; all neighbours with slopes -1 and 1",
        asked=claim,
        recorded=claim,
    )
    points = np.linspace(-D / 2, D / 2, 15)
    every = np.array(list(itertools.product((-1.0, 1.0), repeat=T - 1)))
    laws = interval_laws(every, points, beta, regulariser, p)
    # One slope has the other sign.
    one, other = np.nonzero(np.abs(every[:, None] - every).sum(axis=2) == 2)
    loss = float(exact_epsilon(laws[one], laws[other], settings.delta).max())
    return by_computation(subject, loss, settings.delta)


def interval_laws(
    slopes: Floats, points: Floats, beta: float, regulariser: float, p: float
) -> Floats:
    """Return the (N, n^T) laws of the points played by lazy regularised weights.

    Args:
        slopes: (N, T - 1) slopes of the linear losses of N sequences before the last round.
        points: (n,) points of an interval.
        beta: inverse temperature.
        regulariser: lambda, the weight of `|x|^2`.
        p: probability of a fake switch.
    """
    totals = np.cumsum(slopes, axis=1)[..., None] * points
    totals = np.concatenate([np.zeros_like(totals[:, :1]), totals], axis=1)
    nu = softmax(-beta * (totals + regulariser * points**2), axis=2)
    laws = nu[:, :1]  # sequences, (x_1..x_{t-1}), x_t
    for before, after in itertools.pairwise(nu.swapaxes(0, 1)):
        keep = (1 - p) * math.exp(-beta * np.ptp(points)) * after / before
        kept = np.einsum("nhx,nx,xz->nhxz", laws, keep, np.eye(len(points)))
        drawn = np.einsum("nhx,nx,nz->nhxz", laws, 1 - keep, after)
        laws = (kept + drawn).reshape(len(slopes), -1, len(points))
    return laws.reshape(len(slopes), -1)


def _play(settings: Audits, seed: int, parameters: LazyParameters) -> list[np.ndarray]:
    """Return the points played in each batch, and the last shadow point; (R,) each."""
    key = ("audit: L2P", _NAMES[parameters.normaliser])
    generators = replicate_generators(seed, key, range(settings.runs), "L2P")
    measure = WeightsMeasure(_LOSSES.shape[1], parameters.eta)
    state = start(measure, generators)
    points = [state.played]
    for batch in _LOSSES:
        state = advance(measure, parameters, state, batch, generators)
        points.append(state.played)
    return [*points, state.shadow]
