"""Notes of what jobs load; Python imports this file when it starts, if its folder is on the path.

A line of DPOL_LOADED is a job, with the files of the package that its process has loaded, or a hash
of code, with the files that it is made of. Nothing of the package is imported in a job for that.
"""

import atexit
import json
import os
import sys
from pathlib import Path

NOTES, PACKAGE = os.environ.get("DPOL_LOADED"), os.environ.get("DPOL_PACKAGE", "") + os.sep
opened = set()


def note(**line):
    with Path(NOTES).open("a") as stream:
        stream.write(json.dumps(line) + "\n")


def at_open(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(PACKAGE):
        opened.add(arguments[0])


def at_end():
    job = getattr(sys.modules.get("__main__"), "snakemake", None)
    if job is not None:
        modules = (getattr(it, "__file__", None) or "" for it in list(sys.modules.values()))
        loaded = {path for path in modules if path.startswith(PACKAGE)}
        loaded |= {path for path in opened if not path.endswith((".py", ".pyc"))}
        codes = [job.params.get("code"), *job.params.get("codes", {}).values()]
        note(job=job.rule, codes=codes, files=sorted(loaded))


def hashes_noted():
    from dpol.core import imports

    code_hash = imports.code_hash

    def noted(*starts, **more):
        code = code_hash(*starts, **more)
        note(code=code, files=sorted(map(str, imports.watched(*starts))))
        return code

    imports.code_hash = noted


if NOTES:
    sys.addaudithook(at_open)
    atexit.register(at_end)
    if "snakemake" in sys.orig_argv:
        hashes_noted()
