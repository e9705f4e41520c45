"""Write down what each job of a run imports and opens, in the folder that NOTES names.

Python imports this file at its start if its folder is in PYTHONPATH.
"""

import atexit
import json
import os
import sys
from pathlib import Path

opened = set()


def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])


def write():
    job = getattr(sys.modules["__main__"], "snakemake", None)
    if not hasattr(job, "rule"):  # not a script of the workflow
        return
    place, code = "/".join(job.wildcards), job.params.get("code")
    modules = [name for name in sys.modules if name.partition(".")[0] == "dpol"]
    notes = {"rule": job.rule, "code": code, "modules": modules, "opened": sorted(opened)}
    name = f"{job.rule} {place}".replace("/", " ")
    folder = Path(os.environ["NOTES"])
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(notes))


sys.addaudithook(note)
atexit.register(write)
