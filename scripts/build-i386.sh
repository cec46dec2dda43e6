#!/bin/sh
# Builds the 32-bit library, to be installed beside the 64-bit one for 32-bit programs.
#   build-i386.sh [FOLDER]      (default: build-i386 beside the sources; the result is FOLDER/layers)
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build-i386}
"$root/scripts/install-deps.sh" build i386
cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DCMAKE_TOOLCHAIN_FILE="$root/cmake/i386.cmake"
cmake --build "$folder"
