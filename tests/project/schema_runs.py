# SPDX-License-Identifier: MIT
"""schema_runs.py - what schema_check.py runs: commands, on which simulated subnets, and which schema says what they print."""

PLAIN = "sim:fattree2,radix=4,sm=1,time=virtual"
COUNTED = PLAIN + ",counters=3"
FAULTY = PLAIN + ",traffic=100000,errors=0.3:20,kill=h-0003 HCA-1@500ms"
CHANGED = "sim:fattree2,radix=4,at=h-0002 HCA-1,sm=1,time=virtual,cut=leaf-0003/3@0s,kill=h-0007 HCA-1@0s"

SILENT = PLAIN + ",dead=spine-0001"
UNMANAGED = "sim:fattree2,radix=4,time=virtual"
MISCOUNTED = PLAIN + ",counters=3,traffic=100000,errors=1.0:20"
LINE = "sim:line,switches=4,sm=1,time=virtual"

# Files that the runs find where they are: a plan of cables that are not so, topologies and caches of subnets like others but for
# something that is wrong.
ROUTERS = """
switchguid=0x5000(5000)
Switch	4 "S-0000000000005000"		# "the switch" base port 0 lid 1 lmc 0
[1]	"H-000000000000a000"[1](a001) 		# "the host" lid 2 4xEDR
[2]	"R-000000000000b000"[1](b001) 		# "the router" lid 3 4xEDR

caguid=0xa000
Ca	1 "H-000000000000a000"		# "the host"
[1](a001) 	"S-0000000000005000"[1]		# lid 2 lmc 0 "the switch" lid 1 4xEDR

rtguid=0xb000
Rt	1 "R-000000000000b000"		# "the router"
[1](b001) 	"S-0000000000005000"[2]		# lid 3 lmc 0 "the switch" lid 1 4xEDR
"""
PLAN = """leaf-0001,1,h-0002 HCA-1,1
leaf-0001,2,h-0001 HCA-1,1
leaf-0001,3,spine-0001,3
leaf-0002,2,nobody,1
leaf-0001,4,spine-0002,1
"""
FILES = {"thresholds": "SymbolErrorCounter=5\n", "plan.csv": PLAN, "routers.topo": ROUTERS}
# name, fabric whose topology it is, what else is written there instead of what
CROSSED = [('[1]\t"S-0002c90300000600"[2]', '[1]\t"S-0002c90300000600"[1]'), ('[2]\t"S-0002c90300000600"[1]', '[2]\t"S-0002c90300000600"[2]'),
           ('[2]\t"S-0002c90300000500"[1]', '[1]\t"S-0002c90300000500"[-]'), ('[1]\t"S-0002c90300000700"[2]', '[2]\t"S-0002c90300000700"[2]'),
           ("[-]", "[1]")]
TOPOLOGIES = [
    ("crossed", LINE, CROSSED),  # two cables of the second switch have exchanged their ports there
    ("exchanged", LINE, [("lid 1 ", "lid - "), ("lid 2 ", "lid 1 "), ("lid - ", "lid 2 ")]),  # two hosts their LIDs
    ("double", LINE, [("lid 2 ", "lid 1 ")]),
    ("shared", LINE, [("2c90300000201", "2c90300000101"), ("2c90300000301", "2c90300000400"), ("lid 3 ", "lid 0 ")]),  # port GUIDs
]

# schema, what of it the documents are ("": the schema itself), how many documents at least, fabric, command (IBTOOL: the program)
LINES, WHOLE = True, False
RUNS = [
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --sa --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "export --format json"),
    ("links-1", "", 32, LINES, PLAIN, "iblinkinfo --json"),
    ("nodes-1", "", 8, LINES, PLAIN, "ibhosts --json"),
    ("nodes-1", "", 6, LINES, PLAIN, "ibswitches --json"),
    ("nodes-1", "", 14, LINES, PLAIN, "ibnodes --json"),
    ("nodes-1", "", 1, LINES, "sim:routers.topo", "ibrouters --json"),
    ("subnet-1", "#/definitions/node", 1, LINES, PLAIN, "ibprintca 1 --json"),
    ("subnet-1", "#/definitions/node", 6, LINES, PLAIN, "ibprintswitch -l --json"),
    ("subnet-1", "#/definitions/node", 1, LINES, "sim:routers.topo", "ibprintrt -l --json"),
    ("link_users-1", "", 1, WHOLE, PLAIN, "ibfindnodesusing leaf-0001 3 -a --json"),
    ("link_users-1", "", 1, WHOLE, PLAIN, "ibfindnodesusing leaf-0001 1 --json"),
    ("watch-1", "", 4, LINES, PLAIN + ",flap=leaf-0002/1@1500ms:1s:1000s", "watch -n 4 --json"),
    ("watch-1", "", 2, LINES, "sim:fattree2,radix=4,sm=1,cut=leaf-0002/1@100ms", "watch --every 200ms -n 2 --no-subscription --json"),
    ("watch-1", "#/definitions/change", 1, LINES, PLAIN, "watch --subnet-cache exchanged-cache --looks 1 --no-subscription --json"),
    *[("forwarding-1", "#/definitions/unicast", 6, LINES, PLAIN, f"dump_lfts{how} --json") for how in ("", " -a", " -n", " --sa")],
    *[("forwarding-1", "#/definitions/multicast", 6, LINES, PLAIN, f"dump_mfts{how} --json") for how in ("", " --sa")],
    ("checks-1", "", 50, LINES, MISCOUNTED, "ibchecknet -v --json"),
    *[("checks-1", "", 30, LINES, UNMANAGED, f"{name} --json") for name in ("ibcheckstate", "ibchecknet")],
    *[("checks-1", "", 1, LINES, SILENT, f"{name} --json") for name in ("ibcheckstate", "ibcheckwidth", "ibcheckerrors", "ibchecknet")],
    ("checks-1", "#/definitions/check", 1, LINES, MISCOUNTED, "ibcheckerrs 9 --json"),
    *[("checks-1", "#/definitions/check", 1, LINES, PLAIN, command + " --json") for command in
      ("ibchecknode 9", "ibchecknode 200", "ibchecknode 0,1", "ibcheckport 9 1", "ibcheckportstate 9 1", "ibcheckportwidth 9 1")],
    ("checks-1", "#/definitions/check", 1, LINES, UNMANAGED, "ibcheckport 0,1 1 --json"),
    *[("thresholds-1", "", 1, WHOLE, PLAIN, f"{name} -s --json") for name in ("ibcheckerrs", "ibcheckerrors", "ibchecknet")],
    ("routes-1", "", 17, LINES, PLAIN, "ibcheckroutes -M --loads --json"),
    ("routes-1", "", 1, LINES, PLAIN, "ibcheckroutes --lanes --json"),
    ("routes-1", "", 14, LINES, UNMANAGED, "ibcheckroutes --json"),
    ("routes-1", "", 5, LINES, SILENT, "ibcheckroutes -M --json"),
    ("routes-1", "", 3, LINES, "sim:ring,switches=5,sm=1,time=virtual", "ibcheckroutes --json"),
    *[("routes-1", "", 2, LINES, LINE, f"ibcheckroutes -a --subnet-cache {name}-cache --json") for name in ("crossed", "exchanged", "double")],
    ("balance-1", "", 6, LINES, PLAIN, "check_lft_balance -v --json"),
    ("identities-1", "", 1, LINES, PLAIN, "ibidsverify double.topo --json"),
    ("identities-1", "", 3, LINES, PLAIN, "ibidsverify shared.topo --json"),
    ("cabling-1", "", 1, WHOLE, PLAIN, "check_cabling plan.csv --json"),
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
    ("devices-1", "", 1, WHOLE, None, "vumad --fabric sim:fattree2,radix=4,sm=1 -- IBTOOL ibstat --json"),
]

# Kinds of documents that must have been seen, of schemas that have several.
SEEN = {
    "sweep-1": ("head", "port", "hole"),
    "health-1": ("head", "finding", "hole"),
    "errors-1": ("port", "summary"),
    "forwarding-1": ("unicast", "multicast"),
    "watch-1": ("change", "notice"),
    "checks-1": ("check", "summary"),
    "routes-1": ("double_LID", "no_LID", "route_fault", "loop", "group_fault", "credit_loop", "load", "summary"),
}
# Values and members that must have been seen, of those that not each document of its kind has: what is not printed is not checked.
MEMBERS = {
    "watch-1": ("peer", "was", "is", "time", "port"),
    "checks-1": ("nodeGUID", "description", "bad_ports", "ports_with_errors", "findings/severity"),
    "link_users-1": ("out", "back"),
    "forwarding-1": ("entries/portGUID", "entries/ports"),
    "cabling-1": ("faults/planned", "faults/found", "faults/why"),
    "routes-1": ("place/port", "circle/VL", "MLIDs"),
}

# Commands that take --json and are not run, with the reason.
WITHOUT = {}
OTHERS = [  # not yet
    "query", "ibaddr", "ibroute", "ibtracert", "smpdump", "ibdatacounters", "ibclearcounters",
    "ibclearerrors", "ibswportwatch", "vendstat", "ibccquery", "ibping", "ibsysstat", "ibstatus",
    "ibv_devices", "doctor", "set_nodedesc", "install-links", "vumad", "ibportstate", "set_port_state",
    "init_all_ports", "set_guid", "set_sminfo", "ibccconfig", "mcm_rereg_test", "ibsendtrap", "rdma_bw",
    "decode", "encode", "ibcacheedit", "describe", "help",
]
