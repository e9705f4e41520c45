"""The claims ledger: what decides each statement, and all of its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from dpol.core.errors import DataError
from dpol.core.logs import progress
from dpol.core.yaml_files import read_yaml
from dpol.show.papers import DISTRIBUTIONS, EXPERTS, LAZY
from dpol.studies.claims import (
    labels,
    labels_risk,
    lazy,
    lazy_presets,
    local_batches,
    local_experts,
)
from dpol.studies.claims.core import Check, Claim, Finding, Statement, worst
from dpol.studies.claims.settings import Claims
from dpol.studies.study import Inputs, Point

PAPERS = {"experts": EXPERTS, "lazy": LAZY, "labels": DISTRIBUTIONS}
"""Titles, by label; each paper is a point of the study."""
STATEMENTS = Path(__file__).with_name("statements.yaml")

_DECIDED_BY: Mapping[Check, tuple[str, ...]] = {
    local_experts.local_noise: ("isotropic-noise", "capacity-noise"),
    local_experts.regrets: ("regret-of-ftpl", "regret-of-adabatch", "regret-of-batches"),
    local_experts.expected_maximum: ("expected-maximum",),
    local_experts.tree: ("tree-noise",),
    local_batches.switching: ("switching-borell-tis", "switching-reflection"),
    local_batches.reflection_against_borell_tis: ("reflection-below-borell-tis",),
    local_batches.gaps: ("smallest-gap",),
    local_batches.gap_law: ("gap-law",),
    local_batches.containing_batches: ("containing-batch",),
    local_batches.smaller_batches: ("smaller-batch",),
    local_batches.conversion: ("trade-off-curve",),
    local_experts.meta_of_two: ("meta-of-turncoats", "meta-of-constants"),
    local_experts.meta_of_thirteen: ("meta-of-thirteen",),
    lazy.zcdp_conversion: ("zcdp-conversion",),
    lazy.log_ratios: ("one-more-loss", "another-loss", "later-batches"),
    lazy.indicator: ("differing-batch",),
    lazy.redraw: ("redraw",),
    lazy.marginals: ("marginal", "keep-ratio"),
    lazy.published_over_sound: ("published-over-sound",),
    lazy.exact_privacy: ("published-games", "sound-games"),
    lazy_presets.preset_of_experts: ("experts-precondition", "experts-value", "experts-privacy"),
    lazy_presets.experts_as_stated: ("experts-as-stated",),
    lazy_presets.preset_of_convex: ("convex-precondition", "convex-value", "convex-temperature"),
    lazy_presets.accounting_of_convex: ("convex-privacy-10", "convex-privacy-50"),
    lazy_presets.redraw_of_convex: ("convex-one-more-loss", "convex-redraw"),
    lazy.batching: ("cost-of-batches",),
    lazy.batched_bound: ("batched-regret",),
    lazy.rate_of_experts: ("rate-of-experts",),
    lazy.rate_of_lower_bound: ("rate-of-lower-bound",),
    lazy.repeated_loss: ("repeated-loss",),
    labels.clipping: ("cells", "smallest-mass", "likelihood-range"),
    labels.clipping_of_random_classes: ("largest-mass", "likelihood-range-ours"),
    labels.message_loss: ("exp3-message",),
    labels.message_loss_repaired: ("exp3-message-repaired",),
    labels.composition: ("wma-scale",),
    labels.composition_theorem: ("composition",),
    labels.response: ("randomised-response",),
    labels_risk.majority: ("majority", "majority-of-messages"),
    labels_risk.sampled_majority: ("majority-of-samples",),
    labels_risk.upper_bounds: ("wma-risk", "exp3-risk", "pinsker"),
    labels_risk.risk_of_hard_class: ("hard-class",),
    labels_risk.construction: ("pairs-are-laws",),
    labels_risk.separation: ("pairs-are-apart",),
    labels_risk.contraction: ("pairs-under-privacy",),
}
CHECKS = {name: check for check, names in _DECIDED_BY.items() for name in names}
"""What decides each statement, by id."""


@cache
def statements(path: Path = STATEMENTS) -> Mapping[str, Statement]:
    """All statements by id, in the order of the ledger.

    Raises:
        DataError: a key is unknown, missing or wrong, a paper is unknown, a statement has no
            function in `CHECKS`, or a function has no statement.
        ConfigError: the file is no YAML.
    """
    try:
        found = TypeAdapter(dict[str, Statement]).validate_python(read_yaml(path))
    except ValidationError as error:
        (first, *_) = error.errors()
        key = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(f"{path.name}: {key}: {first['msg']}") from None
    for names, problem in (
        ({it.paper for it in found.values()} - set(PAPERS.values()), "no paper of PAPERS"),
        (found.keys() - CHECKS.keys(), "no function in CHECKS"),
        (CHECKS.keys() - found.keys(), "no statement, but a function"),
    ):
        if names:
            raise DataError(f"{path.name}: {problem} in study.py: {', '.join(sorted(names))}")
    return found


def findings(check: Check, seed: int) -> dict[str, list[Finding]]:
    """What a function finds in all of its settings, by id of the statement."""
    found = defaultdict(list)
    for name, finding in check(seed):
        found[name].append(finding)
    return dict(found)


def claims(paper: str, *, seed: int) -> list[Claim]:
    """The claims of a paper, each at the setting in which it comes off worst.

    Raises:
        ValueError: a function finds something about another statement than `CHECKS` says.
    """
    about = {name: it for name, it in statements().items() if it.paper == PAPERS[paper]}
    found: dict[str, list[Finding]] = {}
    for check in progress(list(dict.fromkeys(CHECKS[name] for name in about)), f"claims: {paper}"):
        found |= findings(check, seed)
    if odd := found.keys() ^ about.keys():
        raise ValueError(f"CHECKS says something else of {', '.join(sorted(odd))}")
    return [worst(Claim(about[name], it) for it in found[name]) for name in about]


def run(settings: Claims, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """The rows of one paper: a key of `PAPERS`."""
    return {"claims": ledger([point["paper"]], seed=inputs.seed)}


def ledger(papers: Iterable[str] = PAPERS, *, seed: int) -> pd.DataFrame:
    """One row per statement of these papers (columns: docs/reference/tables.md).

    Args:
        papers: keys of `PAPERS`.
        seed: root seed of what is sampled; ten seconds on one core for all.
    """
    return pd.DataFrame([it.as_row() for paper in papers for it in claims(paper, seed=seed)])
