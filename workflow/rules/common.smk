import os
import re

from dpol.core.errors import DpolError
from dpol.plan import make_plan, rule_of_section

# One thread a job: Snakemake runs jobs side by side, and numbers do not depend on cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

if found := re.search(r"[^\w@%+=:,./-]", sys.executable):
    # Snakemake starts scripts by this path without quotes.
    sys.exit(
        f"error: the path of Python holds {found[0]!r}: {sys.executable}; move the checkout, or its"
        " environment, to a path of letters, digits and ._-/"
    )

try:
    plan = make_plan(config, [] if MODULE else workflow.configfiles, MODULE)
    imported = [known.module_globals for known in workflow.rules]
    plan.refuse_twins({it["MODULE"]: it["plan"] for it in imported if "MODULE" in it})
except DpolError as error:
    sys.exit(f"error: {error}")

# What `dpol run` says before the first job, and where nothing is to be done. It prints nothing else.
logger.info(
    "",
    extra={
        "seconds_of_rules": {
            workflow.modifier.modify_rulename(rule): seconds
            for rule, seconds in plan.seconds.items()
        },
        # None of the run where the user asks for other files.
        "done_of_run": lambda: "" if workflow.dag_settings.targets else plan.done,
    },
)

settings, RESULTS = plan.config, plan.folder
# Tables, logs and times stay on this disk where a storage provider holds the results: dpol looks
# for a table and its record before any job runs, and the page reads all logs.
RAW = local(settings.raw_file)
# Plain, for `expand`: an output of a rule has flags where a storage provider holds it.
STREAM = f"{RESULTS}/streams/{{stream}}.parquet"
# What most often fails, for want of a network or by a mistake in a table, is reported at once; then
# come points that wait for nothing: begun last, they would run alone at the end.
DATA_FIRST, LONGEST_FIRST = 2, 1
# Whether a rule of this workflow, or of an importing one, makes a file.
is_made = lambda file: any(known.is_producer(file) for known in workflow.rules)


wildcard_constraints:
    stream="[^/]+",
    point=".+",
