# SPDX-License-Identifier: MIT
"""schema_runs.py - the runs of schema_check.py: commands, the simulated subnets on which they run, and the schemas of their output."""

PLAIN = "sim:fattree2,radix=4,sm=1,time=virtual"
COUNTED = PLAIN + ",counters=3"
FLOWING = PLAIN + ",flow=leaf-0001/3:0.8:0.1"
FAULTY = PLAIN + ",traffic=100000,errors=0.3:20,kill=h-0003 HCA-1@500ms"
CHANGED = "sim:fattree2,radix=4,at=h-0002 HCA-1,sm=1,time=virtual,cut=leaf-0003/3@0s,kill=h-0007 HCA-1@0s"

SILENT, SILENT_HOST = PLAIN + ",dead=spine-0001", PLAIN + ",dead=h-0003 HCA-1"
CONGESTED = PLAIN + ",cc=3"
UNMANAGED = "sim:fattree2,radix=4,time=virtual"
MISCOUNTED = PLAIN + ",counters=3,traffic=100000,errors=1.0:20"
LINE = "sim:line,switches=4,sm=1,time=virtual"
REDUCED = PLAIN + ",link=leaf-0001/3:1xQDR,link=leaf-0002/1:4xFDR"

# Files for the runs: a cabling plan that does not match, and topologies and caches with one mistake each.
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
leaf-0003,4,h-0005 HCA-1,1
"""
# The two ends have different speeds.
ENDS = """
vendid=0x2c9
devid=0xd2f0
switchguid=0x20(20)
Switch 2 "S-0000000000000020" # "switch" base port 0 lid 2 lmc 0
[1] "H-0000000000000010"[1](11) # "host" lid 1 4xEDR

caguid=0x10
Ca 1 "H-0000000000000010" # "host"
[1](11) "S-0000000000000020"[1] # lid 1 lmc 0 "switch" lid 2 4xSDR
"""
FILES = {
    "ends.topo": ENDS,
    "baseline.json": '{"schema": "comad.bench/1", "rpc": "SubnGet", "attribute": "SMPNodeInfo", "attributeModifier": 0, '
                     '"payloads": ["0x"], "targets": 1, "target": "IBPath(DLID=1)", "time": "virtual", "rows": [{"window": 1, "rates": [1, 2, 3, 4, 5, 6]}]}\n',
    "thresholds": "SymbolErrorCounter=5\n",
    "plan.csv": PLAN,
    "routers.topo": ROUTERS,
    "links_before": "1|5000|2|a000\n",
    "pairs": "1 2\n1 3\n",
    "port_guids": "0x0002c90300000101\n0x0002c90300000201\n",
    "unknown_class": "01550101" + "00" * 252 + "\n",
    "write_table": "$IBTOOL ibccconfig CT 1 3 0 0:1 0:2 0:3 1:4 && $IBTOOL ibccquery CT 1 --json\n",
    "links/dump_lfts": "not a link\n",
    **{f"sysfs/infiniband/mlx5_0/{name}": text + "\n" for name, text in
       (("node_type", "1: CA"), ("node_guid", "0002:c903:0000:0100"), ("sys_image_guid", "0002:c903:0000:0100"), ("node_desc", "host"))},
}
# name, fabric of the topology, replacements in its text
CROSSED = [('[1]\t"S-0002c90300000600"[2]', '[1]\t"S-0002c90300000600"[1]'), ('[2]\t"S-0002c90300000600"[1]', '[2]\t"S-0002c90300000600"[2]'),
           ('[2]\t"S-0002c90300000500"[1]', '[1]\t"S-0002c90300000500"[-]'), ('[1]\t"S-0002c90300000700"[2]', '[2]\t"S-0002c90300000700"[2]'),
           ("[-]", "[1]")]
TOPOLOGIES = [
    ("slow", PLAIN, [("devid=0xd2f2", "devid=0xc738"), ("4xEDR", "1xEDR")]),  # and Mellanox switches with further speeds
    ("crossed", LINE, CROSSED),  # two cables of the second switch are exchanged there
    ("exchanged", LINE, [("lid 1 ", "lid - "), ("lid 2 ", "lid 1 "), ("lid - ", "lid 2 ")]),  # the LIDs of two hosts are exchanged
    ("former", LINE, [('"h-0004 HCA-1"', '"its former name"'), ('# "sw-0002" lid 6 4xEDR', '# "sw-0002" lid 6 1xEDR'), ('# "sw-0001" lid 5 4xEDR', '# "sw-0001" lid 5 1xEDR'),
                      ("2c90300000401", "2c90300000499")]),
    ("double", LINE, [("lid 2 ", "lid 1 ")]),
    ("chassis", PLAIN, [("devid=0xd2f2", "devid=0xbd36"), ("sysimgguid=0x2c90300000a00", "sysimgguid=0x2c90300000900"),
                        ("sysimgguid=0x2c90300000d00", "sysimgguid=0x2c90300000900"),
                        *((f'"{name}"', f'"MF0;switch:SX6536/{slot}/U1"') for name, slot in
                          (("leaf-0001", "L01"), ("leaf-0002", "L02"), ("spine-0001", "S01")))]),  # boards named after their places
    ("unnamed", LINE, [("2c90300000201", "0")]),  # a port GUID that is missing
    ("shared", LINE, [("2c90300000201", "2c90300000101"), ("2c90300000301", "2c90300000400"), ("lid 3 ", "lid 0 ")]),  # port GUIDs
]

# The name of a node; its replacement (control characters for a terminal, bytes that are not UTF-8 as surrogates); its name in JSON.
NAMES = [("h-0002 HCA-1", "h\udcff\x02\x9b31m\u202eX", "h\u00ff\x02\x9b31m\u202eX"), ("leaf-0001", "le\udcfe\x1b[2Jaf", "le\u00fe\x1b[2Jaf"),
         ("spine-0001", "sp\x7fine \u00e9\\x41", "sp\x7fine \u00e9\\x41")]
TOPOLOGIES.append(("names", PLAIN, [(f'"{name}"', f'"{odd}"') for name, odd, _ in NAMES]))
# Commands that name nodes. Each runs on that subnet and prints at least one of these names.
NAMED = "sim:names.topo,sm=1,time=virtual,counters=3,cc=3"
NAMED_RUNS = [
    "ibnetdiscover", "iblinkinfo", "ibhosts", "ibswitches", "ibnodes", "ibprintca 2", "ibprintswitch -l", "ibfindnodesusing 9 3 -a", "dump_lfts",
    "dump_mfts", "ibroute 9", "ibtracert 2 3", "ibchecknet -v", "ibcheckerrs -v 2 1", "ibcheckroutes --loads", "check_lft_balance -v",
    "ibdatacounters", "ibclearcounters -v", "ibqueryerrors", "sweep", "ibccconfig -v SP --all 3 1 0 12 8 100", "set_port_state --disable 9@3",
    "check_cabling plan.csv", "subnet_diff cache", "ibping -c 1 2", "smpquery NodeDesc 2", "saquery NR", "export --format json", "summary", "ibping --all",
]

# schema; the checked part of the documents ("": all); minimum number of documents; fabric; command (IBTOOL: the program).
# If the command is a document, it stands for output that needs hardware, a removed device, or a large subnet.
LINES, WHOLE, ON_STDERR = True, False, 2
RUNS = [
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --sa --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "export --format json"),
    ("links-1", "", 32, LINES, PLAIN, "iblinkinfo --json"),
    ("links-1", "", 32, LINES, "sim:chassis.topo,sm=1,time=virtual", "iblinkinfo --json"),
    ("links-1", "", 32, LINES, REDUCED, "iblinkinfo --json"),
    ("subnet-1", "", 1, WHOLE, REDUCED, "ibnetdiscover --json"),
    ("nodes-1", "", 14, LINES, "sim:chassis.topo,sm=1,time=virtual", "ibnodes --json"),
    ("summary-1", "", 1, WHOLE, REDUCED, "summary --json"),
    ("summary-1", "", 1, WHOLE, SILENT, "summary --json"),
    ("summary-1", "", 1, WHOLE, UNMANAGED, "summary --json"),
    ("nodes-1", "", 8, LINES, PLAIN, "ibhosts --json"),
    *[(schema, "", most, LINES, PLAIN, f"{command} --all-fabrics") for schema, most, command in (
        ("nodes-1", 8, "ibhosts --json"), ("links-1", 32, "iblinkinfo --json"), ("subnet-1", 1, "ibnetdiscover --json"),
        ("errors-1", 1, "ibqueryerrors --json"), ("health-1", 1, "health --json"))],
    *[("fabric_error-1", "", 1, LINES, "ibsim:no-such-server", f"{command} --all-fabrics") for command in (
        "ibhosts --json", "ibnetdiscover --json", "summary --json", "export --format json")],
    ("nodes-1", "", 6, LINES, PLAIN, "ibswitches --json"),
    ("nodes-1", "", 14, LINES, PLAIN, "ibnodes --json"),
    ("subnet-1", "", 1, WHOLE, "sim:chassis.topo,sm=1,time=virtual", "ibnetdiscover --json"),
    ("subnet-1", "", 1, WHOLE, "sim:chassis.topo,sm=1,time=virtual", "ibnetdiscover --hierarchy --json"),
    ("subnet-1", "#/definitions/port", 1, LINES, None, '{"port":1,"portGUID":"0002:c903:0000:0101","hierarchies":'
     '[{"index":0,"templateGUID":"0002:c903:0000:0001","levelData":[0,7]}]}'),  # no node of a named simulated subnet has it
    ("nodes-1", "", 1, LINES, "sim:routers.topo", "ibrouters --json"),
    ("subnet-1", "#/definitions/node", 1, LINES, PLAIN, "ibprintca 1 --json"),
    ("subnet-1", "#/definitions/node", 6, LINES, PLAIN, "ibprintswitch -l --json"),
    ("subnet-1", "#/definitions/node", 1, LINES, "sim:routers.topo", "ibprintrt -l --json"),
    ("link_users-1", "", 1, WHOLE, PLAIN, "ibfindnodesusing leaf-0001 3 -a --json"),
    ("link_users-1", "", 1, WHOLE, PLAIN, "ibfindnodesusing leaf-0001 1 --json"),
    ("watch-1", "", 4, LINES, PLAIN + ",flap=leaf-0002/1@1500ms:1s:1000s", "watch -n 4 --json"),
    ("watch-1", "", 2, LINES, "sim:fattree2,radix=4,sm=1,cut=leaf-0002/1@100ms", "watch --every 200ms -n 2 --no-subscription --json"),
    ("watch-1", "", 2, LINES, "sim:fattree2,radix=4,sm=1,cut=leaf-0002/1@100ms", "watch --every 200ms -n 2 --json"),
    *[("watch-1", "#/definitions/notice", 1, LINES, None, '{"issuerLID":3,"type":"Security","seconds":1.5,' + notice) for notice in (
        '"notice":"BadMKey","trap":256,"about":{"source":{"LID":5},"method":"Get","attribute":"NodeInfo","attributeID":17,"attributeModifier":0,'
        '"directed_route":{"drSLID":65535,"hops":1,"return_path":[4],"truncated":false}}}',
        '"notice":"BadQKey","trap":258,"about":{"QKey":2147549186,"SL":0,"source":{"LID":5,"QP":1,"GID":"fe80::1"},"destination":{"LID":6,"QP":2}}}',
        '"notice":"BadPKeyAtSwitch","trap":259,"about":{"PKey":32769,"SL":0,"source":{"LID":5,"QP":1},"destination":{"LID":6,"QP":2},'
        '"switch":{"LID":3,"port":7},"dataValid":255}}',
        '"notice":"LocalChange","trap":144,"about":{"LID":5,"changed":["NodeDescription"],"capabilityMask":0}}',
        '"notice":"SystemImageGUIDChange","trap":145,"about":{"LID":5,"systemImageGUID":"0000:0000:0000:0001"}}',
        '"notice":"MulticastGroupCreated","trap":66,"about":{"MGID":"ff12::1"}}',
        '"notice":"Informational of device 0x41 of vendor 0x0002c9","vendorID":713,"deviceID":65}')],
    ("watch-1", "#/definitions/change", 1, LINES, LINE, "watch --subnet-cache former-cache --polls 10 --no-subscription --json"),
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
    ("routes-1", "", 1, LINES, PLAIN + ",ar=1", "ibcheckroutes --json"),
    ("routes-1", "", 14, LINES, UNMANAGED, "ibcheckroutes --json"),
    ("routes-1", "", 5, LINES, UNMANAGED, "ibcheckroutes --subnet-cache cache --json"),
    ("routes-1", "", 5, LINES, SILENT, "ibcheckroutes -M --json"),
    ("routes-1", "", 3, LINES, "sim:ring,switches=5,sm=1,time=virtual", "ibcheckroutes --json"),
    *[("routes-1", "", 2, LINES, LINE, f"ibcheckroutes -a --subnet-cache {name}-cache --json") for name in ("crossed", "exchanged", "double")],
    ("routes-1", "#/definitions/other_faults", 1, WHOLE, None, '{"finding":"others","LIDs":[4,5],"cut":12}'),  # of thousands of faults
    ("routes-1", "#/definitions/group_fault", 1, LINES, None, '{"finding":"multicast_loop","MLID":49153,'
     '"location":{"nodeGUID":"0002:c903:0000:0900","description":"leaf","port":3}}'),  # the simulator does not create these tables
    ("balance-1", "", 6, LINES, PLAIN, "check_lft_balance -v --json"),
    ("identities-1", "", 1, LINES, PLAIN, "ibidsverify double.topo --json"),
    ("identities-1", "", 1, LINES, PLAIN, "ibidsverify unnamed.topo --json"),
    ("identities-1", "", 3, LINES, PLAIN, "ibidsverify shared.topo --json"),
    ("cabling-1", "", 1, WHOLE, PLAIN, "check_cabling plan.csv --json"),
    ("counters-1", "", 1, LINES, COUNTED, "perfquery --json 1"),
    ("port_samples-1", "", 4, LINES, FLOWING, "sample leaf-0001/3 -c 3 --json"),
    ("port_samples-1", "", 3, LINES, FLOWING, "sample leaf-0001/3 -c 2 --window 5ms --interval 100us --json"),
    ("port_samples-1", "", 2, LINES, FLOWING + ",pma=basic", "sample leaf-0001/3 --interval 2s --json"),
    ("counters-1", "", 4, LINES, COUNTED, "perfquery --json -x -l 9"),
    ("counters-1", "", 1, LINES, COUNTED, "perfquery --json -a 9"),
    ("counters-1", "", 1, LINES, COUNTED, "perfquery --json -R 9 1"),
    ("counters-1", "", 1, LINES, COUNTED, "ibdatacounts 9 1 --json"),
    ("errors-1", "", 33, LINES, COUNTED, "ibqueryerrors -r --details --data --json"),
    ("sweep-1", "", 33, LINES, COUNTED, "sweep --since earlier.sweeps --json"),
    ("errors-1", "", 33, LINES, COUNTED, "ibqueryerrors --since earlier.sweeps --data --json"),
    ("errors-1", "#/definitions/summary", 1, LINES, PLAIN, "ibqueryerrors -s portXmitWait --threshold-file thresholds --json"),
    ("sweep-1", "", 66, LINES, FAULTY, "sweep --every 1s --count 2 --json --details PortRcvErrorDetails"),
    ("health-1", "", 50, LINES, FAULTY, "health --json"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 1 --windows 1,2 --rounds 2 --duration 2ms --json"),
    ("bench-1", "", 1, WHOLE, PLAIN + ",loss=0.1", "bench --switches --windows 1,2,4 --rounds 1 -c 100 --json"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 1 --rate 1000,20000 --arrivals poisson --rounds 2 -c 100 --json"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench --rpc SubnAdmGetTable --attribute NodeRecord --windows 1 -c 10 --json"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 9 --mix '3 SubnGet PortInfo 1' --mix 'SubnGet NodeInfo' --windows 1 -c 10 --json"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 1 --windows 1,2 --rounds 6 -c 100 --baseline baseline.json --tolerance 1000 --json"),
    ("subnet_diff-1", "", 1, WHOLE, CHANGED, "subnet_diff cache --json"),
    ("subnet_diff-1", "", 1, WHOLE, "sim:fattree2,radix=4,time=virtual", "subnet_diff cache --json"),  # without LIDs
    ("subnet_diff-1", "", 1, WHOLE, LINE, "subnet_diff former-cache --json"),
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

    # Queries, counters of the whole subnet, hosts, the local machine, changes, bytes.
    ("address-1", "", 1, WHOLE, PLAIN, "ibaddr --json 9"),
    ("forwarding-1", "#/definitions/unicast", 1, WHOLE, PLAIN, "ibroute 9 --json"),
    ("forwarding-1", "#/definitions/unicast", 1, WHOLE, PLAIN, "ibroute -n -a 9 --json"),
    ("forwarding-1", "#/definitions/unicast", 1, WHOLE, SILENT_HOST, "ibroute 9 --json -t 10"),
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
    ("links-1", "", 32, LINES, "sim:slow.topo,sm=1,time=virtual", "iblinkinfo --json"),
    ("links-1", "", 3, LINES, "sim:ends.topo,sm=1,time=virtual", "iblinkinfo --json"),
    ("health-1", "", 3, LINES, "sim:ends.topo,sm=1,time=virtual", "health --for 1s --json"),
    ("trace-1", "", 1, WHOLE, SILENT_HOST, "ibtracert -f 1 3 --json"),
    ("subnet-1", "", 1, WHOLE, PLAIN, "ibnetdiscover --qos --json"),
    ("subnet_counters-1", "", 15, LINES, COUNTED, "ibdatacounters --json"),
    ("subnet_counters-1", "", 33, LINES, COUNTED + ",pma=0.5:basic", "ibdatacounters --ports --json"),
    ("subnet_counters-1", "#/definitions/summary", 1, LINES, UNMANAGED, "ibdatacounters --json"),
    ("cleared-1", "", 15, LINES, COUNTED, "ibclearcounters --json"),
    ("cleared-1", "", 33, LINES, COUNTED + ",pma=basic", "ibclearerrors --json"),
    ("cleared-1", "#/definitions/summary", 1, LINES, UNMANAGED, "ibclearcounters --json"),
    ("port_watch-1", "", 4, LINES, PLAIN + ",traffic=100000,errors=1:20", "ibswportwatch 9 1 -n 2 --json"),
    ("port_watch-1", "", 4, LINES, PLAIN + ",traffic=100000,errors=1:20", "ibswportwatch -t -T thresholds 9 1 -n 2 --json"),
    ("port_watch-1", "", 3, LINES, PLAIN + ",traffic=100000,errors=1:20", "ibswportwatch --xmtsl -E 9 1 -n 1 --json"),
    ("sweep-1", "#/definitions/discovered_again", 1, LINES, None, '{"discovered_again":"of notices"}'),
    ("sweep-1", "#/definitions/lost", 1, LINES, None, '{"lost":"mlx5_0/1","why":"it is gone"}'),
    ("sweep-1", "#/definitions/opened_again", 1, LINES, None, '{"opened_again":"mlx5_0/1","lost_seconds":1.5,"missed_sweeps":2}'),
    ("port_watch-1", "#/definitions/lost", 1, LINES, None, '{"lost":"mlx5_0/1","why":"it is gone"}'),
    ("port_watch-1", "#/definitions/opened_again", 1, LINES, None, '{"opened_again":"mlx5_0/1","lost_seconds":1.5,"missed_readings":2}'),
    ("ping-1", "", 3, LINES, PLAIN, "ibping -c 2 1 --json"),
    ("ping-1", "", 1, LINES, SILENT_HOST, "ibping -c 1 3 -t 10 --json"),
    ("ping-1", "", 7, LINES, SILENT_HOST, "ibping --all -t 10 --json"),
    *[("sysstat-1", "#/definitions/" + what, 1, WHOLE, PLAIN, f"ibsysstat 1 {what} --json") for what in ("ping", "host", "cpu")],
    *[("devices-1", "", 1, WHOLE, None, f"vumad --fabric sim:fattree2,radix=4,sm=1 -- IBTOOL {command} --json")
      for command in ("ibstatus", "ibv_devices")],
    ("vumad-1", "", 2, ON_STDERR, None,
     f"vumad --fabric sim:fattree2,radix=4,sm=1 --port leaf-0001 --port leaf-0002 --json -- IBTOOL smpquery NodeInfo 1"),
    ("doctor-1", "", 4, LINES, PLAIN, "doctor --json"),
    ("doctor-1", "", 3, LINES, None, "doctor --sysfs nowhere --dev nowhere --json"),
    ("doctor-1", "", 8, LINES, None, f"vumad --fabric sim:fattree2,radix=4,sm=1 -- IBTOOL doctor --json"),
    *[("nodedesc-1", "", 1, LINES, None, f"set_nodedesc --sysfs sysfs --json{what}") for what in ("", " login-1 --dry-run", " login-2")],
    *[("install_links-1", "#/definitions/" + kind, least, LINES, None, f"install-links --json {what}") for kind, least, what in
      (("link", 60, "--list"), ("made", 1, "links"), ("removed", 1, "links --remove --dry-run"), ("removed", 1, "links --remove"))],
    ("commands-1", "#/definitions/command", 70, LINES, None, "help --json"),
    ("commands-1", "#/definitions/help", 1, LINES, None, "help ibping --json"),
    ("port_state-1", "", 1, WHOLE, PLAIN, "ibportstate 1 1 --json"),
    ("port_state-1", "", 1, WHOLE, PLAIN, "ibportstate -D 0,1 3 --json"),
    ("port_state-1", "", 1, WHOLE, "sim:slow.topo,sm=1,time=virtual", "ibportstate 9 3 --json"),
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
    ("link_changes-1", "", 1, WHOLE, None, "ibdiscover slow.topo --json"),
    ("link_changes-1", "", 1, WHOLE, None, "ibdiscover slow.topo --topo links_before --json"),
    ("layout-1", "", 100, LINES, None, "describe --json"),
    ("layout-1", "", 1, LINES, None, "describe SMPPortInfo --json"),
    ("subnet-1", "", 1, WHOLE, None, "export --format json --topology slow.topo"),
    ("bench-1", "", 1, WHOLE, PLAIN, "bench 1 --windows adaptive --rounds 1 -c 100 --json"),
]

# Values and members that not every document has, but that must occur in at least one. Otherwise they would not be checked.
MEMBERS = {
    "subnet-1": ("chassis/GUID", "chassis/nodes/board", "chassis/nodes/slot", "chassis/nodes/chip", "chassis/nodes/type"),
    "watch-1": ("peer", "was", "is", "time", "port", "trap", "about/GID", "about/name", "about/port", "issuer/name"),
    "checks-1": ("nodeGUID", "description", "bad_ports", "ports_with_errors", "findings/severity"),
    "link_users-1": ("out", "back"),
    "forwarding-1": ("entries/portGUID", "entries/ports"),
    "cabling-1": ("faults/planned", "faults/found", "faults/why"),
    "routes-1": ("location/port", "circle/VL", "MLIDs"),
}

# Commands with --json that are not run, with the reasons.
WITHOUT = {"rdma_bw": "it takes two hosts with verbs: a document stands for it"}
