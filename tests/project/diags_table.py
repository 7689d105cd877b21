#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diags_table.py IBTOOL - the tables of docs/howto/replace-infiniband-diags.md are what the commands of infiniband-diags that are installed and
ibtool say of themselves, and what tests/data/infiniband-diags-44.tsv judges. To bring them up to date:
    diags_table.py --write IBTOOL
Fails where an option of theirs has no judgement, a judgement no option, or what is said to be there is not. Without infiniband-diags 44
it says so, and does nothing."""
import difflib, os, re, subprocess, sys

WORDS = ("same", "better", "ignored", "refused")
BEGIN, END = "<!-- made by: tests/project/diags_table.py -->", "<!-- end -->"
WITHOUT_LONG_HELP = ("check_lft_balance", "ibfindnodesusing", "ibidsverify", "ibhosts", "ibnodes", "ibrouters", "ibswitches",
                     "ibstatus")


def output_of(command):
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    return said.stdout + said.stderr


def their_version():
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "infiniband-diags"], capture_output=True, text=True,
                          check=False)
    return said.stdout.split(".")[0].split("-")[0] if said.returncode == 0 else ""


def their_commands():
    files = output_of(["dpkg", "-L", "infiniband-diags"]).split()
    return sorted(os.path.basename(f) for f in files if f.startswith("/usr/sbin/"))


def their_options(command):
    """Each as the list of its names. infiniband-diags give options of one letter a long name of one letter, which says nothing."""
    if command in WITHOUT_LONG_HELP:
        letters = []
        for line in output_of([command, "-h"]).splitlines():
            if re.match(r"Usage|\s+-\w ", line) or "usage" in line.lower():
                letters += [x for x in re.findall(r"(?<![\w-])-([A-Za-z])\b", line) if x not in letters]
        return [["-" + x] for x in letters]
    options = []
    for line in output_of([command, "--help"]).splitlines():
        found = re.match(r"  (--\S*?(?:, -\w)?)(?=\s|$)", line)
        if found:
            names = [n for n in found[1].rstrip(",").split(", ") if re.match(r"-\w$|--\w\w", n)]
            options.append(sorted(names, key=len))
    return options


def names_in(help_text):
    """The names of each of our options and what it is for."""
    options, names = {}, None
    for line in help_text.splitlines():
        found = re.match(r"  (-[^ ]+)(.*)", line)
        if found:
            names = tuple(found[1].split(","))
            options[names] = re.sub(r"^.*?(?:  |$)", "", found[2]).strip()
        elif names and re.match(r" {20}\s*\S", line):
            options[names] = (options[names] + " " + line.strip()).strip()
        else:
            names = None
    return options


def read_judgements(file):
    """(command, option) -> (word, note); the option - is the command itself, the command * any that has the option."""
    judged, problems = {}, []
    for number, line in enumerate(open(file, encoding="utf-8"), 1):
        if line.startswith("#") or not line.strip():
            continue
        command, word, options, note = (line.rstrip("\n").split("\t") + [""])[:4]
        if word not in WORDS:
            problems.append(f"line {number}: {word} is none of {', '.join(WORDS)}")
        for option in options.split():
            if (command, option) in judged:
                problems.append(f"line {number}: {command} {option} is judged twice")
            judged[command, option] = (word, note)
    return judged, problems


def cell(text):
    return text.replace("|", "\\|")


HEAD = "\n| option | | |\n|---|---|---|\n"


def row(names, word, note):
    return f"| `{cell(', '.join(names))}` | {word} | {cell(note)} |\n"


class Table:
    def __init__(self, ibtool, judged):
        self.ibtool, self.judged, self.used, self.problems = ibtool, judged, set(), []
        self.everywhere = names_in(output_of([ibtool, "--help"]))

    def judge(self, command, names):
        for key in [(command, n) for n in names] + [("*", n) for n in names]:
            if key in self.judged:
                self.used.add(key)
                return (*self.judged[key], key[0] == "*")
        self.problems.append(f"{command} {','.join(names)} has no judgement")
        return ("?", "", False)

    def check(self, command, names, word, ours):
        its_own = {n for one in ours for n in one}
        known = its_own | {n for one in self.everywhere for n in one}
        if word == "refused":
            there = [n for n in names if n in its_own]
            if there:
                self.problems.append(f"{command}: {', '.join(there)} is there, and is said to be refused")
        else:
            missing = [n for n in names if n not in known]
            if missing:
                self.problems.append(f"{command}: {', '.join(missing)} is not there, and is said to be {word}")

    def of_common(self):
        return "\n## Common options\n" + HEAD + "".join(
            row([option], word, note) for (command, option), (word, note) in self.judged.items() if command == "*")

    def of(self, command):
        word, note, _ = self.judge(command, ["-"])
        ours = {} if word == "refused" else names_in(output_of([self.ibtool, "help", command]))
        text = f"\n## {command}: {word}\n"
        if note:
            text += f"\n{note}\n"
        rows, theirs, common = "", set(), []
        for names in their_options(command):
            theirs.update(names)
            word_of, note_of, is_common = self.judge(command, names)
            self.check(command, names, word_of, ours)
            if is_common:
                common.append(f"`{names[0]}`")
            else:
                rows += row(names, word_of, note_of)
        if rows:
            text += HEAD + rows
        if common:
            text += f"\nCommon options: {' '.join(common)}.\n"
        more = [f"`{', '.join(names)}`" for names in ours if not theirs & set(names)]
        if more:
            text += f"\nBeside these: {'; '.join(more)}.\n"
        return text


def main(arguments):
    writes = arguments[:1] == ["--write"]
    ibtool = os.path.realpath(arguments[-1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    if their_version() != "44":
        print("infiniband-diags 44 is not installed: nothing to compare")
        return 0
    judged, problems = read_judgements("tests/data/infiniband-diags-44.tsv")
    table = Table(ibtool, judged)
    made = table.of_common() + "".join(table.of(command) for command in their_commands())
    problems += table.problems
    problems += [f"{c} {o} is judged, and is not there" for c, o in judged if (c, o) not in table.used]
    page = "docs/howto/replace-infiniband-diags.md"
    old = open(page, encoding="utf-8").read()
    before, rest = old.split(BEGIN)
    new = before + BEGIN + "\n" + made + "\n" + END + rest.split(END)[1]
    if writes:
        open(page, "w", encoding="utf-8").write(new)
        old = new
    for problem in problems:
        print(problem)
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, "made"))
    return 1 if problems or old != new else 0


sys.exit(main(sys.argv[1:]))
