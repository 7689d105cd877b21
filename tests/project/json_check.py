#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json_check.py [FILE...] - JSON is built as values and written by comad/iba/detail/json.hpp, never formatted by hand. Fails with each
string literal of C++ that contains JSON, and with each call of nlohmann's serializer elsewhere. Without arguments, the sources of the
library, of ibtool and of the benchmarks are checked, but not those of the tests."""
import re, subprocess, sys, os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Files that may write JSON by hand, or call the serializer, with the reasons.
EXCEPTIONS = {
    "counters/sweep_json.cpp": "writes hundreds of thousands of lines in each sweep",
    "src/iba/json.cpp": "calls the serializer for all others",
    "src/iba/from_json.cpp": "quotes a value in an error",
}

# Skips comments and characters; matches raw and plain literals.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\.)'|R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"|"(?P<plain>(?:[^"\\\n]|\\.)*)\"""",
                   re.DOTALL)
# Matches the name of a member with its colon, or an object or list that starts with a string. fmt prints {{ as {.
JSON = re.compile(r'"[\w{}. ]*"\s*:(?!\s+\w)|":(?=[\[{"\d]|$)|(?:[{\[]\s*|,)"[\w{}]+"\s*[:,\]}]|\{"')
SERIALIZER = re.compile(r"(?:\.|->)dump\(")


def findings(text):
    """Yields the number of each line with JSON or the serializer, and what was found."""
    code = []
    last = 0
    for token in TOKEN.finditer(text):
        code.append(text[last:token.start()])
        code.append("\n" * token[0].count("\n"))
        last = token.end()
        literal = token["raw"] if token["raw"] is not None else token["plain"]
        if literal is None:
            continue
        plain = literal if token["raw"] is not None else literal.replace('\\"', '"')
        if JSON.search(plain.replace("{{", "{").replace("}}", "}")):
            yield text.count("\n", 0, token.start()) + 1, f"JSON in a literal: {token[0].splitlines()[0]}"
    code.append(text[last:])
    for number, line in enumerate("".join(code).split("\n"), 1):
        if SERIALIZER.search(line):
            yield number, "nlohmann's serializer"


def main():
    files = sys.argv[1:]
    if not files:
        os.chdir(ROOT)
        listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--", "*.hpp", "*.cpp"], check=True,
                                capture_output=True, text=True).stdout.split()
        files = [f for f in listed if not f.startswith("tests/") and f not in EXCEPTIONS]
        for exception in EXCEPTIONS:
            if exception not in listed:
                print(f"{exception} is an exception in json_check.py, but is not in the tree")
                return 1
    failed = False
    for file in files:
        with open(file, encoding="utf-8") as source:
            for number, what in findings(source.read()):
                print(f"{file}:{number}: {what}; build a value and call json_line() (comad/iba/detail/json.hpp)")
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
