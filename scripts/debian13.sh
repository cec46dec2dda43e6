#!/bin/bash
# Builds the layer on Debian 13 with gcc and with clang and runs it under that release's loader and drivers.
#   debian13.sh ROOT      (as root; ROOT is made with debootstrap if it isn't there, outside the checkout)
# The packages come from the mirror that debootstrap uses by default, or from $DEBIAN_MIRROR. The last line says
# "N passed, N failed"; the status is 0 only if nothing failed.
set -uo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
[[ $# -eq 1 && $1 != -* ]] || { sed -n '3s/^# *//p' "$0" >&2; exit 2; }
root=$1
case $(realpath -m "$root") in "$source_dir"/*) echo "debian13.sh: $root lies in the checkout" >&2; exit 2 ;; esac
[[ $(id -u) = 0 ]] || { echo "debian13.sh: needs root" >&2; exit 2; }
# What is mounted in the root is seen by this script alone, and goes when it ends.
[[ -n ${DEBIAN13_UNSHARED:-} ]] || DEBIAN13_UNSHARED=1 exec unshare --mount "$0" "$root"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }

make_root() {
    command -v debootstrap >/dev/null || { echo "debian13.sh: no debootstrap" >&2; return 1; }
    # shellcheck disable=SC2086 # no argument when it isn't set
    debootstrap --variant=minbase trixie "$root" ${DEBIAN_MIRROR:-} || return
}

install_packages() {
    local packages=(gcc clang cmake ninja-build python3 libc6-dev libvulkan-dev libxxhash-dev libcmocka-dev
        glslang-tools libvulkan1 vulkan-tools vulkan-validationlayers mesa-vulkan-drivers xvfb xauth)
    inside dpkg-query -W "${packages[@]}" >/dev/null 2>&1 && return
    inside apt-get update && inside DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

log=$(mktemp)
[[ -e $root/etc/debian_version ]] || make_root >"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
install_packages >"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
rm -f "$log"
mkdir -p "$root/src" "$root/scratch"
mount --bind -o ro "$source_dir" "$root/src" && mount -t proc proc "$root/proc" &&
    mount -t sysfs -o ro sysfs "$root/sys" && mount --bind /dev "$root/dev" &&
    mount -t tmpfs shm "$root/dev/shm" || exit 1
inside bash /src/tests/field/debian13-inside.sh
