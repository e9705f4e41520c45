from dpol.evaluation.distributions import settings_of

LABEL_SETTINGS = settings_of(settings.distributions)


rule study_labels:
    input:
    output:
        risks=f"{RESULTS}/distributions/{{setting}}.parquet",
    log:
        f"{RESULTS}/logs/study_labels/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/study_labels/{{setting}}.tsv"
    wildcard_constraints:
        setting="|".join(LABEL_SETTINGS) or "none",
    params:
        study=dump(settings.distributions),
        setting=lambda wildcards: vars(LABEL_SETTINGS[wildcards.setting]),
        seed=settings.seed,
    message:
        "Learning a distribution from private labels: {wildcards.setting}"
    script:
        "../scripts/study_labels.py"


rule study_hospitals:
    input:
        stream=rules.build_stream.output.stream,
    output:
        risks=f"{RESULTS}/distributions/hospitals/{{stream}}.parquet",
    log:
        f"{RESULTS}/logs/study_hospitals/{{stream}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/study_hospitals/{{stream}}.tsv"
    params:
        study=dump(settings.distributions),
        seed=settings.seed,
    message:
        "Learning in which hospital of {wildcards.stream} a patient is, from private labels"
    script:
        "../scripts/study_hospitals.py"


rule collect_distributions:
    input:
        expand(rules.study_labels.output.risks, setting=LABEL_SETTINGS),
        expand(
            rules.study_hospitals.output.risks,
            stream=settings.streams if settings.distributions.patients_per_week else [],
        ),
    output:
        risks=f"{RESULTS}/distributions.parquet",
    log:
        f"{RESULTS}/logs/collect_distributions.log",
    benchmark:
        f"{RESULTS}/benchmarks/collect_distributions.tsv"
    params:
        confidence=settings.report.confidence,
    message:
        "Collecting the risks of learning from private labels"
    script:
        "../scripts/collect_distributions.py"


rule render_distributions:
    input:
        risks=rules.collect_distributions.output.risks,
    output:
        risk=figure("distributions-risk", "Private labels", "KL risk"),
        selection=figure("distributions-selection", "Private labels", "Selecting a hypothesis"),
        hospitals=figure("distributions-hospitals", "Private labels", "Hospitals as labels"),
        table=table("distributions", "Private labels", "Learning from private labels"),
    log:
        f"{RESULTS}/logs/render_distributions.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_distributions.tsv"
    params:
        simulated=settings.dataset.simulated,
    message:
        "Rendering the risks of learning from private labels"
    script:
        "../scripts/render_distributions.py"
