"""Faults, each of another kind, and the check that refuses each.

`dpol check checks.faults:NAME` plays one. `FAULTS` has them by name, with their words (docstrings);
the first letters of `NAME.refused` are those of the check's title. Without it, the audit of its
actions refuses a fault.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import dpol
from checks.sound import Bank, Forgetful, Recent, Sums, Tree, leader
from dpol.experts.limited_updates import LimitedUpdates
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.privacy.losses import Loss, pure
from dpol.privacy.matrix_mechanism import fresh_window_sums
from dpol.privacy.tree_noise import tree_levels

SMALL, SEED, PAST, PURE, BLOCKS, RECORD, LEARNER, AUDIT = (
    *("plays small games", "the seed decides the game", "looks at the past only, and learns"),
    *("a step changes and hides nothing", "blocks of replicates do not matter"),
    *("the record is complete", "learners play their columns", "actions do not refute the record"),
)

# ---- interface, seed, past, blocks ---------------------------------------------------------------


class NeedsTwoRounds(Recent):
    """a game of one round ends in an error"""

    refused = SMALL

    def init(self, setup):
        setup.noise_scale[1]
        return setup.initial


class RandomFromElsewhere(Recent):
    """random numbers that no seed of the run decides"""

    refused = SEED

    def changed(self, scores, observation, generators):
        return scores + np.random.default_rng().normal(size=scores.shape)


class OrderedByHash(Recent):
    """ties that are broken in the order of a set of texts"""

    refused = SEED

    def changed(self, scores, observation, generators):
        names = {f"expert {place}" for place in range(scores.shape[1])}
        order = np.array([int(name.split()[1]) for name in names])
        return -np.argsort(order) / 100 + np.round(scores)


class OfAHash(Recent):
    """places that are moved by the hash of a text"""

    refused = SEED

    def changed(self, scores, observation, generators):
        return np.roll(scores, hash("expert") % scores.shape[1], axis=1)


class EndsTheProcess(Recent):
    """an exit in the first round, with a code that says success"""

    refused = SEED

    def changed(self, scores, observation, generators):
        sys.exit(0)


class EndsTheProcessAtOnce(Recent):
    """the same without an exception"""

    refused = SEED

    def changed(self, scores, observation, generators):
        os._exit(0)


class OrderedByHashAsLearner(Bank):
    """a learner that takes the first text of a set"""

    refused = SEED

    def step(self, state, observation):
        after, actions = super().step(state, observation)
        return after, (actions + int(min({*"0123456789"}, key=hash))) % 4


class RootOfNegative(Recent):
    """the root of a gain below 0, which is no number, late in a game"""

    refused = SEED

    def init(self, setup):
        return 0, super().init(setup)

    def step(self, state, observation, generators):
        t, scores = state
        scores, actions = super().step(scores, observation, generators)
        return (t + 1, scores), leader(np.sqrt(scores)) if t > 40 else actions


class TooLargeForItsExponential(Recent):
    """shares of exponentials, which are no numbers where gains are large"""

    refused = SMALL

    def changed(self, scores, observation, generators):
        weights = np.exp(scores)
        return weights / weights.sum(axis=1, keepdims=True)


class LooksAhead(Recent):
    """this round's gains, from a frame of the loop that plays it"""

    refused = PAST

    def changed(self, scores, observation, generators):
        frame: Any = sys._getframe()
        while not isinstance(frame.f_locals.get("source"), dpol.NoisyGains):
            frame = frame.f_back
        return frame.f_locals["source"].gains[:, frame.f_locals["t"]]


@dataclass(frozen=True)
class RemembersElsewhere(Recent):
    """a count of calls outside of the state"""

    refused = PURE
    kept: dict[str, Any] = field(default_factory=dict, compare=False)

    def changed(self, scores, observation, generators):
        self.kept["calls"] = self.kept.get("calls", 0) + 1
        return np.roll(scores, self.kept["calls"], axis=1)


class ChangesItsState(Recent):
    """a sum that grows in place, in a state that was given"""

    refused = PURE

    def init(self, setup):
        return setup.initial.copy()

    def step(self, state, observation, generators):
        if observation is not None:
            state += observation.gains
        return state, leader(state)


class MixesReplicates(Recent):
    """gains that are shrunk to their mean over the replicates, so that an action reads all games"""

    refused = BLOCKS

    def changed(self, scores, observation, generators):
        return 0.5 * scores + 0.5 * scores.mean(axis=0)


# ---- records, learners ---------------------------------------------------------------------------


class ClaimsMore(Tree):
    """a record of four times the loss that was asked for"""

    refused = RECORD

    def guarantee(self, setup: Any) -> Any:
        record = super().guarantee(setup)
        return replace(record, loss=record.loss.times(4))


class NamesNobody(Tree):
    """a record that protects a hospital, not a person"""

    refused = RECORD

    def guarantee(self, setup: Any) -> Any:
        return replace(super().guarantee(setup), unit="a hospital")


class LongerForLess(Forgetful):
    """a record in which longer stays lose less"""

    refused = RECORD

    def guarantee(self, setup: Any) -> Any:
        record = super().guarantee(setup)
        stays = record.stays and (record.stays[0], *(Loss(gaussian=0.1),) * 3)
        return replace(record, stays=stays)


class OtherAlone(Bank):
    """a learner that plays another game alone than in its bank"""

    refused = LEARNER

    def single(self, place: int) -> Any:
        return dpol.RidgeBank((4,)), 0


# ---- noise: how much, on what, when --------------------------------------------------------------


class _Scaled(Forgetful):
    """Sound noise times a factor of the round, the gains and the setup."""

    def init(self, setup: Any) -> Any:
        t, noise, kept = super().init(setup)
        return t, noise * self.of_setup(setup), kept

    def of_setup(self, setup: Any) -> Any:
        return 1.0

    def noisy(self, t, gains, draws, scale, kept):
        return gains + draws * self.of_round(t, gains), kept

    def of_round(self, t: int, gains: Any) -> Any:
        return 1.0


class TooSmallByRootTwo(_Scaled):
    """noise for the change of one gain, where a person moves two"""

    def of_setup(self, setup):
        return 1 / math.sqrt(2)


class ShrinksWithData(_Scaled):
    """noise that shrinks as gains grow"""

    def of_round(self, t, gains):
        return 1.2 - np.minimum(gains, 1.1)


class NoneFromRoundTwelve(_Scaled):
    """no noise from round 12 on"""

    def of_round(self, t, gains):
        return float(t < 12)


class NoneFromTheFourthOn(_Scaled):
    """no noise on the gains of the fourth expert and of those after it"""

    def of_round(self, t, gains):
        return np.arange(gains.shape[1]) < 3


class NoneWhereGiven(_Scaled):
    """no noise where sensitivities are given"""

    def of_setup(self, setup):
        return float(setup.changes is not None)


class ByTheFirstRound(_Scaled):
    """noise for the capacities of the first round, which fall later"""

    def of_setup(self, setup):
        return 1.0 if setup.changes is None else setup.changes[0].max() / setup.largest_change


class OneWeekLess(_Scaled):
    """noise for a stay that is a week shorter"""

    def of_setup(self, setup):
        return math.sqrt(max(setup.stay - 1, 1) / setup.stay)


class OneWeekLessOfTwo(_Scaled):
    """the same where a stay is of two weeks, and no other"""

    def of_setup(self, setup):
        return math.sqrt(0.5) if setup.stay == 2 else 1.0


class OneWeekLessOfThree(_Scaled):
    """the same where a stay is of three weeks, and no other"""

    def of_setup(self, setup):
        return math.sqrt(2 / 3) if setup.stay == 3 else 1.0


# ---- noise: of which law, drawn how often --------------------------------------------------------


class SharedByTwo(Forgetful):
    """two experts with one draw"""

    def noisy(self, t, gains, draws, scale, kept):
        return gains + draws[:, [0, 0, *range(2, len(scale))]], kept


class UsedAgain(Forgetful):
    """the draw of the first round in all rounds"""

    def noisy(self, t, gains, draws, scale, kept):
        kept = draws if t == 0 else kept
        return gains + kept, kept


class Bounded(Forgetful):
    """Gaussian noise that is cut at one deviation"""

    def noisy(self, t, gains, draws, scale, kept):
        return gains + np.clip(draws, -scale, scale), kept


class SomeBare(Forgetful):
    """no noise in 5% of the draws"""

    def draws(self, generators, n):
        return (generators.uniforms(1) > 0.05) * generators.standard_normal(n)


class HasLaplaceTails(Forgetful):
    """Laplace noise with the deviation and the record of Gaussian noise"""

    def draws(self, generators, n):
        units = np.clip(generators.uniforms(n), 1e-12, 1 - 1e-12) - 0.5
        return -np.sign(units) * np.log1p(-2 * np.abs(units)) / math.sqrt(2)


# ---- composition, longer stays, delta ------------------------------------------------------------


class NoComposition(Sums):
    """sums of all rounds, each with the noise of one"""

    def releases(self, setup):
        return 1


class OfFewerWeeks(Forgetful):
    """a record in which eight weeks lose as much as four"""

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)
        mu = lambda weeks: float(week * (weeks / 2 if weeks >= 8 else weeks) ** 0.5)  # noqa: E731
        return setup.guarantee("fresh noise", setup.mu, mu)


class CarriedForFree(Forgetful):
    """a record in which a carried count costs a third"""

    def guarantee(self, setup: Any) -> Any:
        record = super().guarantee(setup)
        carried = record.carried and (record.carried[0], Loss(gaussian=0.3 * record.mu))
        return replace(record, carried=carried)


class Differences(Forgetful):
    """changes of gains, with noise for a person who stays at one place"""

    def init(self, setup: Any) -> Any:
        t, noise, kept = super().init(setup)
        return t, np.sqrt(2 / setup.stay) * noise, kept

    def noisy(self, t, gains, draws, scale, kept):
        return gains - kept + draws, gains

    def guarantee(self, setup: Any) -> Any:
        return setup.guarantee("changes", setup.mu, lambda weeks: float(setup.mu * weeks**0.5))


class SmallDelta(Forgetful):
    """epsilon at delta = 0.05, claimed at delta = 1e-9"""

    def guarantee(self, setup: Any) -> Any:
        def claim(mu: float) -> Loss:
            loss = Loss(gaussian=mu)
            return pure(loss.epsilon(0.05), 1e-9) if mu < np.inf else loss

        week = setup.mu / np.sqrt(setup.stay)
        return setup.guarantee("noise", claim(setup.mu), lambda v: claim(float(week * v**0.5)))


# ---- mechanisms of dpol, each with one slip ------------------------------------------------------


class TreeShort(TreeFTPL):
    """a tree whose nodes have noise for one level fewer than a round enters"""

    def init(self, setup):
        state, levels = super().init(setup), tree_levels(setup.n_rounds)
        node = state.node_scale * math.sqrt(max(levels - 1, 0) / max(levels, 1))
        return replace(state, total_scale=0.0, node_scale=node)


@dataclass(frozen=True)
class WindowShort(NoisyMax):
    """window sums with noise for one round fewer"""

    window: int = 3

    def factorization(self, n_rounds):
        return fresh_window_sums(n_rounds, max(self.window - 1, 1))


class BlocksKept(LimitedUpdates):
    """sums that go on over all blocks, where the loss is that of one draw"""

    def step(self, state, observation, generators):
        after, played = super().step(state, observation, generators)
        gains = 0.0 if observation is None else observation.gains
        return replace(after, sums=state.sums + gains), played


class TiesBySums(MatrixFTPL):
    """noisy sums that are rounded, with ties by the raw sums"""

    def scores(self, state):
        return np.asarray(np.round(state.released, 1) + 1e-6 * state.sums)


class SharesOfTheBest(MatrixFTPL):
    """gains over the best of their round, with noise for gains as they are"""

    def absorb(self, state, gains):
        return super().absorb(state, gains / np.maximum(gains.max(axis=1, keepdims=True), 1e-3))


FAULTS = {
    name: it
    for name, it in vars(sys.modules[__name__]).items()
    if isinstance(it, type) and it.__module__ == __name__ and not name.startswith("_")
}
"""Faults by name."""


def refused_by(fault: Any) -> str:
    """Return the first letters of the title of the check that refuses a fault."""
    return str(getattr(fault, "refused", AUDIT))


def table() -> str:
    """Return the table of faults, in Markdown."""
    lines = ["| what is wrong | refused by |", "|---|---|"]
    lines += [f"| {it.__doc__} | {refused_by(it)} |" for it in FAULTS.values()]
    return "\n".join(lines)
