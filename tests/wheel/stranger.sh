#!/bin/sh
# A stranger's first hour with the files of a release: stranger.sh DIST, in an empty folder. DIST holds
# the wheel of dpol; nothing else of the project is here.
set -eu
dist=$(cd "$1" && pwd)
[ -z "$(ls -A)" ] || { echo "error: this folder is not empty" >&2; exit 1; }
said() { printf '\n== %s\n' "$1"; }

said "Install"
python3 -m venv .venv
PATH="$PWD/.venv/bin:$PATH"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
pip install --no-compile "$(echo "$dist"/dpol-*.whl)[pipeline]"
pip check
dpol --version

said "The default run"
dpol run central-texas --cores 2 2>seen
grep -q '100% of all jobs' seen
grep -q 'id="replay-widget"' results/central-texas/report/index.html
dpol run central-texas --cores 2 2>seen
grep -q 'Nothing to be done' seen

said "A table of one's own"
python >wards.csv <<'END'
from datetime import date, timedelta

print("week,ward,patients,beds")
for week in range(30):
    for ward in range(5):
        day = date(2024, 1, 1) + timedelta(weeks=week)
        print(f"{day},ward {ward},{20 + (7 * week + 11 * ward) % 19},{60 + 10 * ward}")
END
dpol new dataset wards.csv --entity ward --period week --count patients --capacity beds
dpol run wards.yaml data --cores 2

said "An algorithm, a learner and a noise of one's own"
for kind in algorithm learner noise; do
    dpol new $kind my-$kind
done
pip install --editable my-algorithm --editable my-learner ./my-noise
dpol check my-algorithm
mine='my-algorithm, {algorithm: "my_algorithm:MyAlgorithm", label: named, keep: 0.9}'
mine="$mine, {algorithm: rw-meta, label: medians, learners: [my-learner]}"
sed "s/^run: wards$/run: mine/; /^suites:/,\$d" wards.yaml >mine.yaml
cat >>mine.yaml <<END
suites:
  local:
    noises: [capacity, my-noise]
    algorithms: [rw-meta, random-effects, $mine]
replicates: 20
END
dpol run mine.yaml --cores 2
