"""What `dpol check` takes, finds right and refuses, apart from the faults of test_faults.py."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dpol
from checks import scales
from dpol.checks.algorithms import actions_do_not_refute_the_record
from dpol.checks.audits import long_settings
from dpol.checks.check import check, checks_of
from dpol.experts.interface import Member
from dpol.experts.registry import LEARNER_GROUP, REGISTRY, make_members
from dpol.noise import MEMORY, NOISES, privatize
from dpol.noise.noises import NOISE_GROUP
from dpol.noise.noisy_gains import noise_scale
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.losses import Loss
from dpol.privacy.noise_laws import LAPLACE
from pipeline import Done, fail, run, succeed

# ---- scales of other packages --------------------------------------------------------------------


def refusals(name: str, seed: int) -> list[str]:
    """Return the counterexamples to a noise of `scales`."""
    verdicts = check(f"checks.scales:{name}", seed=seed)
    return [each.counterexample for each in verdicts if not each.holds]


@pytest.mark.parametrize("number", range(len(scales.HONEST)), ids=[*scales.HONEST])
def test_an_honest_scale_is_not_accused_within_three_seconds(number):
    start = time.process_time()
    assert refusals(f"HONEST_{number}", seed=1 + number) == []
    assert time.process_time() - start < 6  # 3 s on an idle machine


@pytest.mark.parametrize("number", range(len(scales.WRONG)), ids=[*scales.WRONG])
def test_a_wrong_scale_is_refused(number):
    assert refusals(f"WRONG_{number}", seed=1 + number)


@pytest.mark.parametrize(
    "drawing",
    [MEMORY, type("Own", (type(MEMORY),), {})(
        name="own", title="own", origin="other", scale=MEMORY.scale
    )],
)  # fmt: skip
def test_whatever_draws_is_refused_in_words(monkeypatch, drawing):
    monkeypatch.setattr(scales, "DRAWING", drawing, raising=False)
    with pytest.raises(ValueError, match="draws noise of its own; dpol draws the noise of other"):
        check("checks.scales:DRAWING")


def test_a_law_is_one_of_dpol_and_other_laws_are_for_counts():
    with pytest.raises(ValueError, match="law_name must be Gaussian or Laplace"):
        dataclasses.replace(MEMORY, law_name="uniform")
    with pytest.raises(ValueError, match="Laplace noise is noise on counts; set needs_capacities"):
        dataclasses.replace(NOISES["isotropic"], law_name="Laplace")


def test_a_scale_sees_no_gains_where_noise_is_drawn(random_stream):
    """Even a scale that would show them."""
    stream = random_stream(6, 3)
    blank = dataclasses.replace(stream, gains=np.zeros_like(stream.gains))
    name = scales.named("by the number of people")
    np.testing.assert_array_equal(noise_scale(stream, name, 1.0), noise_scale(blank, name, 1.0))


@pytest.mark.parametrize("mu", [0.5, 4.0])
def test_laplace_noise_has_the_deviation_and_the_record_of_its_scale(random_stream, mu):
    """The mean square of 160,000 draws within 5 standard errors."""
    stream = dataclasses.replace(random_stream(4, 4), stay=2)
    name = scales.named("Laplace by pure epsilon")
    noisy = privatize(stream, name, mu, seed=1, replicates=10_000)
    squares = ((noisy.gains - stream.gains) / noisy.noise_scale) ** 2
    assert abs(squares.mean() - 1) < 5 * squares.std() / math.sqrt(squares.size)
    first = (noisy.initial / noisy.noise_scale[0]) ** 2
    assert abs(first.mean() - 1) < 5 * first.std() / math.sqrt(first.size)
    e = math.sqrt(2) / float((noisy.noise_scale * stream.capacity)[0, 0])
    assert noisy.guarantee.mu == pytest.approx(LAPLACE.loss(e, 4).mu, rel=1e-6)
    assert noisy.guarantee.of_rounds(1).mu == pytest.approx(LAPLACE.loss(e, 2).mu, rel=1e-6)
    assert "Laplace noise on counts" in noisy.guarantee.mechanism


# ---- audits of actions ---------------------------------------------------------------------------


FIRST = next(long_settings(stays=False))
RECORD = dataclasses.replace(
    NO_PRIVACY,
    loss=Loss(gaussian=3.5),
    stays=tuple(Loss(gaussian=mu) for mu in (3.0, 4.0, 5.0, 6.0)),
    carried=(2, Loss(gaussian=4.5)),
)


@pytest.mark.parametrize(
    ("rounds", "claim"),
    [
        ((4,), 3.0),
        ((1, 2, 3), 3.5),
        ((1, 3, 4), 4.5),
        ((0, 1, 2, 3, 4, 6), 6.0),
        (range(9), math.inf),
    ],
)
def test_the_claim_for_a_person_is_the_smallest_that_covers_the_rounds(rounds, claim):
    """A stay of 3; carried counts add 2 rounds."""
    stream = dataclasses.replace(FIRST.stream, stay=3)
    person = dataclasses.replace(FIRST, stream=stream, rounds=tuple(rounds))
    assert person.claim(RECORD) == claim


MEMBERS = [member for name in REGISTRY for member in make_members(name)]
CENTRAL = [member for member in MEMBERS if member.algorithm.model == "central"]


@pytest.mark.parametrize("member", CENTRAL, ids=lambda member: member.label)
def test_its_actions_do_not_refute_its_guarantee(member: Member) -> None:
    found = actions_do_not_refute_the_record(member)
    # The choices of L2P show little; the ledger has its exact losses.
    little = "cannot tell, because its actions show too little (pr"
    assert found.startswith(little if member.label == "l2p" else "holds, proves mu >= ")


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["my-noise", "my_noise", "my-bank"])
def test_a_name_is_found_with_hyphens_and_with_underscores(monkeypatch, name):
    theirs = {
        NOISE_GROUP: {"my_noise": "dpol.noise:ISOTROPIC"},
        LEARNER_GROUP: {"my_bank": "checks.sound:Bank"},
    }
    monkeypatch.setattr("dpol.checks.check.registered", lambda group: theirs.get(group, {}))
    monkeypatch.setattr("dpol.core.plugins.registered", lambda group: theirs.get(group, {}))
    plain = [run for _, run in checks_of(name)]
    assert len(plain) >= 3
    assert {run() for run in plain} <= {None, "holds"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("rw_fptl", "rw-ftpl"),
        ("rigde", "ridge"),
        ("capcity", "capacity"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_name_of_any_kind(name, meant):
    refusal = "is not an algorithm, a learner or a noise; install its package"
    with pytest.raises(ValueError, match=rf"{refusal} .+; did you mean {meant}\?$"):
        dpol.check(name)


QUIET = """
from dpol.experts.ftpl import RandomWalkFTPL as WellKnown
"""


def checked(folder: Path, name: str) -> Done:
    """Run `dpol check` as the installed command does, which does not look in its own folder."""
    return run(sys.executable, "-P", "-m", "dpol", "check", name, folder=folder)


def test_a_module_of_the_working_folder_is_checked_with_a_word_on_runs(tmp_path):
    (tmp_path / "quiet.py").write_text(QUIET)
    (tmp_path / "numpy.py").write_text("raise SystemExit('the folder hides a package')")
    done = checked(tmp_path, "quiet:WellKnown")
    assert succeed(done).count(": holds") == 6
    assert done.stderr == (
        "warning: quiet is only in this folder, where no run finds it; make it a package (dpol new"
        " algorithm NAME writes one) and pip install it\n"
    )
    assert "No module named 'quiet'" in fail(checked(tmp_path.parent, "quiet:WellKnown"))


IN_ZCDP = {"algorithm": "checks.sound:InZcdp", "label": "mine"}


def test_it_stands_among_those_of_its_level_and_its_mu_is_marked(random_stream):
    league = dpol.league(
        [IN_ZCDP, "tree-ftpl-min-noise"], random_stream(12, 3), levels=(1.0,), replicates=5
    )
    rows = league.standings.set_index("algorithm")
    assert {*rows["guarantee"]} == {"raw"}
    assert rows.loc["mine", "numerical"].all()
    assert not rows.loc[["tree-ftpl-min-noise"], "numerical"].any()
    assert re.search("mine with (capacity|isotropic) noise †, numerical μ", league._repr_html_())
