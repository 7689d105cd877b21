#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema_check.py IBTOOL - checks that the output of commands with --json matches the schemas in docs/schema/, on simulated subnets.
Each schema describes everything that is printed. It must reject a document without a required member, and a document in which a member
has another kind. JSON contains the names of nodes unchanged, whatever characters they have."""
import copy, json, os, re, shlex, subprocess, sys, tempfile
import jsonschema
from schema_runs import FILES, MEMBERS, NAMED, NAMED_RUNS, NAMES, ON_STDERR, PLAIN, RUNS, TOPOLOGIES, WHOLE, WITHOUT

ibtool = os.environ["IBTOOL"] = os.path.abspath(sys.argv[1])
schemas = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema")
WRONG = [[None]]  # not a kind that a schema contains


def is_document(command):
    return command.startswith("{")


def run(fabric, command, lines=WHOLE):
    if is_document(command):
        return command
    words = [ibtool if word == "IBTOOL" else word for word in shlex.split(command)]
    said = subprocess.run([ibtool, *(["--fabric", fabric] if fabric else []), *words], capture_output=True, text=True, errors="surrogateescape", timeout=60)
    if command.startswith("vumad") and any(word in said.stderr for word in ("/dev/fuse", "mount namespace", "libfuse3")):
        print("skipped: " + said.stderr.strip())
        return None
    if said.returncode not in (0, 1, 3) or not said.stdout:
        sys.exit(f"{command}: exit code {said.returncode}\n{said.stderr}")
    return said.stderr if lines is ON_STDERR else said.stdout


def make_files():
    for name, text in FILES.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    run(PLAIN, "ibnetdiscover --subnet-cache cache --cache diags_cache")
    run(PLAIN, "sweep --save earlier.sweeps")
    run(PLAIN, "smpquery NodeInfo 9 --pcap MADs.pcap")
    for name, fabric, replacements in TOPOLOGIES:
        text = run(fabric, "ibnetdiscover")
        for before, after in replacements:
            if before not in text:
                sys.exit(f"{name}: the topology has no {before}")
            text = text.replace(before, after)
        with open(name + ".topo", "w", errors="surrogateescape") as file:
            file.write(text)
        run(f"sim:{name}.topo,time=virtual", f"ibnetdiscover --subnet-cache {name}-cache")


def commands_with_json():
    """Returns all commands whose help lists --json."""
    names = [json.loads(line)["command"] for line in run(None, "help --json").splitlines()]
    return [name for name in names if re.search(r"^ +--json\b", run(None, f"{name} --help"), re.MULTILINE)]


def command_of(words):
    """Returns the command, or the command that it starts."""
    return words.split(" IBTOOL ")[-1].split()[0]


def members(part, place=""):
    """Returns the names of all members, for example findings/severity."""
    if isinstance(part, list):
        return {name for one in part for name in members(one, place)}
    if not isinstance(part, dict):
        return set()
    return set().union(*({place + name} | members(value, place + name + "/") for name, value in part.items()))


def changed(document, place=()):
    """Yields (place, document with another kind of member at this place) for each member."""
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
    """Returns a value that is equal for documents that differ only in values and lengths of lists."""
    if isinstance(part, dict):
        return tuple((name, shape(value)) for name, value in sorted(part.items()))
    if isinstance(part, list):
        return ("list", *sorted({shape(value) for value in part}, key=str)[:1])
    return type(part).__name__


def required_in(whole, kinds):
    """Returns what a document must contain according to these kinds of the schema, or to the schema itself if there are none."""
    if not kinds:
        return whole.get("required", [])
    return set.union(*(set(whole["definitions"][kind.split("/")[-1]].get("required", [])) for kind in kinds))


def texts(part):
    """Yields every text in a document."""
    if isinstance(part, str):
        yield part
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from texts(one)


def escaped(name):
    """Returns a name as the text output prints it."""
    return "".join(c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode(errors="surrogateescape")) for c in name)


def problems_of_names(command):
    """Returns problems with names: JSON must contain them unchanged, and neither JSON nor text may contain control characters."""
    text = run(NAMED, command + " --json" * ("--format" not in command))
    for printed in (text, run(NAMED, command)):
        if re.search("[^\t\n -~\u00a1-\u00ac\u00ae-\u02ff]", printed):
            yield f"{command}: what it prints is not shown by a terminal as it is"
    try:
        documents = [json.loads(text)]
    except json.JSONDecodeError:
        documents = [json.loads(line) for line in text.splitlines()]
    said = set(texts(documents))
    if not said & {name for *_, name in NAMES}:
        yield f"{command}: no node has its name"
    if said & {escaped(name) for _, name, _ in NAMES[:2]}:
        yield f"{command}: a name is escaped for a terminal"


problems, documents_seen, refused, met, printed = [], 0, 0, {}, {}
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    make_files()
    for name, fragment, least, lines, fabric, command in RUNS:
        with open(os.path.join(schemas, name + ".json")) as file:
            whole = json.load(file)
        if whole["title"] != "comad." + name.replace("-", "/"):
            problems.append(f"{name}: its title is {whole['title']}")
        jsonschema.Draft7Validator.check_schema(whole)
        wanted = {"definitions": whole["definitions"], "$ref": fragment} if fragment else whole
        validator = jsonschema.Draft7Validator(wanted)
        text = run(fabric, command, lines)
        if text is None:
            continue
        documents = [json.loads(line) for line in text.splitlines()] if lines else [json.loads(text)]
        if len(documents) < least:
            problems.append(f"{command}: {len(documents)} documents")
        shapes = set()
        for document in documents:
            documents_seen += 1
            printed.setdefault(name, set()).update(members(document))
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
            if name == "subnet-1" and not fragment:
                document["nodes"] = document["nodes"][:2]
            for place, other in changed(document):
                refused += 1
                if validator.is_valid(other):
                    problems.append(f"{command}: {name} does not say what {'/'.join(map(str, place))} is")
            for member in required_in(whole, kinds):
                refused += 1
                if validator.is_valid({k: v for k, v in document.items() if k != member}):
                    problems.append(f"{command}: {name} takes it without {member}")
    for command in NAMED_RUNS:
        problems += problems_of_names(command)
for file in sorted(os.listdir(schemas)):
    if file[:-5] not in {run[0] for run in RUNS}:
        problems.append(f"docs/schema/{file}: no command is checked against it")
for name in sorted(met):
    with open(os.path.join(schemas, name + ".json")) as file:
        kinds = [kind["$ref"] for kind in json.load(file).get("anyOf", []) if "$ref" in kind]
    problems += [f"{name}: no document is {kind}" for kind in kinds if kind not in met[name]]
for name, wanted in MEMBERS.items():
    problems += [f"{name}: nothing printed has {member}" for member in wanted if member not in printed.get(name, ())]
checked = {command_of(command) for *_, command in RUNS if not is_document(command)}
with_json = commands_with_json()
for name in with_json:
    if (name in checked) == (name in WITHOUT):
        problems.append(f"{name} takes --json, and is " + ("checked and yet listed as not" if name in checked else "neither checked nor listed as not"))
with open(os.path.join(schemas, "..", "reference", "json.md")) as file:
    table = re.search(r"^## Schemas$.*?(?=^## |\Z)", file.read(), re.MULTILINE | re.DOTALL).group()
for name in with_json:
    if not re.search(f"`{name}[` ]", table):
        problems.append(f"docs/reference/json.md: the table of schemas lacks {name}")
for file in os.listdir(schemas):
    if f"(../schema/{file})" not in table:
        problems.append(f"docs/reference/json.md: the table of schemas lacks {file}")
print("\n".join(dict.fromkeys(problems)) or f"{documents_seen} documents, {refused} wrong ones refused")
sys.exit(bool(problems))
