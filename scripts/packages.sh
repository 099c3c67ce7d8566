# Sourced by the other scripts.

# Installs Debian packages that are not there yet.
# usage: need_packages PACKAGE…
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null \
            | grep -q 'install ok installed' || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    echo "Installing ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# What the window loads at run time, so that no linker sees it. `tilescope` names them where one is missing (src/ui/mod.rs).
window_packages=(
    libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0 libwayland-client0 libwayland-egl1 libegl1 libgl1-mesa-dri
)
