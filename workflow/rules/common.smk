import gc
import os
import re
from functools import cache
from types import SimpleNamespace

from dpol.core.errors import DpolError, in_one_line
from dpol.core.words import listed
from dpol.data.leaving import HOLDS, warning_of
from dpol.plan import code_of, inputs_of, make_plan
from dpol.reruns.code_hashes import code_of_job
from dpol.reruns.notes import asked as as_asked, digest
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

# An input of every job, with a time and a content that no earlier plan had: Snakemake reruns a job for
# which it is not `ancient`, whatever Snakemake's own records of files say, or if there are none.
ASKED = ".snakemake/asked"

try:
    plan = make_plan(config, [] if MODULE else workflow.configfiles, MODULE)
    imported = [known.module_globals for known in workflow.rules]
    plan.packages  # refuses those that no job would find
    plan.refuse_twins({it["MODULE"]: it["plan"] for it in imported if "MODULE" in it})
    Path(ASKED).parent.mkdir(exist_ok=True)  # for what dpol notes there of its code
except DpolError as error:
    sys.exit(f"error: {error}")

# Why jobs run again, each with the logs of its jobs.
causes = {}
# The view (logger: dpol) tells them and the time that it expects from this record, which has no text.
logger.info(
    "",
    extra={
        "expected_seconds": plan.seconds,
        "causes": causes,
        "left_out": plan.config.left_out,
    },
)

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
# The wildcards of the jobs of each rule whose jobs note what they were asked.
every_job = {}


# Who overrides rules of a module includes this file once more for each: the first of them locks.
SAME = [it for it in imported if it.get("MODULE") == MODULE and "begin" in it]


@cache
def begin():
    """Lock the run where jobs will run. Only what Snakemake knows after reading the rules says so."""
    if SAME:
        return SAME[0]["begin"]()
    try:
        runs_jobs = workflow.executor_plugin is not None and not workflow.dryrun
        plan.begin(Path(ASKED), runs_jobs=runs_jobs)
        if runs_jobs and not MODULE:
            logger.info("", extra={"last_lines": told_last})
        if runs_jobs and Path(RESULTS, "points").exists():
            logger.warning(
                f"{RESULTS}/points is of an older release, and nothing reads it; remove it with"
                f" rm -r {RESULTS}/points {RESULTS}/logs/*_point {RESULTS}/benchmarks/*_point"
            )
    except DpolError as error:
        sys.exit(f"error: {error}")


@cache
def job_of(rule, **wildcards):
    """Return the log of a job, and what it is asked."""
    known, given = getattr(rules, rule), SimpleNamespace(**wildcards)
    params = {name: it(given) if callable(it) else it for name, it in known.params.items()}
    return str(known.log[0].format(**wildcards)), as_asked(params)


def all_but_page():
    """Return the log of every job but that of the page, and what it is asked."""
    jobs = [(rule, it) for rule, over in every_job.items() for it in over]
    return [job_of(rule, **values) for rule, values in jobs if rule != "render_report"]


def digests():
    """Return the log of every job but that of the page, and a digest of what it is asked."""
    return [(log, digest(it)) for log, it in all_but_page()]


def refuse_gaps():
    """Stop before any job where a flag of Snakemake leaves out jobs whose results would be shown."""
    logs = {str(log) for job in workflow.dag.needrun_jobs() for log in job.log}
    try:
        if workflow.touch:  # no job runs, and none is done
            plan.refuse_gaps({log: it for log, it in all_but_page() if log in logs}, set())
        elif str(rules.render_report.log[0]) in logs:
            plan.refuse_gaps(dict(all_but_page()), logs)
    except DpolError as error:
        sys.exit(f"error: {error}")


def told_last():
    """Return the last lines of a call; a failure in them is not one of the call."""
    try:
        from dpol.report.page import last_lines

        log, page = job_of("render_report")
        return last_lines(Path(RESULTS), settings, {**dict(digests()), log: digest(page)})
    except Exception as error:
        why = error if isinstance(error, DpolError) else in_one_line(error)
        return [f"not finished: {why}"]


def asked(rule, over=({},)):
    """Return the input function for `ASKED`: old for a job that answered what it is asked now.

    `over` has the wildcards of each job of the rule.
    """
    every_job[rule] = over

    def file_of(wildcards):
        if not workflow.is_main_process:  # what a job's own process is told to run, it runs
            return local(ASKED)
        begin()
        log, it = job_of(rule, **dict(wildcards.items()))
        differing = plan.reasons_to_rerun(log, it)
        for cause in plan.causes(differing or []):
            causes.setdefault(cause, set()).add(log)
        return ancient(local(ASKED)) if differing == [] else local(ASKED)

    return file_of


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
