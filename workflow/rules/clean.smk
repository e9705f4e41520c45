# A table of gains is not cleaned.
if settings.dataset.source.kind == "gains":
    DATA, DONE_WITH_DATA = [RAW], settings.raw_file
else:
    ROWS = f"{RESULTS}/data/rows.parquet"
    CLEANED = {name: f"{RESULTS}/data/cleaning.{name}" for name in ("json", "md")}
    PICTURE = f"{RESULTS}/data/understood.svg"
    OF_STREAM = f"{RESULTS}/streams/{{stream}}"
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
            log_of("read_rows"),
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("read_rows"),
            code=code_of_job("read_rows"),
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
            panel=f"{OF_STREAM}/panel.parquet",
            report=f"{OF_STREAM}/cleaning.json",
            streams=[
                f"{RESULTS}/streams/{{stream}}{'-' * bool(it)}{it}.parquet"
                for it in settings.gains
            ],
        log:
            log_of("clean_stream", "clean_stream/{stream}"),
        wildcard_constraints:
            stream="|".join(map(re.escape, settings.streams)),
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("clean_stream", [{"stream": it} for it in settings.streams]),
            code=code_of_job("clean_stream"),
            dataset=settings.dataset.of_stream,
            groups=lambda wildcards: settings.streams[wildcards.stream].groups,
            gains=[it.untitled.model_dump(mode="json") for it in settings.gains.values()],
            count_sensitivity=settings.privacy.count_sensitivity,
            moved="count_sensitivity" in settings.privacy.model_fields_set,
            stay=settings.privacy.unit.weeks,
        message:
            "Cleaning stream {wildcards.stream}"
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
            log_of("report_cleaning"),
        priority: DATA_FIRST
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("report_cleaning"),
            code=code_of_job("report_cleaning"),
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
            log_of("draw_table"),
        conda:
            "../envs/dpol.yaml"
        params:
            **notes("draw_table"),
            code=code_of_job("draw_table"),
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
