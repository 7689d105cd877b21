#!/bin/bash
# SPDX-License-Identifier: MIT
# mutate_check.sh - runs scripts/mutate on a project of four functions. It must print the mistakes that no test notices or executes,
# and no others.
# Usage: mutate_check.sh MUTATE OUTPUT
set -euo pipefail
mutate=$1 output=$2
rm -rf "$output"
mkdir -p "$output"/{scripts,src,tests}
cd "$output"
cp "$mutate" scripts/mutate
echo '/build/' >.gitignore

cat >src/limits.cpp <<'END'
bool is_last(int i, int n) { return i + 1 == n; }
bool is_late(int seconds) { return seconds > 10; }
int next_after(int i) { return i + 1; }
bool is_zero(int i) { if (i == 0) return true; return false; }
bool is_any(int i) {
    const auto is = [i]<int... n>() {
        return ((i == n) || ...);
    };
    return is.operator()<1, 2>();
}
END
cat >tests/limits_test.cpp <<'END'
#include <cstdlib>
bool is_last(int, int);
bool is_late(int);
int next_after(int);
bool is_zero(int);
bool is_any(int);
int main(int, char** words) {
    switch (words[1][0]) {
    case 'a': return is_last(1, 2) && !is_last(0, 2) && !is_last(1, 3) ? 0 : 1;
    case 'b': return is_late(20) && !is_late(5) ? 0 : 1;
    case 'c': return is_zero(0) && !is_zero(1) && is_any(2) && !is_any(3) ? 0 : 1;
    case 'd': return next_after(1) == 2 ? 0 : 1; // not among the tests
    }
    std::abort();
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(limits CXX)
enable_testing()
add_library(comad STATIC src/limits.cpp)
add_executable(limits_test tests/limits_test.cpp)
target_link_libraries(limits_test comad)
foreach(name a b c)
  add_test(NAME src_test/${name} COMMAND limits_test ${name})
endforeach()
END
cat >CMakePresets.json <<'END'
{
  "version": 6,
  "configurePresets": [
    {
      "name": "release",
      "generator": "Ninja",
      "binaryDir": "build",
      "cacheVariables": { "CMAKE_BUILD_TYPE": "Release", "CMAKE_EXPORT_COMPILE_COMMANDS": true }
    }
  ]
}
END
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test
git init -q
git add .
git commit -qm 'the beginning'

told() { # told EXPECTED_CODE WORDS...: what mutate prints
    local code=0
    scripts/mutate --seed 1 "${@:2}" >told 2>&1 || code=$?
    cat told
    [[ $code == "$1" ]] || { echo "mutate ended with $code instead of $1"; exit 1; }
}
has() { grep -qE "$1" told || { echo "not told: $1"; exit 1; }; }
has_not() { if grep -E "$1" told; then echo "should not be told: $1"; exit 1; fi; }

told 0 --count 100 --list
has '^src/limits.cpp:1: '
has_not '^src/limits.cpp:[678]: ' # a generic lambda
told 0 --count 100 --syntax
told 1 --count 100
has '^not noticed: src/limits.cpp:2: .* \(tests that execute it: 1\)$'
has '^not noticed: src/limits.cpp:3: .* \(tests that execute it: 0\)$'
has_not '^not noticed: src/limits.cpp:[14]:'
git diff --quiet # the original tree must not change

sed -i '4s/.*/bool is_zero(int i) { return i == 0; }/' src/limits.cpp
told 0 --count 100 --since HEAD
has '^1 of 1 noticed \(100 %\)$'
