#!/usr/bin/env bash
# Each extra of the wheel $1 in a fresh environment of its own, or only those that follow: what it is for must run.
set -euo pipefail
wheel=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- rtl synth torch onnx exact search dask ray docs polybench all

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp scripts/try_extra.py "$scratch"
for extra in "$@"; do
    "$(scripts/find_python.sh)" -m venv "$scratch/$extra"
    "$scratch/$extra/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[$extra]"
    (cd "$scratch" && "$extra/bin/python" try_extra.py "$extra")
    if [ "$extra" = torch ]; then  # no other job has it; `pytest` finds the wheel, `python -m pytest` this folder
        "$scratch/$extra/bin/python" -m pip install --quiet --disable-pip-version-check pytest hypothesis
        "$scratch/$extra/bin/pytest" -q -m slow tests/importers/test_pytorch.py
    fi
    rm -rf "${scratch:?}/$extra"
done
