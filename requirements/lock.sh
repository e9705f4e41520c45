#!/bin/sh
# Renew all locks from pyproject.toml. Needs uv; the index comes from its own settings and is not written down.
set -eu
cd "$(dirname "$0")/.."
compile="uv pip compile pyproject.toml requirements/build.in --universal --fork-strategy fewest
    --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --quiet"
$compile --output-file requirements/runtime.txt "$@"
$compile --extra secure --constraint requirements/runtime.txt --output-file requirements/secure.txt "$@"
$compile --extra dev --extra secure --constraint requirements/secure.txt --output-file requirements/dev.txt "$@"
$compile --extra cluster --constraint requirements/dev.txt --output-file requirements/cluster.txt "$@"
