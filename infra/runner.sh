#!/usr/bin/env bash
# Prints what runs the suite: `containers` where a Docker engine with Compose 2.24 or newer answers, else `native`.
# FENCEPOST_RUNNER overrules it. What `make up` chose stands in .fencepost/runner until `make clean`.
set -euo pipefail
cd "$(dirname "$0")/.."

engine_answers() {
    local version
    version=$(docker compose version --short 2>/dev/null) || return 1
    version=${version#v}
    [ "$(printf '%s\n' 2.24 "$version" | sort -V | head -n 1)" = 2.24 ] || return 1
    docker info >/dev/null 2>&1
}

runner=${FENCEPOST_RUNNER:-$(cat .fencepost/runner 2>/dev/null || true)}
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
