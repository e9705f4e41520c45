# A table of gains is not cleaned.
if settings.dataset.source.kind == "gains":
    DATA, DONE_WITH_DATA = [RAW], settings.raw_file
else:
    CLEANED = {
        "panel": f"{RESULTS}/data/panel.parquet",
        "report": f"{RESULTS}/data/cleaning.json",
        "page": f"{RESULTS}/data/cleaning.md",
        "picture": f"{RESULTS}/data/understood.svg",
    }
    OTHER_READINGS = [f"{RESULTS}/data/panel@{it}.parquet" for it in settings.dataset.readings]
    DATA, DONE_WITH_DATA = [*CLEANED.values(), *OTHER_READINGS], CLEANED["page"]

    rule clean_panel:
        """Clean the table into a panel, and count every change."""
        input:
            table=by_content(RAW),
            capacities=lambda wildcards: [by_content(file)(wildcards) for file in CAPACITIES],
        output:
            **CLEANED,
            readings=OTHER_READINGS,
        log:
            local(f"{RESULTS}/logs/clean_panel.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/clean_panel.tsv")
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("clean_panel"),
            sources=sources("clean_panel"),
            contents=lambda wildcards: plan.contents(RAW, *CAPACITIES, made=is_made),
            dataset=settings.dataset.as_local(settings.raw_file).model_dump(mode="json"),
            streams={label: {"groups": it.groups} for label, it in settings.streams.items()},
            gains=[it.untitled.model_dump(mode="json") for it in settings.gains.values()],
            reported=settings.reported,
        message:
            "Cleaning {input.table}"
        script:
            "../scripts/clean_panel.py"


rule data:
    """Target: the clean panel, or the table of gains."""
    input:
        DATA,
    localrule: True
    message:
        f"Done: {DONE_WITH_DATA}"
