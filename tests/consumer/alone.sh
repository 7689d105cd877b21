#!/bin/bash
# SPDX-License-Identifier: MIT
# alone.sh - builds only the library: shared, without the tool, on a machine without the dependencies of the tool.
# The installed library must export only names of comad and contain no debug information, and an outside project must run with it.
# Configured without flags, it must suppress the false warnings of GCC 12. As a part of another project, it must build only itself.
# Usage: alone.sh SOURCE OUTPUT COMPILER
set -euo pipefail
source=$1 output=$2 compiler=$3
project=$(dirname "$0")/project
rm -rf "$output/prefix" "$output/part"
mkdir -p "$output/part"

without_tools=(-G Ninja "-DCMAKE_CXX_COMPILER=$compiler" -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
export PKG_CONFIG_LIBDIR=$output # hides libpcap and the HTTP library

cmake -S "$source" -B "$output/build" "${without_tools[@]}" -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_FLAGS_RELEASE="-O0 -g" \
    -DCOMAD_TOOLS=OFF -DCOMAD_TESTS=OFF
cmake --build "$output/build"
cmake --install "$output/build" --prefix "$output/prefix"
library=$(echo "$output"/prefix/lib*/libcomad.so)

foreign=$(nm -D --defined-only --demangle "$library" | cut -d' ' -f3- |
    grep -vE '^(comad::|fmt::v[0-9]+::formatter<comad::|(guard variable|vtable|VTT|typeinfo( name)?) for comad::|(non-)?virtual thunk to comad::)' || true)
[[ -z $foreign ]] || { echo "the library shows more than comad:"; head -20 <<<"$foreign"; exit 1; }
[[ $(nm -D --defined-only --demangle "$library" | grep -c ' comad::') -gt 100 ]]
if readelf -S "$library" | grep '\.debug_'; then exit 1; fi

cmake -S "$project" -B "$output/consumer" "${without_tools[@]}" -DCMAKE_PREFIX_PATH="$output/prefix"
cmake --build "$output/consumer"
"$output/consumer/consumer"

# With CMake's own flags for Release, GCC 12 would warn about impossible copies.
cmake -S "$source" -B "$output/plain" "${without_tools[@]}" -DCOMAD_TOOLS=OFF -DCOMAD_TESTS=OFF
commands=$(ninja -C "$output/plain" -t commands libcomad.a)
grep -q -- ' -O3 ' <<<"$commands"
if [[ $("$compiler" -dumpfullversion) == 12.* ]]; then grep -q -- ' -Wno-restrict ' <<<"$commands"; fi

cat >"$output/part/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(whole LANGUAGES CXX)
add_subdirectory($source comad)
add_executable(whole $(realpath "$project")/main.cpp)
target_link_libraries(whole PRIVATE comad::comad)
install(TARGETS whole)
END
cmake -S "$output/part" -B "$output/part/build" "${without_tools[@]}"
targets=$(ninja -C "$output/part/build" -t targets all)
if grep -E '^(ibtool|.*_test|.*catch.*):' <<<"$targets"; then exit 1; fi
grep -q '^whole:' <<<"$targets"
if grep comad "$output/part/build/comad/cmake_install.cmake" | grep -v '^#' | grep 'INSTALL'; then exit 1; fi
