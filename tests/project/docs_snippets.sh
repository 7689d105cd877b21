#!/bin/bash
# SPDX-License-Identifier: MIT
# docs_snippets.sh PAGE EXAMPLE PROGRAM BLOCKS [all|whole] - checks that the program prints the `//> ` comments of its source,
# and that every C++ block of the page with such comments is in that source, or in another source of its directory.
# There must be at least BLOCKS of these blocks. Lines must be equal except for indentation. With `all`, every C++ block is checked.
# With `whole`, a block is the complete source after its first two lines.
set -euo pipefail
page=$1 example=$2 program=$3 least=$4 which=${5:-}
diff <(sed -n 's|^ *//> ||p' "$example") <("$program") || { echo "the program prints something else"; exit 1; }

source=$'\n'$(sed 's/^ *//' "$example")$'\n'
others=$'\n'$(sed -s 's/^ *//' "${example%/*}"/*.cpp)$'\n'
blocks=0
while IFS= read -rd '' block; do
    [[ $which == all || $block == *$'\n//> '* ]] || continue
    if [[ $source == *"$block"* ]]; then blocks=$((blocks + 1)); continue; fi
    [[ $others == *"$block"* ]] || { echo "not in ${example##*/}:$block"; exit 1; }
done < <(awk '/^```cpp$/ { on = 1; printf "\n"; next } /^```/ { if (on) printf "%c", 0; on = 0 } on { sub(/^ */, ""); print }' "$page")
if [[ $which == whole ]]; then
    diff <(tail -n +3 "$example") <(awk '/^```cpp$/ { on = 1; next } /^```/ { on = 0 } on' "$page") || { echo "the page has another program"; exit 1; }
fi
[ "$blocks" -ge "$least" ] || { echo "only $blocks blocks found"; exit 1; }
echo "$blocks blocks"
