#!/bin/bash
# SPDX-License-Identifier: MIT
# abi_check.sh - runs scripts/abi on a library of two functions. It must report changes that affect programs, and no others.
# Usage: abi_check.sh ABI OUTPUT COMPILER
set -euo pipefail
abi=$1 output=$2 compiler=$3
rm -rf "$output"
mkdir -p "$output"/{scripts,include}
cd "$output"
cp "$abi" scripts/abi

cat >include/options.hpp <<'END1'
#pragma once
#include <vector>
namespace comad {
struct options {
    int window = 0;
    bool polite = false;
};
int run(const options&);
inline int twice(int i) { return 2 * i; }
class engine {
public:
    void send();

private:
    std::vector<int> waiting_;
};
} // namespace comad
END1
cat >library.cpp <<'END1'
#include "options.hpp"
int comad::run(const options& o) { return twice(o.window); }
void comad::engine::send() { waiting_.push_back(1); }
END1

# told EXPECTED_CODE WORDS...: what abi prints for the current library
told() {
    "$compiler" -std=c++20 -O0 -g -fPIC -shared -Wl,-soname,libcomad.so.0.1 -Iinclude library.cpp -o libcomad.so
    local code=0
    scripts/abi "${@:2}" libcomad.so >told 2>&1 || code=$?
    cat told
    [[ $code == "$1" ]] || { echo "abi ended with $code instead of $1"; exit 1; }
}
# changed FILE FROM TO [STATUS]: applies only that change, and expects this exit status (1 by default)
changed() {
    cp "$1" kept
    sed -i "s/$2/$3/" "$1"
    ! cmp -s "$1" kept
    told "${4-1}"
    cp kept "$1"
}

told 1
grep -q 'tests/data/abi/libcomad.so.0.1.abi.xz does not exist' told
told 0 --write
told 0
changed include/options.hpp 'int window' 'long window'
changed include/options.hpp 'bool polite' 'int rate = 0; bool polite'
changed library.cpp 'void comad::engine::send.*' ''
grep -q 'comad::engine::send' told
changed include/options.hpp 'std::vector<int> waiting_;' 'std::vector<int> waiting_; int more_;'
changed library.cpp '$' ' ' 0
changed library.cpp '^int comad::run' 'namespace comad { int added() { return 1; } } int comad::run' 0
changed library.cpp 'twice(o.window)' '2 * o.window' 0 # an inline function that the library no longer contains
