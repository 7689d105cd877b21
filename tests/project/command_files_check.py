#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""command_files_check.py - checks that the source, text, reference page and test of every ibtool command can be found by its name.

For a command NAME these are tools/commands/**/NAME.cpp, tools/commands/**/NAME.md, docs/reference/ibtool/NAME.md and
tests/tools/NAME_test.cpp; in texts and pages a dash may replace an underscore. command_files.tsv lists the commands that share a source
or a test with others. That file must contain the definition of the command, or mention the command.

Usage: command_files_check.py [DIRECTORY]    checks the tree in DIRECTORY [this project]
"""
import os
import pathlib
import re
import sys

LIST = "tests/project/command_files.tsv"


def shared_files():
    """Returns {command: (source, test)} from the list, where None means that the file has the name of the command."""
    shared = {}
    for line in pathlib.Path(LIST).read_text().splitlines():
        if line.startswith("#"): continue
        command, source, test = line.split("\t")
        shared[command] = (None if source == "-" else source, None if test == "-" else test)
    return shared


def the_file(folder, name):
    """Returns the only file of this name in the directory and its subdirectories, or None."""
    found = [f for f in sorted(pathlib.Path(folder).rglob(name)) if f.is_file()]
    return found[0] if len(found) == 1 else None


def failures_of(command, source, test):
    dashed = command.replace("_", "-")
    names = re.compile(rf"\b(?:{command}|{re.escape(dashed)})\b")

    file = the_file("tools/commands", source or f"{command}.cpp") or (the_file("tools", source) if source else None)
    if not file: yield f"tools/commands/ has no {source or command + '.cpp'}"
    elif not re.search(rf"\b{command}_command\(\)", file.read_text()): yield f"{file} does not define {command}_command()"
    if source and the_file("tools/commands", f"{command}.cpp"): yield f"{LIST} names {source}, but {command}.cpp exists"

    for folder in ("tools/commands", "docs/reference/ibtool"):
        if not (the_file(folder, f"{command}.md") or the_file(folder, f"{dashed}.md")):
            yield f"{folder}/ has no {dashed}.md" + ("; run scripts/reference build/release/ibtool" if "reference" in folder else "")

    file = the_file("tests/tools", test or f"{command}_test.cpp")
    if not file: yield f"tests/tools/ has no {test or command + '_test.cpp'}"
    elif not names.search(file.read_text()): yield f"{file} does not mention {dashed}"
    if test and the_file("tests/tools", f"{command}_test.cpp"): yield f"{LIST} names {test}, but {command}_test.cpp exists"


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent.parent)
    commands = re.findall(r"^    X\((\w+)\)", pathlib.Path("tools/commands.cpp").read_text(), re.M)
    shared = shared_files()
    failures = [f"{c}: {why}" for c in commands for why in failures_of(c, *shared.get(c, (None, None)))]
    failures += [f"{LIST} lists '{c}', which is not a command" for c in shared if c not in commands]
    if not commands: failures.append("tools/commands.cpp lists no commands")
    if list(shared) != sorted(shared): failures.append(f"{LIST} is not sorted by command")
    for failure in failures: print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
