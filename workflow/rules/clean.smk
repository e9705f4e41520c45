# A table of gains is not cleaned.
if settings.dataset.source.kind == "gains":
    DATA, DONE_WITH_DATA = [RAW], settings.raw_file
else:
    ROWS = f"{RESULTS}/data/rows.parquet"
    CLEANED = {name: f"{RESULTS}/data/cleaning.{name}" for name in ("json", "md")}
    PICTURE = f"{RESULTS}/data/understood.svg"
    OF_STREAM = f"{RESULTS}/streams/{{stream}}"
    # Of each stream, the first reading of numbers that nobody measured.
    FIRST = {
        "panels": expand(f"{OF_STREAM}/panel.parquet", stream=settings.streams),
        "reports": expand(f"{OF_STREAM}/cleaning.json", stream=settings.streams),
    }
    DATA, DONE_WITH_DATA = [ROWS, *FIRST["panels"], *CLEANED.values(), PICTURE], CLEANED["md"]

    rule read_rows:
        """Read the table, once, into the typed rows that all streams share."""
        input:
            table=by_content(RAW),
        output:
            rows=ROWS,
        log:
            local(f"{RESULTS}/logs/read_rows.log"),
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("read_rows"),
            sources=sources("read_rows"),
            contents=lambda wildcards: plan.contents(RAW, made=is_made),
            dataset=settings.dataset.of_rows,
        message:
            "Reading {input.table}"
        script:
            "../scripts/read_rows.py"

    rule clean_stream:
        """Clean the rows of a stream into its panel, and make its games' gain streams."""
        input:
            rows=ROWS,
        output:
            panel=f"{OF_STREAM}/panel{{reading}}.parquet",
            report=f"{OF_STREAM}/cleaning{{reading}}.json",
            streams=[
                f"{RESULTS}/streams/{{stream}}{'-' * bool(it)}{it}{{reading}}.parquet"
                for it in settings.gains
            ],
        log:
            local(f"{RESULTS}/logs/clean_stream/{{stream}}{{reading}}.log"),
        wildcard_constraints:
            stream="|".join(map(re.escape, settings.streams)),
            reading="(@[^/]+)?",
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("clean_stream"),
            sources=sources("clean_stream", plan.cleanings),
            dataset=lambda wildcards: settings.dataset.of_stream(wildcards.reading[1:]),
            groups=lambda wildcards: settings.streams[wildcards.stream].groups,
            gains=[it.untitled.model_dump(mode="json") for it in settings.gains.values()],
            count_sensitivity=settings.privacy.count_sensitivity,
            moved="count_sensitivity" in settings.privacy.model_fields_set,
            stay=settings.privacy.unit.weeks,
        message:
            "Cleaning stream {wildcards.stream}{wildcards.reading}"
        script:
            "../scripts/clean_stream.py"

    rule report_cleaning:
        """Join the reports on the cleaning of the streams."""
        input:
            reports=FIRST["reports"],
        output:
            report=CLEANED["json"],
            page=CLEANED["md"],
        log:
            local(f"{RESULTS}/logs/report_cleaning.log"),
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("report_cleaning"),
            sources=sources("report_cleaning"),
        message:
            "Joining the cleaning reports"
        script:
            "../scripts/report_cleaning.py"

    rule draw_table:
        """Draw a heat map of what plays."""
        input:
            panels=FIRST["panels"],
        output:
            picture=PICTURE,
        log:
            local(f"{RESULTS}/logs/draw_table.log"),
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("draw_table"),
            sources=sources("draw_table"),
            shown=settings.dataset.pictured,
        message:
            "Drawing the table"
        script:
            "../scripts/draw_table.py"


rule data:
    """Target: the clean panels, or the table of gains."""
    input:
        DATA,
    localrule: True
    message:
        f"Done: {DONE_WITH_DATA}"
