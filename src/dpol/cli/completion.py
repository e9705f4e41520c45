"""`dpol completion`: a script that lets a shell complete the words of `dpol`."""

from __future__ import annotations

import argparse

from dpol.core.options import Commands, add_command, path

_COMPLETION = """\
Print a script that completes commands, options and files. For bash, once:
dpol completion bash > ~/.local/share/bash-completion/completions/dpol"""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "print a script that lets a shell complete the words of dpol"
    parser = add_command(
        commands, "completion", readers="Other", words=words, description=_COMPLETION
    )
    parser.add_argument("shell", choices=["bash", "zsh", "tcsh"])
    parser.set_defaults(run=_completion)


def _completion(options: argparse.Namespace) -> None:
    import shtab

    from dpol.cli import parser_of_commands

    parser = parser_of_commands()
    _prepare(parser)
    print(shtab.complete(parser, options.shell))


def _prepare(parser: argparse.ArgumentParser) -> None:
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.help = None  # otherwise shtab omits it, as the help does
            for command in action.choices.values():
                _prepare(command)
        elif action.type is path or action.nargs == argparse.REMAINDER:
            action.help = None
            action.complete = shtab.FILE  # type: ignore[attr-defined]
