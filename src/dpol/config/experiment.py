"""A config that obeys all rules.

Only this module knows both the models of a config and the registry of algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from dpol.config.models import WHOLE, Config
from dpol.config.rules import OF_ALGORITHMS, OF_KEYS, jobs
from dpol.core.errors import ConfigError, Key
from dpol.core.plugins import refuse_taken
from dpol.core.settings import MISSING, Problem, inside, problems_of, refusal
from dpol.core.shipped import place_of, way_back
from dpol.core.yaml_files import read_yaml
from dpol.experts.registry import ALGORITHM_GROUP, LEARNER_GROUP, LEARNERS, REGISTRY, make_members
from dpol.experts.suites import by_label
from dpol.noise import NOISES
from dpol.noise.noises import NOISE_GROUP


def load_experiment(path: Path | str) -> Config:
    """Read and check a config file.

    Args:
        path: a YAML file; paths in it are relative to the working folder.

    Raises:
        ConfigError: the file cannot be read or breaks rules; the text lists every broken rule.

    >>> config = load_experiment("config/config.yaml")  # in the project's folder
    >>> config.run, list(config.suites)
    ('central-texas', ['local', 'central', 'non-private'])
    """
    path = Path(path)
    return parse_experiment(read_yaml(path), str(path))


def check_local_table(config: Config) -> None:
    """Check that a local table exists.

    Raises:
        ConfigError: it does not.
    """
    source = config.dataset.source
    if source.kind in ("local", "gains") and not Path(place_of(source.file)).is_file():
        remedy = way_back(source.file) or (
            f"put the table of run {config.run} there, or try config/config.yaml, whose table comes"
            " with dpol"
        )
        raise ConfigError(f"dataset.source.file = {source.file}: no such file; {remedy}")


def parse_experiment(raw: object, place: str) -> Config:
    """Check a config.

    Args:
        raw: what the file holds.
        place: name of the file, for messages.

    Raises:
        ConfigError: rules are broken; the text lists each key, its value and what is allowed.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{place}: has no keys; config/config.yaml is an example")
    try:
        refuse_taken({ALGORITHM_GROUP: REGISTRY, LEARNER_GROUP: LEARNERS, NOISE_GROUP: NOISES})
        problems = [*wrong_algorithms(raw.get("suites"))]
        config = WHOLE.model_validate(raw)
    except ValidationError as error:
        problems = [*problems_of(error, WHOLE, raw), *problems]
        raise refusal(place, [_as_written(it, raw) for it in problems]) from None
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None
    if not problems:
        config = config.model_copy(update={"report": config.report.resolved(config.suites)})
    rules = OF_KEYS if problems else (*OF_ALGORITHMS, *OF_KEYS)
    problems += [problem for rule in rules for problem in rule(config)]
    problems = problems or [*jobs(config)]
    if problems:
        raise refusal(place, [_as_written(it, raw) for it in problems])
    return config


def _as_written(problem: Problem, raw: object) -> Problem:
    """Return the problem at a key that is in the file; the value of any other key is a default."""
    location, values, written = problem.location, inside(raw), 0
    while written < len(location) and (key := str(location[written])) in values:
        values = inside(values[key])
        written += 1
    if problem.value is MISSING or written in (0, len(location)):
        return problem
    unwritten = f"{Key(location[written:])} is not given, so it is {problem.shown}: "
    return Problem(location[:written], MISSING, (unwritten, problem.allowed))


def wrong_algorithms(suites: object) -> Iterator[Problem]:
    """Yield the problems with the names and parameters of algorithms in the suites of a file."""
    with suppress(ValueError):  # of the model, with the key
        suites = by_label(suites)
    for label, suite in suites.items() if isinstance(suites, Mapping) else ():
        specs = suite.get("algorithms") if isinstance(suite, Mapping) else None
        for index, spec in enumerate(specs if isinstance(specs, list) else ()):
            try:
                make_members(spec)
            except ValueError as error:
                yield Problem(("suites", str(label), "algorithms", index), spec, str(error))
