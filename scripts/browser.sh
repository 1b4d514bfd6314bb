#!/usr/bin/env bash
# A browser for the tests: the one that is here, or Chromium from Debian's archive, for which it takes root and apt-get.
set -euo pipefail

here() {
    for name in chromium chromium-browser google-chrome chrome; do
        if found=$(command -v "$name") && "$found" --version 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

here && exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "a browser is installed by root only" >&2
    exit 1
fi
if ! command -v apt-get >/dev/null; then
    echo "a browser is installed with apt-get only" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# an archive that does not answer costs minutes at most
timeout 120 apt-get update -qq
timeout 300 apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
here
