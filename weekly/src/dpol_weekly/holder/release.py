"""Release noisy counts: what is due, with noise from the secret, in one signed file."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, locked, remove_temporary
from dpol.noise.keyed import keyed_noise, read_secret
from dpol_weekly.deployment import Deployment, read_deployment
from dpol_weekly.holder.agreement import refuse_unconfirmed
from dpol_weekly.holder.counts import Place, Table, read_counts
from dpol_weekly.holder.memory import Memory, Rows, recall
from dpol_weekly.holder.settings import Hospital, read_hospital
from dpol_weekly.keys import Key
from dpol_weekly.noise import in_steps
from dpol_weekly.records import alike, recompute, signed_text
from dpol_weekly.released.row import Released, noisy_count


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of a release, without counts.

    Args:
        deployment: the agreement.
        file: the newest release; None if nothing was released yet.
        first: whether nothing had been released before.
        added: entity, period and version of the rows that this release added.
        late: places that are due, and why they cannot be released.
        warnings: what the holder alone should see.
        mu_of_stay: an upper bound on the mu of the longest stay, over all releases.
    """

    deployment: Deployment
    file: Path | None
    first: bool
    added: Sequence[tuple[str, str, int]]
    late: Mapping[Place, str]
    warnings: Sequence[str]
    mu_of_stay: float

    @property
    def again(self) -> int:
        """Number of rows of this release for periods that were released before."""
        return sum(version > 1 for *_, version in self.added)


def release(
    file: Path,
    *,
    agree: str | None = None,
    through: datetime.date | None = None,
    today: datetime.date | None = None,
) -> Release:
    """Add noise to the counts that are due in a holder's table, and sign all rows so far.

    The rows that were released stay as they left, whatever the table says now. The noise is a
    function of the secret and of what is released, so a run that was stopped is run again.

    Args:
        file: the holder's own file.
        agree: whole hash of the agreement, as confirmation; None: it was confirmed before.
        through: last day that the table covers; None: as the holder's file says.
        today: today's date; None: the computer's.

    Raises:
        ConfigError: a file breaks a rule, or the agreement is not confirmed.
        DataError: the table or a release breaks a rule, or a budget would be passed. Nothing is
            released then.
        OutputError: a file cannot be written.
    """
    day, hospital = today or datetime.date.today(), read_hospital(file)
    deployment = read_deployment(hospital.deployment)
    key = Key(hospital.key)
    lost = "dpol privatize FILE --new-key makes another one; what was released stays as it left"
    secret = read_secret(hospital.secret, lost=lost)
    with locked(hospital.output):
        memory = recall(hospital, deployment, key)
        rows = memory.rows(deployment.name)
        table = read_counts(hospital, deployment, today=day, through=through)
        wanted, late = _due(deployment, table, rows, memory, {*map(str, hospital.unknown)}, day)
        refuse_unconfirmed(hospital, deployment, memory, agree)
        for place in wanted:
            count = table.counts[place[:2]]
            beds = _beds_of_then(hospital, memory, deployment, *place[:2]) or count.capacity
            rows[place] = _noisy(secret, deployment, place, count.count, beds)
        written, stay = None, 0.0
        if rows:
            order = sorted(rows, key=lambda it: (it[2], it[1], it[0]))
            facts: dict[str, object] = {
                "dpol_release": 4,
                "agreement": deployment.sha256(),
                "rows": [[*rows[place]] for place in order],
                "key": key.public,
            }
            stay = _mu_of_stay(facts, memory)
            for sha256 in {deployment.sha256(), *(it.agreement for it in memory.reports)}:
                text = memory.agreements[sha256].agreement()
                _put(hospital.output / f"agreement-{sha256[:8]}.yaml", text)
            last = max(period for _, period, _ in rows)
            written = hospital.output / f"{deployment.name}-{key.public[:8]}-{last}.json"
            whole = facts | {"signature": key.sign(signed_text(facts))}
            for folder in filter(None, (hospital.output, hospital.copy_to)):
                _put(folder / written.name, json.dumps(whole, indent=1))
        return Release(
            deployment=deployment,
            file=written,
            first=not memory.reports,
            added=wanted,
            late=late,
            warnings=table.warnings,
            mu_of_stay=stay,
        )


def _due(
    deployment: Deployment,
    table: Table,
    rows: Rows,
    memory: Memory,
    unknown: set[str],
    today: datetime.date,
) -> tuple[list[tuple[str, str, int]], dict[Place, str]]:
    """Return the entity, period and version of what is due, and what is due and not in the table.

    No count is looked at: what is due follows from the calendar and the releases. A place begins
    with the first period that its table can hold.
    """
    wanted, late = list[tuple[str, str, int]](), dict[Place, str]()
    for name, calendar in table.calendar.items():
        known = {period for entity, period, _ in rows if entity == name}
        open_to = [it for it in calendar if it > memory.begin_after and it not in unknown]
        there = [it for it in open_to if (name, it) in table.counts]
        start = min(known) if known else (there or open_to[-1:] or [""])[0]
        for period in calendar:
            second = deployment.second_day(datetime.date.fromisoformat(period))
            if (name, period, 1) not in rows:
                version = 1 if period in open_to and period >= start else 0
            else:
                again = second is not None and second <= today and period not in unknown
                version = 2 if again and (name, period, 2) not in rows else 0
            if version and (name, period) in table.counts:
                wanted.append((name, period, version))
            elif version:
                late[name, period] = table.unread[name, period]
    return wanted, late


def _beds_of_then(
    hospital: Hospital, memory: Memory, deployment: Deployment, name: str, period: str
) -> str | None:
    """Return the beds agreed for a period, which an amendment may change; None if reported.

    Raises:
        DataError: the period is older than an amendment, and the agreement before is not here.
    """
    then = deployment
    while then.amends and period < then.amends.since.isoformat():
        if then.amends.agreement not in memory.agreements:
            raise DataError(
                f"{name}, {period}: is due under the agreement ({then.amends.agreement}) that the"
                f" one of now amends; copy the file of that one into {hospital.output}"
            )
        then = memory.agreements[then.amends.agreement]
    return then.entities.get(name, deployment.entities[name]).beds


def _noisy(
    secret: bytes, deployment: Deployment, place: tuple[str, str, int], count: str, beds: str
) -> Released:
    """Return the released row of a count; equal counts of equal places are equal rows."""
    (name, period, version), noise = place, deployment.count_noise()
    steps = keyed_noise(
        secret,
        [deployment.name, deployment.lasting_sha256(), noise.decimals, deployment.periods.days],
        place=alike(name),
        period=period,
        version=version,
        steps=in_steps(count, noise.decimals),
        scale=noise.scale,
    )
    return Released(name, period, noisy_count(count, noise, steps), beds)


def _mu_of_stay(facts: Mapping[str, object], memory: Memory) -> float:
    """Return an upper bound on the mu of the longest stay, over all releases of the holder.

    Raises:
        DataError: a budget would be passed.
    """
    agreed = {sha256: it.model_dump(mode="json") for sha256, it in memory.agreements.items()}
    others = [(str(it.file), it.facts) for it in memory.reports]
    try:
        found = recompute([("this release", facts), *others], agreed)
    except ValueError as error:
        raise DataError(
            f"nothing was released: {error}; release under one of these agreements only, or agree"
            " on a larger budget_mu, under a new name"
        ) from None
    return float(found[0]["stay_mu"])


def _put(file: Path, text: str) -> None:
    """Write a line of text, whole or not at all, unless it is there."""
    remove_temporary(file)
    content = f"{text}\n".encode()
    if not (file.is_file() and file.read_bytes() == content):  # a pipe would never end
        with atomic_path(file) as new:
            new.write_bytes(content)
