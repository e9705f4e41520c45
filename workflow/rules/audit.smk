rule study_audit:
    input:
        code=code("audit"),
    output:
        audits=f"{RESULTS}/audit.parquet",
    log:
        f"{RESULTS}/logs/study_audit.log",
    benchmark:
        f"{RESULTS}/benchmarks/study_audit.tsv"
    priority: LONGEST_FIRST
    params:
        study=model_dump(settings.audits),
        seed=settings.seed,
    message:
        "Auditing the privacy of every mechanism"
    script:
        "../scripts/study_audit.py"


rule study_claims:
    input:
        code=code("audit"),
    output:
        claims=f"{RESULTS}/claims.parquet",
    log:
        f"{RESULTS}/logs/study_claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/study_claims.tsv"
    priority: LONGEST_FIRST
    params:
        seed=settings.seed,
    message:
        "Checking what the papers claim"
    script:
        "../scripts/study_claims.py"


rule render_audit:
    input:
        audits=rules.study_audit.output.audits,
        code=code("plots"),
    output:
        figure("audit", "Audits", "Audits of privacy"),
    log:
        f"{RESULTS}/logs/render_audit.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_audit.tsv"
    message:
        "Drawing the audits"
    script:
        "../scripts/render_audit.py"


rule render_claims:
    input:
        claims=rules.study_claims.output.claims,
        code=code("tables"),
    output:
        table("claims", "Audits", "Claims of the papers"),
    log:
        f"{RESULTS}/logs/render_claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_claims.tsv"
    message:
        "Rendering the ledger of claims"
    script:
        "../scripts/render_claims.py"
