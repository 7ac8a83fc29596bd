#!/usr/bin/env bash
# Makes .venv, the one environment of the suite, as requirements.lock says. Run again, it does nothing until the lock,
# a pyproject.toml or this file changes. Needs Python 3.11 or newer and, the first time, a package index.
# Written for bash 3.2, which macOS has.
set -euo pipefail
cd "$(dirname "$0")/.."

LOCK=requirements.lock
STAMP=.venv/.fencepost-setup
NEEDED_KIB=2097152

fail() {
    printf '%s\n' "$1" "$2" >&2
    exit 1
}

fingerprint() {
    cat "$LOCK" pyproject.toml platform/pyproject.toml services/*/pyproject.toml infra/setup.sh | cksum
    pwd
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in ${FENCEPOST_PYTHON:-python3.11 python3.12 python3.13 python3.14 python3 python}; do
        if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    fail "No Python 3.11 or newer was found." \
        "Install one, or name it: FENCEPOST_PYTHON=/path/to/python3 make up"
}

make_environment() {
    local python
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make environments: its venv module is missing." \
            "On Debian and Ubuntu: apt-get install python3-venv (or python3.X-venv for that version)."
    echo "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
}

install_uv() {
    local pins
    pins=$(mktemp)
    # Its entry in the lock: the line that names it and the lines of hashes after it.
    awk '/^[a-z]/ { inside = /^uv==/ } inside && !/^ *#/' "$LOCK" >"$pins"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r "$pins" || {
        rm -f "$pins"
        return 1
    }
    rm -f "$pins"
}

install_locked() {
    echo "installing $LOCK"
    # Compiled once here, and not by twenty processes side by side at their first start.
    if install_uv && VIRTUAL_ENV="$PWD/.venv" .venv/bin/uv pip sync --quiet --compile-bytecode --require-hashes "$LOCK"; then
        return
    fi
    echo "uv could not do it, trying pip" >&2
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$LOCK" ||
        fail "The locked packages could not be installed." \
            "Check the network, or pip's own settings when a mirror is used, and run it again."
}

install_workspace() {
    local editable="-e . -e platform -e services/order -e services/payment -e services/billing"
    # shellcheck disable=SC2086 # a list of words
    VIRTUAL_ENV="$PWD/.venv" .venv/bin/uv pip install --quiet --no-deps --no-build-isolation --no-index $editable 2>/dev/null ||
        .venv/bin/python -m pip install --quiet --disable-pip-version-check \
            --no-deps --no-build-isolation --no-index $editable
}

if [ -f "$STAMP" ] && .venv/bin/python -c '' 2>/dev/null && [ "$(cat "$STAMP")" = "$(fingerprint)" ]; then
    exit 0
fi

free=$(df -Pk . | awk 'NR == 2 { print $4 }')
[ "$free" -ge "$NEEDED_KIB" ] ||
    fail "This disk has $((free / 1024)) MiB left; the environment and the stack need 2048." "Free some space."

rm -f "$STAMP"
.venv/bin/python -m pip --version >/dev/null 2>&1 || make_environment
install_locked
install_workspace
fingerprint >"$STAMP"
