#!/usr/bin/env bash
# All checks and tests, as CI runs them; installs what they need. The window is tested without a
# display and without a graphics card (lavapipe renders its pictures).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

need_packages gcc libc6-dev libvulkan1 mesa-vulkan-drivers python3-venv openjdk-17-jre-headless

echo "== format"
cargo fmt --check
echo "== lints"
cargo clippy --locked --all-targets --all-features -- -D warnings
cargo clippy --locked --no-default-features --all-targets -- -D warnings
echo "== documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --all-features
echo "== DuckDB and Spark"
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
scripts/lake-venv "$target/lake-venv"
echo "== tests"
cargo test --locked --all-features
echo "== fuzzing, 20 s for each reader"
scripts/fuzz 20
echo "== damaged reports"
scripts/damage 100
