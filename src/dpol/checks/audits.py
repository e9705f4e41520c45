"""Audits of the actions of an algorithm, in several settings.

Games with a person at either of two experts prove a lower bound on the privacy parameter; above the
claim of the record, it refutes the record. Few games of every setting rank the settings, more games
rank the best of these again, and many fresh games of the last few count.

An audit of this size cannot see:

- a fault that needs two rare conditions at once, such as no noise in round 17 of games of 5
  experts: a setting or two have it, and their person must be in that round
- a fault outside the drawn settings: from round 41 on, at a seventh expert, at capacities above 50
- a fault in few games, such as no noise in one of a hundred
- noise that is a little too small in long games: choices show less than releases, and the worst
  choice, last and alone, may not show a person at all
- a delta below 1e-3: such events are too rare
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpol.checks import CheckError
from dpol.core.rounding import at_least
from dpol.studies.ledger.audits.actions import AuditedGames, Play, played
from dpol.studies.ledger.audits.core import Row, verdicts
from dpol.studies.ledger.audits.inputs import Setting

ERROR = 1e-6
"""Largest probability that a statistical check refuses a sound algorithm or noise."""
SHARES = 0.9, 0.5, 0.3, 0.1
"""Shares of the right noise with which a check plays again, to tell its power."""
# Settings that are ranked again, and whose games count, of those with small and with large claims.
_KEPT, _LAST = 6, 2
_ROUNDING = 1 + 1e-9
# Actions of the games of a short setting on each stream, settings that are played with less noise,
# and the smallest delta that games show.
_SHORT, _LIKELY, _SEEN = 800_000, 2, 1e-3


def audit(
    play: Play,
    settings: Sequence[Setting],
    short: Sequence[Setting] = (),
    *,
    seed: int,
    games: tuple[int, int, int],
) -> str:
    """Audit records, and return the verdict; a sound record is refuted with probability `ERROR`.

    The error is divided equally among the settings whose games count. The verdict is `cannot tell`
    if a tenth of the noise does not refute the record either.

    Args:
        play: plays the games.
        settings: the settings, of which the worst count.
        short: settings of few rounds that all count, with `_SHORT` actions in all.
        seed: root seed.
        games: numbers of games, on each stream: of all settings, of the best of these, and those
            that count.

    Raises:
        CheckError: the games refute a record, or its mu is above that of the setting.
    """
    counted = [(each, games[-1]) for each in _worst(play, settings, seed, games)]
    counted += [(each, _SHORT // each.stream.gains.size) for each in short]

    def rows(asked: Sequence[tuple[Setting, int]], share: float) -> list[Row]:
        audits = (played(play, *each, seed, share).audit() for each in asked)
        return [*verdicts(audits, 1 - ERROR / len(counted))]

    found = rows(counted, 1.0)
    ratios = [row["lower_bound"] / max(row["claimed"], 1e-9) for row in found]
    worst = found[max(range(len(found)), key=ratios.__getitem__)]
    proved = f"{worst['parameter']} >= {at_least(worst['lower_bound'])}"
    if worst["verdict"] == "violated":
        raise CheckError(
            f"{worst['inputs']}, its actions prove {proved}, but its record claims"
            f" {worst['claimed']:.3g}; noise is missing or too small"
        )
    likely = [counted[i] for i in np.argsort(ratios)[-_LIKELY:]]

    def seen(share: float) -> bool:
        return any(row["verdict"] == "violated" for row in rows(likely, share))

    least = SHARES[-1] if seen(SHARES[-1]) else 0.0
    refused = next(filter(seen, SHARES[:-1]), least) if least else 0.0
    delta = worst["delta"]
    unseen = f"; nothing shows its delta of {delta:g}" if 0 < delta < _SEEN else ""
    proved = f"proves {proved} of {worst['claimed']:.3g}"
    if not refused:
        return f"cannot tell, because a tenth of the noise would pass too ({proved}{unseen})"
    return f"holds, {proved}; would refute {refused:g} of the noise{unseen}"


def _worst(
    play: Play, settings: Sequence[Setting], seed: int, games: tuple[int, int, int]
) -> list[Setting]:
    """Return the settings that seem to exceed their claims most.

    Noise that is too small shows best at a large claim, noise that is used again at a small one.
    """
    first, more, _ = games
    ranked = [played(play, each, first, seed) for each in settings]
    for each in ranked:
        if not each.delta and each.record.mu > each.setting.mu * _ROUNDING:
            raise CheckError(
                f"{each.setting}, the record claims mu = {each.record.mu:.3g} but"
                f" {each.setting.mu:.3g} was requested; add noise"
            )
    counted = []
    for low, high in ((0.0, 1.0), (1.0, math.inf)):
        best = _best([each for each in ranked if low <= each.claim < high], _KEPT)
        again = [played(play, each.setting, more, seed) for each in best]
        counted += [each.setting for each in _best(again, _LAST)]
    return counted


def _best(ranked: Sequence[AuditedGames], kept: int) -> list[AuditedGames]:
    scores = [each.score() for each in ranked]
    return [ranked[i] for i in np.argsort(scores)[-kept:]]
