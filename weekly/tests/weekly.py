"""Deployments, and the reports of their holders, for tests of collecting and deciding."""

from __future__ import annotations

import datetime
import hashlib
import json
from decimal import Decimal

import numpy as np
import yaml

from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.coordinator.settings import FILE, Coordination
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.memory import Memory, stated_terms, terms_of
from dpol_weekly.noise import CountNoise, interval
from dpol_weekly.released import ChainRows, checksum
from dpol_weekly.sampler import SeededNoise

FIRST = datetime.date(2021, 1, 3)
MU = Decimal("0.5")


def day(number):
    """The start of a period."""
    return (FIRST + datetime.timedelta(days=7 * number)).isoformat()


COORDINATORS = set(Coordination.model_fields)
"""Keys of the coordinator's own file."""


def agreed(folder, entities="ABC", **keys):
    """A deployment's file in a folder; entities by name, or with their keys."""
    entities = entities if isinstance(entities, dict) else {key: {} for key in entities}
    whole = {
        "name": "test",
        "periods": {"first": FIRST},
        "entities": entities,
        "mu": float(MU),
        "budget_mu": 10,
        "disjoint": True,
        **keys,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "agreed.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False))
    return path


def coordinates(folder, **keys):
    """A coordinator's own file in her folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(yaml.safe_dump(keys))


def identity(name):
    """An id of a ledger or an output, as they are written."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def report(path, deployment, rows, *, mu="0.5", ledger="L", output="O", chains=(), record=None):
    """A report by hand: rows are (entity, number of the period, noisy count[, capacity]).

    `chains` are those of the rows; `record` replaces parts of the record.
    """
    noise = CountNoise(Decimal(mu))
    parts = ChainRows(chains)
    lines = [
        "entity,period,noisy_count,capacity,noisy_share,mu,count_sensitivity,noise_sd,low,high"
    ]
    for place, (entity, number, count, *rest) in enumerate(rows, start=1):
        capacity = rest[0] if rest else "20"
        when = day(number) if isinstance(number, int) else number
        count = f"{Decimal(count):.{noise.decimals}f}"
        part, of_chain = parts.of(place, entity)
        deviation = noise.standard_deviation
        if part:
            deviation = stated_terms(noise, part).standard_deviation_after(of_chain - 1)
        share, sd = f"{float(count) / float(capacity):.9g}", f"{deviation / float(capacity):.6g}"
        cells = entity, when, count, capacity, share, mu, "1", sd, *interval(share, sd)
        lines.append(",".join(cells))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    facts = {
        "deployment": {"name": "test", "sha256": read_deployment(deployment).sha256()},
        "ledger": {"id": identity(ledger), "output": identity(output)},
        "chains": list(chains),
    }
    return recorded(path, facts | (record or {}))


def record_of(path):
    """The record of a table by hand."""
    return path.with_name(f"{path.name}.guarantee.json")


def recorded(path, facts):
    """A table with a record by hand; a checksum in its facts is kept."""
    whole = {"sha256": checksum(path.read_bytes(), facts)} | facts
    record_of(path).write_text(json.dumps(whole))
    return path


class Coordinator:
    """A coordinator's folder, and reports by hand."""

    def __init__(self, folder, entities="ABC", **keys):
        self.base, self.folder, self.count = folder, folder / "state", 0
        self.agree(entities, **keys)

    def agree(self, entities="ABC", **keys):
        """Write the agreement, and the coordinator's own keys into the folder."""
        own = {key: keys.pop(key) for key in COORDINATORS & keys.keys()}
        self.deployment = agreed(self.base, entities, **keys)
        coordinates(self.folder, titles={name: f"Hospital {name}" for name in entities}, **own)

    def file(self, *rows, name=None, **options):
        """A report: rows are (entity, number of the period, noisy count[, capacity])."""
        self.count += 1
        path = self.base / "inbox" / (name or f"{self.count}.csv")
        return report(path, self.deployment, rows, **options)

    def collect(self, *files, **options):
        return collect(files, self.folder, self.deployment, **options)

    def put(self, *rows, new_ledgers=(), **options):
        """The outcome of collecting one report."""
        (done,) = self.collect(self.file(*rows, **options), new_ledgers=new_ledgers)
        return done

    def rows(self, where="1"):
        with open_log(self.folder) as log:
            return [dict(row) for row in log.releases(where)]


def chain_of(entity, *, b="0.6", a="0.2", releases=2, first_row=1, first_period=0, weeks=1):
    """A chain of a record, as `dpol privatize` states it."""
    numbers = Decimal(a), Decimal(b)
    terms = terms_of(CountNoise(MU), numbers, Memory(numbers, weeks))
    return {
        "a": float(a),
        "b": float(b),
        "mu": float(MU),
        "unit_weeks": weeks,
        "chain_periods": terms.chain_periods,
        "decimals": terms.decimals,
        "scale": terms.scale,
        "entity": entity,
        "first_row": first_row,
        "first_period": day(first_period),
        "releases": releases,
    }


def released(folder, deployment, counts, capacity, names, *, holders=1, step=1):
    """Release and collect a panel (T, n), `step` weeks at once; yields how many are collected.

    NaN in the counts: no report. The noise is that of `dpol privatize`, from a seeded sampler.
    """
    sampler, made = SeededNoise(np.random.default_rng(1)), read_deployment(deployment)
    for start in range(0, len(counts), step):
        weeks, outputs = range(start, min(start + step, len(counts))), []
        for holder in range(holders):
            own = folder / f"holder-{holder}"
            own.mkdir(parents=True, exist_ok=True)
            lines = [
                f"{names[i]},{day(number)},{counts[number][i]:g},{capacity[number][i]:g}"
                for number in weeks
                for i in range(holder, len(names), holders)
                if not np.isnan(counts[number][i])
            ]
            (own / "raw.csv").write_text("\n".join(["entity,period,count,capacity", *lines, ""]))
            hospital = Hospital(
                deployment=deployment,
                entities={name: name for name in made.entities},
                table=own / "raw.csv",
                columns={"entity": "entity", "capacity": "capacity"},
                output=own,
                ledger=own / "ledger.sqlite",
            )
            request = Request(
                hospital=hospital,
                deployment=made,
                agree=made.sha256(),
                over_capacity=True,
            )
            outputs.append(release(request, sampler).file)
        done = collect(outputs, folder / "coordinator", deployment)
        assert not [line for it in done for line in it.refused]
        yield weeks.stop
