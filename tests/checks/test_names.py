"""The names that `dpol check` takes, and a foreign algorithm whose proof is in zCDP."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import dpol
from dpol.checks import check
from dpol.experts.registry import LEARNER_GROUP
from dpol.noise.noises import NOISE_GROUP
from pipeline import Done, fail, run, succeed


@pytest.mark.parametrize("name", ["my-noise", "my_noise", "my-bank"])
def test_a_name_is_found_with_hyphens_and_with_underscores(monkeypatch, name):
    theirs = {
        NOISE_GROUP: {"my_noise": "dpol.noise:ISOTROPIC"},
        LEARNER_GROUP: {"my_bank": "checks.sound:Bank"},
    }
    monkeypatch.setattr(check, "registered", lambda group: theirs.get(group, {}))
    monkeypatch.setattr("dpol.core.plugins.registered", lambda group: theirs.get(group, {}))
    plain = [run for _, run in check.checks_of(name)]
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
    assert re.search("mine, (capacity|isotropic) noise, numerical μ", league._repr_html_())
