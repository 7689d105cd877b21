#!/bin/sh
# SPDX-License-Identifier: MIT
# pkgconfig.sh - builds and runs the consumer with the flags that pkg-config prints for the package installed in a prefix:
# with only --libs, as README.md and other projects do, and with --static.
# Usage: pkgconfig.sh PREFIX LIBDIR OUTPUT COMPILER [FLAGS...]
set -eu
libdir=$1/$2 output=$3
shift 3

source=$(dirname "$0")/project/main.cpp
export PKG_CONFIG_PATH="$libdir/pkgconfig"
# shellcheck disable=SC2046 # the flags are words
"$@" -std=c++20 $(pkg-config --cflags comad) -c "$source" -o "$output.o"
for static in '' --static; do
    # shellcheck disable=SC2046,SC2086
    "$@" "$output.o" -o "$output" $(pkg-config $static --libs comad)
    LD_LIBRARY_PATH=$libdir "$output"
done
