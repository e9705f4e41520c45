"""No two mechanisms, and no two purposes, draw from one seed."""

import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dpol.config.experiment import load_experiment
from dpol.data.simulator import simulate_hospitals
from dpol.data.stream import write_stream
from dpol.studies.games.compute import play_suite
from dpol.studies.study import Inputs
from in_process import compute
from ledger import SEED, recording

CONFIG = Path(__file__).parents[1] / "config" / "simulated.yaml"

# Purposes that may draw more than once from one seed, with the studies that may share it.
SHARED = {
    # One draw of noisy gains for all algorithms and bounds.
    "local noise": {"batching", "claims"},
    # Data without privacy: every algorithm of a study meets the same.
    "gap losses": {"lazy", "claims"},
    "best expert": {"lazy", "claims"},
    "convex losses": {"convex"},
    "random class": {"labels", "claims"},
    "labels": {"labels", "claims"},
    # Generators of algorithms that draw nothing.
    "none": {"audits", "batching", "claims"},
}

# Every study at its smallest, at epsilons that are calibrated and sampled fast.
SMALL = {
    "batching": {"n_rounds": 5, "replicates": 2},
    "lazy": {"n_rounds": [5, 6], "n_experts": [2, 3], "epsilons": [10, 12], "replicates": 2},
    "convex": {
        **{"n_rounds": [2, 3], "epsilons": [10], "replicates": 2},
        "losses": ["linear", "logistic"],
    },
    "labels": {
        "n_rounds": 100,
        "replicates": 2,
        "sweeps": {"rounds": [100, 200], "labels": [5, 6], "hypotheses": [2], "epsilons": [1]},
    },
    "audits": {"runs": 100},
}


def clashes(uses):
    """Return the seeds with more uses than `SHARED` allows."""
    clashing = {}
    for seed, all_uses in uses.items():
        studies = {study for study, _, _ in all_uses}
        purposes = {purpose for _, purpose, _ in all_uses}
        allowed = len(purposes) == 1 and studies <= SHARED.get(*purposes, set())
        # Two suites that play with one noise draw the same noise.
        allowed |= (purposes, studies) == ({"local noise"}, {"suites"})
        if len(all_uses) > 1 and not allowed:
            clashing[seed] = all_uses
    return clashing


def changed(model, values):
    """Return a block of the config with other numbers, validated."""
    return type(model).model_validate({**model.model_dump(), **values})


def play(uses, stream, members, noise="isotropic-constant", mu=1.0, seed=1, replicates=range(2)):
    """Play a job of the grid on a short stream."""
    with recording(uses, "suites"):
        play_suite(stream, members, noise=noise, mu=mu, seed=seed, replicates=replicates)


@pytest.fixture(scope="module")
def config():
    """Simulated hospitals."""
    return changed(load_experiment(CONFIG), {"seed": SEED, "replicates": 4})


@pytest.fixture(scope="module")
def recorded(config, whole_ledger, random_stream, tmp_path_factory):
    """Seeds of everything that the config asks for."""
    folder = tmp_path_factory.mktemp("run")
    uses = defaultdict(list, {seed: list(users) for seed, users in whole_ledger[1].items()})
    for label in config.streams:
        write_stream(random_stream(12, 3, label=label), folder / f"streams/{label}.parquet")
    (games, main), (league, _), *studies = config.studies()
    assert league.name == "league", "it only compares games"
    for job in games.jobs(main, config.facts).values():
        files = {name: folder / path for name, path in job.inputs.items()}
        inputs = Inputs(seed=config.seed, files=files)
        with recording(uses, "suites"):
            for point in job.points:
                import_module(games.computing).run(point, inputs)
    source = config.dataset.source
    with recording(uses, "simulator"):
        simulate_hospitals(source.hospitals, 20, source.first_week, config.seed)
    for study, block in studies:
        if study.name == "claims":
            continue
        import_module(study.computing)  # before recording
        with recording(uses, study.name):
            smallest = changed(block, SMALL[study.name])
            streams = list(config.streams)
            compute(study, smallest, seed=config.seed, streams=streams, folder=folder)
    return uses


def test_no_seed_feeds_two_mechanisms_or_purposes(recorded):
    assert clashes(recorded) == {}


def test_everything_that_the_config_asks_for_was_recorded(recorded, config):
    uses = [use for all_uses in recorded.values() for use in all_uses]
    assert len(recorded) > 1000
    assert {study for study, _, _ in uses} == {"suites", "simulator", "claims", *SMALL}
    played = {purpose for study, purpose, _ in uses if study == "suites"}
    labels = {member.label for suite in config.suites.values() for member in suite.members}
    assert played == {"local noise", *(f"algorithm {label}" for label in labels)}
    streams = {key[0] for study, _, key in uses if study == "suites"}
    assert streams == set(config.streams)


def test_seeds_have_the_root_of_the_config(recorded, config):
    """The exception is noise drawn only for its scale, and thrown away."""
    root = config.seed
    others = {key for (seed, _), uses in recorded.items() if seed != root for _, _, key in uses}
    of_scale = re.compile(r"synthetic: (all-zero|claims: zeros), n = |unused$")
    assert all(of_scale.match(key[0]) for key in others)


def test_jobs_share_local_noise_but_nothing_else(config, make_stream):
    """Two suites with one noise draw the same noise, once each; other draws differ."""
    stream, recorded = make_stream(np.full((3, 2), 0.5), label="NM"), defaultdict(list)
    for suite in ("local", "variants"):
        play(recorded, stream, config.suites[suite].members)
    shared = {use[1] for uses in recorded.values() if len(uses) > 1 for use in uses}
    assert shared == {"local noise"}


@pytest.mark.parametrize(
    "uses",
    [
        # One seed for two studies, for two purposes, and for an algorithm played twice.
        [("suites", "local noise", ("all-zero",)), ("batching", "local noise", ("all-zero",))],
        [("lazy", "gap losses", ("a",)), ("lazy", "epoch losses", ("a",))],
        [("suites", "algorithm l2p", ("NM",)), ("suites", "algorithm l2p", ("NM",))],
    ],
)
def test_a_clash_is_found(uses):
    assert clashes({(1, (1,)): uses}) == {(1, (1,)): uses}
    assert clashes({(1, (1,)): uses[:1]}) == {}


def test_a_stream_named_like_one_of_a_study_has_its_own_noise(recorded, config, make_stream):
    stream = make_stream(np.full((3, 2), 0.5), label="all-zero")
    together = defaultdict(list, {seed: list(uses) for seed, uses in recorded.items()})
    play(together, stream, config.suites["variants"].members, seed=config.seed)
    assert clashes(together) == {}
