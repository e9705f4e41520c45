"""Every mistake in a config is refused in one line: its key, its value and what is allowed."""
# ruff: noqa: E501 (messages have one line each, as they are printed)

import ast
import contextlib
import datetime
import math
import re

import pytest

from dpol.config.experiment import parse_experiment
from dpol.core.errors import ConfigError
from dpol.core.settings import Problem
from dpol.data.tidy import instead_of
from dpol.experts.registry import REGISTRY
from dpol.noise import NOISES
from small_config import DELETED, GAINS, LOCAL, SMALL, WEB, changed, problems

FROM_WEB, FROM_FILE = {"dataset.source": WEB}, {"dataset.source": LOCAL}
STUDIED = {"batching": {"n_experts": [2, 10], "mus": [0.5]}}
QUESTIONS = {"share": {}, "patients": {"of": "count", "bound": 100}}
REFUSED = [
    ({}, """
replicats = 3: unknown key; did you mean replicates?
suites.noisy.algorithms[2] = {'algorithm': 'mf-window', 'label': 'mf-window-8', 'window': 9}: label 'mf-window-8' says 8, to which no parameter is set here; without a label it is mf-window-9
streams.both.groups = 'A': must be a list, such as [a, b]
privacy.levels = 1: must be a list, such as [a, b]
streams.both.groups[0] = -1: must be text; put it in quotes
replicates = 2.5: must be a whole number
privacy.levels[1] = None: must be a number
dataset.periods.first = '2021-13-01': must be a date such as 2021-01-31
privacy.levels[1] = 0: must be from 0.001 to 1000, or .inf for no noise
dataset.cleaning.negative_counts = 'mising': must be 'error' or 'missing'; did you mean missing?
dataset.cleaning.entities = ['h1', 'h2', ' h1']: must not hold h1 twice
dataset.periods = {'first': '2022-01-02', 'last': '2022-01-01'}: first (2022-01-02) must not be after last (2022-01-01)
privacy.levels = [0.25, 0.25]: must not hold 0.25 twice
privacy.levels = [0.25]: must have a level .inf because suite open has no privacy
suites.trusted.noises = ['isotropic-constant']: must be among isotropic, capacity in the central model
suites.noisy.algorithms[2] = {'algorithm': 'rw-meta', 'label': 'persistence'}: label 'persistence' is the name of another algorithm; without a label it is rw-meta
suites.noisy.algorithms[2] = {'algorithm': 'rw-meta', 'label': 'Persistence'}: label 'Persistence' is the name of another algorithm; without a label it is rw-meta
suites.noisy.algorithms[2] = {'algorithm': 'rw-meta', 'label': 'rw-meta-short'}: label 'rw-meta-short' is the name of another algorithm; without a label it is rw-meta
suites.noisy.algorithms[2] = {'algorithm': 'mf-window', 'label': 'mf-ftpl'}: label 'mf-ftpl' is the name of another algorithm; without a label it is mf-window
suites.noisy.algorithms[2] = {'algorithm': 'rw-ftpl', 'label': 'ridge'}: label 'ridge' is the name of another algorithm; without a label it is rw-ftpl
suites.open.algorithms[0] = 'follow-leader': algorithm 'follow-leader' is not one of <all>; did you mean follow-the-leader?
suites.noisy.algorithms[2] = {'algorithm': 'rw-meta', 'exploration_floor': -1}: exploration_floor must be a number from 0 to 1e6, got -1
report.algorithms[0] = 'rw-fptl': no suite plays it; did you mean rw-ftpl?
privacy.levels[1] = '1e400': must be from 0.001 to 1000, or .inf for no noise
replicates = True: must be a whole number
privacy.levels[1] = False: must be a number
privacy.levels[1] = '0,25': must be a number; write a decimal point, and no comma
"""),
    (FROM_WEB, """
dataset.source.endpoints[0].kind = 'socrat': must be 'socrata' or 'file'; did you mean socrata?
dataset.source.endpoints[0].url = 'ftp://data.example/x.csv': must be an address that begins with http:// or https://
dataset.source.file = 'data/../../t.csv.gz': must be a path below the working folder, like data/raw/table.csv.gz
dataset.source.file = 'data/{x.csv.gz': must have no braces; rename the file
"""),
    (FROM_FILE, """
dataset.source.simulated = 'perhaps': must be true or false
dataset.source.file = 'table}.csv': must have no braces; rename the file
"""),
    (STUDIED, "batching.mus[0] = True: must be a number"),
    (GAINS, """
dataset.source.sensitivity = 0: must be greater than 0
privacy.count_sensitivity = 2.0: must not be given because dataset.source.kind is gains: use dataset.source.sensitivity
labels.patients_per_week = 5: must not be given because dataset.source.kind is gains: its gains have no people
suites.noisy.noises = ['isotropic', 'capacity']: must not contain capacity because dataset.source.kind is gains: gains have no capacities
"""),
    ({**FROM_FILE, "dataset.periods.of": "mean", "dataset.cleaning.several_rows": "max"}, "dataset.periods.of = 'mean': must not be given together with dataset.cleaning.several_rows"),
    ({"dataset.cleaning.entities": "all"}, "dataset.cleaning.min_total_cases = 100.0: must not be given together with entities, which already says who plays"),
    ({**FROM_FILE, "dataset.columns.group": DELETED, "streams.one.groups": ["all"]}, "streams.both.groups = ['A', 'B']: must be [all] because dataset.columns.group is not given"),
    ({"suites.noisy.noises": ["isotropic"]}, "suites.noisy.noises[1] = 'capacty': noise 'capacty' is not one of <noises>; did you mean capacity?"),
    ({"suites.batched.algorithms": ["rw-adabatch"]}, "suites.batched.noises = ['isotropic']: must be [isotropic-constant] because rw-adabatch needs constant noise"),
    ({"suites.noisy.algorithms[1]": {"algorithm": "ridge", "windows": [4]}}, "report.algorithms[0] = 'ridge': is a family, not a label; use one of ridge-w4-weak, ridge-w4-medium, ridge-w4-strong"),
]  # fmt: skip
"""Changes of a config, and messages that say what is put where, and what is wrong with it."""


def test_a_value_of_more_than_80_characters_is_cut():
    assert Problem(("a",), 78 * "x", "").shown == repr(78 * "x")
    assert Problem(("a",), 79 * "x", "").shown == f"'{76 * 'x'}..."


def put(line):
    """The place that a message names, and the value it shows."""
    place, rest = line.split(" = ", 1)
    for colon in re.finditer(": ", rest):
        with contextlib.suppress(SyntaxError):
            return place, ast.literal_eval(rest[: colon.start()])
    raise AssertionError(line)


def test_a_wrong_value_is_named_with_what_is_allowed():
    others = ", nor a package.module:Class of another package"
    for base, lines in REFUSED:
        for written in lines.strip().splitlines():
            place, value = put(written)
            line = written.replace("<all>", ", ".join(REGISTRY) + others)
            line = line.replace("<noises>", ", ".join(NOISES) + others)
            assert problems(base, {place: value}) == [line]


ELSEWHERE = [
    ({"streams.both.groups": ["A", "C"]}, "streams.both.groups = ['C']: must be among dataset.source.hospitals: A, B"),
    ({"suites.trusted.algorithms[1]": "rw-meta"}, "suites.trusted.algorithms = 'tree-ftpl-min-noise (central), rw-meta (local)': must all be local, all central or all without privacy"),
    ({"suites.trusted": {"noises": ["isotropic", "capacity"], "algorithms": ["l2p"]}}, "suites.trusted.noises = ['isotropic', 'capacity']: must be [isotropic] because l2p has its own noise"),
    ({"suites.more.algorithms": ["rw-ftpl"]}, "suites.more.algorithms = 'rw-ftpl': is already played by suite noisy; give it a label"),
    ({"suites.more.algorithms": [{"algorithm": "rw-meta", "label": it} for it in ("mine", "Mine")]}, "suites.more.algorithms = 'Mine': is already played by suite more; give it a label"),
    ({"suites.more.algorithms": [{"algorithm": "rw-meta", "label": "Oracle"}]}, "suites.more.algorithms = 'Oracle': is already the name of a reference; give it a label"),
    ({"streams.One": {"groups": ["B"]}}, "streams = ['one', 'both', 'One']: must name different files, also where a file system ignores case; change a label"),
    ({"suites.Open": {"algorithms": ["multiplicative-weights"]}}, "suites = ['noisy', 'trusted', 'open', 'Open']: must name different files, also where a file system ignores case; change a label"),
    ({"questions": {"share": {}, "Share": {"min_capacity": 5}}}, "questions = ['one-share', 'one-Share', 'both-share', 'both-Share']: must name different files, also where a file system ignores case; change a label"),
    ({"suites.more.algorithms": [{"algorithm": "l2p", "label": "l2p-one-round", "largest_batch": 5}]}, "suites.more.algorithms = 'l2p-one-round': is the name of {'algorithm': 'l2p', 'largest_batch': 1}; give it another label"),
    ({"suites.more.algorithms": [{"algorithm": "l2p", "label": "L2P-one-round"}]}, "suites.more.algorithms = 'L2P-one-round': is the name of {'algorithm': 'l2p', 'largest_batch': 1}; give it another label"),
    ({"labels": {}}, "labels = {}: names nothing to compute; give it values, or delete it"),
    ({"labels": {"sweeps": {}}}, "labels = {'sweeps': {}}: names nothing to compute; give it values, or delete it"),
    ({"labels.sweeps": {"rounds": [], "epsilons": []}, "labels.replicates": 5}, "labels = {'sweeps': {'rounds': [], 'epsilons': []}, 'replicates': 5}: names nothing to compute; give it values, or delete it"),
    ({"suites.more.algorithms": [{"algorithm": "rw-meta", "label": "best-linear-model"}]}, "suites.more.algorithms = 'best-linear-model': is already the name of a reference; give it a label"),
    ({"suites.batched.algorithms": ["rw-adabatch"]}, "suites.batched: noises is not given, so it is ['isotropic']: must be [isotropic-constant] because rw-adabatch needs constant noise"),
    ({"dataset": {"source": LOCAL}, "streams": GAINS["streams"]}, "dataset.columns: is missing: name the columns of entity, period, count and capacity"),
    ({"dataset.source.kind": "simulatd"}, "dataset.source.kind = 'simulatd': must be 'web', 'local', 'simulated' or 'gains'; did you mean simulated?"),
    ({"dataset.source.kind": DELETED}, "dataset.source.kind: is missing; must be 'web', 'local', 'simulated' or 'gains'"),
    ({"seed": DELETED}, "seed: is missing and has no default"),
    ({"suites.noisy.noises": ["isotropic", "capacity-memory"]}, "suites.noisy.noises = ['isotropic', 'capacity-memory']: must not contain capacity-memory: no support for correlated noise in ridge"),
    ({"privacy.memory": [0.9, 0.3], "privacy.unit": {"weeks": 3}}, "privacy.memory = (0.9, 0.3): must have b >= max(a, 0) because privacy.unit.weeks is above 1: otherwise a person who changes hospital during the stay is not covered"),
    ({**GAINS, "dataset.cleaning": {}}, "dataset.cleaning = 'a block': must not be given because dataset.source.kind is gains: there is nothing to clean"),
    ({**FROM_FILE, "dataset.read": {"decimal": ",", "thousands": ","}}, "dataset.read.decimal = ',': must not be that of thousands too; set dataset.read.decimal to '.'"),
    ({**FROM_FILE, "dataset.read": {"sheet_name": "beds"}}, "dataset.read.sheet_name = 'beds': does not apply to table.parquet; remove that key"),
    ({"dataset.periods.format": "%d.%m."}, "dataset.periods.format = '%d.%m.': must have a year, as %Y, %y or %G, such as %d.%m.%Y"),
    ({"dataset.cleaning.missing_markers": ["-999999"]}, "dataset.cleaning: suppressed_markers is not given, so it is '-999999': must not be given among missing_markers too; remove it from one of them"),
    ({"dataset.periods": {"days": 30, "months": 1}}, "dataset.periods = {'days': 30, 'months': 1}: days and months must not be given together"),
    ({"gain": {"of": "count", "bound": 5, "at_most": 2}}, "gain = {'of': 'count', 'bound': 5, 'at_most': 2}: at_most is a bound on shares; with of: count, use bound instead"),
    ({"gain": {"of": "count"}}, "gain = {'of': 'count'}: of: count needs bound, a public bound on counts; of: share does not"),
    ({"gain": {"min_capacity": 5}, "questions": QUESTIONS}, "gain = {'min_capacity': 5.0}: must not be given together with questions"),
    ({"questions": {"share": {}}}, "questions = ['share']: must be at least two; use gain for a single question"),
    ({"streams.one-a.groups": ["A"], "questions": {"b": {}, "a-b": {"min_capacity": 5}}}, "questions = ['one-b', 'one-a-b', 'both-b', 'both-a-b', 'one-a-b', 'one-a-a-b']: must name different files, also where a file system ignores case; change a label"),
    ({"dataset.columns.capacity": DELETED}, "dataset.columns.capacity: is missing: name the column, or set gain to of: count with a bound"),
    ({**GAINS, "gain": {"of": "count", "bound": 10}}, "gain = 'count': must not be given because dataset.source.kind is gains"),
    ({**FROM_WEB, "dataset.source.endpoints": []}, "dataset.source.endpoints = []: must have at least 1 item"),
]  # fmt: skip
"""Changes that are reported at another place, and the message."""


def test_a_broken_rule_is_told_in_one_line():
    for changes, line in ELSEWHERE:
        assert problems(changes) == [line]


OUT_OF_RANGE = {
    "privacy.count_sensitivity": math.inf,
    "privacy.levels[1]": math.nan,
    "privacy.memory": [True, 0.5],
    "dataset.source.sensitivity": math.inf,
    "suites.noisy.algorithms[1]": {"algorithm": "ridge", "windows": [10**12]},
    "run": "x\n" + "x" * 500,
}
"""Values that a model refuses; the limits of numbers are in config/schema.json."""


def test_a_value_out_of_range_is_refused_with_its_key_and_value():
    for place, value in OUT_OF_RANGE.items():
        (line,) = problems(GAINS if "sensitivity" in place else {}, {place: value})
        assert line.startswith(f"{place} = {repr(value)[:77]}")
        assert len(line) < 250, "a long value is cut short"
        assert line.isprintable(), "control characters are escaped"


def test_an_unknown_key_is_refused_with_the_known_keys_of_its_block():
    known = {"": "run, seed", "dataset.source.": "kind, endpoints, file", "batching.": "n_experts"}
    known |= {"dataset.source.endpoints[0].": "kind, url", "streams.both.": "groups, title"}
    for block, keys in known.items():
        (line,) = problems(FROM_WEB, STUDIED, {f"{block}zzz": 5})
        assert line.startswith(f"{block}zzz = 5: unknown key; known: {keys}")


@pytest.mark.parametrize("key", [True, False, None, 3, 1.5, datetime.date(2021, 1, 31)])
@pytest.mark.parametrize("block", ["", "privacy"])
def test_a_key_that_yaml_reads_as_no_text_is_named(key, block):
    raw = changed()
    (raw[block] if block else raw)[key] = "x"
    with pytest.raises(ConfigError) as caught:
        parse_experiment(raw, "my.yaml")
    place = f"{block}.{key}".removeprefix(".")
    remedy = "is no text to YAML, as dates, yes and no are; put it in quotes, or remove it"
    assert f"  {place}: {remedy}" in str(caught.value).splitlines()


def keys_of(lines):
    """The keys that messages name, in their order."""
    return [re.split(r"[ :]", line)[0] for line in lines]


def test_all_mistakes_are_listed_at_once():
    lines = problems(
        {"replicats": 10, "seed": -1, "dataset.cleaning.max_cary": 3, "streams.both.groups": []},
        {"privacy.levels[1]": 0, "suites.trusted.algorithms[0]": "tree-ftpl-min-nose"},
    )
    wrong = "dataset.cleaning.max_cary", "privacy.levels[1]", "replicats", "seed"
    assert sorted(keys_of(lines)) == [*wrong, "streams.both.groups", "suites.trusted.algorithms[0]"]
    assert {*keys_of(problems(dict.fromkeys(SMALL, DELETED)))} == {*SMALL} - {"report"}
    broken = {"privacy.unit.weeks": 2, "privacy.memory": [0.9, 0.3], "streams.one.groups": ["C"]}
    keys = keys_of(problems(broken, {"suites.noisy.algorithms[0]": "rw-fptl"}))
    assert keys == ["suites.noisy.algorithms[0]", "streams.one.groups", "privacy.memory"]


def test_levels_may_be_texts_as_from_the_command_line():
    """Snakemake reads --config 'privacy={levels: [.inf, 1]}' as texts."""
    config = parse_experiment(changed({"privacy.levels": [".inf", "1"]}), "my.yaml")
    assert config.privacy.levels == [math.inf, 1.0]
    (line,) = problems({"privacy.levels": ["inf", 1]})
    assert line.startswith("privacy.levels[0] = 'inf': must be from 0.001 to 1000, or .inf")


@pytest.mark.parametrize("label", ["../a", "", "x" * 65, 7], ids=repr)
def test_a_label_unfit_for_a_file_name_is_refused(label):
    (line,) = problems({("streams", label): {"groups": ["A"]}})
    assert line.startswith("streams")
    assert f" = {label!r}: must" in line, "the value that is wrong is the label itself"


@pytest.mark.parametrize("label", ["groups", "algorithms", "kind"])
def test_a_name_like_a_key_does_not_confuse_the_places(label):
    lines = problems(
        {("streams", label): {"groups": ["A"], "titel": "x"}},
        {("suites", label): {"algorithms": ["rw-meta"], "noizes": []}},
    )
    assert sorted(keys_of(lines)) == [f"streams.{label}.titel", f"suites.{label}.noizes"]
    keys = keys_of(problems({"dataset.source": {"kind": "simulated", "simulated": "table.csv"}}))
    assert {*keys} == {f"dataset.source.{key}" for key in ("hospitals", "weeks", "simulated")}


def test_keys_that_left_are_refused_together_each_with_what_to_do_instead():
    """A block that left is told key by key, and several columns for one with the line for it."""
    left = {
        f"dataset.{block}.{key}": instead
        for block in ("format", "columns", "cleaning")
        for key, instead in instead_of(block).items()
    }
    assert [key for key, instead in left.items() if not re.search(r"table|read\.", instead)] == []
    several = {"dataset.columns.capacity": ["a", "b"], "dataset.columns.period": {"year": "y"}}
    said = problems(dict.fromkeys(left, "x"), several)
    told = [f"{key} = 'x': delete it: {instead}" for key, instead in left.items()]
    others = {*said} - {*told}
    assert (len(said), len(others)) == (len(left) + 2, 2)
    assert all("must be one column; make it with pandas: table" in it for it in others)
