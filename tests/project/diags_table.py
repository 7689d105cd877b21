#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diags_table.py IBTOOL - checks the tables of docs/reference/infiniband-diags.md. They combine the options in the help of the installed
infiniband-diags 44 and of ibtool with the ratings in tests/data/infiniband-diags-44.tsv. To update the tables:
    diags_table.py --write IBTOOL
Fails if an option of infiniband-diags has no rating, a rating no option, or if ibtool lacks an option that it should have. Without
infiniband-diags 44, it prints a message and does nothing."""
import collections, difflib, json, os, re, subprocess, sys

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
    """Returns the options of a program, each as a list of its names. One-letter options of infiniband-diags also have a long name of one
    letter, which is left out."""
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


def options_of(ibtool):
    """Returns the options of each command of ibtool, each as a tuple of its names. Options of all commands have the empty command name."""
    options = collections.defaultdict(list, {"": [("-h", "--help"), ("-V", "--version")]})
    for line in output_of([ibtool, "help", "--arguments"]).splitlines():
        argument = json.loads(line)
        names = tuple(argument["argument"].split(","))
        if names[0].startswith("-") and not argument["hidden"]:
            options[argument["command"]].append(names)
    return options


def read_judgements(file):
    """Returns {(command, option): (rating, note)}. The option - is the command itself; the command * means every command with the option."""
    judged, problems = {}, []
    for number, line in enumerate(open(file, encoding="utf-8"), 1):
        if line.startswith("#") or not line.strip():
            continue
        command, word, options, note = (line.rstrip("\n").split("\t") + [""])[:4]
        if word not in WORDS:
            problems.append(f"line {number}: {word} is not one of {', '.join(WORDS)}")
        for option in options.split():
            if (command, option) in judged:
                problems.append(f"line {number}: {command} {option} is rated twice")
            judged[command, option] = (word, note)
    return judged, problems


def cell(text):
    return text.replace("|", "\\|")


HEAD = "\n| option | rating | note |\n|---|---|---|\n"


def row(names, word, note):
    return f"| `{cell(', '.join(names))}` | {word} | {cell(note)} |\n"


class Table:
    def __init__(self, ibtool, judged):
        self.ibtool, self.judged, self.used, self.problems = ibtool, judged, set(), []
        self.options = options_of(ibtool)
        self.aliases = dict(re.findall(r"^\| `(.*)` \| \[`(.*)`\]", output_of([ibtool, "help", "--markdown"]), re.M))

    def judge(self, command, names):
        for key in [(command, n) for n in names] + [("*", n) for n in names]:
            if key in self.judged:
                self.used.add(key)
                return (*self.judged[key], key[0] == "*")
        self.problems.append(f"{command} {','.join(names)} has no rating")
        return ("?", "", False)

    def check(self, command, names, word, ours):
        its_own = {n for one in ours for n in one}
        known = its_own | {n for one in self.options[""] for n in one}
        if word == "refused":
            there = [n for n in names if n in its_own]
            if there:
                self.problems.append(f"{command}: {', '.join(there)} exists, but its rating is refused")
        else:
            missing = [n for n in names if n not in known]
            if missing:
                self.problems.append(f"{command}: {', '.join(missing)} does not exist, but its rating is {word}")

    def of_common(self):
        return "\n### Common options\n" + HEAD + "".join(
            row([option], word, note) for (command, option), (word, note) in self.judged.items() if command == "*")

    def of(self, command):
        word, note, _ = self.judge(command, ["-"])
        ours = [] if word == "refused" else self.options[self.aliases.get(command, command)]
        text = f"\n### {command}: {word}\n"
        if note:
            text += f"\n{note[0].upper()}{note[1:]}.\n"
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
            text += f"\nAdditional options: {'; '.join(more)}.\n"
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
    problems += [f"{c} {o} is rated, but does not exist" for c, o in judged if (c, o) not in table.used]
    page = "docs/reference/infiniband-diags.md"
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
