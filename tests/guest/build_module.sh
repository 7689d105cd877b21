#!/bin/bash
# SPDX-License-Identifier: MIT
# build_module.sh DIRECTORY - compiles fakeib for the kernel that fetch_kernel.sh stored there: DIRECTORY/fakeib.ko.
# Needs make and the GCC of the kernel. Does nothing if the module is newer than its source.
set -euo pipefail
directory=$(cd "${1:?usage: build_module.sh DIRECTORY}" && pwd)
source=$(cd "$(dirname "$0")" && pwd)/fakeib
[[ ! $directory/fakeib.ko -nt $source/fakeib.c ]] || exit 0

rm -rf "$directory/fakeib"
cp -r "$source" "$directory/fakeib"
# No BTF, because there is no vmlinux to generate it from.
make -s -C "$directory/headers/usr/src/linux-headers-$(<"$directory/release")" M="$directory/fakeib" \
    CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$directory/fakeib.log" 2>&1 || { cat "$directory/fakeib.log" >&2; exit 1; }
strip --strip-debug "$directory/fakeib/fakeib.ko"
mv "$directory/fakeib/fakeib.ko" "$directory/fakeib.ko"
