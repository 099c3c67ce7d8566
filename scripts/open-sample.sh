#!/usr/bin/env bash
# Builds Tilescope and opens its window on the sample report, or on the report that is named.
# usage: scripts/open-sample.sh [REPORT]
set -euo pipefail
called_from=$PWD
cd "$(dirname "$0")/.."
. scripts/packages.sh

need_packages gcc libc6-dev
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    need_packages libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0 \
        libwayland-client0 libwayland-egl1 libegl1 libgl1-mesa-dri
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
