"""Releases of neighbouring tables by `dpol privatize`, and what an attacker reads off them.

Hospitals come in pairs, a small one first. About each pair somebody wants to know where one person
was: the tables of the two worlds differ in that person only. The attacker knows all other people.
"""

from __future__ import annotations

import datetime
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import yaml
from scipy import stats

from dpol_weekly.deployment import read_deployment
from releases import newest, output, own_file, record, run

FIRST = datetime.date(2015, 1, 4)
WEEKS = 4
SENSITIVITY = 2
"""Change of a count by one person: the counts of the two worlds differ by so much."""


def in_process(*arguments):
    """Run the command in this process."""
    assert run(*arguments)[::2] == (0, "")


def in_real_process(*arguments):
    """Run the installed command."""
    command = [sys.executable, "-m", "dpol", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, env=environment, check=True, capture_output=True)


def agreed_on(path, keys):
    """The file of a deployment, and the arguments of a command that releases what it says."""
    path.write_text(yaml.safe_dump({**keys, "disjoint": True}, sort_keys=False))
    names = list(keys["entities"])
    own = path.with_name("hospital.yaml")
    own_file(
        own,
        deployment=path.name,
        entities=names,
        table="raw.csv",
        columns={"entity": "entity"},
        output=".",
    )
    return path, [own, "--agree", read_deployment(path).sha256()]


def agreement(folder, pairs, *, mu, memory, unit):
    """The agreement of pairs of hospitals, as `agreed_on`."""
    # Of so different sizes that the designed memories differ.
    beds = [size * SENSITIVITY / mu for size in (10, 200)]
    whole = {
        "name": "audit",
        "periods": {"first": FIRST},
        "entities": {f"h{i:04}": {"capacity": beds[i % 2]} for i in range(2 * pairs)},
        "mu": mu,
        "unit_weeks": unit,
        "count_sensitivity": SENSITIVITY,
        "noise": {"memory": memory},
        "longest_stay": unit,
        "budget_mu": 100,
    }
    return agreed_on(folder / "agreed.yaml", whole)


@dataclass(frozen=True)
class Seen:
    """The release of one table, and the two tables that it may be of.

    Args:
        draws: (2, T, n) fresh noise, in people, if the table was that of world 0 or 1.
        norms: (n,) N_W of each entity's noise.
        worlds: (n / 2,) the true world of each pair.
        mu: of a person of the unit, as the agreement says.
    """

    draws: np.ndarray
    norms: np.ndarray
    worlds: np.ndarray
    mu: float

    @property
    def units(self):
        """(T, n) the true draws over their standard deviation as the agreement has it."""
        return self._chosen(self.draws) / (math.sqrt(2) * SENSITIVITY / self.mu * self.norms)

    @property
    def evidence(self):
        """(n,) log likelihood ratio for the true world from each entity's rows; 0: no difference.

        Up to a factor that all entities have in common.
        """
        false = self._chosen(self.draws[::-1]) / self.norms
        return (false**2 - (self._chosen(self.draws) / self.norms) ** 2).sum(axis=0)

    def _chosen(self, values):
        return np.where(np.repeat(self.worlds, 2) == 0, values[0], values[1])


def play(folder, command, rng, *, pairs, mu, memory, unit, weeks=WEEKS, at_once=1):
    """Release a table as it grows by weeks, by one run of the command for `at_once` of them."""
    path, options = agreement(folder, pairs, mu=mu, memory=memory, unit=unit)
    names = list(yaml.safe_load(path.read_text())["entities"])
    worlds = rng.integers(0, 2, size=pairs)
    others = rng.integers(2, 9, size=(weeks, 2 * pairs)) / 2
    tables = others + SENSITIVITY * _stays(pairs, unit, weeks)
    raw = np.where(np.repeat(worlds, 2) == 0, *tables)
    table, rows = folder / "raw.csv", ["entity,period,count"]
    for week in range(weeks):
        day = FIRST + datetime.timedelta(days=7 * week)
        rows += [f"{name},{day},{count:g}" for name, count in zip(names, raw[week], strict=True)]
        if (week + 1) % at_once == 0:
            table.write_text("\n".join(rows) + "\n")
            command("privatize", *options)
    agreed = yaml.safe_load(path.read_text())
    draws, norms = _fresh(newest(folder), tables, agreed["unit_weeks"])
    return Seen(draws, norms, worlds, agreed["mu"])


def _stays(pairs, unit, weeks):
    """(2, T, n) where one person is counted in either world: a stay of W weeks.

    By turns: in one or in the other hospital; on the move from one to the other or back; in the
    first hospital or nowhere.
    """
    counted = np.zeros((2, weeks, pairs, 2))
    for pair in range(pairs):
        first = pair % (weeks - unit + 1)
        for week in range(first, first + unit):
            at = (week - first) % 2 if pair % 3 == 1 else 0
            counted[0, week, pair, at] = 1
            counted[1, week, pair, 1 - at] = pair % 3 != 2
    return counted.reshape(2, weeks, 2 * pairs)


def _fresh(file, tables, unit):
    """The fresh noise of each row under either table, and N_W, from table and record alone."""
    rows, stated = output(file), record(file)
    _, weeks, n = tables.shape
    released = np.array([float(row["noisy_count"]) for row in rows]).reshape(weeks, n)
    step = 10.0 ** Decimal(rows[0]["noisy_count"]).as_tuple().exponent
    memories = {part["entity"]: (part["a"], part["b"]) for part in stated.get("chains", [])}
    a, b = np.array([memories.get(row["entity"], (0, 0)) for row in rows[:n]]).T
    total, u, draws = released - tables, np.zeros((2, n)), np.empty_like(tables)
    for week in range(weeks):
        draws[:, week] = total[:, week] - np.floor(u / step + 0.5) * step
        u = b * u + (a - b) * total[:, week]
    return draws, np.array([_norm(*memory, unit) for memory in zip(a, b, strict=True)])


def _norm(a, b, unit, horizon=400):
    """N_W: how far a person who is counted W weeks in a row moves C x, in the long run."""
    later = (b - a) * b ** np.arange(horizon - 1)
    response, moved = np.concatenate([[1.0], later]), np.zeros(horizon + unit)
    for week in range(unit):
        moved[week : week + horizon] += response
    return math.sqrt((moved**2).sum())


def refutations(seen, error):
    """Claims that the releases of several tables refute: none, up to `error`, if they are sound.

    Draws have the variance that the agreement asks for: in every row of a run (its position), for
    either size of hospital, and over all. They are independent from week to week. The attacker is
    right about a person no more often than mu allows: by one entity's rows mu / sqrt(2), by all mu.
    Half of the error is for single rows.
    """
    units = np.stack([one.units for one in seen])  # (runs, T, n)
    sides = {f"row {i + 1}": units[:, :, i] for i in range(units.shape[2])}
    sizes = {"small": units[:, :, ::2], "large": units[:, :, 1::2]}
    evidence = np.stack([one.evidence for one in seen])
    mu, one, other = seen[0].mu, evidence[:, ::2], evidence[:, 1::2]
    both = np.where(other, one + other, 0)
    alone = {f"row {i + 1}": evidence[:, i] for i in range(units.shape[2])}
    rows = {
        **{f"variance of {name}": _variance(it) for name, it in sides.items()},
        **{f"one person by {name}": _right(it, mu / math.sqrt(2)) for name, it in alone.items()},
    }
    whole = {
        **{f"variance of {name}": _variance(it) for name, it in sizes.items()},
        "variance of all": _variance(units),
        **{f"weeks of {name}": _related(it) for name, it in sizes.items()},
        **{f"later weeks of {name}": _related(it[:, 1:]) for name, it in sizes.items()},
        "one person by one hospital": _right(evidence, mu / math.sqrt(2)),
        "one person by both": _right(both, mu),
    }
    return [
        name
        for family in (rows, whole)
        for name, chance in family.items()
        if chance < error / 2 / len(family)
    ]


def _variance(sample):
    """Two-sided chi-squared test that independent normals of mean 0 have variance 1."""
    total = float((sample**2).sum())
    return 2 * min(stats.chi2.cdf(total, sample.size), stats.chi2.sf(total, sample.size))


def _related(units):
    """Student's test that neighbouring weeks are not related; each week is in one pair."""
    weeks = units.shape[1] // 2 * 2
    pairs = units[:, :weeks].reshape(len(units), -1, 2, units.shape[2])
    one, other = pairs[:, :, 0].ravel(), pairs[:, :, 1].ravel()
    r = (one * other).sum() / math.sqrt((one**2).sum() * (other**2).sum() or 1)
    freedom = one.size - 1
    return 2 * stats.t.sf(abs(r) * math.sqrt(freedom / (1 - r * r)), freedom)


def _right(evidence, mu):
    """Exact test that guesses of the likelier world are right at most Phi(mu / 2) of the time."""
    told = evidence[evidence != 0]
    most = stats.norm.cdf(mu / 2)
    return stats.binom.sf((told > 0).sum() - 1, told.size, most)
