#!/usr/bin/env bash
# All checks and tests, as CI runs them; installs what they need. The window is tested without a
# display and without a graphics card (lavapipe renders its pictures).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

need_packages gcc g++ libc6-dev libvulkan1 mesa-vulkan-drivers python3-venv openjdk-17-jre-headless

# Each step says how long it took.
step() {
    local title=$1 started=$SECONDS
    shift
    echo "== $title"
    "$@"
    echo "== $title: $((SECONDS - started)) s"
}

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
step "format" cargo fmt --check
step "lints" cargo clippy --locked --all-targets --all-features -- -D warnings
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --all-features
step "DuckDB and Spark" scripts/lake-venv "$target/lake-venv"
step "tests" cargo test --locked --all-features
step "Python package" env TILESCOPE_BIN="$target/debug/tilescope" python3 -m unittest discover python/tests
# The build without the window, too: its warnings are errors.
step "fuzzing, 4 s for each reader" scripts/fuzz --quick 4
step "damaged reports" scripts/damage 100
