# What `snakemake` runs in a clone; workflow/Snakefile holds the rules.
#   snakemake --cores 2                                    the paper's weeks, no network
#   snakemake --cores 2 --configfile config/paper.yaml     the paper's states, fetched
include: "workflow/Snakefile"


# An included file sets no default target here. The name `all` is free for workflows that import
# workflow/Snakefile and need a rule of that name.
rule all:
    """Target by default: all results and the page."""
    input:
        rules.results.input,
    localrule: True
    message:
        done
