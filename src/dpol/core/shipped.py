"""Files that come with dpol besides its code: workflow, configs, profiles and tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpol.core.errors import DpolError
from dpol.core.words import nearest

_TABLES = "data/elsewhere/", "data/examples/", "data/hospitals/"


def pipeline() -> Path:
    """Return the folder that holds `workflow/` and `config/`, in the package or the checkout.

    Raises:
        DpolError: neither has them.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "pipeline", package.parents[1]):
        if (folder / "workflow/Snakefile").is_file():
            return folder
    raise DpolError(f"{package}: has no workflow; install dpol again, from its wheel or a checkout")


def shipped_configs() -> dict[str, Path]:
    """Return the configs that come with dpol, by name."""
    return {file.stem: file for file in sorted(pipeline().glob("config/*.yaml"))}


def known_configs() -> dict[str, Path]:
    """Return the configs that come with dpol, by the name of their run, and by their own."""
    configs = shipped_configs()
    return {_run_of(file): file for file in configs.values()} | configs


def completed(block: object, key: str) -> object:
    """Return a block of a config, completed from the config of dpol that its `like` names.

    Args:
        block: the block; without `like` it is returned as it is.
        key: the key of the block in both configs.

    Raises:
        ValueError: no such config comes with dpol.

    >>> completed({"like": "states", "NM": {"groups": ["88"]}}, "streams")["NM"]
    {'title': 'New Mexico', 'groups': ['88']}
    """
    if not isinstance(block, Mapping) or not isinstance(name := block.get("like"), str):
        return block
    from dpol.core.yaml_files import read_yaml  # here, since `dpol --help` needs no YAML

    configs = known_configs()
    if name not in configs:
        raise ValueError(f"like: no config {name} comes with dpol{nearest(name, configs)}")
    whole: Any = read_yaml(configs[name])
    own = {other: value for other, value in block.items() if other != "like"}
    base: Any = completed(whole[key], key)
    if "source" in own:  # a table is one, and not half of another
        base = {**base, "source": None}
    return over(base, own) if own else base


def over(base: Any, own: Any) -> Any:
    """Return a value whose keys replace those of another, at any depth; `{}` replaces all keys."""
    if not (own and isinstance(base, Mapping) and isinstance(own, Mapping)):
        return own
    return {**base, **{key: over(base.get(key), value) for key, value in own.items()}}


def _run_of(config: Path) -> str:
    lines = config.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("run: ") for line in lines if line.startswith("run: "))


def way_back(table: str) -> str:
    """Say how to get a table of dpol again; empty for a table in another folder."""
    if not (table.startswith(_TABLES) or Path(table).is_relative_to(pipeline() / "data")):
        return ""
    return f"it comes with dpol: in a clone run git restore {table}, elsewhere install dpol again"


def place_of(table: str) -> str:
    """Return the path of a table that a config names: in the working folder, or from dpol."""
    if table.startswith(_TABLES) and not Path(table).exists():
        return str(pipeline() / table)
    return table
