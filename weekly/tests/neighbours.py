"""Releases of neighbouring tables by `dpol privatize`, and what an attacker reads off them.

Hospitals come in pairs, a small one first. About each pair somebody wants to know where one person
was: the tables of the two worlds differ in that person only. The attacker knows all other people.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

import numpy as np
import yaml
from scipy import stats

from dpol_weekly.deployment import read_deployment
from releases import newest, output, own_file, run

FIRST = datetime.date(2015, 1, 4)
WEEKS = 4
SENSITIVITY = 2
"""Change of a count by one person: the counts of the two worlds differ by so much."""


def in_process(*arguments):
    """Run the command in this process."""
    assert run(*arguments)[::2] == (0, "")


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


def agreement(folder, pairs, mu):
    """The agreement of pairs of hospitals, as `agreed_on`."""
    whole = {
        "name": "audit",
        "periods": {"first": FIRST},
        "entities": {f"h{i:04}": {"capacity": 200} for i in range(2 * pairs)},
        "mu": mu,
        "count_sensitivity": SENSITIVITY,
        "longest_stay": 1,
        "budget_mu": 100,
    }
    return agreed_on(folder / "agreed.yaml", whole)


@dataclass(frozen=True)
class Seen:
    """The release of one table, and the two tables that it may be of.

    Args:
        draws: (2, T, n) noise, in people, if the table was from world 0 or 1.
        worlds: (n / 2,) the true world of each pair.
        mu: as the agreement says.
    """

    draws: np.ndarray
    worlds: np.ndarray
    mu: float

    @property
    def units(self):
        """(T, n) the true draws over their standard deviation as the agreement has it."""
        return self._chosen(self.draws) / (math.sqrt(2) * SENSITIVITY / self.mu)

    @property
    def evidence(self):
        """(n,) log likelihood ratio for the true world from each entity's rows; 0: no difference.

        Up to a factor that all entities have in common.
        """
        return (self._chosen(self.draws[::-1]) ** 2 - self._chosen(self.draws) ** 2).sum(axis=0)

    def _chosen(self, values):
        return np.where(np.repeat(self.worlds, 2) == 0, values[0], values[1])


def play(folder, command, rng, *, pairs, mu, weeks=WEEKS, at_once=1):
    """Release a table as it grows by weeks, by one run of the command for `at_once` of them."""
    path, options = agreement(folder, pairs, mu)
    names = list(yaml.safe_load(path.read_text())["entities"])
    worlds = rng.integers(0, 2, size=pairs)
    others = rng.integers(2, 9, size=(weeks, 2 * pairs)) / 2
    tables = others + SENSITIVITY * _places(pairs, weeks)
    raw = np.where(np.repeat(worlds, 2) == 0, *tables)
    table, rows = folder / "raw.csv", ["entity,period,count"]
    for week in range(weeks):
        day = FIRST + datetime.timedelta(days=7 * week)
        rows += [f"{name},{day},{count:g}" for name, count in zip(names, raw[week], strict=True)]
        if (week + 1) % at_once == 0:
            table.write_text("\n".join(rows) + "\n")
            begin = ["--begin-after", FIRST - datetime.timedelta(days=1)] * (week < at_once)
            command("privatize", *options, *map(str, begin))
    released = [float(row["noisy_count"]) for row in output(newest(folder))]
    return Seen(np.array(released).reshape(weeks, 2 * pairs) - tables, worlds, mu)


def _places(pairs, weeks):
    """(2, T, n) where one person is counted in either world, in one week.

    In one or in the other hospital; in every third pair, in the first one or nowhere.
    """
    counted = np.zeros((2, weeks, pairs, 2))
    for pair in range(pairs):
        counted[0, pair % weeks, pair, 0] = 1
        counted[1, pair % weeks, pair, 1] = pair % 3 != 2
    return counted.reshape(2, weeks, 2 * pairs)


def refutations(seen, error):
    """Claims that the releases of several tables refute: none, up to `error`, if they are sound.

    Draws have the variance that the agreement asks for: in every row of a run (its position), and
    over all. They are independent from week to week. The attacker is right about a person no more
    often than mu allows: by one entity's rows mu / sqrt(2), by all mu. Half of the error is for
    single rows.
    """
    units = np.stack([one.units for one in seen])  # (runs, T, n)
    evidence = np.stack([one.evidence for one in seen])
    mu, one, other = seen[0].mu, evidence[:, ::2], evidence[:, 1::2]
    both = np.where(other, one + other, 0)
    rows = {}
    for i in range(units.shape[2]):
        rows[f"variance of row {i + 1}"] = _variance(units[:, :, i])
        rows[f"one person by row {i + 1}"] = _right(evidence[:, i], mu / math.sqrt(2))
    whole = {
        "variance of all": _variance(units),
        "weeks": _related(units),
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
    return 2 * stats.t.sf(abs(r) * math.sqrt(freedom / max(1 - r * r, 1e-12)), freedom)


def _right(evidence, mu):
    """Exact test that guesses of the likelier world are right at most Phi(mu / 2) of the time."""
    told = evidence[evidence != 0]
    most = stats.norm.cdf(mu / 2)
    return stats.binom.sf((told > 0).sum() - 1, told.size, most)
