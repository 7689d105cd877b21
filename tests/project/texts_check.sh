#!/bin/bash
# SPDX-License-Identifier: MIT
# texts_check.sh - the checks of texts must fail on bad texts and pass good ones: language_check.py, sentences_check.py,
# spelling_check.sh, commits_check.sh and json_check.py, each on files that this script writes.
set -euo pipefail
project=$(cd "$(dirname "$0")" && pwd)
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
cd "$output"

# run EXPECTED_STATUS COMMAND...: writes what the command prints to the file `printed`.
run() {
    local status=0
    "${@:2}" >printed 2>&1 || status=$?
    [[ $status == "$1" ]] || { cat printed; echo "'${*:2}' exited with $status instead of $1"; exit 1; }
}
has() { grep -qE -- "$1" printed || { cat printed; echo "not printed: $1"; exit 1; }; }
lacks() { if grep -E -- "$1" printed; then echo "must not be printed: $1"; exit 1; fi; }

# The language of a page: prose and tables, but no code; a phrase may span two lines.
cat >bad.md <<'END'
# A page

Two ports with one LID are told.
It reads SMPs
alone, and `tells` nothing:

    that is told by code

```sh
told anew # code
```

| before | after |
|---|---|
| it is made anew | it is made anew |

- The counter says
  it. [A link](beside.md) and <https://example.org/beside>
END
run 1 "$project/language_check.py" bad.md
has "^bad.md:3: 'told' .* -> "
has "^bad.md:5: 'alone' .* -> only; "
has "^bad.md:15: 'anew' .* -> again$"
has "^bad.md:17: 'says' "
has '^5 hits in 1 of 1 files$'

# An exception covers only its column or its phrase.
cat >rules.yml <<'END'
version: 1
rules:
  - expected: again
    pattern: /\banew\b/
    specs: [{from: made anew, to: made again}]
  - expected: only $1
    pattern: /\b(SMPs|GMPs) alone\b/
    prh: "only, by itself"
    specs: [{from: GMPs alone, to: only GMPs}]
exceptions:
  - {file: bad.md, column: before, reason: an example}
  - {file: "*.md", text: "reads SMPs alone, and", reason: an example}
END
run 1 "$project/language_check.py" --dictionary rules.yml bad.md
has '^1 hits in 1 of 1 files$'
has "^bad.md:15: 'anew' "
sed -i '/^| it is made/d' bad.md
run 0 "$project/language_check.py" --dictionary rules.yml bad.md
sed 's/made again/made anew/' rules.yml >wrong_specs.yml
run 1 "$project/language_check.py" --dictionary wrong_specs.yml bad.md
has "'made anew' gives 'made again' instead of 'made anew'"
sed 's/, reason: an example//' rules.yml >no_reason.yml
run 1 "$project/language_check.py" --dictionary no_reason.yml bad.md
has 'an exception needs file, reason, and text or column'

# C++ literals of four words or more, also adjacent and raw ones, but no comments, characters or includes.
cat >bad.cpp <<'END'
#include "told by the SA alone.hpp"
// this comment is told by nobody at all
/* "nor does this one tell of anything" */
const char quote = '"'; // "told in a comment by somebody"
const int n = 1'000'000; const char* a = "told alone";
const char* b = "the SA is ask"
                "ed \"again\""; // a comment
const char* c = R"(first line of this
the second line is made anew)";
END
run 1 "$project/language_check.py" bad.cpp
has "^bad.cpp:6: 'asked' "
has "^bad.cpp:8: 'anew' "
has '^2 hits in 1 of 1 files$'

# Comments in headers in include/, without text in backticks and example code.
mkdir include
cat >include/bad.hpp <<'END'
/// The counter `says` this; it tells
/// nothing.
///
///     server::responder answers;
///     run(answers);
///
/// Errors: none is
///         told
END
run 1 "$project/language_check.py" include/bad.hpp
has "'tells' in"
has "'told' in"
lacks "'says'|'answers'"
has '^2 hits in 1 of 1 files$'

# Descriptions of schemas without names, strings and comments of Python, and other files as a whole.
mkdir -p docs/schema packaging
cat >docs/schema/bad.json <<'END'
{
  "told": { "description": "the exit status \"told\" by ibtool", "type": "string" }
}
END
printf 'Description: InfiniBand tools\n that are made\n anew\n' >packaging/control
printf '#!/usr/bin/env python3\nbegin = 1  # made anew\nprint("it is told", begin)\n' >packaging/script
run 1 "$project/language_check.py" packaging/script
has "^packaging/script:2: 'anew' "
has "^packaging/script:3: 'told' "
has '^2 hits in 1 of 1 files$'
run 1 "$project/language_check.py" docs/schema/bad.json packaging/control
has "^docs/schema/bad.json:2: 'told' "
has "^packaging/control:3: 'anew' "
has '^2 hits in 2 of 2 files$'

# JSON that is formatted by hand in plain, raw and joined literals, but not in comments, messages, characters or XML.
cat >json.cpp <<'END'
// "{\"LID\":{}}" in a comment
const char quote = '"'; const char* a = "{{\"LID\":{},";
const char* b = "port {}: no \"peer\": it is disconnected" R"(<rect class="switch" x="{}"/>)";
const char* c = R"(
  {"schema": {}})";
std::string d = ",\"lost_seconds\":" + seconds, e = "[\"LID\"]", f = "\"time\":{:.3f}";
std::string g = value.dump(1);
END
run 1 "$project/json_check.py" json.cpp
has '^json.cpp:2: JSON '
lacks '^json.cpp:[13]:'
has '^json.cpp:4: JSON '
has '^json.cpp:6: JSON '
has '^json.cpp:7: nlohmann'
[[ $(wc -l <printed) == 6 ]] || { cat printed; exit 1; }

# Correct sentences.
cat >good.md <<'END'
# Counters

`ibtool sweep` reads the counters of all ports and prints one line for each port with errors. If a node does not respond, `ibtool`
prints its name and exits with 3. There is no way to clear a counter that the node does not support. The file is
stored in the directory where it is installed. Which ports are affected? The kernel answers requests for local ports.
The default color is red, and the behavior of the neighbor does not change.
END
run 0 "$project/language_check.py" good.md

# The length of sentences: 30 words pass, 31 do not. A code span is one word. Tables and code are not counted.
words() { printf 'word%.0s ' $(seq "$1"); }
printf '# A page\n\nShort `a b c d`. %sone.\nA short one. %sone!\n\n| %s |\n|---|\n| %s |\n\n    %s\n' \
    "$(words 29)" "$(words 9)" "$(words 40)" "$(words 40)" "$(words 40)" >long.md
run 0 "$project/sentences_check.py" long.md
has '^long.md: 4 sentences, mean 11.2, longest 30$'
printf '\n- %sone\n' "$(words 30)" >>long.md
run 1 "$project/sentences_check.py" long.md
has '^long.md:[0-9]+: 31 words, at most 30: '
for i in 1 2 3; do printf '%sone. ' "$(words 19)"; done >mean.md
run 1 "$project/sentences_check.py" mean.md
has '^3 sentences, mean 20.0 \(must be below 20\), 0 with more than 30 words$'

# Commit subjects.
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test
git init -q repository
cd repository
commit() { git commit -q --allow-empty -m "$1"; }
commit 'The first one'
first=$(git rev-parse HEAD)
commit 'docs: explain the exit status'
commit 'tools, tests: print the name of each port'
commit 'doctor: feed the list of managers to the check'
run 0 "$project/commits_check.sh" "$first"
commit "docs: $(words 14)"
commit 'Say once what was written twice'
commit 'docs: explained the exit status'
run 1 "$project/commits_check.sh" "$first"
has ': [0-9]+ characters, at most 72: docs: word '
has ': must start with an area, .*: Say once what was written twice$'
has ': must continue with an imperative, .*: docs: explained the exit status$'
[[ $(wc -l <printed) == 3 ]] || { cat printed; exit 1; }
run 77 "$project/commits_check.sh" 0123456789abcdef
cd ..

# Spelling.
if command -v codespell >/dev/null; then
    echo 'The rec''ieved MAD' >spelling.txt # in two parts, so that this file passes the check
    run 65 "$project/spelling_check.sh" spelling.txt
    has '^spelling.txt:1: [a-z]+ ==> received$'
    echo 'saquery --gir and smpquery nd' >spelling.txt
    run 0 "$project/spelling_check.sh" spelling.txt
fi
