#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""smp_counts_check.py IBTOOL - compares the numbers of SMPs and MADs in docs/ with the numbers that ibtool sends on ibsim and in the
embedded simulator. With one MAD at a time, these numbers do not depend on the machine."""
import os, re, sys, tempfile

sys.dont_write_bytecode = True
ibtool = os.path.realpath(sys.argv[1])
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(root, "bench"))
import peers


def documented(page, pattern):
    """Returns the number in a page. The pattern has one group, and must match exactly once."""
    with open(os.path.join(root, "docs", "explanation", page)) as file:
        text = re.sub(r"\s+", " ", file.read())
    found = re.findall(pattern, text)
    if len(found) != 1:
        sys.exit(f"docs/explanation/{page}: {len(found)} places match '{pattern}', not 1; change the page or this check")
    return int(found[0].replace(",", ""))


def sent(command, environment=None):
    _, _, counts = peers.run([ibtool, *command, "-v", "-o", "1"], environment)
    return int(re.search(r"(\d+) MADs sent", counts).group(1))


problems = []


def compare(what, stated, actual):
    if stated != actual:
        problems.append(f"{what}: the documentation states {stated}, but {actual} were sent")


peers.require("ibsim", "ibsim-run", "opensm")
number = r"([\d,]+)"
least = documented("benchmarks.md", rf"A discovery of this fabric needs at least {number} SMPs")
with_probes = documented("benchmarks.md", rf"If the links run at QDR \(`--spec fattree3,radix=16,speed=QDR`\), `ibtool` sends {number} SMPs")
errors = documented("benchmarks.md", rf"`ibtool` needs at least {number} MADs")
compare("discovery in the text about ibqueryerrors",
        documented("benchmarks.md", rf"MADs: {number} for the discovery and two for each node"), least)

simulated = "sim:fattree3,radix=16,sm=1,time=virtual"
for how in ("DR", "LID"):
    compare(f"ibnetdiscover --discovery {how} in the simulator", least,
            sent(["--fabric", simulated, "ibnetdiscover", "--discovery", how]))
compare("directed routes in discovery.md", documented("discovery.md", rf"1,344 nodes \| {number} SMPs"), least)
compare("LIDs in discovery.md", documented("discovery.md", rf"1,344 nodes \| [\d,]+ SMPs \| {number} SMPs"), least)

with tempfile.TemporaryDirectory() as scratch:
    with peers.Server(ibtool, "fattree3,radix=8", scratch) as server:
        small = sent(["--fabric", "ibsim", "ibnetdiscover"], server.environment)
    compare("ibnetdiscover of 208 nodes on ibsim",
            documented("benchmarks.md", rf"`ibtool ibnetdiscover` sends {number} SMPs"), small)
    with peers.Server(ibtool, "fattree3,radix=16,speed=QDR", scratch) as server:
        compare("ibnetdiscover on ibsim with QDR", with_probes,
                sent(["--fabric", "ibsim", "ibnetdiscover"], server.environment))
    with peers.Server(ibtool, "fattree3,radix=16", scratch) as server:
        compare("ibnetdiscover on ibsim", least, sent(["--fabric", "ibsim", "ibnetdiscover"], server.environment))
        with peers.Manager(server, scratch):
            compare("ibqueryerrors on ibsim", errors,
                    sent(["--fabric", "ibsim", "ibqueryerrors", "--skip-sl"], server.environment))

# The tables contain what a benchmark measured. With few MADs in flight, the numbers are the same in each run.
with open(os.path.join(root, "docs", "explanation", "benchmarks.md")) as file:
    section = re.search(r"^## Discovery and ibnetdiscover\n(.*?)^## ", file.read(), re.M | re.S).group(1)
rows = re.findall(r"^\| (\d+) \| [\d.]+ \([\d.]+\) \| ([\d,]+) \| [\d.]+ \([\d.]+\) \| [\d,]+ \|", section, re.M)
if len(rows) < 7:
    problems.append(f"benchmarks.md: the table of discoveries has {len(rows)} rows that this check can read")
for window, smps in rows:
    smps = int(smps.replace(",", ""))
    if smps != least if int(window) <= 8 else not least <= smps <= least * 1.01:
        problems.append(f"benchmarks.md, window {window}: {smps} SMPs, but a discovery sends {least}")

sys.exit("\n".join(problems) or 0)
