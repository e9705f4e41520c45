"""`dpol run CONFIG --sweep KEY=VALUES`: run a grid of configs in one call of Snakemake."""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import check_local_table, parse_experiment
from dpol.core.errors import ConfigError, UsageError
from dpol.core.files import write_text
from dpol.core.shipped import pipeline
from dpol.core.yaml_files import read_yaml

MOST = 300
"""Largest number of runs in a sweep; each adds some hundred jobs to the graph."""
FOLDER = Path(".snakemake/sweeps")
"""Folder of the workflows of sweeps and their configs."""
_WORKFLOW = """\
# Written by dpol run --sweep: each run of the grid is a module.
configfile: {configs!r}


for name in list(config):

    module:
        name: name
        snakefile:
            {snakefile!r}
        config:
            config[name]

    use rule * from name as name*


rule all:
    default_target: True
    input:
        [getattr(rules, f"{{name}}results").input for name in config],
    localrule: True
    message:
        {message!r}
"""


def write_sweep(config: Path, sweeps: Sequence[str]) -> Path:
    """Write the workflow of a grid of configs below the working folder, and return its path.

    Args:
        config: the config that all runs share.
        sweeps: KEY=VALUES for each key that changes.

    Raises:
        ConfigError: the config breaks a rule.
        UsageError: a sweep cannot be read, gives a config that breaks a rule, gives two runs the
            same name, or gives more than `MOST` runs.
    """
    configs = sweep_configs(config, sweeps)
    base, runs = config.stem, [f"results/{name}" for name in configs]
    file, grid = FOLDER.absolute() / f"{base}.smk", FOLDER.absolute() / f"{base}.yaml"
    modules = {f"{re.sub(r'[^0-9A-Za-z]', '_', name)}_": it for name, it in configs.items()}
    write_text(grid, yaml.safe_dump(modules, sort_keys=False, allow_unicode=True))
    text = _WORKFLOW.format(
        configs=str(grid),
        snakefile=str(pipeline() / "workflow/Snakefile"),
        message=f"Done: {', '.join(runs)}\nCompare them: dpol compare {' '.join(runs)}",
    )
    write_text(file, text)
    return file


def sweep_configs(config: Path, sweeps: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the configs of a grid by the names of their runs. Raises as `write_sweep`."""
    raw: Any = read_yaml(config)
    base = parse_experiment(raw, str(config)).config.run
    axes = [_axis(raw, sweep) for sweep in sweeps]
    if (count := math.prod(len(values) for _, values in axes)) > MOST:
        raise UsageError(f"the sweep makes {count} runs, more than {MOST}; omit some values")
    configs: dict[str, dict[str, Any]] = {}
    for values in itertools.product(*(values for _, values in axes)):
        changed, name = copy.deepcopy(raw), base
        for (place, _), value in zip(axes, values, strict=True):
            block = changed
            for key in place[:-1]:
                block = block[key]
            block[place[-1]] = value
            name += "-" + re.sub(r"[^\w.-]+", "-", f"{place[-1]}-{value}")
        if name in configs:
            raise UsageError(f"--sweep: two runs are named {name}; give each key and value once")
        configs[name] = changed | {"run": name}
        try:
            check_local_table(parse_experiment(configs[name], name).config)
        except ConfigError as error:
            problems = [line.strip() for line in str(error).split("\n")[1:-1]] or [str(error)]
            raise UsageError(f"--sweep: run {name}: {'; '.join(problems)}") from None
    return configs


def _axis(raw: Mapping[str, Any], sweep: str) -> tuple[list[str], list[Any]]:
    """Return the place of a key in a config, and its values."""
    key, _, text = sweep.partition("=")
    how = "write KEY=VALUES, such as seed=1..5 or privacy.levels.mu-1=0.8,1"
    try:
        listed = yaml.safe_load(f"[{text}]")
    except yaml.YAMLError:
        listed = []
    if not key or not listed:
        raise UsageError(f"--sweep {sweep}: has no values; {how}")
    values: list[Any] = []
    for item in listed:
        ends = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", str(item))
        if ends and int(ends[1]) <= int(ends[2]) < int(ends[1]) + MOST:
            values += range(int(ends[1]), int(ends[2]) + 1)
        elif ".." in str(item):
            raise UsageError(
                f"--sweep {sweep}: {item} is not a range; write two whole numbers such as 1..5, the"
                f" smaller first, for at most {MOST} values"
            )
        else:
            values.append(item)
    return _place(raw, key), values


def _place(block: Mapping[str, Any], key: str) -> list[str]:
    """Return the names that lead to a key; labels of levels may contain dots."""
    for name, inner in block.items():
        if isinstance(inner, dict) and key.startswith(f"{name}."):
            return [name, *_place(inner, key.removeprefix(f"{name}."))]
    return [key]
