"""Settings of the main experiment: what plays, what is compared, what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from dpol.core.plugins import OF_ANOTHER
from dpol.core.settings import AlgorithmSpec, Label, LabelOrNone, Settings, all_different
from dpol.experts.interface import Member
from dpol.noise import ISOTROPIC, NOISES, find_noise
from dpol.noise.noises import known_memory

Members = Mapping[str, Sequence[Member]]
"""The algorithms of each suite."""
PAPER_NOISE = ISOTROPIC.name
"""The noise of the paper's numbers."""
BEST_FIXED = "best-fixed-expert"
"""Label of the best single expert in hindsight, in the curves of cumulative gain."""
UNIFORM = "uniform-random"
"""Label, in the same curves, of an expert drawn uniformly in every round."""
ORACLE = "oracle"
"""Label, in the same curves, of the per-round best expert."""
BASELINE, TUNED, OURS = "baseline", "tuned", "ours"
ROLES = {BASELINE: "the baseline", TUNED: "the tuned baseline", OURS: "ours"}
"""The roles of systems in a comparison, with the names that readers see."""


def known_noise(name: object) -> object:
    """The name of a noise. Raises ValueError for anything else."""
    find_noise(name)
    return name


NoiseName = Annotated[
    str,
    BeforeValidator(known_noise),
    WithJsonSchema({"anyOf": [{"enum": list(NOISES)}, {"type": "string", "pattern": OF_ANOTHER}]}),
]


_PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
MemoryName = Annotated[
    Any,
    BeforeValidator(known_memory),
    WithJsonSchema({"anyOf": [{"enum": ["designed", "none"], "type": "string"}, _PAIR]}),
]
"""A `MemoryChoice` as a config has it."""


class Suite(Settings):
    """Algorithms that run together, on the same noisy gains, in one job."""

    noises: Annotated[list[NoiseName], Field(min_length=1), AfterValidator(all_different)] = [
        ISOTROPIC.name
    ]
    """Scalings of the noise, one run each; ignored by algorithms without privacy."""
    algorithms: Annotated[list[AlgorithmSpec], Field(min_length=1)]
    """A registered name, or a block with the key `algorithm`, optionally `label`, and parameters.
    All algorithms of a suite see the same data: noisy gains, raw gains, or raw without privacy."""


class Report(Settings):
    """Rows and columns of the table and the figure; without it, of all that the suites play."""

    algorithms: Annotated[
        list[Label],
        BeforeValidator(lambda value: [] if value is None else value),
        AfterValidator(all_different),
    ] = []
    """Labels of the algorithms, in the order of the columns and of the legend. A list leaves out
    what it does not name; without one, all algorithms are shown in the order of the suites, those
    of the family `envelope` by their best."""
    envelope: LabelOrNone = "ridge"
    """The family whose range is shaded, and whose best member has a column of its own; `null` for
    none. Without this key none too, if no suite plays `ridge`."""
    noise: NoiseName = ISOTROPIC.name
    """The noise that the figure of cumulative gains shows. Without this key it is `isotropic`, or
    the first noise of a local suite where none plays with that."""
    rivals: Annotated[list[Label], AfterValidator(all_different)] = []
    """Labels of the algorithms, local and central, that the figure of rivals shows under every
    noise; there is no such figure if none is named."""
    replay: bool = False
    """True replays a run round by round, with every true count, although `dataset.public` is
    false. Public and simulated data are always replayed."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Confidence of the intervals, all cells of the table together (Bonferroni)."""

    def resolved(self, suites: Mapping[str, Suite], members: Members) -> Report:
        """The report with what is not given: it follows from what the suites play.

        Args:
            suites: of the config.
            members: the algorithms of each suite.
        """
        given = self.model_fields_set
        found: dict[str, Any] = {}
        played = [member for made in members.values() for member in made]
        envelope = self.envelope
        if "envelope" not in given and all(member.family != envelope for member in played):
            envelope = found["envelope"] = ""
        if not self.algorithms:
            own = [member.label for member in played if member.family != envelope]
            found["algorithms"] = [*dict.fromkeys(own or [member.label for member in played])]
        local = [
            noise
            for label, made in members.items()
            if any(member.algorithm.model == "local" for member in made)
            for noise in suites[label].noises
        ]
        if "noise" not in given and local and self.noise not in local:
            found["noise"] = local[0]
        return self.model_copy(update=found)


class Games(Settings):
    """The main experiment: the keys of a config that it depends on."""

    suites: dict[Label, Suite] = {}
    """Algorithms that are played, by label of their suite."""
    block_replicates: int | None = None
    """Replicates in one job; without it all."""
    keep_rounds: bool = False
    """True if every round of every run is kept."""
    report: Report
    roles: dict[str, list[tuple[Label, NoiseName]]] = {}
    """Algorithm and noise of the systems of each of `ROLES`, if they are compared."""
