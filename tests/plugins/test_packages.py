"""Foreign objects: their names, by entry point or `package.module:Class`, and how they play."""

import sys
from importlib import metadata

import numpy as np
import pytest

import dpol
from dpol.config.experiment import load_experiment
from dpol.core.errors import ConfigError
from dpol.core.yaml_files import read_yaml
from dpol.experts.registry import make_bank, make_members, modules_of
from dpol.noise import find_noise, module_of_noise, noise_scale
from dpol.plan import code_of, make_plan
from dpol.reruns.code_hashes import code_of_job, files_of_job, packages_of, reach
from game_tables import suite
from in_process import forget_code
from pipeline import TEST, fail, run, write_config
from plugins.conftest import CODE, install


def test_an_algorithm_is_named_by_entry_point_and_by_class(packages):
    (by_entry,) = make_members("forgetful-leader")
    (by_class,) = make_members({"algorithm": "adalg:ForgetfulLeader", "label": "slow", "keep": 1.0})
    assert (by_entry.label, by_entry.algorithm.keep) == ("forgetful-leader", 0.9)
    found = by_class.label, by_class.family, by_class.algorithm.keep
    assert found == ("slow", "ForgetfulLeader", 1.0)
    assert "adalg" in modules_of("forgetful-leader")


def test_learners_play_alone_and_in_rw_meta(packages):
    (alone,) = make_members("other-leaders")
    (meta,) = make_members({"algorithm": "rw-meta", "learners": ["adalg:OtherLeaders", "ridge"]})
    assert alone.label == "other-leader"
    assert meta.algorithm.learners[0] == make_bank("other-leaders")


def test_a_foreign_class_has_the_origin_other_whatever_it_says(packages):
    members = [*make_members("forgetful-leader"), *make_members("other-leaders")]
    assert {member.origin for member in members} == {"other"}
    assert find_noise("half").origin == "other"
    assert not find_noise("half").central, "curators scale their noise by noises of dpol alone"
    assert make_members("rw-meta")[0].origin == "paper"


def test_the_guarantee_of_a_foreign_noise_follows_from_its_scale(packages, make_stream):
    stream = make_stream([[0.1, 0.2], [0.3, 0.1]])
    whole = dpol.privatize(stream, "isotropic", 0.5, seed=1, replicates=2)
    half = dpol.privatize(stream, "half", 0.5, seed=1, replicates=2)
    assert np.allclose(2 * noise_scale(stream, "half", 0.5), whole.noise_scale)
    assert half.guarantee.mu == pytest.approx(2 * whole.guarantee.mu)
    assert module_of_noise("half") == module_of_noise("adalg:HALF") == "adalg"


def test_a_changed_line_changes_only_the_hashes_of_games_that_play_it(packages):
    theirs = {
        "algorithm": {"algorithms": ["forgetful-leader"]},
        "learner": {"algorithms": [{"algorithm": "rw-meta", "learners": ["adalg:OtherLeaders"]}]},
        "noise": {"algorithms": [{"algorithm": "rw-ftpl", "label": "half"}], "noises": ["half"]},
    }
    suites = theirs | {"shipped": {"algorithms": [{"algorithm": "rw-ftpl", "label": "shipped"}]}}
    raw = read_yaml("config/config.yaml")
    raw = {key: raw[key] for key in ("run", "seed", "dataset", "streams", "privacy")}
    raw |= {"suites": suites, "report": {"algorithms": ["shipped"]}}

    def hashes():
        forget_code()
        plan = make_plan(raw, [], "test")
        study, _ = plan.studies[0]
        places = {place.split("/")[2]: job for place, job in plan.jobs["games"].items()}
        return {
            suite: code_of_job("study_point", study.computing, *code_of([job]))
            for suite, job in places.items()
        }

    before = hashes()
    assert {suite for suite in before if "package adalg" in before[suite]} == set(theirs)
    assert "labels" in before["noise"], "nobody knows what another package imports"
    assert "show" not in before["noise"], "a point draws nothing"
    assert "labels" not in before["shipped"]
    file = packages / "adalg.py"
    file.write_text(file.read_text().replace("0.9", "0.8"))
    after = hashes()
    differing = {
        (suite, room)
        for suite in before
        for room in before[suite]
        if before[suite][room] != after[suite][room]
    }
    assert differing == {(suite, "package adalg") for suite in theirs}
    (name, version) = packages_of("adalg")["adalg"]
    assert (name, version[:5]) == ("adalg", "0.1 (")


def test_what_a_package_imports_beside_itself_counts_by_its_files_or_its_version(packages):
    """Numpy's version is in the logs of jobs, so it does not count twice."""
    (packages / "helped.py").write_text("import helper, numpy\nfrom json import dumps\n")
    (packages / "helper.py").write_text("import yaml\nrate = 1\n")
    assert reach("helped") == {"helped", "helper", f"PyYAML {metadata.version('PyYAML')}"}
    install(packages, "helper", code=(packages / "helper.py").read_text())
    # As of a folder or an archive.
    (packages / "helper-0.1.dist-info/direct_url.json").write_text("{}")
    forget_code()
    assert "helper" in reach("helped")
    before, (_, version) = code_of_job("study_point", "helped.sub"), packages_of("helped")["helped"]
    files = [file.name for file in files_of_job("study_point", "helped.sub")]
    assert {"helped.py", "helper.py"} <= {*files}
    (packages / "helper.py").write_text("import yaml\nrate = 2\n")
    forget_code()
    after = code_of_job("study_point", "helped.sub")
    assert {room for room in after if after[room] != before[room]} == {"package helper"}
    assert packages_of("helped")["helped"] != ("helped", version)


def test_jobs_do_not_import_from_the_folder_of_the_config(packages, tmp_path, monkeypatch):
    """`python -m snakemake` sees that folder, jobs do not."""
    installed = packages_of("adalg")
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "adalg.py").write_text("raise SystemExit")
    (beside / "only_here.py").touch()
    monkeypatch.chdir(beside)
    monkeypatch.syspath_prepend(beside)
    forget_code()
    assert packages_of("adalg") == installed
    with pytest.raises(ConfigError, match="only_here is not installed where the jobs run"):
        packages_of("only_here")


def test_a_name_registered_by_two_packages_is_refused(packages):
    install(packages, "bobalg", points="[dpol.algorithms]\nforgetful-leader = bobalg:Forgetful\n")
    with pytest.raises(ValueError, match="two packages, (adalg and bobalg|bobalg and adalg)"):
        make_members("forgetful-leader")
    assert make_members("adalg:ForgetfulLeader")


@pytest.mark.parametrize(
    ("group", "name"), [("algorithms", "rw-ftpl"), ("learners", "ridge"), ("noises", "capacity")]
)
def test_a_foreign_package_may_not_take_a_name_of_dpol(packages, group, name):
    assert load_experiment("config/config.yaml")
    install(packages, "bobalg", points=f"[dpol.{group}]\n{name} = bobalg:Forgetful\n")
    with pytest.raises(ConfigError, match=f"{name} is registered by dpol and by bobalg;"):
        load_experiment("config/config.yaml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("forgetful-leder", "did you mean forgetful-leader"),
        ("adalg.ForgetfulLeader", "nor a package.module:Class"),
        ("../adalg:Thing", "must name a class as package.module:Class"),
        ("nowhere:Thing", "cannot import nowhere:Thing: No module named 'nowhere'"),
        ("adalg:Thing", "has no attribute 'Thing'"),
        ("adalg:HALF", "must derive from an algorithm"),
    ],
)
def test_an_unknown_name_is_refused(packages, name, message):
    with pytest.raises(ValueError, match=message):
        make_members(name)


# ---- they play in the same loop as algorithms of dpol --------------------------------------------


@pytest.fixture
def stream(packages, random_stream):
    """A stream, where the package is installed."""
    return random_stream(9, 4)


def play(stream, spec):
    (played,) = suite(stream, [spec])
    return played


def test_a_package_may_import_pandas(stream):
    forgets_nothing = {"algorithm": "forgetful-leader", "keep": 1.0}
    theirs, plain = play(stream, forgets_nothing), play(stream, "rw-ftpl")
    np.testing.assert_array_equal(theirs.actions, plain.actions)
    assert theirs.guarantee == plain.guarantee


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "adalg:Fails",
            r"Fails fails: KeyError: 'north\\nsouth'; in Fails\.step, round 1; it plays",
        ),
        ("adalg:FailsInPublic", "FailsInPublic fails: ZeroDivisionError; it plays code of another"),
        (
            {"algorithm": "rw-meta", "learners": ["adalg:FailingLeader"]},
            r"rw-meta fails: LookupError; in RWMeta\.step, round 1; it plays code of another",
        ),
    ],
)
def test_a_failure_in_another_package_is_one_line_with_its_name(stream, spec, message):
    with pytest.raises(dpol.DpolError, match=message):
        play(stream, spec)


def test_a_failure_in_dpol_stays_what_it_is(stream, monkeypatch):
    monkeypatch.setattr("dpol.experts.ftpl.RandomWalkFTPL.step", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        play(stream, "rw-ftpl")


@pytest.mark.workflow
def test_a_module_beside_the_config_is_refused_in_a_line(tmp_path):
    (tmp_path / "loose.py").write_text(CODE)
    suites = {"local": {"algorithms": ["loose:ForgetfulLeader"]}}
    report = {"algorithms": ["ForgetfulLeader"]}
    write_config(tmp_path, TEST, suites=suites, report=report)
    words = "-m", "dpol", "run", "config.yaml", "--dry-run"
    said = fail(run(sys.executable, *words, folder=tmp_path, PYTHONPATH="."))
    assert "\nerror: loose is not installed where the jobs run; pip install it," in said
    assert said.count("\n") == 2, "that line, and the name of the profile"
