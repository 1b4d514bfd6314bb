#!/bin/sh
# Prints the interpreter to build the environment with: the first that is Python 3.12 or newer and has venv.
# 3.12 and 3.13 come before newer ones, since the wheels of MLIR are tested with these.

usable() {
    "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1
}

candidates() {
    printf '%s\n' python3.13 python3.12 python3
    root=$(pyenv root 2>/dev/null) || root=${PYENV_ROOT:-$HOME/.pyenv}
    for prefix in 3.13 3.12 3; do
        for found in "$root"/versions/"$prefix".*/bin/python; do
            [ -x "$found" ] && printf '%s\n' "$found"
        done
    done
}

for candidate in ${PYTHON:-} $(candidates); do
    # A pyenv shim may name a version that is not active: only running it tells.
    if usable "$candidate"; then
        "$candidate" -c 'import sys; print(sys.executable)'
        exit 0
    fi
done
echo "No Python 3.12 or newer with venv was found: install python3.12 and python3.12-venv, or name one with PYTHON=/path/to/python." >&2
exit 1
