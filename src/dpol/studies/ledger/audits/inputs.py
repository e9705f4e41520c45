"""Inputs of audits: two streams that differ in one person, who is at either of two experts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpol.data.stream import GainStream
from dpol.data.synthetic import adjacent_streams
from dpol.privacy.guarantee import AT_ONE_PLACE, Guarantee
from dpol.privacy.losses import Loss
from dpol.privacy.stays import STAYS


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """A stream, a level and a person who is at one of two experts.

    Args:
        stream: the gains without the person.
        mu: level of the noise.
        noise: name of the noise.
        rounds: the rounds that count the person, from 0.
        experts: the two experts.
        moves: whether the person moves between the two from round to round.
    """

    stream: GainStream
    mu: float
    noise: str
    rounds: tuple[int, ...]
    experts: tuple[int, int]
    moves: bool = False

    def __str__(self) -> str:
        stream, (one, other) = self.stream, self.experts
        people = f"stay {stream.stay}" if stream.capacity is not None else "given sensitivity"
        return (
            f"with a person in round {', '.join(str(t + 1) for t in self.rounds)}, at expert {one}"
            f" or {other} ({stream.n_rounds} rounds, {stream.n_experts} experts, gains up to"
            f" {stream.gain_range:g}, mu {self.mu:.3g}, {people}, {self.noise} noise)"
        )

    def streams(self) -> tuple[GainStream, GainStream]:
        """Return the stream with the person at the first expert, and at the second."""
        return adjacent_streams(self.stream, self.rounds, self.experts, moves=self.moves)

    def claim(self, record: Guarantee) -> float:
        """Return the smallest mu or epsilon that a record claims for this person; inf for none."""
        rounds, stay, delta = len(self.rounds), self.stream.stay, delta_of(record)
        claims = [math.inf]
        elsewhere = self.moves and AT_ONE_PLACE in record.adjacency
        if self.rounds[-1] - self.rounds[0] < stay and not elsewhere:
            claims.append(_claim(record.loss, delta))
        of_rounds = [record.in_rounds(rounds)] if record.in_rounds else []
        of_rounds += [it for v, it in zip(STAYS, record.stays or (), strict=False) if rounds <= v]
        claims += [_claim(it, delta) for it in of_rounds]
        if record.carried and rounds <= stay + record.carried[0]:
            claims.append(_claim(record.carried[1], delta))
        return min(claims)


def delta_of(record: Guarantee) -> float:
    """Return the delta at which a record without a mu claims an epsilon; 0 if it has a mu."""
    return record.loss.told if record.loss.told < 1 else 0.0


def _claim(loss: Loss, delta: float) -> float:
    return loss.epsilon(delta) if delta else loss.mu
