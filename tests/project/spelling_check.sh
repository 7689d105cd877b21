#!/bin/bash
# SPDX-License-Identifier: MIT
# spelling_check.sh - codespell must find no misspelling in the tracked files. spelling_ignore.txt lists words that are correct.
# Exits with 77 (skipped) if codespell is not installed.
# Usage: spelling_check.sh [FILE...]
set -euo pipefail
project=$(cd "$(dirname "$0")" && pwd)
command -v codespell >/dev/null || { echo "skipped: codespell is not installed"; exit 77; }
if (($#)); then
    files=("$@")
else
    cd "$project/../.."
    # Not checked: bundled and recorded files, and the regular expressions of the dictionary.
    mapfile -t files < <(git -c safe.directory='*' ls-files -- ':!tests/data' ':!tests/fuzz/corpus' ':!tools/page/page.html' \
        ':!tools/page/package-lock.json' ':!tests/project/dialect.yml' ':!*.svg' ':!*.xz' ':!*.bin')
    ((${#files[@]})) || { echo "git lists no tracked files"; exit 1; }
fi
words=$(mktemp)
trap 'rm -f "$words"' EXIT
sed 's/ *#.*//; /^$/d' "$project/spelling_ignore.txt" >"$words"
codespell --quiet-level 2 --ignore-words "$words" -- "${files[@]}"
