"""`dpol demo` and `dpol run`: start Snakemake on the pipeline that comes with dpol."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from dpol.core.errors import DpolError, OutputError
from dpol.core.files import check_writable
from dpol.core.options import Commands
from dpol.core.shipped import pipeline, shipped_configs

_FLAGS = """Flags are passed on to snakemake: --dry-run shows the plan, \
--cores 2 uses two cores (default: all). dpol run CONFIG --help lists all flags."""
_DEMO = f"""Run the paper's experiment and ours on real hospitals of three states, and the studies \
of the papers, in this folder or in FOLDER. No data are fetched. {_FLAGS}"""
_RUN = f"""Run the experiments of a config file in this folder. The report is \
results/RUN/report/index.html, where RUN is the run that the config names. {_FLAGS}"""
_SAYS_CORES = "-c", "-j", "-e", "--cores", "--jobs", "--executor", "--profile"


def add(commands: Commands) -> None:
    """Add the commands."""
    for name, first, words, text, run in (
        ("demo", "[FOLDER]", "run the experiments on real hospitals", _DEMO, _demo),
        ("run", "CONFIG", "run the experiments of a config file", _RUN, _run),
    ):
        # No word begins with the sign of options: all of them are read below, or by snakemake.
        parser = commands.add_parser(
            name,
            help=words,
            description=text,
            usage=f"dpol {name} [-h] {first} [snakemake flag ...]",
            add_help=False,
            prefix_chars="\0",
        )
        parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
        parser.set_defaults(run=run, failure=2, parser=parser)


def _demo(options: argparse.Namespace) -> None:
    if _asks_for_help(options):
        return
    flags = options.words
    if flags and not flags[0].startswith("-"):
        flags = ["--directory", *flags]
    _snakemake(pipeline() / "config/demo.yaml", flags)


def _run(options: argparse.Namespace) -> None:
    if _asks_for_help(options):
        return
    config, *flags = options.words or [""]
    if not Path(config).is_file() or config.startswith("-"):
        wrong = f"{config}: no such config file" if config else "no config is given"
        ways = f"dpol config copy NAME writes one to begin with ({', '.join(shipped_configs())})"
        raise DpolError(f"{wrong}; write dpol run CONFIG, then the flags; {ways}")
    _snakemake(Path(config), flags)


def _asks_for_help(options: argparse.Namespace) -> bool:
    asked = options.words[:1] in (["-h"], ["--help"])
    if asked:
        options.parser.print_help()
    return asked


def _snakemake(config: Path, flags: list[str]) -> NoReturn:
    """Replace this process by Snakemake, whose exit code and signals are then those of `dpol`."""
    folder = pipeline()
    start = [sys.executable, "-m", "snakemake", "--configfile", str(config)]
    start += ["--workflow-profile", str(folder / "profiles/default")]
    if not any(flag.startswith(_SAYS_CORES) for flag in flags):
        start += ["--cores", "all"]
    _check_cache()
    # Last, because what follows --configfile is taken for another config.
    start += ["--snakefile", str(folder / "workflow/Snakefile")]
    sys.stdout.flush()
    os.execv(start[0], [*start, *flags])


def _check_cache() -> None:
    """Refuse a home that cannot be written, of which Snakemake says nothing under --quiet.

    Raises:
        OutputError: Snakemake cannot make its cache.
    """
    from snakemake.common import get_appdirs

    cache = Path(get_appdirs().user_cache_dir)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        check_writable(cache)
    except (OSError, OutputError) as error:
        raise OutputError(
            f"Snakemake cannot keep its sources in {cache}; set XDG_CACHE_HOME to a folder that can"
            " be written"
        ) from error
