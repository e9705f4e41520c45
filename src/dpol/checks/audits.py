"""The audit of the actions of an algorithm, in several settings.

Games with a person at either of two experts prove a lower bound on the privacy parameter; above the
claim of the record, it refutes the record. Few games of every setting rank the settings, and many
fresh games of the best ones count, with those of short games. docs/explanation/privacy.md says what
an audit cannot see.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpol.checks import CheckError
from dpol.core.rounding import at_least
from dpol.studies.ledger.audits.actions import AuditedGames, Play, Setting, played

ERROR = 1e-6
"""Largest probability that a statistical check refuses a sound algorithm or noise."""
# Games of a setting on each stream that rank it, and that count; settings of each level that count.
_FEW, _MANY, _KEPT = 400, 10_000, 2
_ROUNDING = 1 + 1e-9
# Actions of the games of a short setting on each stream, the share of a claim below which a proof
# tells nothing, and the smallest delta that games show.
_SHORT, _LITTLE, _SEEN = 600_000, 0.1, 1e-3


def audit(play: Play, settings: Sequence[Setting], short: Sequence[Setting], *, seed: int) -> str:
    """Audit records, and return the verdict; a sound record is refuted with probability `ERROR`.

    The error is divided equally among the settings whose games count. The verdict is `cannot tell`
    if the games prove less than a tenth of every claim.

    Args:
        play: plays the games.
        settings: the settings, of which the worst count.
        short: settings of few rounds that all count.
        seed: root seed.

    Raises:
        CheckError: the games refute a record, or its mu is above that of the setting.
    """
    counted = [(each, _MANY) for each in _worst(play, settings, seed)]
    counted += [(each, _SHORT // each.stream.gains.size) for each in short]

    confidence = 1 - ERROR / len(counted)
    found = [played(play, *each, seed).audit()(confidence) for each in counted]
    ratios = [row["lower_bound"] / max(row["claimed"], 1e-9) for row in found]
    worst = found[max(range(len(found)), key=ratios.__getitem__)]
    proved = f"{worst['parameter']} >= {at_least(worst['lower_bound'])}"
    if worst["verdict"] == "violated":
        raise CheckError(
            f"{worst['inputs']}, its actions prove {proved}, but its record claims"
            f" {worst['claimed']:.3g}; noise is missing or too small"
        )
    delta = worst["delta"]
    unseen = f"; nothing shows its delta of {delta:g}" if 0 < delta < _SEEN else ""
    proved = f"proves {proved} of {worst['claimed']:.3g}"
    if max(ratios) < _LITTLE:
        return f"cannot tell, because its actions show too little ({proved}{unseen})"
    return f"holds, {proved}{unseen}"


def _worst(play: Play, settings: Sequence[Setting], seed: int) -> list[Setting]:
    """Return the settings that seem to exceed their claims most, some with small claims."""
    ranked = [played(play, each, _FEW, seed) for each in settings]
    for each in ranked:
        if not each.delta and each.record.mu > each.setting.mu * _ROUNDING:
            raise CheckError(
                f"{each.setting}, the record claims mu = {each.record.mu:.3g} but"
                f" {each.setting.mu:.3g} was requested; add noise"
            )
    ranked.sort(key=AuditedGames.score)
    large = [each.setting for each in ranked if each.claim >= 1]
    return [*large[-_KEPT:], *[each.setting for each in ranked if each.claim < 1][-_KEPT:]]
