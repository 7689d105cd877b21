#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitoring_check.py IBTOOL - checks packaging/monitoring: its files use only series and labels that the exporter writes,
promtool accepts the files and the expressions of the dashboard, and the alerts fire when they should."""
import json, os, re, subprocess, sys, tempfile

ibtool = os.path.realpath(sys.argv[1])
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "monitoring"))
work = tempfile.TemporaryDirectory()


def promtool(*words):
    r = subprocess.run(["promtool", *words], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"promtool {' '.join(words)}:\n{r.stdout}{r.stderr}")


def page_of(specification):
    """Returns what a sweep writes for a subnet with faults. The sweep then exits with 3."""
    file = os.path.join(work.name, "page")
    r = subprocess.run([ibtool, "sweep", "--fabric", specification, "--every", "1s", "--count", "4", "--rules", rules,
                        "--refresh", "2s", "--prometheus", file], capture_output=True, text=True)
    if r.returncode not in (0, 3):
        sys.exit(f"sweep ended with {r.returncode}: {r.stderr}")
    with open(file) as text:
        return text.read()


rules = os.path.join(work.name, "rules.toml")
with open(rules, "w") as file:
    file.write('[counters]\nportXmitWait = { per = "1s", warning = 0 }\n')
names, labels = set(), {"instance", "job", "fabric"}  # labels of Prometheus itself, and of several fabrics
for specification in ("sim:fattree2,radix=4,sm=1,dead=h-0003 HCA-1,cut=leaf-0002/3@1s,time=virtual", "sim:fattree2,radix=4,sm=1,errors=0.5:1000000,flap=leaf-0002/3@500ms:100ms:10s,time=virtual",
                      "sim:fattree2,radix=4,sm=1,kill=h-0003 HCA-1@500ms,time=virtual", "sim:single,sm=1"):
    page = page_of(specification)
    names |= set(re.findall(r"^# TYPE (\w+) ", page, re.M))
    labels |= set(re.findall(r'[{,](\w+)="', page))

with open("dashboard.json") as file:
    dashboard = json.load(file)
expressions = [t["expr"] for p in dashboard["panels"] for t in p["targets"]]
queries = [v["query"] for v in dashboard["templating"]["list"]]
legends = [t["legendFormat"] for p in dashboard["panels"] for t in p["targets"]]
with open("alerts.yml") as file:
    alerts = file.read()
asked = "\n".join(expressions + queries + re.findall(r"expr: (?:>-)?(.*(?:\n {10}.*)*)", alerts))

problems = [f"the exporter has no {name}" for name in sorted(set(re.findall(r"\b(?:infiniband|process)_\w+", asked)) - names)]
lists = re.findall(r"\{([^}]*)\}", asked) + re.findall(r"\b(?:on|by|group_left) \(([^)]*)\)", asked)
used = {word for one in lists for word in re.findall(r'(\w+)(?:\s*(?:[=!]|,|$))', re.sub(r'"[^"]*"', '""', one))}
used |= set(re.findall(r"label_values\([^)]*, (\w+)\)", asked)) | set(re.findall(r"\$labels\.(\w+)", alerts))
used |= set(re.findall(r"\{\{(\w+)\}\}", "\n".join(legends)))
problems += [f"the exporter has no label {label}" for label in sorted(used - labels)]
if len(expressions) < 15 or len(used) < 8:
    problems.append(f"only {len(expressions)} expressions and {len(used)} labels found")

recorded = os.path.join(work.name, "dashboard.json")  # JSON is valid YAML
with open(recorded, "w") as file:
    json.dump({"groups": [{"name": "dashboard", "rules": [
        {"record": f"expression:{i}", "expr": re.sub(r"\$__rate_interval", "5m", e)} for i, e in enumerate(expressions)]}]}, file)
promtool("check", "rules", recorded)
promtool("check", "config", "prometheus.yml")
promtool("test", "rules", "alerts_test.yml")
print("\n".join(problems) or f"{len(names)} series, {len(labels)} labels, {len(expressions)} expressions")
sys.exit(bool(problems))
