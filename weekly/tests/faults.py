"""A process that is killed wherever it changes a file."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys

CHANGES = "os.rename", "os.remove", "os.chmod", "os.truncate"


def in_child(act, how=None, k=0):
    """The answer of a function ("killed" if it gives none), and how often it changed files.

    A change is a file that is opened to write, synced, renamed, cut or removed.

    Args:
        act: the function; its result can be JSON.
        how: "kill": the process is killed before the k-th change. "cut": it is killed in the write
            that would make a file larger than k bytes.
        k: see there.
    """
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        changes = 0
        sys.dont_write_bytecode = True

        def changed(*_):
            nonlocal changes
            changes += 1
            if (how, changes) == ("kill", k):
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(event, facts):
            if event in CHANGES or (event == "open" and facts[2] & (os.O_WRONLY | os.O_RDWR)):
                changed()

        if how == "cut":
            resource.setrlimit(resource.RLIMIT_FSIZE, (k, k))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.fsync = changed
        sys.addaudithook(watch)
        try:
            said = act()
        except BaseException as error:  # what a user would see as a traceback
            said = f"traceback: {error!r}"
        os.write(writer, json.dumps([said, changes]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return tuple(json.loads(answer)) if answer else ("killed", 0)
