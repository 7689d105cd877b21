#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema_check.py IBTOOL - what commands print with --json is as the schemas in docs/schema/ say, on a simulated subnet. Each schema
says all that is printed, and refuses what is wrong: each member, left out where it is required, or of another kind wherever it is."""
import copy, json, os, subprocess, sys, tempfile
import jsonschema

ibtool = os.path.abspath(sys.argv[1])
schemas = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema")
PLAIN = "sim:fattree2,radix=4,sm=1,time=virtual"
COUNTED = PLAIN + ",counters=3"
SILENT, UNKNOWN = PLAIN + ",dead=h-0003 HCA-1", PLAIN.replace("sm=1,", "")
CONGESTED = PLAIN + ",cc=3"
FAULTY = PLAIN + ",traffic=100000,errors=0.3:20,kill=h-0003 HCA-1@500ms"
CHANGED = "sim:fattree2,radix=4,at=h-0002 HCA-1,sm=1,time=virtual,cut=leaf-0003/3@0s,kill=h-0007 HCA-1@0s"

# schema, what of it the documents are ("": the schema itself), how many documents at least, fabric, command
# A command that is a document stands for what only hardware, or a device that goes away, makes print.
LINES, WHOLE, ON_STDERR = True, False, 2
RUNS = [
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --sa --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "export --format json"),
    ("links-1", "", 32, LINES, PLAIN, "iblinkinfo --json"),
    ("nodes-1", "", 8, LINES, PLAIN, "ibhosts --json"),
    ("nodes-1", "", 6, LINES, PLAIN, "ibswitches --json"),
    ("nodes-1", "", 14, LINES, PLAIN, "ibnodes --json"),
    ("counters-1", "", 1, LINES, COUNTED, "perfquery --json 1"),
    ("counters-1", "", 4, LINES, COUNTED, "perfquery --json -x -l 9"),
    ("counters-1", "", 1, LINES, COUNTED, "perfquery --json -a 9"),
    ("counters-1", "", 1, LINES, COUNTED, "perfquery --json -R 9 1"),
    ("counters-1", "", 1, LINES, COUNTED, "ibdatacounts 9 1 --json"),
    ("errors-1", "", 33, LINES, COUNTED, "ibqueryerrors -r --details --data --json"),
    ("errors-1", "#/definitions/summary", 1, LINES, PLAIN, "ibqueryerrors -s portXmitWait --threshold-file thresholds --json"),
    ("sweep-1", "", 66, LINES, FAULTY, "sweep --every 1s --count 2 --json --details PortRcvErrorDetails"),
    ("health-1", "", 50, LINES, FAULTY, "health --json"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 1 --windows 1,2 --rounds 2 --duration 2ms --json"),
    ("bench-1", "", 1, WHOLE, PLAIN + ",loss=0.1", "bench --switches --windows 1,2,4 --rounds 1 -c 100 --json"),
    ("subnet_diff-1", "", 1, WHOLE, CHANGED, "subnet_diff cache --json"),
    ("subnet_diff-1", "", 1, WHOLE, "sim:fattree2,radix=4,time=virtual", "subnet_diff cache --json"),  # without LIDs
    ("structure-1", "#/definitions/NodeInfo", 1, LINES, PLAIN, "smpquery NodeInfo 1 --json"),
    ("structure-1", "#/definitions/PortInfo", 1, LINES, PLAIN, "smpquery PortInfo 9 1 --json"),
    ("structure-1", "#/definitions/NodeDescription", 1, LINES, PLAIN, "smpquery NodeDesc 1 --json"),
    *[("structure-1", "", 1, LINES, PLAIN, f"smpquery {name} 9 --json") for name in
      ("SwitchInfo", "PKeyTable", "SL2VLTable", "VLArbitration", "GUIDInfo", "LinearForwardingTable", "PortInfoExtended")],
    ("structure-1", "#/definitions/SMInfo", 1, LINES, PLAIN, "sminfo --json"),
    ("structure-1", "#/definitions/NodeRecord", 14, LINES, PLAIN, "saquery NR --json"),
    ("structure-1", "#/definitions/PathRecord", 8, LINES, PLAIN, "saquery PR --json"),
    *[("structure-1", "", 1, LINES, PLAIN, f"saquery {name} --json") for name in ("PIR", "LR", "SWI", "CPI", "MCMR")],
    ("devices-1", "", 1, WHOLE, None, f"vumad --fabric sim:fattree2,radix=4,sm=1 -- {ibtool} ibstat --json"),

    # Queries, counters of the whole subnet, hosts, this machine, changes, bytes.
    ("address-1", "", 1, WHOLE, PLAIN, "ibaddr --json 9"),
    ("forwarding-1", "#/definitions/unicast", 1, WHOLE, PLAIN, "ibroute 9 --json"),
    ("forwarding-1", "#/definitions/unicast", 1, WHOLE, PLAIN, "ibroute -n -a 9 --json"),
    ("forwarding-1", "#/definitions/unicast", 1, WHOLE, SILENT, "ibroute 9 --json -t 10"),
    ("forwarding-1", "#/definitions/multicast", 1, WHOLE, PLAIN, "ibroute -M 9 --json"),
    ("trace-1", "", 1, WHOLE, PLAIN, "ibtracert 1 3 --json"),
    ("trace-1", "", 1, WHOLE, PLAIN, "ibtracert 1 1 --json"),
    ("trace-1", "", 1, WHOLE, PLAIN, "ibtracert -m 0xc000 1 2 --json"),
    ("trace-1", "", 2, LINES, PLAIN, "ibtracert --ports-file pairs --json"),
    *[("smp-1", "", 1, WHOLE, PLAIN, "smpdump 9 --json " + what) for what in ("0x15 1 --decode", "0x15 1", "0x99 --decode")],
    *[("structure-1", "", 1, LINES, PLAIN, command + " --json") for command in
      ("query SubnGet NodeInfo 9", "query SubnSet PortInfo 0,1 -a 3 -f HOQLife=18", "query PerformanceGet PortCounters 9 -f portSelect=1",
       "query SubnAdmGet ClassPortInfo", "vendstat -N 9", "vendstat --cpi 9", "ibsysstat 1 cpi", "set_guid 1 1 0002:c903:0000:1491",
       "ibsendtrap local_link_integrity 2", "decode --struct SMPPortInfo " + "a5" * 64, "decode --struct DMPrepareToTest -o 4 00000000")],
    ("structure-1", "#/definitions/NodeRecord", 14, LINES, PLAIN, "query SubnAdmGetTable NodeRecord --json"),
    ("structure-1", "#/definitions/SMInfo", 1, LINES, PLAIN, "set_sminfo 1 handover --json"),
    *[("structure-1", "", 1, WHOLE, CONGESTED, f"ibccquery {what} --json") for what in
      ("ClassPortInfo 9", "CongestionInfo 1", "CongestionKeyInfo 9", "CongestionLog 9", "CongestionLog 1",
       "SwitchCongestionSetting 9", "CACongestionSetting 1", "Timestamp 9")],
    *[("congestion-1", "", 1, WHOLE, CONGESTED, f"ibccquery {what} --json") for what in
      ("SwitchPortCongestionSetting 9", "SwitchPortCongestionSetting 9 2", "CongestionControlTable 1")],
    ("congestion-1", "#/definitions/table", 1, WHOLE, None, "vumad --fabric sim:fattree2,radix=4,sm=1 -- sh write_table"),
    ("counters-1", "", 1, LINES, PLAIN, "ibdatacounts 1 --json"),
    ("counters-1", "", 1, LINES, COUNTED + ",pma=basic", "perfquery -a 9 --json"),
    ("errors-1", "", 33, LINES, PLAIN + ",errors=1:1e9,pma=basic,latency=1ms", "ibqueryerrors --json"),
    ("links-1", "", 32, LINES, "sim:slow_link,sm=1,time=virtual", "iblinkinfo --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --qos --json"),
    ("subnet_counters-1", "", 15, LINES, COUNTED, "ibdatacounters --json"),
    ("subnet_counters-1", "", 33, LINES, COUNTED + ",pma=0.5:basic", "ibdatacounters --ports --json"),
    ("subnet_counters-1", "#/definitions/summary", 1, LINES, UNKNOWN, "ibdatacounters --json"),
    ("cleared-1", "", 15, LINES, COUNTED, "ibclearcounters --json"),
    ("cleared-1", "", 33, LINES, COUNTED + ",pma=basic", "ibclearerrors --json"),
    ("cleared-1", "#/definitions/summary", 1, LINES, UNKNOWN, "ibclearcounters --json"),
    ("port_watch-1", "", 4, LINES, PLAIN + ",traffic=100000,errors=1:20", "ibswportwatch 9 1 -n 2 --json"),
    ("port_watch-1", "", 4, LINES, PLAIN + ",traffic=100000,errors=1:20", "ibswportwatch -t -T thresholds 9 1 -n 2 --json"),
    ("port_watch-1", "", 3, LINES, PLAIN + ",traffic=100000,errors=1:20", "ibswportwatch --xmtsl -E 9 1 -n 1 --json"),
    ("sweep-1", "#/definitions/discovered_again", 1, LINES, None, '{"discovered_again":"of notices"}'),
    ("sweep-1", "#/definitions/lost", 1, LINES, None, '{"lost":"mlx5_0/1","why":"it is gone"}'),
    ("sweep-1", "#/definitions/opened_again", 1, LINES, None, '{"opened_again":"mlx5_0/1","lost_seconds":1.5,"missed_sweeps":2}'),
    ("port_watch-1", "#/definitions/lost", 1, LINES, None, '{"lost":"mlx5_0/1","why":"it is gone"}'),
    ("port_watch-1", "#/definitions/opened_again", 1, LINES, None, '{"opened_again":"mlx5_0/1","lost_seconds":1.5,"missed_readings":2}'),
    ("ping-1", "", 3, LINES, PLAIN, "ibping -c 2 1 --json"),
    ("ping-1", "", 1, LINES, SILENT, "ibping -c 1 3 -t 10 --json"),
    *[("sysstat-1", "#/definitions/" + what, 1, WHOLE, PLAIN, f"ibsysstat 1 {what} --json") for what in ("ping", "host", "cpu")],
    *[("devices-1", "", 1, WHOLE, None, f"vumad --fabric sim:fattree2,radix=4,sm=1 -- {ibtool} {command} --json")
      for command in ("ibstatus", "ibv_devices")],
    ("vumad-1", "", 2, ON_STDERR, None,
     f"vumad --fabric sim:fattree2,radix=4,sm=1 --port leaf-0001 --port leaf-0002 --json -- {ibtool} smpquery NodeInfo 1"),
    ("doctor-1", "", 4, LINES, PLAIN, "doctor --json"),
    ("doctor-1", "", 3, LINES, None, "doctor --sysfs nowhere --dev nowhere --json"),
    ("doctor-1", "", 8, LINES, None, f"vumad --fabric sim:fattree2,radix=4,sm=1 -- {ibtool} doctor --json"),
    *[("nodedesc-1", "", 1, LINES, None, f"set_nodedesc --sysfs sysfs --json{what}") for what in ("", " login-1 --dry-run", " login-2")],
    *[("install_links-1", "#/definitions/" + kind, least, LINES, None, f"install-links --json {what}") for kind, least, what in
      (("link", 60, "--list"), ("made", 1, "links"), ("removed", 1, "links --remove --dry-run"), ("removed", 1, "links --remove"))],
    ("commands-1", "#/definitions/command", 70, LINES, None, "help --json"),
    ("commands-1", "#/definitions/help", 1, LINES, None, "help ibping --json"),
    ("port_state-1", "", 1, WHOLE, PLAIN, "ibportstate 1 1 --json"),
    ("port_state-1", "", 1, WHOLE, PLAIN, "ibportstate -D 0,1 3 --json"),
    ("port_state-1", "", 1, WHOLE, "sim:slow_link,sm=1,time=virtual", "ibportstate 9 3 --json"),
    ("port_state-1", "", 1, WHOLE, PLAIN, "ibportstate -D 0,1 3 width 1 speed 1 --json"),
    ("port_state-1", "", 1, WHOLE, PLAIN, "ibportstate 9 3 disable --dry-run --json"),
    ("port_state-1", "", 1, WHOLE, None, '{"schema":"comad.port_state/1","nodeType":"Switch","nodeGUID":"0002:c903:0000:0900","LID":9,'
     '"port":3,"PortInfo":{"portState":4},"MlnxExtPortInfo":{"LinkSpeedEnabled":0},"set":["MlnxExtPortInfo.LinkSpeedEnabled=1"],'
     '"dry_run":false,"after":{"MlnxExtPortInfo":{"LinkSpeedEnabled":1},"PortInfo":{"portState":4}}}'),
    ("port_set-1", "", 2, LINES, PLAIN, "set_port_state --disable leaf-0002@3 leaf-0003@3 --json"),
    ("port_set-1", "", 1, LINES, PLAIN, "set_port_state --enable leaf-0002@3 --json"),
    ("port_set-1", "", 16, LINES, PLAIN, "init_all_ports --json"),
    ("port_set-1", "", 16, LINES, PLAIN, "init_all_ports --dry-run --json"),
    *[("congestion_set-1", "", least, LINES, CONGESTED, f"ibccconfig {what} --json") for least, what in
      ((1, "SP 9 3 1 0 12 8 100"), (1, "SP 9 3 1 0 12 8 100 --dry-run"), (1, "SP 9 3 0 0 0 0 0"), (6, "SP --all 3 1 0 12 8 100"),
       (8, "CT --all 3 0 0:1 0:2 0:3 1:4 --dry-run"))],
    ("mcm_rereg-1", "", 2, LINES, PLAIN, "mcm_rereg_test port_guids --json"),
    ("mcm_rereg-1", "", 2, LINES, PLAIN, "mcm_rereg_test port_guids --dry-run --json"),
    ("rdma_bw-1", "", 1, WHOLE, None, '{"schema":"comad.rdma_bw/1","size_bytes":65536,"writes":50,"both_ways":true,'
     '"seconds":0.5,"bytes_per_second":6553600.0,"has_arrived":true}'),
    ("message-1", "", 2, LINES, None, "decode MADs.pcap --json"),
    ("message-1", "", 1, LINES, None, "decode unknown_class --json"),
    ("encoded-1", "", 1, LINES, None, "encode --struct SMPLedInfo ledMask=1 --json"),
    ("cache_edit-1", "", 1, WHOLE, None, "ibcacheedit diags_cache edited --switchguid 0x2c90300000900:1 --caguid 0x2c90300000100:2 --json"),
    ("cache_edit-1", "", 1, WHOLE, None,
     "ibcacheedit diags_cache edited --sysimgguid 0x2c90300000200:3 --portguid 0x2c90300000100:0x2c90300000101:4 --json"),
    ("link_changes-1", "", 1, WHOLE, None, "ibdiscover slow_link --json"),
    ("link_changes-1", "", 1, WHOLE, None, "ibdiscover slow_link --topo links_before --json"),
    ("layout-1", "", 100, LINES, None, "describe --json"),
    ("layout-1", "", 1, LINES, None, "describe SMPPortInfo --json"),
    ("subnet-1", "", 1, WHOLE, None, "export --format json --topology slow_link"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 1 --windows adaptive --rounds 1 -c 100 --json"),
]
# Files that commands of RUNS read.
FILES = {
    "thresholds": "SymbolErrorCounter=5\n",
    "links_before": "1|5000|2|a000\n",
    "pairs": "1 2\n1 3\n",
    "port_guids": "0x0002c90300000101\n0x0002c90300000201\n",
    "unknown_class": "01550101" + "00" * 252 + "\n",
    "write_table": f"{ibtool} ibccconfig CT 1 3 0 0:1 0:2 0:3 1:4 && {ibtool} ibccquery CT 1 --json\n",
    "links/dump_lfts": "not a link\n",
    **{f"sysfs/infiniband/mlx5_0/{name}": text + "\n" for name, text in
       (("node_type", "1: CA"), ("node_guid", "0002:c903:0000:0100"), ("sys_image_guid", "0002:c903:0000:0100"), ("node_desc", "host"))},
}
WRONG = [[None]]  # of no kind that a schema has


def run(fabric, command, lines=WHOLE):
    if command.startswith("{"):
        return command
    words = command.split()
    said = subprocess.run([ibtool, *(["--fabric", fabric] if fabric else []), *words], capture_output=True, text=True, timeout=60)
    if command.startswith("vumad") and any(word in said.stderr for word in ("/dev/fuse", "mount namespace", "libfuse3")):
        print("skipped: " + said.stderr.strip())
        return None
    if said.returncode not in (0, 1, 3) or not said.stdout:
        sys.exit(f"{command}: exit code {said.returncode}\n{said.stderr}")
    return said.stderr if lines is ON_STDERR else said.stdout


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
    for name, text in FILES.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    run(PLAIN, "ibnetdiscover --subnet-cache cache --cache diags_cache")
    run(PLAIN, "smpquery NodeInfo 9 --pcap MADs.pcap")
    with open("slow_link", "w") as file:  # and its switches are Mellanox's that have further speeds
        file.write(run(PLAIN, "ibnetdiscover").replace("devid=0xd2f2", "devid=0xc738").replace("4xEDR", "1xEDR"))
    for name, fragment, least, lines, fabric, command in RUNS:
        with open(os.path.join(schemas, name + ".json")) as file:
            whole = json.load(file)
        if whole["title"] != "comad." + name.replace("-", "/"):
            problems.append(f"{name}: its title is {whole['title']}")
        jsonschema.Draft7Validator.check_schema(whole)
        wanted = {**whole, "anyOf": [{"$ref": fragment}]} if fragment else whole
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
for name in sorted(met):
    with open(os.path.join(schemas, name + ".json")) as file:
        kinds = [kind["$ref"] for kind in json.load(file).get("anyOf", []) if "$ref" in kind]
    problems += [f"{name}: no document is {kind}" for kind in kinds if kind not in met[name]]
print("\n".join(dict.fromkeys(problems)) or f"{documents_seen} documents, {refused} wrong ones refused")
sys.exit(bool(problems))
