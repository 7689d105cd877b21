#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""floors_check.py - includes point downward: a folder sees those that its line below names, and those that these see. Fails with
each include that does not, and for a folder that has no line here or no sentence in docs/contributing/architecture.md."""
import os, re, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Headers are include/comad/FOLDER, sources FOLDER or src/FOLDER.
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
}
# Rooms of discovery/: the headers are include/comad/discovery/ROOM, the sources discovery/ROOM.
DISCOVERY = {
    "database": [],
    "walk": ["database"],
    "routing": ["database"],
    "chassis": ["database"],
    "formats": ["chassis", "routing", "walk"],
    "compare": ["formats"],
}
TOOLS = {
    "input": [],
    "text": ["input"],
    "session": ["text"],
    "exporter": ["text"],
    "vumad": ["session"],
    "commands": ["session", "exporter", "vumad"],
}


def all_below(floors, folder):
    below = set()
    for next_one in floors[folder]:
        below |= {next_one} | all_below(floors, next_one)
    return below


def tracked():
    said = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--", "*.hpp", "*.cpp"], check=True,
                          capture_output=True, text=True)
    return said.stdout.split()


def folder_of(file):
    found = re.match(r"(?:include/comad|src)/(\w+)/", file) or re.match(r"(?!include|src|tools|tests|bench|docs)(\w+)/", file)
    return found and found[1]


def discovery_room_of(file):
    found = re.match(r"(?:include/comad/)?discovery/(\w+)/", file)
    return found and found[1]


def room_of(file):
    found = re.match(r"tools/(\w+)/", file)
    return found and found[1]


def upward(file, floors, mine, included):
    """The includes of the file that are of no floor that it may see."""
    if mine not in floors:
        return [f"{file}: its folder has no floor"]
    return [f"{file}: {mine} must not see {other}" for other in included
            if other in floors and other != mine and other not in all_below(floors, mine)]


problems, seen = [], set()
for file in tracked():
    with open(file) as source:
        text = source.read()
    if mine := folder_of(file):
        seen.add(mine)
        problems += upward(file, LIBRARY, mine, re.findall(r"#include <comad/(\w+)/", text))
        if mine == "discovery" and not file.endswith("CMakeLists.txt"):
            rooms = re.findall(r'#include (?:<comad/discovery/|"\.\./)(\w+)/', text)
            problems += upward(file, DISCOVERY, discovery_room_of(file), rooms)
    elif mine := room_of(file):
        seen.add(mine)
        problems += upward(file, TOOLS, mine, re.findall(r'#include "(\w+)/', text))
with open("docs/contributing/architecture.md") as text:
    told = text.read()
problems += [f"{folder}/ has no sentence in docs/contributing/architecture.md" for folder in [*LIBRARY, *TOOLS] if f"`{folder}/`" not in told]
problems += [f"{folder}/ has no files" for folder in [*LIBRARY, *TOOLS] if folder not in seen]
print("\n".join(problems))
sys.exit(bool(problems))
