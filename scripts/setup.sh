#!/bin/sh
# Makes the environment .venv and installs the package into it, editable, with its development tools.
set -eu
cd "$(dirname "$0")/.."

python=.venv/bin/python
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
    base=$(scripts/find_python.sh)
    echo "Making .venv with $base"
    rm -rf .venv
    "$base" -m venv .venv
fi

# The build runs in this environment (so that it is incremental): its requirements come first. They are all in
# the extra `dev`; one resolution installs them with everything else, and the package itself needs no more then.
requirements=$("$python" scripts/requirements.py)
# shellcheck disable=SC2086 # one word a requirement
"$python" -m pip install --quiet --disable-pip-version-check $requirements
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e '.[dev]'
