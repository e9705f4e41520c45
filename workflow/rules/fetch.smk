# A file placed by hand is an input like any other: no rule may want to make it again.
if settings.dataset.source.kind in FETCHED and table_must_be_fetched():

    rule fetch_dataset:
        output:
            file=local(settings.dataset.source.file),
        log:
            local(f"{RESULTS}/logs/fetch_dataset.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/fetch_dataset.tsv")
        priority: DATA_FIRST
        # Compute nodes of a cluster often have no network.
        localrule: True
        params:
            dataset=dump(settings.dataset.untitled),
            groups=wanted_groups(),
            query=table_query().soql,
        message:
            "Fetching {output.file}"
        script:
            "../scripts/fetch_dataset.py"


if getattr(settings.dataset.source, "member", None):

    rule extract_table:
        input:
            archive=local(settings.dataset.source.file),
        output:
            table=RAW,
            origin=local(f"{settings.raw_file}.member.json"),
        log:
            local(f"{RESULTS}/logs/extract_table.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/extract_table.tsv")
        priority: DATA_FIRST
        params:
            code=code_of_script("extract_table"),
            contents=contents_of(settings.dataset.source.file),
            member=settings.dataset.source.member,
            sha256=getattr(settings.dataset.source, "sha256", None),
        message:
            "Taking {params.member} out of {input.archive}"
        script:
            "../scripts/extract_table.py"


if settings.dataset.source.kind == "simulated":

    rule simulate_dataset:
        output:
            table=RAW,
        log:
            local(f"{RESULTS}/logs/simulate_dataset.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/simulate_dataset.tsv")
        params:
            code=code_of_script("simulate_dataset"),
            source=dump(settings.dataset.source),
            seed=settings.seed,
        message:
            "Simulating hospitals"
        script:
            "../scripts/simulate_dataset.py"
