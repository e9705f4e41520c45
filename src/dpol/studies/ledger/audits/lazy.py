"""Audits of the code of L2P for experts, by the law whose exact loss the ledger computes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpol.core.randomness import replicate_generators
from dpol.lazy.exact import paths_and_shadow
from dpol.lazy.transform import NORMALISERS, LazyParameters, advance, start
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.guarantee import ONE_ROUND, WHOLE_LOSSES
from dpol.studies.ledger.audits.core import Audited, Subject, by_fit
from dpol.studies.ledger.audits.settings import Audits

# Batch losses, up to B = 2, of four experts; each expert's differ between batches.
_LOSSES = np.array([[0.0, 2.0, 1.0, 0.5], [2.0, 0.0, 0.5, 1.0], [0.0, 1.0, 2.0, 0.0]])


def audit_laws(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit the code of L2P with each normaliser."""
    for name, normaliser in NORMALISERS.items():
        parameters = LazyParameters(2, 0.7, 0.5, normaliser=normaliser)
        yield audit_law(settings, seed, name, parameters)


def audit_law(settings: Audits, seed: int, normaliser: str, parameters: LazyParameters) -> Audited:
    """Audit the running code of L2P against its computed distribution: all points and shadow."""
    subject = Subject(
        mechanism="L2P for experts, law of its outputs",
        variant=f"{normaliser} normaliser",
        code="dpol.lazy.transform.start and advance",
        inputs="4 experts, 4 batches; the same losses in all runs",
        adjacency=WHOLE_LOSSES,
        unit=ONE_ROUND,
    )
    generators = replicate_generators(seed, ("audit: L2P", normaliser), range(settings.runs), "L2P")
    measure = WeightsMeasure(_LOSSES.shape[1], parameters.eta)
    state = start(measure, generators)
    points = [state.played]
    for batch in _LOSSES:
        state = advance(measure, parameters, state, batch, generators)
        points.append(state.played)
    shape = [_LOSSES.shape[1]] * (len(points) + 1)
    law = paths_and_shadow(_LOSSES[None], parameters).reshape(shape)
    return by_fit(subject, [*points, state.shadow], law, settings)
