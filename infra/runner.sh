#!/usr/bin/env bash
# Prints what runs the suite: `containers` where a Docker engine with Compose 2.24 or newer answers, else `native`.
# FENCEPOST_RUNNER overrules it. What `make up` chose stands in the suite's state folder until `make clean`.
set -euo pipefail
cd "$(dirname "$0")/.."

engine_answers() {
    local version
    version=$(docker compose version --short 2>/dev/null) || return 1
    version=${version#v}
    [ "$(printf '%s\n' 2.24 "$version" | sort -V | head -n 1)" = 2.24 ] || return 1
    docker info >/dev/null 2>&1
}

state=${FENCEPOST_STATE_DIR:-$(sed -n 's/^FENCEPOST_STATE_DIR=//p' .env 2>/dev/null || true)}
runner=${FENCEPOST_RUNNER:-$(cat "${state:-.fencepost/dev}/runner" 2>/dev/null || true)}
if [ -z "$runner" ]; then
    runner=native
    ! engine_answers || runner=containers
fi
case $runner in
native | containers) echo "$runner" ;;
*)
    echo "FENCEPOST_RUNNER is native or containers, not '$runner'." >&2
    exit 1
    ;;
esac
