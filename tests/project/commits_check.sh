#!/bin/bash
# SPDX-License-Identifier: MIT
# commits_check.sh - the subjects of the commits after SINCE have the form "area: imperative" and at most 72 characters.
# Merges and reverts are not checked. Exits with 77 (skipped) if the history does not reach back to SINCE.
# Usage: commits_check.sh [SINCE]   in a repository
set -euo pipefail
since=${1:-8453f34}
git() { command git -c safe.directory='*' "$@"; }

git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1 && git merge-base --is-ancestor "$since" HEAD ||
    { echo "skipped: the history does not reach back to $since"; exit 77; }

# An area is a directory, a file, a command or a topic; several are separated by commas.
area='^[[:alnum:]_./+*-]+(, ?[[:alnum:]_./+*-]+| [[:alnum:]_./+*-]+)?: '
# Past tenses, participles and the third person of verbs that start many subjects.
not_imperative=': ([[:alpha:]]+ed|[[:alpha:]]+ing|adds|makes|fixes|removes|changes|moves|uses|allows|prints|tells|says|is|are|was|the|a|an) '
not_imperative_exceptions=': (embed|feed|need|seed|speed|shed|bring|string|ping|ring|sing|spring) '
failed=0
while IFS=$'\t' read -r commit subject; do
    [[ $subject != 'Revert "'* ]] || continue
    if ((${#subject} > 72)); then
        echo "$commit: ${#subject} characters, at most 72: $subject"
        failed=1
    fi
    if [[ ! $subject =~ $area ]]; then
        echo "$commit: must start with an area, as in 'docs: explain X': $subject"
        failed=1
    elif [[ $subject =~ $not_imperative && ! $subject =~ $not_imperative_exceptions ]]; then
        echo "$commit: must continue with an imperative, as in 'docs: explain X': $subject"
        failed=1
    fi
done < <(git log --no-merges --format='%h%x09%s' "$since..HEAD")
exit $failed
