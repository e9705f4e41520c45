#!/bin/sh
# The first week of README.md: its commands, up to the mark "demo ends", in an empty demo/work.
set -eu
cd "$(dirname "$0")/.."
rm -rf demo/work
awk '/<!-- demo ends -->/ { exit } /^```sh/ { on = 1; next } /^```/ { on = 0 } on' README.md | bash -eu
echo "The page: weekly/demo/work/state/index.html"
