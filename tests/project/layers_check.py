#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers_check.py - checks that includes point downward. A directory may include headers of the directories that its line below names,
and of all directories that these may include. Also checks that each directory is described in docs/contributing/architecture.md, and
that there are no more public headers than the limit."""
import os, re, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Headers are in include/comad/LAYER, sources in LAYER or src/LAYER.
LIBRARY = {
    "iba": [],
    "mad": ["iba"],
    "topology_file": ["iba"],
    "server": ["mad"],
    "verbs": ["mad"],
    "transports": ["server", "verbs", "topology_file"],
    "coro": ["mad"],
    "sa": ["coro"],
    "discovery": ["sa", "topology_file"],
    "counters": ["discovery"],
    "fabric": ["sa", "transports"],
    "testing": ["coro", "transports"],
}
# Headers are in include/comad/discovery/DIRECTORY, sources in discovery/DIRECTORY.
DISCOVERY = {
    "database": [],
    "walk": ["database"],
    "routing": ["database"],
    "chassis": ["database"],
    "formats": ["chassis", "routing", "walk"],
    "compare": ["formats"],
}
# Headers and sources are in tools/DIRECTORY.
TOOLS = {
    "input": [],
    "text": ["input"],
    "session": ["text"],
    "exporter": ["text"],
    "vumad": ["session"],
    "commands": ["session", "exporter", "vumad"],
}
MOST_PUBLIC_HEADERS = 75


def all_below(layers, directory):
    below = set()
    for lower in layers[directory]:
        below |= {lower} | all_below(layers, lower)
    return below


def tracked():
    files = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--", "*.hpp", "*.cpp"], check=True,
                           capture_output=True, text=True)
    return files.stdout.split()


def first_group(pattern, file):
    found = re.match(pattern, file)
    return found and found[1]


def layer_of(file):
    return first_group(r"(?:include/comad|src)/(\w+)(?:/|\.hpp$)", file) or first_group(
        r"(?!include|src|tools|tests|bench|docs)(\w+)/", file)


def upward(file, layers, mine, included):
    """Returns a message for each included directory that the file must not include."""
    if mine not in layers:
        return [f"{file}: the list in tests/project/layers_check.py does not contain its directory"]
    return [f"{file}: {mine} must not include {other}" for other in included
            if other in layers and other != mine and other not in all_below(layers, mine)]


problems, seen = [], set()
for file in tracked():
    with open(file) as source:
        text = source.read()
    if mine := layer_of(file):
        seen.add(mine)
        problems += upward(file, LIBRARY, mine, re.findall(r"#include <comad/(\w+)[/.]", text))
        if mine == "discovery" and file != "include/comad/discovery.hpp":
            room = first_group(r"(?:include/comad/)?discovery/(\w+)/", file)
            seen.add(room)
            problems += upward(file, DISCOVERY, room, re.findall(r'#include (?:<comad/discovery/|"\.\./)(\w+)/', text))
    elif mine := first_group(r"tools/(\w+)/", file):
        seen.add(mine)
        problems += upward(file, TOOLS, mine, re.findall(r'#include "(\w+)/', text))
with open("docs/contributing/architecture.md") as page:
    description = page.read()
directories = [*LIBRARY, *DISCOVERY, *TOOLS]
problems += [f"docs/contributing/architecture.md does not describe {d}/" for d in directories if f"`{d}/`" not in description]
problems += [f"{d}/ has no files" for d in directories if d not in seen]
public = [file for file in tracked() if file.startswith("include/") and "/detail/" not in file]
if len(public) > MOST_PUBLIC_HEADERS:
    problems.append(f"{len(public)} public headers, but at most {MOST_PUBLIC_HEADERS} are allowed; move internal ones to detail/")
print("\n".join(problems))
sys.exit(bool(problems))
