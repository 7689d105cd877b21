#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema_check.py IBTOOL - what commands print with --json is as the schemas in docs/schema/ say, on a simulated subnet. Each schema
says all that is printed, and refuses what is wrong: each member, left out where it is required, or of another kind wherever it is."""
import copy, json, os, subprocess, sys, tempfile
import jsonschema
from schema_runs import PLAIN, RUNS

ibtool = os.path.abspath(sys.argv[1])
schemas = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema")
WRONG = [[None]]  # of no kind that a schema has


def run(fabric, command):
    words = [ibtool if word == "IBTOOL" else word for word in command.split()]
    said = subprocess.run([ibtool, *(["--fabric", fabric] if fabric else []), *words], capture_output=True, text=True, timeout=60)
    if command.startswith("vumad") and any(word in said.stderr for word in ("/dev/fuse", "mount namespace", "libfuse3")):
        print("skipped: " + said.stderr.strip())
        return None
    if said.returncode not in (0, 1, 3) or not said.stdout:
        sys.exit(f"{command}: exit code {said.returncode}\n{said.stderr}")
    return said.stdout


def changed(document, place=()):
    """(place, the document with that member of another kind), for each."""
    part = document
    for step in place:
        part = part[step]
    steps = part.keys() if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    for step in steps:
        other = copy.deepcopy(document)
        inside = other
        for s in place:
            inside = inside[s]
        inside[step] = WRONG
        yield (*place, step), other
        yield from changed(document, (*place, step))


def shape(part):
    """Equal of documents that differ in their values and the length of their lists alone."""
    if isinstance(part, dict):
        return tuple((name, shape(value)) for name, value in sorted(part.items()))
    if isinstance(part, list):
        return ("list", *sorted({shape(value) for value in part}, key=str)[:1])
    return type(part).__name__


def required_in(whole, kinds):
    """What a document must have that is of these kinds of the schema; of none: of the schema itself."""
    if not kinds:
        return whole.get("required", [])
    return set.union(*(set(whole["definitions"][kind.split("/")[-1]].get("required", [])) for kind in kinds))


problems, documents_seen, refused, met = [], 0, 0, {}
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    with open("thresholds", "w") as file:
        file.write("SymbolErrorCounter=5\n")
    run(PLAIN, "ibnetdiscover --subnet-cache cache")
    for name, fragment, least, lines, fabric, command in RUNS:
        with open(os.path.join(schemas, name + ".json")) as file:
            whole = json.load(file)
        if whole["title"] != "comad." + name.replace("-", "/"):
            problems.append(f"{name}: its title is {whole['title']}")
        jsonschema.Draft7Validator.check_schema(whole)
        wanted = {**whole, "anyOf": [{"$ref": fragment}]} if fragment else whole
        validator = jsonschema.Draft7Validator(wanted)
        text = run(fabric, command)
        if text is None:
            continue
        documents = [json.loads(line) for line in text.splitlines()] if lines else [json.loads(text)]
        if len(documents) < least:
            problems.append(f"{command}: {len(documents)} documents")
        shapes = set()
        for document in documents:
            documents_seen += 1
            for error in validator.iter_errors(document):
                problems.append(f"{command}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
                break
            kinds = [fragment] if fragment else [
                kind["$ref"] for kind in whole.get("anyOf", [])
                if "$ref" in kind and jsonschema.Draft7Validator({**whole, "anyOf": [kind]}).is_valid(document)]
            met.setdefault(name, set()).update(kinds)
            if shape(document) in shapes or len(shapes) > 8:
                continue
            shapes.add(shape(document))
            if name == "subnet-1":
                document["nodes"] = document["nodes"][:2]
            for place, other in changed(document):
                refused += 1
                if validator.is_valid(other):
                    problems.append(f"{command}: {name} does not say what {'/'.join(map(str, place))} is")
            for member in required_in(whole, kinds):
                refused += 1
                if validator.is_valid({k: v for k, v in document.items() if k != member}):
                    problems.append(f"{command}: {name} takes it without {member}")
for file in sorted(os.listdir(schemas)):
    if file[:-5] not in {run[0] for run in RUNS}:
        problems.append(f"docs/schema/{file}: no command is checked against it")
for name, kinds in (("sweep-1", ("head", "port", "hole")), ("health-1", ("head", "finding", "hole")), ("errors-1", ("port", "summary"))):
    problems += [f"{name}: no line is a {kind}" for kind in kinds if f"#/definitions/{kind}" not in met.get(name, ())]
print("\n".join(dict.fromkeys(problems)) or f"{documents_seen} documents, {refused} wrong ones refused")
sys.exit(bool(problems))
