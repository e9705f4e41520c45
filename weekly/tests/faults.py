"""Faults of the system, a process each: kills, errors, and files that may not grow."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sqlite3
import sys

CHANGES = "os.rename", "os.remove", "os.chmod"


def in_child(act, how=None, k=0):
    """The answer of a function ("killed" if it gives none), and how often it changed files.

    A change is a file that Python opens to write, syncs, renames or removes, and the beginning or
    end of a transaction of SQLite, whose pages are written at its end.

    Args:
        act: the function; its result can be JSON.
        how: "kill": the process is killed before the k-th change. "fail": the k-th change fails,
            if it is Python's. "full": no file may grow beyond k bytes. "cut": the process is killed
            in the write that would make one so.
        k: see there.
    """
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        changes, connect = 0, sqlite3.connect
        sys.dont_write_bytecode = True

        def changed(*_):
            nonlocal changes
            changes += 1
            if (how, changes) == ("kill", k):
                os.kill(os.getpid(), signal.SIGKILL)
            if (how, changes) == ("fail", k):
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        def watch(event, facts):
            if event in CHANGES or (event == "open" and facts[2] & (os.O_WRONLY | os.O_RDWR)):
                changed()

        def traced(*given, **options):
            base = connect(*given, **options)
            base.set_trace_callback(lambda text: text[:5] in ("BEGIN", "COMMI") and changed())
            return base

        if how in ("full", "cut"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (k, k))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if how == "cut" else signal.SIG_IGN)
        os.fsync = changed
        sqlite3.connect = connect if how == "fail" else traced
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
