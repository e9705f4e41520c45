#!/bin/sh
# Renew lock.txt from pyproject.toml: every package once, grouped by the environments that need it.
# Needs uv, which gets the arguments: requirements/lock.sh --upgrade
# Without arguments, locked versions stay. The index comes from uv's own settings.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

compile() { # FILE [OPTION ...]
    file=$1
    shift
    uv pip compile pyproject.toml requirements/build.in --universal --fork-strategy fewest \
        --python-version 3.11 --no-header --no-emit-index-url --no-emit-find-links --quiet \
        --output-file "$folder/$file" "$@"
}

cp requirements/lock.txt "$folder/all"
compile all --all-extras --generate-hashes "$@"
compile base --constraint "$folder/all" --no-annotate
compile runtime --constraint "$folder/all" --no-annotate --extra pipeline
compile dev --constraint "$folder/all" --no-annotate --extra dev
compile cluster --constraint "$folder/all" --no-annotate --extra cluster

(cd "$folder" && awk -F == '
    FILENAME != "all" { needed_for[$1] = needed_for[$1] " " FILENAME; next }
    /^[a-z0-9]/ { group = needed_for[$1]; if (!(group in text)) groups[++count] = group }
    { text[group] = text[group] $0 "\n" }
    END { for (i = 1; i <= count; i++) printf "# for:%s\n%s", groups[i], text[groups[i]] }
' base runtime dev cluster all) >"$folder/grouped"
cp "$folder/grouped" requirements/lock.txt
