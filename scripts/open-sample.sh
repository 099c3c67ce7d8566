#!/usr/bin/env bash
# Builds Tilescope and opens its window on the sample report, or on the report that is named.
# usage: scripts/open-sample.sh [REPORT]
set -euo pipefail
called_from=$PWD
cd "$(dirname "$0")/.."
. scripts/packages.sh

need_packages gcc libc6-dev
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    need_packages "${window_packages[@]}"
fi
cargo build --release --locked
# Some machines share one target directory between projects.
tilescope=${CARGO_TARGET_DIR:-target}/release/tilescope
report=sample_profiles/tiny
if [ $# -gt 0 ]; then
    report=$(cd "$called_from" && realpath "$1")
fi
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec "$tilescope" "$report"
fi
echo "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open."
echo "Over SSH, connect with ssh -X, or read the same figures on the terminal:"
echo
exec "$tilescope" summary "$report"
