#!/bin/sh
# Install Debian's Chromium if there is neither it nor Chrome, and the npm packages of these tests.
set -eu
cd "$(dirname "$0")"
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
    echo "Installing Chromium ..."
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
npm install --no-package-lock --no-audit --no-fund --silent
