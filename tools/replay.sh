#!/bin/sh
# Play all games of a file of rows again, in a fresh environment with the package that it names, and
# write their standings beside it: tools/replay.sh league/SENDER.parquet
set -eu
tools=$(dirname "$(realpath "$0")")
file=$(realpath "$1")
work=$(mktemp -d)
python "$tools/league.py" "$file" > "$work/asked"
{ read -r package; read -r runs; read -r entry; } < "$work/asked"
python -m venv --system-site-packages "$work/env"
cd "$work"
if [ "$package" != dpol ]; then
    env/bin/python -m pip install --no-deps "$package"
fi
env/bin/python -m dpol league "$entry" --on "$runs" --with "$file" --replay all
python "$tools/league.py" "$file" league-*/standings.parquet
