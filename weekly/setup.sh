#!/bin/sh
# Make a virtual environment: setup.sh PYTHON FOLDER REQUIREMENTS
# Installs the locked packages (hashes checked), and dpol and dpol-weekly linked to this checkout.
set -eu
"$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "error: $("$1" --version) is too old; set PYTHON to 3.11 or newer" >&2; exit 1; }
echo "Setting up $2 ..."
[ -x "$2/bin/python" ] || "$1" -m venv "$2"
pip="$2/bin/python -m pip --disable-pip-version-check --quiet"
$pip install --no-deps --require-hashes --requirement "$3"
$pip install --no-deps --no-build-isolation --editable .. --editable .
