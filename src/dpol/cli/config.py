"""`dpol config`: list, copy and check configs."""

from __future__ import annotations

import argparse
import itertools
import re
from pathlib import Path
from typing import Any

from dpol.cli import Commands, add_command, path
from dpol.core.errors import ConfigError, OutputError, UsageError
from dpol.core.files import write_text
from dpol.core.shipped import known_configs, shipped_configs
from dpol.core.words import did_you_mean


def add(commands: Commands) -> None:
    """Add the command."""
    words = "list, copy and check configs"
    parser = add_command(commands, "config", words=words, example="dpol config list")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    words = "list the configs that come with dpol"
    add_command(actions, "list", words=words, example="dpol config list").set_defaults(run=_list)

    words = "copy a config that comes with dpol; its table stays with dpol"
    copy = add_command(actions, "copy", words=words, example="dpol config copy beyond mine.yaml")
    copy.add_argument("name", metavar="NAME", help="such as beyond or shelters")
    words = "the copy (default: NAME.yaml in this folder)"
    copy.add_argument("file", metavar="FILE", type=path, nargs="?", help=words)
    copy.set_defaults(run=_copy)

    words = "print the whole config that runs; several files merge as Snakemake merges them"
    example = "dpol config show base.yaml over.yaml"
    show = add_command(actions, "show", words=words, example=example)
    show.add_argument("files", nargs="+", type=path, metavar="FILE", help="the later one wins")
    show.set_defaults(run=_show)

    words = "check every key and value of config files; data tables are not opened"
    check = add_command(actions, "check", words=words, example="dpol config check mine.yaml")
    check.add_argument("files", nargs="+", type=path, metavar="FILE")
    check.set_defaults(run=_check)


def _list(options: argparse.Namespace) -> None:
    configs = shipped_configs()
    width = max(map(len, configs))
    for name, file in configs.items():
        print(f"{name:{width}}  {_title(file)}")
    print("\nRun one: dpol run NAME. Copy one, to change it: dpol config copy NAME")


def _title(config: Path) -> str:
    """Return the comment at the top of a config, up to the first colon or full stop."""
    lines = config.read_text(encoding="utf-8").split("\n")[1:]  # without the line for editors
    comment = itertools.takewhile(lambda line: line.startswith("#"), lines)
    text = " ".join(line.removeprefix("#").strip() for line in comment)
    return re.split(r"[:.](?: |$)", text)[0]


def _copy(options: argparse.Namespace) -> None:
    name, configs = options.name, known_configs()
    if name not in configs:
        near = did_you_mean(name, configs)
        raise UsageError(f"{name}: no such config comes with dpol{near}; see dpol config list")
    config = options.file or Path(f"{name}.yaml")
    if config.exists():
        raise OutputError(f"{config}: exists already; rename it, or copy to another FILE")
    write_text(config, configs[name].read_text(encoding="utf-8"))
    print(f"Copied. Change {config} as you like, then: dpol run {config}")


def _show(options: argparse.Namespace) -> None:
    import yaml
    from snakemake.utils import update_config

    from dpol.config.experiment import parse_experiment
    from dpol.core.yaml_files import read_yaml

    merged: dict[str, Any] = {}
    for file in options.files:
        raw = read_yaml(file)
        if not isinstance(raw, dict):
            raise ConfigError(f"{file}: has no keys; config/config.yaml is an example")
        update_config(merged, raw)
    config = parse_experiment(merged, " + ".join(map(str, options.files)))
    print(yaml.safe_dump(config.whole(), sort_keys=False, allow_unicode=True), end="")


def _check(options: argparse.Namespace) -> None:
    from dpol.config.experiment import load_experiment
    from dpol.studies.games.study import jobs

    for file in options.files:
        config = load_experiment(file)
        count = len(jobs(config.games, config.facts))
        print(f"{file}: good (run {config.run}, {count} jobs of games)")
        for line in config.left_out:
            print(f"{file}: {line}")
