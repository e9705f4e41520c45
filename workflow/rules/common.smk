import gc
import os
import re
from contextlib import suppress
from functools import cache
from types import SimpleNamespace

from snakemake_interface_logger_plugins.common import LogEvent

from dpol.core.errors import DpolError, in_one_line
from dpol.core.words import listed
from dpol.data.stream import HOLDS, warning_of
from dpol.plan import code_of, inputs_of, make_plan
from dpol.reruns.code_hashes import code_of_job
from dpol.reruns.notes import align_times, digest
from dpol.studies.registry import EVERY_RUN, load_studies

# One thread per job: Snakemake runs jobs in parallel, and results do not depend on cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

if found := re.search(r"[^\w@%+=:,./-]", sys.executable):
    # Snakemake runs scripts with this path, without quotes.
    sys.exit(
        f"error: the path of Python holds {found[0]!r}: {sys.executable}; move the checkout, or its"
        " environment, to a path of letters, digits and ._-/"
    )

try:
    plan = make_plan(config, [] if MODULE else workflow.configfiles, MODULE)
    imported = [known.module_globals for known in workflow.rules]
    plan.packages  # refuses those that no job would find
    plan.refuse_twins({it["MODULE"]: it["plan"] for it in imported if "MODULE" in it})
    Path(".snakemake").mkdir(exist_ok=True)  # for what dpol notes there of its code
    if workflow.is_main_process:
        with suppress(FileNotFoundError):  # another call is at work, and replaces its files
            align_times(Path(plan.folder))
except DpolError as error:
    sys.exit(f"error: {error}")

# The view (logger: dpol) tells it from this record, which has no text.
logger.info("", extra={"left_out": plan.config.left_out})

# All that is loaded by now stays: the garbage collector need not look through it again for each job.
gc.freeze()

# In plain strings, and in lists of them, names in braces are wildcards. So texts of a config reach a
# rule by a function or in a dict; its labels and names of files have no braces.
settings, RESULTS = plan.config, plan.folder
# Tables, logs and times stay on the local disk even if a storage provider holds the results: dpol
# looks for a table and its record before any job runs, and the report reads all logs.
RAW = local(settings.raw_file)
# Plain paths for `expand`: outputs of rules have flags if a storage provider holds them.
STREAM = f"{RESULTS}/streams/{{stream}}.parquet"
# Jobs that fail most often (no network, a mistake in a table) come first, then the games.
DATA_FIRST, GAMES_FIRST = 2, 1
# Whether a rule of this workflow, or of an importing workflow, makes a file.
is_made = lambda file: any(known.is_producer(file) for known in workflow.rules)
# A table goes by its checksum, which a job is asked, unless a job makes it.
by_content = lambda file: lambda wildcards: file if is_made(file) else ancient(file)
# The wildcards of the jobs of each rule, and the names of the jobs with wildcards in braces.
every_job, names = {}, {}
# Who overrides rules of a module includes this file once more for each.
SAME = [it for it in imported if it.get("MODULE") == MODULE and "told_last" in it]


def plain(file):
    """Return the path of a file of the run, wherever a storage provider has it; empty for others."""
    _, folder, name = str(file).partition(f"{RESULTS}/")
    return folder + name


@cache
def makers():
    """Return the job that makes each file of the run, as its rule and its wildcards."""
    return {
        plain(re.sub(r",[^{}]*}", "}", file)).format(**dict(wildcards)): (rule, wildcards)
        for rule, wildcards in all_jobs()
        for file in getattr(rules, rule).output
        if plain(file)
    }


def all_jobs():
    """Return all jobs of the run."""
    return [(rule, tuple(it.items())) for rule, over in every_job.items() for it in over]


@cache
def jobs_before(rule, wildcards):
    """Return the jobs that make the inputs of a job, and what it reads if it is there."""
    inputs, *_ = getattr(rules, rule).rule.expand_input(dict(wildcards))
    files = *inputs, *dict(getattr(rules, rule).params.items()).get("played", ())
    return [*filter(None, dict.fromkeys(makers().get(plain(it)) for it in files))]


@cache
def job_of(rule, wildcards):
    """Return the name of a job, and a digest of what it is asked."""
    given = SimpleNamespace(**dict(wildcards))
    params = getattr(rules, rule).params.items()
    asks = digest({name: it(given) if callable(it) else it for name, it in params})
    return names[rule].format(**dict(wildcards)), asks


def log_of(rule, name=None):
    """Return the log of a rule, which an importer may replace, and keep the name of its jobs."""
    names[rule] = name or rule
    return local(f"{RESULTS}/logs/{names[rule]}.log")


def digests(jobs):
    """Return a digest of what each job is asked, by name."""
    return dict(job_of(*job) for job in jobs)


def notes(rule, over=({},)):
    """Return two params: the run and the name of a job, and its sources.

    These are a digest of what each job is asked that makes an input. So Snakemake, which compares
    params, runs a job again if one before it would run, and the job knows the notes that it must
    find. `over` has the wildcards of each job of the rule.
    """
    every_job[rule] = over
    of_job = lambda wildcards: tuple((it, getattr(wildcards, it)) for it in over[0])
    return {
        "job": lambda wildcards: [RESULTS, names[rule].format(**dict(of_job(wildcards)))],
        "sources": lambda wildcards: digests(jobs_before(rule, of_job(wildcards))),
    }


def check(record):
    """Before any job starts, refuse a call that would leave or show what this plan does not ask.

    Snakemake logs one of these records when it has chosen the jobs. It has no hook there, and calls
    none at all if there is nothing to do, or for its own report.
    """
    runs_jobs = getattr(record, "event", None) == LogEvent.RUN_INFO
    if not (runs_jobs or str(record.msg).startswith(("Nothing to be done", "Creating report"))):
        return True
    logger.removeFilter(check)
    by_output = {plain(file): job for job in workflow.dag.jobs for file in job.output}
    called = {it: by_output[file] for file, it in makers().items() if file in by_output}
    runs = {it for it, job in called.items() if runs_jobs and workflow.dag.needrun(job)}
    # A flag may leave out the jobs before one that runs; a job that is touched does not run.
    needed = {*called, *(it for job in runs for it in jobs_before(*job))}
    kept, there = {}, {}
    for job in all_jobs():
        if job not in needed or (job in runs and not workflow.touch):
            continue
        if job not in called or any(map(os.path.exists, called[job].output)):
            name, kept[name] = job_of(*job)
            there[name] = called[job].rule.name if job in called else job[0]
    # Params of jobs that run are looked at again, when the tables that they name are there.
    job_of.cache_clear()
    try:
        plan.refuse(kept, there)
    except DpolError as error:
        logger.error(f"error: {error}")
        sys.exit(1)
    if not (MODULE or workflow.dryrun):
        # The view tells them at the end of a call that has nothing to do.
        logger.info("", extra={"last_lines": told_last})
    return True


def told_last():
    """Return the last lines of a call; a failure in them is not one of the call."""
    try:
        from dpol.report.door import last_lines

        told = [it for it in all_jobs() if it[0] in ("report_cleaning", "render_report")]
        return last_lines(Path(RESULTS), settings, digests(told))
    except Exception as error:
        why = error if isinstance(error, DpolError) else in_one_line(error)
        return [f"not finished: {why}"]


if workflow.is_main_process and not SAME:
    logger.addFilter(check)


def describe_rules():
    """Let `snakemake --list` say what each rule makes, and for which wildcards."""
    if SAME:  # the first inclusion said it
        return
    for name, over in every_job.items():
        known = getattr(rules, name).rule
        files = [re.sub(r",[^{}]*}", "}", it) for it in known.output]  # wildcards only by name
        # Of a figure or table in several formats, the first.
        shown = {re.sub(r"\.[a-z.]+$", "", it): it for it in reversed(files)}
        known.docstring += f" Makes {listed(reversed(shown.values()), 20)}"
        for wildcard in over[0]:
            values = dict.fromkeys(it[wildcard] for it in over)
            known.docstring += f"; {{{wildcard}}}: {', '.join(values)}"


def about(kind, name, title):
    """Return the entry of a figure or a table in Snakemake's own report."""
    return {
        "caption": "../report/section.rst",
        # Snakemake drops the part of a name after a colon.
        "category": title.replace(": ", " – "),
        "labels": {"what": name, "kind": kind},
    }


wildcard_constraints:
    stream="[^/]+",
    level="[^/]+",
    suite="[^/]+",
    block="[0-9]+-[0-9]+",
    place=".+",
