# A file that the user put there, or that a rule of the importing workflow makes, is an input like any
# other: no rule here may make it again.
if plan.must_fetch and not any(plan.fetched in known.output for known in workflow.rules):

    rule fetch_dataset:
        """Fetch the table, once."""
        output:
            file=local(plan.fetched),
        log:
            log_of("fetch_dataset"),
        priority: DATA_FIRST
        # Compute nodes of a cluster often have no network.
        localrule: True
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("fetch_dataset"),
            dataset=settings.dataset.untitled.model_dump(mode="json"),
            groups=lambda wildcards: plan.wanted_groups,
            query=plan.query.soql,
        message:
            "Fetching {output.file}"
        script:
            "../scripts/fetch_dataset.py"


if settings.dataset.source.kind == "simulated":

    rule simulate_dataset:
        """Simulate hospitals in the columns of the HHS table."""
        output:
            table=RAW,
        log:
            log_of("simulate_dataset"),
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("simulate_dataset"),
            code=code_of_job("simulate_dataset"),
            source=settings.dataset.source.model_dump(mode="json"),
            seed=settings.seed,
        message:
            "Simulating hospitals"
        script:
            "../scripts/simulate_dataset.py"
