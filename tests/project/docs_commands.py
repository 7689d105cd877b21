#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs_commands.py ROOT [PAGE ...] - runs the commands of the console blocks of README.md and docs/ (or of each PAGE), in order.

A line `$ COMMAND` in a ```console block is run by bash; a line that ends with a backslash goes on in the next one. The lines after it
are the output that the command must print, stdout and stderr together. A line `...` stands for any number of lines, and `...` inside
a line for any text. A command without lines after it may print anything. A command must exit with 0 unless the next command of the
block is `$ echo $?`. Files that a page creates, and variables that it sets by `$ export NAME=VALUE`, stay until the page ends."""
import glob, os, re, subprocess, sys, tempfile

root = sys.argv[1]
pages = sys.argv[2:] or [os.path.join(root, "README.md"), *sorted(glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True))]


def commands_of(block):
    """Returns pairs of a command and the lines that it must print."""
    found, continues = [], False
    for line in block.splitlines():
        if continues:
            found[-1][0] += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
        continues = line.endswith("\\") and not (found and found[-1][1])
    return found


def pattern_of(lines):
    """Returns a regular expression for the shown output."""
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    parts = [r"(?:.*\n)*?" if part == "...\n" else r"(?:.*\n)*?.*" if part == "..." else re.escape(part)
             for part in re.split(r"^(\.\.\.\n|\.\.\.\Z)", text, flags=re.M)]
    # Longer rows of dots are part of the output, as in `Lid:.....3`. As wildcards, a mismatch would take hours to find.
    return re.sub(r"(?:\\\.){3,}", lambda dots: {6: ".*", 8: r".*\."}.get(len(dots[0]), dots[0]), "".join(parts))


def run(command, exports, last_exit, directory):
    script = "\n".join([*exports, f"(exit {last_exit})", command])
    done = subprocess.run(["bash", "-c", script], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace")


def check(page, directory):
    """Runs the commands of a page. Returns their number and the problems."""
    count, problems, exports = 0, [], []
    with open(page) as file:
        text = file.read()
    name = os.path.relpath(page, root)
    for block in re.findall(r"^```console\n(.*?)^```", text, flags=re.M | re.S):
        commands, last_exit = commands_of(block), 0
        for index, (command, shown) in enumerate(commands):
            print(f"{name}: {command}", flush=True)
            last_exit, output = run(command, exports, last_exit, directory)
            if command.startswith("export "):
                exports.append(command)
            count += 1
            is_checked = index + 1 < len(commands) and commands[index + 1][0].startswith("echo $?")
            if last_exit and not is_checked:
                problems.append(f"{name}: exit code {last_exit}: {command}\n{output}")
            printed = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
            if any(line.strip() for line in shown) and not re.fullmatch(pattern_of(shown), printed):
                problems.append(f"{name}: the page shows\n" + "\n".join(shown) + f"\nbut {command} prints\n{printed}")
    return count, problems


total, failed = 0, []
for page in pages:
    with tempfile.TemporaryDirectory() as directory:
        count, problems = check(os.path.abspath(page), directory)
    total += count
    failed += problems
print(*failed, sep="\n\n")
if len(sys.argv) == 2 and total < 100:
    failed.append("too few commands")
    print(f"only {total} commands found")
print(f"{total} commands ran, {len(failed)} problems")
sys.exit(bool(failed))
