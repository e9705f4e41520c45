"""`dpol demo`, `dpol run` and `dpol verify`: run the pipeline in dpol, and check its runs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from dpol.core.errors import UsageError
from dpol.core.options import Commands, add_command, path
from dpol.core.shipped import pipeline, shipped_configs
from dpol.core.words import printable

_FLAGS = """Flags are passed on to snakemake: --dry-run shows the plan, \
--cores 2 uses two cores (default: all). --verbose shows all messages \
of snakemake. dpol run CONFIG --help lists all flags."""
_DEMO = f"""Run the paper's experiment and ours on real hospitals of three states, and the studies \
of the papers, in this folder or in FOLDER. No data are fetched. {_FLAGS}"""
_RUN = f"""Run the experiments of a config file in this folder. The report is \
results/RUN/report/index.html, where RUN is the key run of the config. --sweep KEY=VALUES runs \
it once for each value, such as --sweep seed=1..5 or --sweep privacy.levels.mu-1=0.8,1; several \
make a grid of runs, named RUN-seed-1 and so on. {_FLAGS}"""
_VERIFY = """Run a part of the experiments, without network and in a temporary folder, and print
which claims of the documentation the values confirm. With RUN, such as results/demo: compare the
files of that run with the checksums in its RO-Crate, and print files that are changed, missing or
new. The exit code is 1 if a value or file differs."""
_SAYS_CORES = "-c", "-j", "-e", "--cores", "--jobs", "--executor", "--profile"


def add(commands: Commands) -> None:
    """Add the commands."""
    for name, first, words, text, run in (
        ("demo", "[FOLDER]", "run the experiments on real hospitals", _DEMO, _demo),
        ("run", "CONFIG", "run the experiments of a config file", _RUN, _run),
    ):
        # argparse must read no options: they are read below, or by snakemake.
        parser = commands.add_parser(
            name,
            help=words,
            description=text,
            usage=f"dpol {name} [-h] {first} [snakemake flag ...]",
            add_help=False,
            prefix_chars="\0",
        )
        parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
        parser.set_defaults(run=run, parser=parser, readers="Experiments")

    words = (
        "check a part of the experiments (4 minutes on two cores), or the files of a run against"
        " its RO-Crate"
    )
    parser = add_command(
        commands, "verify", readers="Experiments", words=words, description=_VERIFY
    )
    words = "folder of a finished run (default: run a part of the experiments)"
    parser.add_argument("folder", type=path, nargs="?", metavar="RUN", help=words)
    parser.set_defaults(run=_verify)


def _demo(options: argparse.Namespace) -> int:
    if _asks_for_help(options):
        return 0
    flags = options.words
    if flags and not flags[0].startswith("-"):
        flags = ["--directory", *flags]
    return _snakemake(["--configfile", str(pipeline() / "config/demo.yaml")], options, flags)


def _run(options: argparse.Namespace) -> int:
    if _asks_for_help(options):
        return 0
    name, *flags = options.words or [""]
    shipped = shipped_configs()
    config = Path(name)
    if not config.is_file() and name in shipped:
        config = shipped[name]
    elif not config.is_file() or name.startswith("-"):
        wrong = f"{name}: no such config file" if name else "no config is given"
        ways = f"a file, or one that comes with dpol: {', '.join(shipped)}"
        raise UsageError(f"{wrong}; write dpol run CONFIG, then the flags; CONFIG is {ways}")
    sweeps, flags = _sweeps_in(flags)
    if sweeps:
        from dpol.cli.sweep import write_sweep

        return _snakemake([], options, flags, write_sweep(config, sweeps))
    return _snakemake(["--configfile", str(config)], options, flags)


def _sweeps_in(flags: list[str]) -> tuple[list[str], list[str]]:
    """Return the values of --sweep, and the other flags."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--sweep", action="append", default=[])
    options, others = parser.parse_known_args(flags)
    return options.sweep, others


def _verify(options: argparse.Namespace) -> int:
    if not options.folder:
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, str(pipeline() / "verify/verify.py")])
    from dpol.report.crate import files_since

    changes = files_since(options.folder)
    lines = [f"{how}: {options.folder / name}" for name, how in changes.items()]
    for line in lines or [f"{options.folder}: all files are as the run made them"]:
        print(printable(line))
    return int(bool(changes))


def _asks_for_help(options: argparse.Namespace) -> bool:
    asked = options.words[:1] in (["-h"], ["--help"])
    if asked:
        options.parser.print_help()
    return asked


def _snakemake(
    begin: list[str], options: argparse.Namespace, flags: list[str], snakefile: Path | None = None
) -> int:
    """Run Snakemake with the user's flags, and return the exit code of `dpol`."""
    from dpol.cli.start import start

    # A killed job left no result, since results are renamed into place: run it again.
    words = [*begin, "--workflow-profile", "none", "--rerun-incomplete"]
    if "--verbose" in flags:
        flags = [flag for flag in flags if flag != "--verbose"]
        words += ["--show-failed-logs"]
    else:
        words += ["--logger", "dpol"]
    if not any(flag.startswith(_SAYS_CORES) for flag in flags):
        words += ["--cores", "all"]
    # Last, because --configfile takes the next words as further configs.
    words += ["--snakefile", str(snakefile or pipeline() / "workflow/Snakefile")]
    return start([*words, *flags], [*options.parser.prog.split(), *options.words])
