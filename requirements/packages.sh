#!/bin/sh
# Print the locked packages of an environment for pip: packages.sh base|runtime|dev|cluster
set -eu
awk -v kind="$1" '
    /^# for:/ { wanted = index($0 " ", " " kind " "); found = found || wanted }
    wanted
    END { if (!found) { print "error: no packages for " kind >"/dev/stderr"; exit 1 } }
' "$(dirname "$0")/lock.txt"
