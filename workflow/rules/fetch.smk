# A table placed by hand is an input like any other: no rule may want to make it again.
if settings.dataset.source.kind == "web" and table_must_be_fetched():

    rule fetch_dataset:
        output:
            table=settings.raw_file,
        log:
            f"{RESULTS}/logs/fetch_dataset.log",
        benchmark:
            f"{RESULTS}/benchmarks/fetch_dataset.tsv"
        priority: DATA_FIRST
        # Compute nodes of a cluster often have no network.
        localrule: True
        params:
            dataset=dump(settings.dataset.untitled),
            groups=wanted_groups(),
            query=table_query().soql,
        message:
            "Fetching {output.table}"
        script:
            "../scripts/fetch_dataset.py"


if settings.dataset.source.kind == "simulated":

    rule simulate_dataset:
        output:
            table=settings.raw_file,
        log:
            f"{RESULTS}/logs/simulate_dataset.log",
        benchmark:
            f"{RESULTS}/benchmarks/simulate_dataset.tsv"
        params:
            code=code_of_script("simulate_dataset"),
            source=dump(settings.dataset.source),
            seed=settings.seed,
        message:
            "Simulating hospitals"
        script:
            "../scripts/simulate_dataset.py"
