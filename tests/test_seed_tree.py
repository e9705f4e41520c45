"""No two mechanisms, and no two purposes, ever draw from the same seed."""

from __future__ import annotations

import contextlib
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from dpol.config.experiment import Experiment, load_experiment
from dpol.core import randomness
from dpol.data.simulator import simulate_hospitals
from dpol.studies.hospitals.runs import play_suite
from dpol.studies.jobs import compute

CONFIG = Path(__file__).parents[1] / "config" / "demo.yaml"

# What may be drawn more than once from one seed: purpose -> the studies that may share it.
SHARED = {
    # One draw of noisy gains for all algorithms and bounds.
    "local noise": {"batching", "claims"},
    # Data, not privacy: every algorithm of a study meets the same.
    "gap losses": {"lazy"},
    "gap losses, best expert": {"lazy"},
    "epoch losses": {"lazy"},
    "convex losses": {"convex"},
    "random class": {"labels", "claims"},
    "labels": {"labels", "claims"},
    # Generators of algorithms that draw nothing.
    "none": {"batching", "claims"},
}


class Recorder:
    """Stands in for `seed_sequence` in every module, and keeps what it was asked for."""

    def __init__(self):
        self.uses = defaultdict(list)  # (root, spawn key) -> [(study, purpose, key)]
        self.study = ""

    def __call__(self, root, key):
        found = self.original(root, key)
        purpose = key[-1] if isinstance(key[-1], str) else key[0]
        self.uses[root, found.spawn_key].append((self.study, purpose, key))
        return found

    @contextlib.contextmanager
    def installed(self):
        """Replaces the function wherever it was imported."""
        self.original = randomness.seed_sequence
        places = [
            module
            for name, module in list(sys.modules.items())
            if name.split(".")[0] == "dpol"
            and getattr(module, "seed_sequence", None) is self.original
        ]
        for module in places:
            module.seed_sequence = self
        try:
            yield self
        finally:
            for module in places:
                module.seed_sequence = self.original


def clashes(uses):
    """Seeds that were drawn from more than once, beyond what `SHARED` allows."""
    found = {}
    for seed, all_uses in uses.items():
        studies = {study for study, _, _ in all_uses}
        purposes = {purpose for _, purpose, _ in all_uses}
        allowed = len(purposes) == 1 and studies <= SHARED.get(*purposes, set())
        if len(all_uses) > 1 and not allowed:
            found[seed] = all_uses
    return found


def small(model, **changed):
    """A block of the config with other numbers, checked again."""
    return type(model).model_validate({**model.model_dump(), **changed})


def play_jobs(experiment: Experiment, recorder: Recorder, make_stream) -> None:
    """Every job of the grid, on short streams."""
    gains = np.random.default_rng(0).random((4, 3))
    for job in experiment.jobs():
        recorder.study = "suites"
        play_suite(
            make_stream(gains, label=job.stream),
            experiment.members[job.suite],
            noise=job.noise,
            mu=experiment.config.privacy.levels[job.level],
            seed=experiment.config.seed,
            replicates=experiment.replicates(job.block),
        )


SMALLEST = {
    "batching": {"n_rounds": 5, "rounds": [2], "replicates": 2},
    "lazy": {"n_rounds": [5, 6], "n_experts": [2, 3], "epsilons": [10, 12], "replicates": 2},
    "convex": {"n_rounds": [2, 3], "epsilons": [50], "replicates": 2},
    "labels": {
        "n_rounds": 100,
        "replicates": 2,
        "sweeps": {"rounds": [100, 200], "labels": [5, 6], "hypotheses": [2], "epsilons": [1]},
    },
    "audits": {"runs": 100},
}
"""What makes the studies quick; large epsilons are the quickest to find parameters for."""


def run_studies(experiment: Experiment, recorder: Recorder, random_stream) -> None:
    """Every study at its smallest, and the simulated data."""
    config = experiment.config
    source = config.dataset.source
    recorder.study = "simulator"
    simulate_hospitals(source.hospitals, 20, source.first_week, config.seed)
    streams = {label: random_stream(12, 3, label=label) for label in config.streams}
    for study, block in experiment.studies():
        recorder.study = study.name
        settings = small(block, **SMALLEST.get(study.name, {}))
        compute(study, settings, seed=config.seed, streams=streams)


@pytest.fixture(scope="module")
def recorded(make_stream, random_stream):
    """The seeds of everything that the demonstration config does, two blocks of replicates."""
    loaded = load_experiment(CONFIG)
    experiment = Experiment(small(loaded.config, replicates=4, block_replicates=2), loaded.members)
    with Recorder().installed() as recorder:
        play_jobs(experiment, recorder, make_stream)
        run_studies(experiment, recorder, random_stream)
    return recorder.uses


def test_no_seed_feeds_two_mechanisms_or_purposes(recorded):
    assert clashes(recorded) == {}


def test_everything_that_the_config_does_was_recorded(recorded):
    uses = [use for all_uses in recorded.values() for use in all_uses]
    assert len(recorded) > 1000
    assert {study for study, _, _ in uses} == {
        *("suites", "simulator", "batching"),
        *("lazy", "convex", "labels", "audits", "claims"),
    }
    experiment = load_experiment(CONFIG)
    played = {purpose for study, purpose, _ in uses if study == "suites"}
    labels = {it.label for members in experiment.members.values() for it in members}
    assert played == {"local noise", *(f"algorithm {label}" for label in labels)}
    assert {key[0] for study, _, key in uses if study == "suites"} == set(experiment.config.streams)


def test_seeds_have_the_root_of_the_config(recorded):
    """But for noise that is drawn for its scale only and thrown away."""
    root = load_experiment(CONFIG).config.seed
    others = {key for (own, _), uses in recorded.items() if own != root for _, _, key in uses}
    assert all(re.match(r"synthetic: (all-zero|claims: zeros), n = ", key[0]) for key in others)


def test_jobs_share_local_noise_but_nothing_else(make_stream):
    """Two suites with one noise get the same noise, once each; other draws differ."""
    loaded = load_experiment(CONFIG)
    stream = make_stream(np.full((3, 2), 0.5), label="NM")
    settings = {"mu": 1.0, "seed": 1, "replicates": range(2)}
    with Recorder().installed() as recorder:
        for suite in ("local", "batched"):
            play_suite(stream, loaded.members[suite], noise="isotropic-constant", **settings)
    shared = {use[1] for uses in recorder.uses.values() if len(uses) > 1 for use in uses}
    assert shared == {"local noise"}


@pytest.mark.parametrize(
    "uses",
    [
        # Two studies, one seed; one study, two purposes; an algorithm that is played twice.
        [("suites", "local noise", ("all-zero",)), ("batching", "local noise", ("all-zero",))],
        [("lazy", "gap losses", ("a",)), ("lazy", "epoch losses", ("a",))],
        [("suites", "algorithm l2p", ("NM",)), ("suites", "algorithm l2p", ("NM",))],
    ],
)
def test_a_clash_is_found(uses):
    assert clashes({(1, (1,)): uses}) == {(1, (1,)): uses}
    assert clashes({(1, (1,)): uses[:1]}) == {}


def test_a_stream_that_is_named_like_one_of_a_study_has_noise_of_its_own(recorded, make_stream):
    experiment = load_experiment(CONFIG)
    stream = make_stream(np.full((3, 2), 0.5), label="all-zero")
    with Recorder().installed() as recorder:
        recorder.study = "suites"
        play_suite(
            stream,
            experiment.members["batched"],
            noise="isotropic-constant",
            mu=1.0,
            seed=experiment.config.seed,
            replicates=range(1),
        )
    together = {seed: [*uses, *recorded[seed]] for seed, uses in recorder.uses.items()}
    assert clashes(together) == {}
