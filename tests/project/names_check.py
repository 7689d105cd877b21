#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names_check.py [FILE ...] - checks the rules for names of comad in C++ (docs/contributing/style.md). Names of the IBA stay as the IBA
writes them. In a name of comad that consists of several words, acronyms are in lower case: lid_of, is_smp. Fails with each name that
breaks this rule."""
import os, re, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Comments, strings, characters, and then identifiers.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|([A-Za-z_]\w*)|\d[\w']*""",
                   re.S)
ACRONYM = re.compile(r"[A-Z]{2,}\d*s?|[A-Z]+\d+|[PMQR]Keys?")

# python-rdma, whose names stay, and constants of the kernel and the compiler.
EXCEPTIONS = re.compile(r"SGID_index_?|[SD]LID_bits|with_SGID_index|VLs_of|(CC|SM|SA)_Key|(SYS|IB|IBV|RDMA|UMAD|FUSE|PCAP|DLT|CLI|COMAD|IBTOOL|CATCH|BOOST)_\w+|__\w+")


def breaks_rule(name):
    words = name.strip("_").split("_")
    if len(words) < 2 or not re.search("[a-z]", name) or EXCEPTIONS.fullmatch(name):
        return False
    return any(ACRONYM.fullmatch(word) for word in words)


def problems_in(file):
    with open(file, encoding="utf-8", errors="replace") as source:
        text = source.read()
    names = {m[2] for m in TOKEN.finditer(text) if m[2]}
    return [f"{file}: {name}: write acronyms in a name of comad in lower case" for name in sorted(names) if breaks_rule(name)]


def main():
    files = sys.argv[1:] or subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--", "*.hpp", "*.cpp", ":!tests/guest/fakeib"], check=True, capture_output=True,
        text=True).stdout.split()
    problems = [problem for file in files for problem in problems_in(file)]
    print("\n".join(problems))
    sys.exit(bool(problems))


main()
