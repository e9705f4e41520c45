#!/bin/sh
# Install Debian's Chromium if there is neither it nor Chrome, and the npm packages of these tests.
set -eu
cd "$(dirname "$0")"
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "error: Chromium is missing; as root on Debian run: apt-get install chromium" >&2
        exit 1
    fi
    echo "Installing Chromium ..."
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
npm install --no-package-lock --no-audit --no-fund --silent
