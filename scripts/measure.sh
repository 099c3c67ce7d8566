#!/usr/bin/env bash
# Measures what docs/performance.md reports: the time of `summary` (median of 20), and the time from
# process start to the first painted graph under Xvfb (median of five). Nothing fails here: a slow
# machine is no mistake in the program.
# usage: scripts/measure.sh REPORT
set -euo pipefail
report=$(realpath "${1:?usage: scripts/measure.sh REPORT}")
cd "$(dirname "$0")/.."
. scripts/packages.sh
need_packages gcc libc6-dev xvfb xauth libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 \
    libxkbcommon-x11-0 libegl1 libgl1-mesa-dri
cargo build --release --locked
tilescope=$(realpath "${CARGO_TARGET_DIR:-target}")/release/tilescope

milliseconds() { date +%s%N | cut -b1-13; }

median() { sort -n | awk '{ values[NR] = $1 } END { print values[int((NR + 1) / 2)] }'; }

summary_once() {
    local start
    start=$(milliseconds)
    "$tilescope" summary "$report" --json >/dev/null 2>&1
    echo $(($(milliseconds) - start))
}

first_graph_once() {
    # The program says when it has painted its first graph; then it is stopped.
    local log
    log=$(mktemp)
    TILESCOPE_LOG_FIRST_GRAPH=1 timeout 10 "$tilescope" "$report" 2>"$log" &
    local window=$!
    for _ in $(seq 100); do
        grep -q 'first graph after' "$log" && break
        sleep 0.05
    done
    kill "$window" 2>/dev/null || true
    wait "$window" 2>/dev/null || true
    sed -n 's/.*first graph after \([0-9]*\) ms.*/\1/p' "$log"
    rm -f "$log"
}

echo "summary, median of 20: $(for _ in $(seq 20); do summary_once; done | median) ms"
display=:97
Xvfb "$display" -screen 0 1280x800x24 >/dev/null 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
sleep 1
export DISPLAY=$display
unset WAYLAND_DISPLAY
echo "first graph, median of 5: $(for _ in $(seq 5); do first_graph_once; done | median) ms"
