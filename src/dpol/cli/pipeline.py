"""`dpol run` and `dpol verify`: start Snakemake, and check its runs."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from dpol.cli import Commands, add_command, path
from dpol.core.errors import OutputError, UsageError
from dpol.core.files import check_writable
from dpol.core.shipped import known_configs, pipeline, shipped_configs
from dpol.core.words import did_you_mean, printable

_FLAGS = """Flags are passed on to snakemake: --dry-run shows the plan, \
--cores 2 uses two cores (default: all). dpol run CONFIG --help lists \
them."""
_RUN = f"""Run the experiments of a config file in this folder. The report is \
results/RUN/report/index.html, where RUN is the key run of the config. {_FLAGS}"""
_VERIFY = """Run a part of the experiments, without network and in a temporary folder, and print
which claims of the documentation the values confirm. With RUN, such as results/central-texas:
compare the files of that run with its RO-Crate, and print what is changed, missing or new. The exit
code is 1 if anything differs."""
_SAYS_CORES = "-c", "-j", "-e", "--cores", "--jobs", "--executor", "--profile"


def add(commands: Commands) -> None:
    """Add the commands."""
    # argparse must read no options: they are read below, or by snakemake.
    parser = add_command(
        commands,
        "run",
        words="run the experiments of a config file",
        example="dpol run shelters --cores 2",
        description=_RUN,
        usage="dpol run [-h] CONFIG [snakemake flag ...]",
        add_help=False,
        prefix_chars="\0",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(run=_run, parser=parser)

    words = (
        "check a part of the experiments (4 minutes on two cores), or the files of a run against"
        " its record"
    )
    example = "dpol verify results/central-texas"
    parser = add_command(commands, "verify", words=words, example=example, description=_VERIFY)
    words = "folder of a finished run (default: run a part of the experiments)"
    parser.add_argument("folder", type=path, nargs="?", metavar="RUN", help=words)
    parser.set_defaults(run=_verify)


def _run(options: argparse.Namespace) -> None:
    name, *flags = options.words or [""]
    if name in ("-h", "--help"):
        options.parser.print_help()
    else:  # become Snakemake, with the user's flags
        words = snakemake_words(config_named(name, "dpol run CONFIG, then the flags"), flags)
        sys.stdout.flush()
        os.execv(sys.executable, words)


def config_named(name: str, usage: str) -> Path:
    """Return the config file of a name: a path, or the name or run of one that comes with dpol.

    Raises:
        UsageError: there is no such config; the text has the usage.
    """
    config, known = Path(name), known_configs()
    if not config.is_file() and name in known:
        return known[name]
    if not config.is_file() or name.startswith("-"):
        wrong = f"{name}: no such config file" if name else "no config is given"
        ways = f"a file, or one that comes with dpol: {', '.join(shipped_configs())}"
        meant = did_you_mean(name, known)
        raise UsageError(f"{wrong}{meant}; write {usage}; CONFIG is {ways}")
    return config


def _verify(options: argparse.Namespace) -> int:
    if not options.folder:
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, str(pipeline() / "verify/verify.py")])
    from dpol.report.door import disagreements

    lines = [f"{how}: {options.folder / name}" for how, name in disagreements(options.folder)]
    for line in lines or [f"{options.folder}: all files are as the run made them"]:
        print(printable(line))
    return int(bool(lines))


def snakemake_words(config: Path, flags: list[str]) -> list[str]:
    """Return the words that start Snakemake; the environment then says what it needs too.

    Args:
        config: file of the config.
        flags: the user's flags.

    Raises:
        ModuleNotFoundError: Snakemake is not installed.
        UsageError: the flags leave no core, and Snakemake would wait for one; or they name a
            profile that does not exist, and Snakemake would run without it.
    """
    if find_spec("snakemake") is None:
        raise ModuleNotFoundError(name="snakemake")
    if found := re.search(r"(?<!\S)(--(cores|jobs)|-\w*[cj])[ =]?0+(?!\S)", " ".join(flags)):
        raise UsageError(f"{found[0]} leaves no core to run on; write --cores 1, or more")
    found = re.search(r"(?<!\S)--workflow-profile[ =](\S*/\S*)", " ".join(flags))
    if found and not Path(found[1]).exists():
        raise UsageError(f"{found[0]}: no such folder; give the path of a profile, or none")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "snakemake")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        check_writable(cache)
    except (OSError, OutputError):
        os.environ["XDG_CACHE_HOME"] = str(Path(".snakemake/cache").absolute())
    # For the view, if the folder is locked.
    os.environ["DPOL_COMMAND"] = shlex.join(["dpol", "run", str(config), *flags])
    # -P: modules in the working folder do not shadow packages.
    words = [sys.executable, "-P", "-m", "snakemake", "--configfile", str(config)]
    # Snakemake finds it by itself in a clone only.
    words += ["--workflow-profile", str(pipeline() / "profiles/default")]
    if not any(flag.startswith(_SAYS_CORES) for flag in flags):
        words += ["--cores", "all"]
    # Last, because --configfile takes the next words too.
    return [*words, "--snakefile", str(pipeline() / "workflow/Snakefile"), *flags]
