"""A decision: whom to choose for a period, what it rests on, and how it is written."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from dpol.core.cells import spreadsheet_text
from dpol.core.errors import DataError
from dpol.data.question import Gain
from dpol_weekly.coordinator.evidence import SetAside
from dpol_weekly.coordinator.past import Scores
from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.coordinator.spent import Spent


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """The outlook of one entity in a decision.

    Args:
        entity: its identifier.
        title: a name to show.
        rank: 1 for the best; None for who is not in the choice, and where the algorithm does not
            rank.
        named: whether the decision names it.
        chance: that it is the one with the largest true share of those that may be chosen, or, if
            several are named, one of so many; None where the algorithm predicts none.
        share: predicted true share in the period; None where the algorithm predicts none.
        low: lower end of the 90% interval of the true share; None likewise.
        high: its upper end.
        noisy_share: what it reported last, noise included; None before its first report.
        noise: standard deviation of the noise on that.
        capacity: that it reported last, likewise.
        last_report: start of the period that it reported last, YYYY-MM-DD.
        reports: how many periods it has reported.
        silent: how many periods in a row, up to the last one, it was to report, and did not.
    """

    entity: str
    title: str
    rank: int | None
    named: bool
    chance: float | None
    share: float | None
    low: float | None
    high: float | None
    noisy_share: float | None
    noise: float | None
    capacity: float | None
    last_report: str | None
    reports: int
    silent: int


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The choice of entities for a period, and all that is needed to check it.

    Args:
        deployment: its name.
        deployment_sha256: of its content.
        period: start of the period that is decided, YYYY-MM-DD.
        last_period: start of the last period whose reports were read, the one before.
        named: identifiers of who is chosen, best first.
        outlooks: of all entities, in the order of the deployment.
        scores: how well earlier predictions fitted; None if there were none.
        spent: what the releases cost a person.
        coordination: the coordinator's own choices that were used.
        randomness: keys that the random numbers of the algorithm were drawn from.
        dpol: version of dpol.
        releases: how many releases were read, superseded ones included.
        read: the periods that each entity had released, counted from 0; of one that was released
            again there are several.
        set_aside: those of them that did not count.
        log_sha256: of all that was read, see `dpol_weekly.coordinator.evidence`.
    """

    deployment: str
    deployment_sha256: str
    period: str
    last_period: str
    named: tuple[str, ...]
    outlooks: tuple[Outlook, ...]
    scores: Scores | None
    spent: Spent
    coordination: Coordination
    randomness: Mapping[str, Any]
    dpol: str
    releases: int
    read: Mapping[str, str]
    set_aside: tuple[SetAside, ...]
    log_sha256: str

    @property
    def gain(self) -> Gain:
        """The question that was asked."""
        return self.coordination.question

    @property
    def missing(self) -> tuple[str, ...]:
        """Identifiers of who was to report for the last period, and did not."""
        return tuple(it.entity for it in self.outlooks if it.silent)

    @property
    def asked(self) -> str:
        """The question in words."""
        of_size = ""
        if self.gain.min_capacity is not None:
            of_size = f" of those with a capacity of at least {self.gain.min_capacity:g}"
        return f"Which entity{of_size} will have the largest {self.gain.of}?"

    def facts(self) -> dict[str, Any]:
        """All that the decision states, as plain values."""
        chosen = self.coordination.model_dump(exclude_none=True)
        return dataclasses.asdict(self) | {"coordination": chosen, "missing": self.missing}

    def as_json(self) -> str:
        """The decision as text; equal decisions give equal bytes."""
        return json.dumps(self.facts(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def as_csv(self) -> str:
        """A table with a row for each entity; no title is a formula for a spreadsheet."""
        text = io.StringIO(newline="")
        fields = [it.name for it in dataclasses.fields(Outlook)]
        writer = csv.DictWriter(text, ["period", *fields], lineterminator="\n")
        writer.writeheader()
        for it in self.outlooks:
            cells = {"period": self.period, **vars(it)}
            writer.writerow(cells | {key: spreadsheet_text(cells[key]) for key in _TEXTS})
        return text.getvalue()


_TEXTS = "entity", "title"


def as_ranges(versions: NDArray[np.int_], entities: Sequence[str]) -> dict[str, str]:
    """The periods that each entity has released, such as `0-5 7`.

    >>> as_ranges(np.array([[1, 0], [2, 0], [0, 1]]), ["a", "b"])
    {'a': '0-1 1', 'b': '2'}

    Args:
        versions: (T, n) how often.
        entities: n identifiers.
    """
    texts: dict[str, list[str]] = {name: [] for name in entities}
    for least in range(1, versions.max(initial=0) + 1):
        there = np.pad(versions >= least, ((1, 1), (0, 0))).astype(int)
        for name, changes in zip(entities, np.diff(there, axis=0).T, strict=True):
            starts, ends = (changes == 1).nonzero()[0], (changes == -1).nonzero()[0] - 1
            for first, last in zip(starts, ends, strict=True):
                texts[name].append(f"{first}-{last}" if first < last else f"{first}")
    return {name: " ".join(runs) for name, runs in texts.items()}


def from_ranges(texts: Mapping[str, str], entities: Sequence[str], rounds: int) -> NDArray[np.int_]:
    """(T, n) how often each entity released a period, of what `as_ranges` writes.

    Raises:
        DataError: the texts are not of these entities and periods.
    """
    versions = np.zeros((rounds + 1, len(entities)), dtype=int)
    try:
        for place, name in enumerate(entities):
            for run in texts.get(name, "").split():
                first, _, last = run.partition("-")
                if not 0 <= int(first) <= int(last or first) < rounds:
                    raise ValueError(run)
                versions[int(first) : int(last or first) + 1, place] += 1
    except (ValueError, AttributeError):
        raise DataError("a decision does not say what it read; put it back as it was") from None
    return versions[:-1]


def read_decision(path: Path) -> Decision:
    """A decision that was written as JSON.

    Raises:
        DataError: the file cannot be read, or is not a decision.
    """
    try:
        return _DECISION.validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise DataError(
            f"{path}: there is no such decision ({error.strerror}); make it with dpol decide"
        ) from None
    except ValueError:
        raise DataError(
            f"{path}: is not a decision of dpol; put it back as it was, or move it away and decide"
            " again"
        ) from None


_DECISION = TypeAdapter(Decision)
