#!/bin/sh
# SPDX-License-Identifier: MIT
# tree_check.sh - checks all tracked files: sources and scripts name their license at the top, headers can be included twice,
# no script fails because the reader of a pipe exits early, and no file names a directory of a particular machine or outside the tree.
set -u
cd "$(dirname "$0")/../.." || exit 1

# The checkout may belong to another user than the test.
tracked() { git -c safe.directory='*' ls-files -- "$@"; }

failed=0
sources=$(tracked '*.cpp' '*.hpp' '*.c' '*.h' '*.py' '*.sh' '*.cmake' '*.in' '*CMakeLists.txt' 'scripts/*' '.ci/*' '.clang-format' '.clang-tidy')
[ -n "$sources" ] || { echo "git lists no tracked file here"; exit 1; }
unlicensed=$(echo "$sources" | xargs awk '
    FNR == 1 { if (file && !found) print file; file = FILENAME; found = 0 }
    FNR <= 3 && /SPDX-License-Identifier: / { found = 1 }
    END { if (!found) print file }')
for file in $unlicensed; do
    echo "$file: no SPDX-License-Identifier in its first 3 lines"
    failed=1
done

for file in $(tracked '*.hpp' '*.h' | xargs grep -L '^#pragma once$'); do
    echo "$file: no #pragma once"
    failed=1
done

# A reader that stops at the first match closes the pipe while the other program still writes. That program then fails now and then.
for file in $(tracked | tr '\n' '\0' | xargs -0 grep -lI '^set .*pipefail'); do
    if grep -HnE '[^|][|] *(head|(e|f)?grep +-[[:alpha:]]*[qm]|sed [^|]*[0-9]q)\b' "$file"; then
        echo "the lines above of a script with pipefail do not read to the end"
        failed=1
    fi
done

# The brackets keep this file from matching itself.
if tracked | tr '\n' '\0' | xargs -0 grep -nIE '(^|[^[:alnum:]_.])/(wor[k]|hom[e]|roo[t])/|\.\./share[d]'; then
    echo "the lines above name a directory outside the tree"
    failed=1
fi
# Umbrella headers exist so that a program for one purpose needs few headers.
for file in $(tracked 'docs/examples/tutorial_*.cpp' docs/examples/readme.cpp); do
    if [ "$(grep -c '^#include <comad/' "$file")" -gt 3 ]; then
        echo "$file: includes more than three headers of comad"
        failed=1
    fi
done
exit $failed
