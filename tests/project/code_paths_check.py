#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""code_paths_check.py - checks that each name in backticks in docs/explanation/architecture.md exists in the sources: a function, type,
member, command or path."""
import os, re, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = "docs/explanation/architecture.md"


def tracked(*patterns):
    files = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--", *patterns], check=True, capture_output=True, text=True)
    return files.stdout.split()


def main():
    sources = tracked("*.hpp", "*.cpp", ":!tests", ":!bench")
    code = ""
    for file in sources:
        with open(file) as source:
            code += re.sub(r"//[^\n]*", "", source.read())
    words = set(re.findall(r"\w+", code))
    paths = tracked()
    with open(PAGE) as page:
        text = re.sub(r"^```.*?^```", "", page.read(), flags=re.S | re.M)
    missing = []
    for name in re.findall(r"`([^`\n]+)`", text):
        if "/" in name and " " not in name:
            found = any(name in path for path in paths)
        elif re.fullmatch(r"\w+(::\w+)+", name):
            owner, member = name.split("::")[-2:]
            body = re.search(rf"\b(?:struct|class) {owner}\b[^;{{]*\{{(.*?)^\}};", code, re.S | re.M)
            found = re.search(rf"\b{owner}::{member}\b", code) or (body and re.search(rf"\b{member}\b", body[1]))
        elif re.fullmatch(r"\w+", name):
            found = name in words or any(f"{name}_check.py" in path for path in paths)
        else:
            continue
        if not found:
            missing.append(f"{PAGE}: `{name}` does not exist")
    print("\n".join(missing))
    sys.exit(bool(missing))


main()
