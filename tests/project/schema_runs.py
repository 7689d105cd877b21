# SPDX-License-Identifier: MIT
"""schema_runs.py - what schema_check.py runs: commands, on which simulated subnets, and which schema says what they print."""

PLAIN = "sim:fattree2,radix=4,sm=1,time=virtual"
COUNTED = PLAIN + ",counters=3"
FAULTY = PLAIN + ",traffic=100000,errors=0.3:20,kill=h-0003 HCA-1@500ms"
CHANGED = "sim:fattree2,radix=4,at=h-0002 HCA-1,sm=1,time=virtual,cut=leaf-0003/3@0s,kill=h-0007 HCA-1@0s"

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
