"""Settings of the comparison: which systems, which aims, which correlated noise."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dpol.core.settings import AlgorithmSpec, Label, LabelOrNone, Settings, all_different
from dpol.privacy.settings import FiniteMu
from dpol.studies.games.settings import BASELINE, OURS, TUNED, NoiseName


class System(Settings):
    """A whole private system: an algorithm, its noise, and the learners it is built from."""

    algorithm: Label
    """Label of an algorithm that a suite plays."""
    noise: NoiseName
    """Scaling of its noise."""
    learners: LabelOrNone = ""
    """Family of the learners that it selects from or averages. The best of them in hindsight is
    the oracle selector, with which its own selection is compared. If all systems name theirs, the
    losses are told apart."""


class Aim(Settings):
    """Ours at one privacy level, compared with something at another level."""

    ours: Label
    """Privacy level of ours."""
    against: Literal["baseline", "best-learner"]
    """`baseline`: the baseline. `best-learner`: the best in hindsight of the learners of all
    systems, each under the noise of its system."""
    at: Label
    """Privacy level of what ours is compared with."""


class NoiseMemories(Settings):
    """Gain with designed memory compared with independent noise, for units of several weeks."""

    weeks: Annotated[
        list[Annotated[int, Field(ge=1, le=520)]],
        Field(min_length=1, max_length=6),
        AfterValidator(all_different),
    ] = [1, 2, 4, 8]
    """Units of privacy: a person in at most so many weeks in a row. Both noises protect each."""
    mus: Annotated[list[FiniteMu], Field(min_length=1), AfterValidator(all_different)]
    """Gaussian-DP parameters mu of such a person."""
    times: Annotated[float, Field(gt=1, le=10)] = 1.3
    """An aim: as good as independent noise at so many times the mu. The other aim: at every mu,
    not worse than independent noise for any unit."""
    algorithm: AlgorithmSpec = "empirical-bayes"
    """One algorithm, as in a suite, that knows correlated noise."""


class Comparison(Settings):
    """The baseline and ours side by side, and where the losses come from."""

    baseline: System
    """The baseline."""
    tuned: Annotated[list[System], AfterValidator(all_different)] = []
    """The baseline with other parameters, for its best: verdicts on the baseline are joined
    by verdicts on all of these."""
    ours: System
    """Ours."""
    ablations: Annotated[list[System], AfterValidator(all_different)] = []
    """Systems between the two, with rows of their own in the table of ablations."""
    aims: Annotated[list[Aim], AfterValidator(all_different)] = []
    """Comparisons across privacy levels, each with a verdict."""
    memory: NoiseMemories | None = None
    """Correlated noise compared with independent noise; without it, none."""

    @property
    def roles(self) -> dict[str, list[System]]:
        """The systems of each of `dpol.studies.games.settings.ROLES`."""
        return {BASELINE: [self.baseline], TUNED: self.tuned, OURS: [self.ours]}

    @property
    def ablated(self) -> bool:
        """True if losses are told apart: every system names its learners."""
        return all(it.learners for it in (self.baseline, self.ours, *self.ablations))
