"""Deployments, and signed reports by hand, for tests of collecting and deciding."""

from __future__ import annotations

import datetime
import hashlib
import json
from decimal import Decimal

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.log import Log, lines_of
from dpol_weekly.coordinator.settings import FILE, Coordination
from dpol_weekly.deployment import read_deployment
from dpol_weekly.records import signed_text

FIRST = datetime.date(2021, 1, 3)
MU = Decimal("0.5")
COORDINATORS = set(Coordination.model_fields)
"""Keys of the coordinator's own file."""


def date(number):
    """The start of a period."""
    return FIRST + datetime.timedelta(days=7 * number)


def day(number):
    """The start of a period, as it is written."""
    return date(number).isoformat()


def agreed(folder, entities="ABC", **keys):
    """A deployment's file in a folder; entities by name, or with their keys."""
    entities = entities if isinstance(entities, dict) else {key: {} for key in entities}
    whole = {
        "name": "test",
        "periods": {"first": FIRST},
        "entities": entities,
        "mu": float(MU),
        "budget_mu": 10,
        "affirmed": True,
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


def key_of(name):
    """A holder's private key."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def public(name):
    """The public half of a holder's key, as it is written."""
    return key_of(name).public_key().public_bytes_raw().hex()


def report(path, deployment, rows, *, key="L", **facts):
    """A report by hand: rows are (entity, number of the period, noisy count[, capacity]).

    Facts replace those of the report.
    """
    made = read_deployment(deployment)
    noise, cells = made.count_noise(), []
    for entity, number, count, *rest in rows:
        period = day(number) if isinstance(number, int) else number
        capacity = rest[0] if rest else "20"
        cells.append([entity, period, f"{Decimal(count):.{noise.decimals}f}", capacity])
    whole = {"dpol_release": 4, "agreement": made.sha256(), "rows": cells}
    path.parent.mkdir(parents=True, exist_ok=True)
    return signed(path, whole | facts, key)


def signed(path, facts, key="L"):
    """A release of facts, with its signature."""
    facts = {**facts, "key": facts.get("key", public(key))}
    facts["signature"] = key_of(key).sign(signed_text(facts).encode()).hex()
    path.write_text(json.dumps(facts))
    return path


def parts(path):
    """What a release holds, without its key."""
    return {key: it for key, it in json.loads(path.read_text()).items() if key != "key"}


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
        path = self.base / "inbox" / (name or f"{self.count}.json")
        return report(path, self.deployment, rows, **options)

    def collect(self, *files, **options):
        """The outcomes of collecting files."""
        return collect(files, self.folder, self.deployment, **options)

    def put(self, *rows, keys=None, today=None, **options):
        """The outcome of collecting one report."""
        (done,) = self.collect(self.file(*rows, **options), keys=keys, today=today)
        return done

    def choose(self, **keys):
        """Change the coordinator's own keys."""
        path = self.folder / FILE
        coordinates(self.folder, **(yaml.safe_load(path.read_text()) or {}) | keys)

    def rows(self):
        """The rows that count: entity, period, noisy count and capacity."""
        return [(*place, *cells) for place, held in Log(self.folder).rows.items() for cells in held]

    def lines(self):
        """The lines of the list."""
        return [facts for *_, facts in lines_of(self.folder)]
