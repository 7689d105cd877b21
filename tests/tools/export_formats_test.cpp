// SPDX-License-Identifier: MIT
// export_formats_test.cpp - exports read by other programs: XML and CSV parsers, ibutils and OpenSM. For the schedulers
// topograph and Flux, the scripts below apply the rules of their parsers (facts: names of members, which are required,
// and what is refused); the expected trees are counted by hand.
#include "kernel/virtual_device.hpp"

#include <fmt/format.h>

namespace export_formats_test {

using namespace ibtool_rig;

namespace {

/// 8 hosts, 4 leaves, 2 spines and 16 links.
const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual";

/// A name that contains characters with a special meaning in XML and CSV, and two parallel links.
constexpr std::string_view hostile = R"(
switchguid=0x1000
Switch	4 "S1"	# "=a<b>,&\N"";"
[1]	"A"[1]
[2]	"S2"[1]
[3]	"S2"[2]

switchguid=0x2000
Switch	4 "S2"	# "two"
[1]	"S1"[2]
[2]	"S1"[3]

caguid=0xa000
Hca	1 "A"	# "host1 mlx5_0"
[1]	"S1"[1]
)";

/// Returns what a Python script prints about a file.
std::string python(const std::string& script, const words& arguments) {
    const process_result r = run_process(words{"python3", "-c", script} + arguments);
    CAPTURE(r.err);
    CHECK(r.status == 0);
    return r.out;
}

/// Exports a fabric, or the subnet of a topology file, to a file in the directory.
std::string exported(const directory& d, const std::string& format, const words& from, const words& more = {}) {
    const std::string file = d / ("fabric." + format);
    check_success(run(words{"export", "--format", format, file} + from + more));
    return file;
}
const words live{"--fabric", tree};

/// Returns what a program of ibutils prints. These programs sometimes crash after their last line.
std::string from_ibutils(const words& command, const std::string& definitions = {}) {
    return run_process(words{"env", "IBDM_IBNL_PATH=" + definitions} + command).out;
}

} // namespace

TEST_CASE("an exported GraphML file declares its attributes and contains every node and every parallel link") {
    const directory d;
    std::ofstream(d / "hostile.topo") << hostile;
    // The rules of GraphML (graphml.graphdrawing.org): data refers to a declared key of its element, edges to nodes.
    const std::string script = R"(
import sys, xml.etree.ElementTree as ET
ns = "{http://graphml.graphdrawing.org/xmlns}"
root = ET.parse(sys.argv[1]).getroot()
assert root.tag == ns + "graphml"
keys = {(k.get("for"), k.get("id")): k.get("attr.type") for k in root.findall(ns + "key")}
assert set(keys.values()) <= {"boolean", "int", "long", "float", "double", "string"}
graph, = root.findall(ns + "graph")
assert graph.get("edgedefault") == "undirected"
def values(e, kind):
    for d in e.findall(ns + "data"):
        kind_of_key = keys[kind, d.get("key")]
        yield d.get("key"), int(d.text) if kind_of_key == "int" else d.text
nodes = {n.get("id"): dict(values(n, "node")) for n in graph.findall(ns + "node")}
edges = [(e.get("source"), e.get("target"), dict(values(e, "edge"))) for e in graph.findall(ns + "edge")]
assert len({e.get("id") for e in graph.findall(ns + "edge")}) == len(edges)
for a, b, v in edges:
    assert a in nodes and b in nodes
print(len(nodes), len(edges))
for a, b, v in sorted(edges, key=lambda e: (e[0], e[2]["source_port"]))[:int(sys.argv[2])]:
    print(nodes[a]["name"], v["source_port"], nodes[b]["name"], v["target_port"], v.get("width", "") + v.get("speed", ""), v["state"], nodes[a]["level"])
)";
    CHECK(python(script, {exported(d, "graphml", live), "2"}) ==
          "14 16\nh-0001 HCA-1 1 leaf-0001 1 4xEDR active 0\nleaf-0001 2 h-0002 HCA-1 1 4xEDR active 1\n");
    CHECK(python(script, {exported(d, "graphml", {"--topology", d / "hostile.topo"}), "3"}).starts_with("3 3\n"));
    CHECK_THAT(python(script, {d / "fabric.graphml", "3"}),
               Contains("=a<b>,&\\N\"\"; 2 two 1") && Contains(" 3 two 2"));
    if (!is_installed("xmllint")) return;
    CHECK(run_process({"xmllint", "--noout", d / "fabric.graphml"}).status == 0);
}

TEST_CASE("exported CSV has one row for each link, with both ends and what the link could be") {
    const directory d;
    std::ofstream(d / "hostile.topo") << hostile;
    const std::string script = R"(
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
print(len(rows))
for r in rows:
    assert None not in r and None not in r.values()
    if r["description"] == sys.argv[2] or r["peer_description"] == sys.argv[2]: print("|".join(r.values()))
)";
    const words reduced{"--fabric", tree + ",narrow=leaf-0001/3:1x,speed=leaf-0001/4:QDR"};
    const std::string printed = python(script, {exported(d, "csv", reduced), "leaf-0001"});
    CHECK_THAT(printed, StartsWith("16\n"));
    CHECK_THAT(printed,
               Contains("0002:c903:0000:0100|h-0001 HCA-1|CA|1|1|0002:c903:0000:0900|leaf-0001|Switch|1|9|Active|"
                        "LinkUp|4x|EDR||\n"));
    CHECK_THAT(printed, Contains("0002:c903:0000:0900|leaf-0001|Switch|3|9|0002:c903:0000:0d00|spine-0001|Switch|1|13|"
                                 "Active|LinkUp|1x|EDR|4x|\n"));
    CHECK_THAT(printed,
               Contains("|leaf-0001|Switch|4|9|0002:c903:0000:0e00|spine-0002|Switch|1|14|Active|LinkUp|4x|QDR||"
                        "EDR\n"));
    // A text that a spreadsheet could read as a formula starts with an apostrophe.
    CHECK(python(script, {exported(d, "csv", {"--topology", d / "hostile.topo"}), "'=a<b>,&\\N\"\";"})
              .starts_with("3\n0"));
}

TEST_CASE("topograph can load the exported model: each host in one block, each switch below one other") {
    const directory d;
    // NVIDIA topograph, pkg/models (2026): `switches` maps names to lists of `switches`, `blocks` lists `switch` and
    // `nodes`, in which n[1-3] is a range. Earlier versions read `nodes` of switches, all declared in `nodes`.
    const std::string script = R"(
import re, sys, yaml
model = yaml.safe_load(open(sys.argv[1]))
assert set(model) <= {"switches", "nodes", "blocks"}
parent, host_switch = {}, {}
for name, s in model["switches"].items():
    assert s is not None and set(s) <= {"switches", "nodes"}
    for below in s.get("switches", []):
        assert below in model["switches"] and below not in parent
        parent[below] = name
for block in model["blocks"]:
    assert block["nodes"] and block["switch"] in model["switches"]
    assert block["nodes"] == model["switches"][block["switch"]]["nodes"]
    for host in block["nodes"]:
        assert host not in host_switch and not re.search(r"[\[\],]", host)
        host_switch[host] = block["switch"]
assert set(host_switch) == set(model["nodes"]) and all(v == {} for v in model["nodes"].values())
for host, layer in sorted(host_switch.items()):
    layers = [layer]
    while layers[-1] in parent: layers.append(parent[layers[-1]])
    print(host, *layers)
)";
    CHECK(python(script, {exported(d, "topograph", live)}) ==
          "h-0001 leaf-0001 spine-0001\nh-0002 leaf-0001 spine-0001\nh-0003 leaf-0002 spine-0001\n"
          "h-0004 leaf-0002 spine-0001\nh-0005 leaf-0003 spine-0001\nh-0006 leaf-0003 spine-0001\n"
          "h-0007 leaf-0004 spine-0001\nh-0008 leaf-0004 spine-0001\n");
    CHECK(python(script, {exported(d, "topograph", live, {"--name", "h-000[12]"})}) ==
          "h-0001 leaf-0001\nh-0002 leaf-0001\n");
}

TEST_CASE("Fluxion can load the exported graph: unique paths below one root, and a rank for each host") {
    const directory d;
    // flux-sched, resource/readers (JGF): `id` is a number as text, `metadata` has `type` and `paths`, of which only the
    // root has one `/`. A vertex with a known path and rank would be merged. Edges refer to vertices.
    const std::string script = R"(
import json, sys
graph = json.load(open(sys.argv[1]))["graph"]
by_id, places, roots = {}, set(), []
for v in graph["nodes"]:
    m = v["metadata"]
    assert int(v["id"]) == m["uniq_id"] and v["id"] not in by_id
    for key, kind in {"type": str, "basename": str, "name": str, "id": int, "rank": int, "exclusive": bool, "unit": str, "size": int}.items():
        assert isinstance(m[key], kind), key
    path = m["paths"]["containment"]
    assert (path, m["rank"]) not in places and path.endswith("/" + m["name"])
    places.add((path, m["rank"]))
    if path.count("/") == 1: roots.append(v["id"])
    by_id[v["id"]] = m
assert len(roots) == 1
below = set()
for e in graph["edges"]:
    assert e["metadata"]["subsystem"] == "containment"
    a, b = by_id[e["source"]], by_id[e["target"]]
    assert e["target"] not in below
    below.add(e["target"])
    assert b["paths"]["containment"] == a["paths"]["containment"] + "/" + b["name"]
assert below == set(by_id) - set(roots)
for m in by_id.values():
    print(m["type"], m["id"], m["rank"], m["paths"]["containment"])
)";
    const std::string printed = python(script, {exported(d, "flux", live)});
    CHECK_THAT(printed, StartsWith("cluster 0 -1 /cluster0\nswitch 1 -1 /cluster0/spine-0001\n"
                                   "switch 2 -1 /cluster0/spine-0001/leaf-0001\n"
                                   "node 1 0 /cluster0/spine-0001/leaf-0001/h-0001\n"
                                   "node 2 1 /cluster0/spine-0001/leaf-0001/h-0002\n"));
    CHECK_THAT(printed, EndsWith("node 8 7 /cluster0/spine-0001/leaf-0004/h-0008\n"));
    CHECK(std::count(printed.begin(), printed.end(), '\n') == 14);
    check_failure(run(words{"export", "--format", "flux", "--name", "x*"} + live), 1, "--name 'x*' matches no node");
}

TEST_CASE("the exported list of links equals the list of OpenSM for the same subnet") {
    if (!has_devices() || !is_installed("opensm")) return;
    for (const char* fabric : {"sim:fattree2,radix=4,narrow=leaf-0002/3:1x,speed=leaf-0002/4:QDR",
                               "sim:single,speed=FDR10", "sim:torus,x=3,y=2,speed=HDR,width=2x"}) {
        CAPTURE(fabric);
        const process_result r = in_shell(fabric, "d=$(mktemp -d); trap 'rm -rf $d' EXIT\n"
                                                  "OSM_TMP_DIR=$d opensm -o -D 0x43 -f $d/log >/dev/null 2>&1\n"
                                                  "cat $d/opensm-subnet.lst; echo =====\n"
                                                  "$IBTOOL export --format lst; echo =====\n");
        INFO(r.err);
        const words printed = parts_of(r.out);
        REQUIRE(printed.size() == 2);
        CHECK_THAT(printed[0], Contains("{ CA-SM Ports:"));
        CHECK(printed[1] == printed[0]);
    }
}

TEST_CASE("a list of links is read like a topology file") {
    const directory d;
    const std::string lst = exported(d, "lst", live), topology = exported(d, "topology", live);
    const process_result difference = run({"subnet_diff", topology, lst});
    CHECK(difference.status == 0);
    CHECK_THAT(difference.out, StartsWith("nodes (14 and 14): no difference\n") &&
                                   Contains("links (16 and 16): no difference\n") &&
                                   Contains("rates: no difference\nLIDs: no difference\n"));
    CHECK(run({"ibhosts", lst}).out == run({"ibhosts", topology}).out);
    CHECK_THAT(run({"ibnetdiscover", "--fabric", "sim:" + lst + ",time=virtual"}).out,
               Contains("# \"spine-0002\" lid 14 4xEDR"));
    // A damaged line is skipped, and its link is known from the other end.
    std::string text = read_file(lst);
    text.erase(text.find(" PN:01"), 6);
    std::ofstream(d / "damaged.lst") << "opensm said:\n" << text;
    const process_result damaged = run({"ibhosts", d / "damaged.lst"});
    CHECK(damaged.status == 0);
    CHECK_THAT(damaged.err, Contains("skipped 2 lines; first at line 1: not a link; expected"));
    CHECK(std::count(damaged.out.begin(), damaged.out.end(), '\n') == 8);
    check_failure(run({"ibhosts", d / "damaged.lst", "--strict"}), 1, "damaged.lst:1: not a link; expected");
}

TEST_CASE("ibutils' own list of 728 nodes is read completely") {
    const std::string file = run_process({"sh", "-c", "ls /usr/lib/*/ibdm*/ibnl/RhinoBased512.lst"}).out;
    if (file.empty()) {
        WARN("skipped: there is no list of ibutils");
        return;
    }
    const std::string lst = file.substr(0, file.find('\n'));
    const process_result nodes = run({"ibnodes", lst});
    INFO(nodes.err);
    CHECK(nodes.err.empty());
    CHECK(std::count(nodes.out.begin(), nodes.out.end(), '\n') == 728); // "Defined 728/728 systems/nodes"
}

TEST_CASE("ibdmchk and ibtopodiff read the exported list and the exported topology of ibutils") {
    if (!is_installed("ibdmchk") || !is_installed("ibtopodiff")) return;
    const directory d;
    const std::string lst = exported(d, "lst", live);
    const std::string topology = exported(d, "ibdm", live, {"--ibnl", d / "systems"});
    // From a leaf, its 2 hosts are behind 1 port and the 6 others behind 2; from a spine, all 8 are behind 1.
    const std::string design = from_ibutils({"ibdmchk", "-t", topology, "-n", "h-0001/U1", "-p", "1"}, d / "systems");
    CHECK_THAT(design, !Contains("Ignoring") && Contains("-I- Defined 14/14 systems/nodes"));
    CHECK_THAT(design, Contains("OUT-PORTS NUM-SW-LID-PAIRS\n   1   24\n   2   24\n"));
    CHECK_THAT(design, Contains("HOPS NUM-CA-CA-PAIRS\n  2   8\n  4   48\n"));
    // The version of Debian crashes when it has matched all hosts.
    const std::string matched = from_ibutils({"ibtopodiff", "-v", "-e", "-t", topology, "-d", lst}, d / "systems");
    CHECK_THAT(matched, Contains("-I- Parsing Subnet file:" + lst + "\n") && !Contains("Ignoring"));
    for (int host = 1; host <= 8; ++host)
        CHECK_THAT(matched, Contains(fmt::format("-V- Matched Node:h-000{0}/U1 and:h-000{0}/U1\n", host)));
    std::string renamed = read_file(lst);
    for (std::size_t at; (at = renamed.find("h-0003 ")) != renamed.npos;) renamed.replace(at, 6, "other");
    std::ofstream(d / "renamed.lst") << renamed;
    const std::string others =
        from_ibutils({"ibtopodiff", "-v", "-e", "-t", topology, "-d", d / "renamed.lst"}, d / "systems");
    CHECK_THAT(others, Contains("-V- Matched Node:h-0002/U1") && !Contains("Matched Node:h-0003/U1"));
    check_failure(run(words{"export", "--format", "dot", "--ibnl", "x"} + live), 2, "--ibnl requires --format ibdm");
}

TEST_CASE("check_cabling reads a topology file of ibutils as a plan") {
    const directory d;
    const std::string topology = exported(d, "ibdm", live);
    CHECK_THAT(run(words{"check_cabling", topology} + live).out,
               EndsWith("16 cables planned, 16 of them connected as planned; 16 links in the subnet\n"));
    std::string text = read_file(topology);
    const std::size_t at = text.find("   P1 -> CA1 h-0001 P1\n");
    REQUIRE(at != text.npos);
    std::ofstream(d / "other.topo") << text.replace(at, 23, "   P1 -4X-10G-> CA1 h-0002 P1\n");
    check_failure(run(words{"check_cabling", d / "other.topo"} + live), 1, "port 1 of 'h-0002' already has a cable");
    // The name of this switch is not valid for ibutils, so the file contains the node ID.
    std::ofstream(d / "hostile.topo") << hostile;
    const std::string of_ids = exported(d, "ibdm", {"--topology", d / "hostile.topo"});
    CHECK_THAT(read_file(of_ids), Contains("SW4 S-0000000000001000\n"));
    CHECK_THAT(run({"check_cabling", of_ids, "--fabric", "sim:" + d / "hostile.topo" + ",time=virtual"}).out,
               EndsWith("3 cables planned, 3 of them connected as planned; 3 links in the subnet\n"));
    std::ofstream(d / "wrong.topo") << "MTS14400 SL1-1\n   L1/P1 -8X-5G-> MT23108 H-1 P1\n";
    check_failure(run(words{"check_cabling", d / "wrong.topo"} + live), 1,
                  "wrong.topo:2: a port must be P1 to P254, not 'L1/P1'");
}

} // namespace export_formats_test
