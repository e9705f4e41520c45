#!/bin/sh
# Make the virtual environment: setup.sh FOLDER run|dev|cluster
# Installs the locked packages (hashes checked) and dpol itself, linked to this checkout.
set -eu
folder=$1
kind=$2
python=${PYTHON:-python3}
cd "$(dirname "$0")/.."

fail() {
    echo "error: $1" >&2
    exit 1
}

# Snakemake starts scripts by the path of Python without quotes.
case $PWD/$folder in
*[[:space:]\"\'\`\$\&\;\|\<\>\(\)\*\?\!\\]*)
    fail "the path $PWD holds a space or a sign that a shell reads as its own; move the checkout to a path without it" ;;
esac

command -v "$python" >/dev/null || fail "no $python here; install Python 3.11 or newer"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old; set PYTHON to Python 3.11 or newer: make PYTHON=python3.12 setup"

# Some packages have no wheel: immutables has none for Python 3.14.
if [ "$kind" != base ] && ! command -v cc >/dev/null &&
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 14))'; then
    fail "immutables has no wheel for this Python and must be compiled; first run: sudo apt-get install gcc python3-dev, or set PYTHON to an older one: make PYTHON=python3.13 setup"
fi

# Debian keeps ensurepip in a package of its own.
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing python3-venv ..."
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
    else
        fail "this Python cannot make virtual environments; first run: sudo apt-get install python3-venv"
    fi
fi

echo "Setting up $folder ($kind) ..."
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
pip="$folder/bin/python -m pip --disable-pip-version-check --quiet"

# What packages without a wheel are built with, so that pip takes no newer one without a hash.
awk '/^[a-z0-9]/ { held = /^setuptools==/ } held' "requirements/$kind.txt" |
    $pip install --no-compile --no-deps --require-hashes --requirement /dev/stdin

# pip installs one package after the other: two of it share them. No package needs another to be
# installed, and pip compiles on one core what compileall below does on all, tests of others apart.
half() {
    awk -v half="$1" '/^[a-z0-9]/ { entry++ } entry % 2 == half' "requirements/$kind.txt" |
        $pip install --no-compile --no-deps --no-build-isolation --require-hashes \
            --requirement /dev/stdin
}
half 0 &
half 1
wait $!
$pip install --no-deps --no-build-isolation --editable .
site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$folder/bin/python" -m compileall -q -j 0 -x '/tests?/' "$site" src || true # some hold code of other Pythons
touch "$folder/.run" "$folder/.$kind"
