#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coming_from_check.py - checks the tables of docs/howto/come-from-python-rdma.md and docs/howto/come-from-libibmad.md. Every name in
the second column must be declared in a header of its namespace. Every function of libibumad, libibmad and libibnetdisc that is not
deprecated must be in the first column. Comments in headers are ignored."""
import glob, os, re, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PEERS = "/usr/include/infiniband/"


def code(file):
    with open(file) as source:
        return re.sub(r"//[^\n]*|/\*.*?\*/", "", source.read(), flags=re.S)


headers = {file: code(file) for file in glob.glob("include/comad/**/*.hpp", recursive=True)}


def names_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def is_there(name):
    """Returns true if a header of the namespace contains all words of the name `ns::type::member`."""
    folder, *words = name.split("::")
    if folder == "iba" and len(words) > 1 and words[0] in ("smp", "sa", "pm"):
        words.pop(0)
    own = [text for text in headers.values() if re.search(rf"namespace comad::{folder}\b", text)]
    has = lambda text, word: re.search(rf"(?<!::)\b{word}\b", text)  # without names of another namespace
    return any(all(has(text, word) for word in words) for text in own)


def functions_of(header):
    """Returns the functions that a header declares: names after a type at the start of a line, up to the semicolon."""
    text = re.sub(r"^#.*(\\\n.*)*$", "", code(PEERS + header), flags=re.M)
    found = re.findall(r"^(?:static inline )?(?:[\w*]+ +)+\**(\w+)\s*\(([^;{]*)[;{]", text, flags=re.M)
    return {name for name, rest in found if "deprecated" not in rest and name.startswith(PREFIXES[header])}


PREFIXES = {"umad.h": ("umad_",), "ibnetdisc.h": ("ibnd_",),
            "mad.h": ("mad_", "madrpc_", "smp_", "sa_", "ib_", "cc_", "pma_", "bm_", "performance_", "str2", "drpath2", "portid2", "xdump")}
SMALL = {"mad_is_vendor_range1", "mad_is_vendor_range2", "ib_portid_set"}  # one line each

C_PAGE = "docs/howto/come-from-libibmad.md"
problems, there, here = [], set(), 0
for file in ("docs/howto/come-from-python-rdma.md", C_PAGE):
    with open(file) as page:
        for number, line in enumerate(page, 1):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            if not line.startswith("| ") or len(cells) != 3:
                continue
            if file == C_PAGE:
                there |= set(names_in(cells[0]))
            for name in names_in(cells[1]):
                here += 1
                if "::" not in name or not is_there(name):
                    problems.append(f"{file}:{number}: no header declares {name}")
told = 0
for header in PREFIXES:
    all_of_it = functions_of(header) - SMALL
    told += len(all_of_it)
    problems += [f"{C_PAGE}: {name} of {header} is missing" for name in sorted(all_of_it - there)]
if here < 150 or told < 80:
    problems.append(f"found only {here} names of comad and {told} functions of the C libraries")
print("\n".join(problems) or f"{here} names, {told} functions")
sys.exit(bool(problems))
