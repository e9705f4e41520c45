"""The table that `dpol choose` reads: the newest accepted row of each place and period."""

from __future__ import annotations

import datetime
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol_weekly.coordinator.log import agreed, lines_of
from dpol_weekly.coordinator.settings import Coordination, read_coordination
from dpol_weekly.deployment import Deployment

if TYPE_CHECKING:
    import pandas as pd

    from dpol.core.randomness import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Reports:
    """The reports that count, as of a line of the list.

    Args:
        deployment: the agreement of then, with n entities.
        counts: (T, n) the newest accepted noisy counts, NaN without one; the last period has one.
        capacities: (T, n) their capacities.
        came: (T, n) when each was accepted.
        line: number of the line.
        head: SHA-256 of the line.
    """

    deployment: Deployment
    counts: Floats
    capacities: Floats
    came: np.ndarray[Any, np.dtype[np.str_]]
    line: int
    head: str

    def table(self, coordination: Coordination, period: datetime.date) -> pd.DataFrame:
        """Return the table of whoever may be chosen: who takes part, has reported, is large enough.

        Raises:
            DataError: fewer than two entities have ever reported, or none may be chosen.
        """
        import pandas as pd

        made, there = self.deployment, ~np.isnan(self.counts)
        if (told := int(there.any(axis=0).sum())) < 2:
            raise DataError(f"only {told} of the hospitals has ever reported; collect more reports")
        small = self.capacities < (coordination.question.min_capacity or 0.0)
        part = np.array([entity.takes_part(period) for entity in made.entities.values()])
        good = there.any(axis=0) & ~small.any(axis=0) & part
        if not good.any():
            raise DataError(
                f"no hospital may be chosen for {period} that takes part, has reported before, and"
                " is large enough in all its reports; collect reports, or lower min_capacity"
            )
        t, i = np.nonzero(there & good)
        days = np.array([str(made.period_of(it)) for it in range(len(self.counts))], dtype=object)
        frame = pd.DataFrame(
            {
                "place": np.array([*made.entities], dtype=object)[i],
                "period": days[t],
                "count": self.counts[t, i],
                "deviation": made.count_noise().standard_deviation,
                "capacity": self.capacities[t, i],
                "mu": made.mu,
                "came": self.came[t, i],
            }
        )
        return frame.drop(columns="capacity") if coordination.question.of == "count" else frame


def read_reports(folder: Path, as_of: int | None = None) -> Reports:
    """Read the reports that a coordinator has accepted.

    Args:
        folder: the coordinator's folder.
        as_of: number of the last line of the list to read; None: all.

    Raises:
        DataError: as `lines_of`.
    """
    found = [*lines_of(folder, as_of)]
    made = [agreed(facts, folder) for *_, facts in found if facts["kind"] == "agreement"]
    lines = [facts for *_, facts in found if facts["kind"] != "agreement"]
    if not made:
        raise DataError(f"{folder}: holds no agreement; dpol collect --deployment names its file")
    column = {name: at for at, name in enumerate(made[-1].entities)}
    days = {row[1] for facts in lines for row in facts.get("taken", ())}
    row_of = {it: made[-1].number_of(datetime.date.fromisoformat(it)) or 0 for it in days}
    shape = 1 + max(row_of.values(), default=-1), len(column)
    counts, capacities = np.full(shape, np.nan), np.full(shape, np.nan)
    came = np.full(shape, "", dtype="U25")
    for facts in lines:
        if facts["kind"] == "set aside":
            period = facts["period"]
            at = row_of[period] if period else slice(None), column[facts["entity"]]
            counts[at] = capacities[at] = np.nan
        elif taken := facts["taken"]:
            t, i = [row_of[it[1]] for it in taken], [column[it[0]] for it in taken]
            counts[t, i] = np.array([it[2] for it in taken], dtype=float)
            capacities[t, i] = np.array([it[3] for it in taken], dtype=float)
            came[t, i] = facts["time"]
    last = np.flatnonzero(~np.isnan(counts).all(axis=1))[-1:]
    size = int(last[0]) + 1 if len(last) else 0
    return Reports(
        deployment=made[-1],
        counts=counts[:size],
        capacities=capacities[:size],
        came=came[:size],
        line=found[-1][0],
        head=found[-1][1],
    )


def export(folder: Path, as_of: int | None = None) -> list[str]:
    """Write `reports.csv`, which `dpol choose` reads, with mu, and when each row came.

    Returns:
        What was written, and the command that chooses from it.

    Raises:
        ConfigError: `coordinator.yaml` breaks a rule.
        DataError: as `read_reports` and `Reports.table`.
        OutputError: the table cannot be written.
    """
    reports, to = read_reports(folder, as_of), folder / "reports.csv"
    coordination = read_coordination(folder)
    frame = reports.table(coordination, reports.deployment.period_of(len(reports.counts)))
    with atomic_path(to) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")
    words = ["dpol", "choose", str(coordination.rule), str(to)]
    if coordination.question.bound is not None:
        words += ["--range", f"{coordination.question.bound:g}"]
    told = f"{to}: {len(frame)} rows, as of line {reports.line}. Choose from it:"
    return [told, shlex.join(words)]
