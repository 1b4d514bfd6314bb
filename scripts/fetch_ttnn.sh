#!/bin/sh
# Fetches the wheel of ttnn, which holds the headers and the library of TT-Metalium, and unpacks it: fetch_ttnn.sh FOLDER
# Then `ALLO_TTNN=FOLDER pytest tests/backend/metalium/test_vendor.py` checks emitted projects against them.
set -eu
version=0.81.1
if [ $# -ne 1 ]; then
    echo "usage: $0 FOLDER" >&2
    exit 2
fi
python3 -m pip download "ttnn==$version" --no-deps --python-version 3.12 --only-binary :all: --dest "$1"
python3 -m zipfile -e "$1"/ttnn-"$version"-*.whl "$1"
echo "ALLO_TTNN=$1"
