from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
import pytest

from dpol.experts.registry import REGISTRY, make_members
from dpol.experts.released_sums import ReleasedSums
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.labels.learners import Terms
from dpol.labels.registry import LEARNERS, SELECTORS, make_learner
from dpol.noise import NOISES, noise_scale
from dpol.noise.noisy_gains import achieved_mu
from dpol.privacy.auditing import AuditResult
from dpol.studies.ledger.audits import experts
from dpol.studies.ledger.audits.compute import SAMPLED
from dpol.studies.ledger.audits.core import Subject
from dpol.studies.ledger.audits.drawn import audits_table
from dpol.studies.ledger.audits.labels import counterexample_class
from dpol.studies.ledger.audits.settings import Audits
from dpol.studies.ledger.audits.study import STUDY
from dpol.studies.study import schemas_in
from in_process import compute
from report.run_by_hand import audits
from tables_by_hand import texts


@pytest.fixture(scope="module")
def study(once):
    """The audits with the seed of the shipped configs, and as many runs as the bounds need."""
    settings = Audits(runs=13_000)
    return once("audits", lambda: compute(STUDY, settings, seed=20200809)["audits"])


# ---- the study -----------------------------------------------------------------------------------


def test_every_noise_is_audited_and_one_claim_is_violated(study):
    assert set(NOISES) < set(study.variant.str.removesuffix(", stays of 3 rounds"))
    (violated,) = study[study.verdict == "violated"].itertuples()
    assert (violated.mechanism, violated.method) == ("private EXP3, message", "exact")
    assert violated.variant == "published sensitivity"
    assert violated.lower_bound == pytest.approx(1.02, abs=0.001)
    schemas_in(STUDY.package)["audits"].check(study, "audits")
    exact = study.method == "exact"
    assert (study.runs[exact] == 0).all()
    assert (~exact).sum() == SAMPLED
    assert (study.confidence[~exact] == 1 - 0.05 / SAMPLED).all()  # of the default settings


def test_every_registered_curator_and_client_is_audited(study):
    """Other central algorithms release only their choices, and `dpol check` audits these."""
    members = chain.from_iterable(map(make_members, REGISTRY))
    curators = [it.algorithm for it in members if isinstance(it.algorithm, ReleasedSums | TreeFTPL)]
    game = counterexample_class(), Terms(300, epsilon=1.0)
    selectors = [kind(*game) for kind in SELECTORS.values()]
    learners = [make_learner(name, *game) for name in LEARNERS]
    clients = [it.client for it in (*learners, *selectors)]
    asked = {type(it).__name__ for it in (*curators, *clients)}
    assert len(asked) > 5
    assert {it for it in asked if not study.code.str.contains(f"{it}.", regex=False).any()} == set()


def test_claims_are_the_parameters_asked_for(study):
    """All rows of mu and epsilon claim 1; none takes its claim from the mechanism's own scale."""
    asked = study[study.parameter == "mu"]
    # Chains are made for any length, so in 9 rounds their mu is a little smaller.
    chains = asked.variant.str.contains("capacity-memory")
    assert asked.claimed[chains].between(0.995, 1).all()
    assert asked.claimed[~chains].to_numpy() == pytest.approx(np.ones((~chains).sum()))
    messages = study[study.unit.str.contains("label") & (study.parameter == "epsilon")]
    wma = messages.mechanism == "private WMA, message"
    # Its record is of the loss, which is less than was asked for at the published scale.
    assert (messages.claimed[~wma] == 1).all()
    assert messages.claimed[wma].tolist() == pytest.approx([1, 0.126], abs=1e-3)


GAUSSIAN = ["Gaussian noise on gains", "tree-aggregated prefix sums", "factorised sums"]


def test_bounds_come_near_the_claims_that_they_can_reach(study):
    share = study.lower_bound / study.claimed
    gaussian = study.mechanism.isin(GAUSSIAN)
    assert (share[gaussian & (study.method == "event")] >= 0.8).all()
    stays = study.variant.str.contains("stays")
    assert (share[(study.method == "covariance") & ~stays] >= 0.96).all()
    assert (share[(study.method == "covariance") & stays] >= 0.93).all()
    # Actions show only the leader.
    assert 0.6 < share[study.mechanism == "RW-AdaBatch, actions"].iloc[0] < 0.9


@pytest.mark.parametrize(
    ("recorded", "loss", "claimed", "verdict"),
    [
        (1.0, 0.9, 1.0, "consistent"),
        (0.8, 0.9, 0.8, "violated"),  # the record claims too much privacy
        (1.2, 0.9, 1.0, "violated"),  # the record claims less than was requested
        (1.2, 1.1, 1.0, "violated"),
    ],
)
def test_the_claim_is_the_smaller_of_requested_and_recorded(recorded, loss, claimed, verdict):
    words = dict.fromkeys(("mechanism", "variant", "code", "inputs", "adjacency", "unit"), "x")
    subject = Subject(**words, requested=1.0, recorded=recorded)
    row = subject.audited("s", partial(AuditResult, parameter="mu", lower_bound=loss))(0.9)
    assert (row["claimed"], row["recorded"], row["verdict"]) == (claimed, recorded, verdict)


# ---- inputs and outputs --------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [name for name in NOISES if NOISES[name].mechanism is None])
def test_the_two_streams_of_hospitals_differ_as_much_as_one_person_can_cause(noise):
    one, other = experts.hospitals(noise).streams()
    gap = other.gains - one.gains
    assert (np.abs(gap) * one.capacity).tolist() == [[4, 0, 0, 0, 0, 4], [0] * 6, [0] * 6]
    scale = noise_scale(one, noise, 1.0)
    assert np.linalg.norm(gap / scale) == pytest.approx(achieved_mu(one, scale), rel=1e-12)
    for hospital in range(6):  # none has a tenth of its noise to spare
        assert achieved_mu(one, scale * np.where(np.arange(6) == hospital, 0.9, 1)) > 1.05


# ---- the table, by hand --------------------------------------------------------------------------


def lines(frame: pd.DataFrame) -> list[list[str]]:
    return texts(audits_table({"audits": frame}, None))


def test_audits_are_shown_with_their_numbers_and_verdicts() -> None:
    first, second = lines(audits())
    assert first == [
        *("noise", "isotropic", "one person in one round", "μ = 1", "μ ≥ 0.9", "90%"),
        *("event, 3,000 runs", "stands"),
    ]
    assert second[-4:] == ["μ ≥ 1.25", "125%", "event, 3,000 runs", "refuted"]
    exact = audits().assign(method="exact", parameter="epsilon", delta=1e-6)
    assert lines(exact)[0][3:7] == ["ε = 1 (δ = 1e-06)", "ε = 0.9", "90%", "computed"]
    assert lines(audits().assign(recorded=1.5))[0][3] == "μ = 1, recorded: 1.5"
