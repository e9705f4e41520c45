#!/bin/sh
# snakemake --lint, but for its wish of a conda environment or container for each rule:
# rules run in the active environment, and no container that holds dpol is published.
# Usage: workflow/lint.sh SNAKEMAKE
set -eu
if found=$("$1" --lint 2>&1); then
    exit 0
fi
wish='Specify a conda environment or container for each rule.:'
if printf '%s\n' "$found" | grep '^ *\* ' | grep -qvF "$wish" ||
    ! printf '%s\n' "$found" | grep -qF "$wish"; then
    printf '%s\n' "$found"
    exit 1
fi
