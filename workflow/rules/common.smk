import gc
import os
import re

from dpol.core.errors import DpolError
from dpol.plan import make_plan, rule_of_section

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
    plan.refuse_twins({it["MODULE"]: it["plan"] for it in imported if "MODULE" in it})
    # Where a job runs, the records of Snakemake may be missing, and results are being made.
    if workflow.is_main_process:
        plan.refuse_other_results()
        for warning in plan.changed:
            logger.warning(warning)
except DpolError as error:
    sys.exit(f"error: {error}")

# The progress plug-in (--logger dpol) estimates the time of a run from this record, which has no text.
logger.info("", extra={"expected_seconds": plan.seconds})

# All that is loaded by now stays: the garbage collector need not look through it again for each job.
gc.freeze()

settings, RESULTS = plan.config, plan.folder
# Tables, logs and times stay on the local disk even if a storage provider holds the results: dpol
# looks for a table and its record before any job runs, and the report reads all logs.
RAW = local(settings.raw_file)
# Plain paths for `expand`: outputs of rules have flags if a storage provider holds them.
STREAM = f"{RESULTS}/streams/{{stream}}.parquet"
# Jobs that fail most often (no network, a mistake in a table) come first. Then come points that wait
# for nothing: started last, they would run alone at the end.
DATA_FIRST, LONGEST_FIRST = 2, 1
# Whether a rule of this workflow, or of an importing workflow, makes a file.
is_made = lambda file: any(known.is_producer(file) for known in workflow.rules)


def watched(codes):
    """Return a param per room of dpol, and per other package, that a job of a rule can run.

    Snakemake prints the params that differ, and each starts with the name of its room.

    Args:
        codes: code of each job of the rule, by the wildcard `point`; by "" without this wildcard.
    """

    def state_of(room):
        return lambda wildcards: codes[wildcards.get("point", "")].state_of(room)

    rooms = sorted({room for code in codes.values() for room in code.rooms})
    return {re.sub(r"\W", "_", f"code_{room}"): state_of(room) for room in rooms}


wildcard_constraints:
    stream="[^/]+",
    point=".+",
