"""Audits of L2P for experts: the exact law of its outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpol.config import Audit
from dpol.evaluation.audit.core import Audited
from dpol.lazy.transform import NORMALISERS, LazyParameters
from dpol.privacy.audit import audit_loss
from dpol.privacy.guarantee import ONE_ROUND, WHOLE_LOSSES
from dpol.privacy.lazy_accounting import ACCOUNTANTS, Accountant, LazyGame
from dpol.privacy.lazy_exact import LazyLaw, worst_epsilon


def audit_lazies(settings: Audit, seed: int) -> Iterator[Audited]:
    """L2P for experts as each accountant claims it; nothing is drawn."""
    del seed
    yield audit_lazy(settings, "sound", LazyParameters(2, 0.01, 0.001))
    eta = 0.5 / math.log(2 * _BATCHES / settings.delta)  # At the edge of its preconditions.
    yield audit_lazy(settings, "published", LazyParameters(1, 0.999 * eta, 0.5, "published"))


_BATCHES = 4


def audit_lazy(
    settings: Audit,
    accountant: Accountant,
    claimed: LazyParameters,
    played: LazyParameters | None = None,
) -> Audited:
    """The exact epsilon of two experts and four batches, over all neighbours on a grid of losses.

    Args:
        settings: gives delta.
        accountant: whose claim is audited.
        claimed: the parameters that the claim is about.
        played: those of the mechanism, if they are others.
    """
    played, B = played or claimed, claimed.batch_size
    c = NORMALISERS[claimed.normaliser]
    game = LazyGame(_BATCHES * B, settings.delta, normaliser=c)
    claim = ACCOUNTANTS[accountant](game, B, claimed.eta, claimed.fake_switch)
    law = LazyLaw(B, played.eta, played.fake_switch, NORMALISERS[played.normaliser])
    losses = np.arange(B + 1).tolist()
    loss = worst_epsilon(2, _BATCHES - 1, law, losses, delta=settings.delta)
    result = audit_loss(loss, parameter="epsilon", claimed=claim, delta=settings.delta)
    return Audited("L2P for experts", accountant, WHOLE_LOSSES, ONE_ROUND, result)
