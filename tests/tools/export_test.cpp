// SPDX-License-Identifier: MIT
// export_test.cpp - the files that `export` writes, read by the programs that use them: GraphViz, Slurm, a browser, XML
// and JSON Schema.
#include "program/free_port.hpp"
#include "program/ibtool_rig.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <pwd.h>
#include <regex>
#include <unistd.h>

namespace ibtool_export_test {

using namespace ibtool_rig;

namespace {

/// Writes a text to a file.
void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }
/// Returns the content of a file.
std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}
/// Counts how often a text contains `what`.
std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++found;
    return found;
}

/// A name that contains every character with a special meaning in one of the formats.
constexpr std::string_view hostile = R"(
switchguid=0x1000
Switch	4 "S1"	# "a<b>&\N\"};</script><!--"
[1]	"A"[1]
[2]	"S2"[1]
[3]	"S2"[2]

switchguid=0x2000
Switch	4 "S2"	# "two"
[1]	"S1"[2]
[2]	"S1"[3]
[3]	"B"[1]

caguid=0xa000
Hca	1 "A"	# "host1 mlx5_0"
[1]	"S1"[1]

caguid=0xb000
Hca	1 "B"	# "host2 mlx5_0"
[1]	"S2"[3]
)";

/// Runs export, which must succeed, in the given format.
process_result exported(const std::string& format, const words& more) {
    const process_result r = run(words{"export", "--format", format} + more);
    CAPTURE(r.err);
    REQUIRE(r.status == 0);
    return r;
}
const words live{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"}; // 8 hosts, 4 leaves, 2 spines and 16 links

} // namespace

TEST_CASE("an exported GraphViz graph contains every node and every link") {
    if (!is_installed("dot")) return;
    const directory d;
    write(d / "hostile.topo", std::string(hostile));
    for (const auto& [from, nodes, edges] :
         {std::tuple(live, 14u, 16u), std::tuple(words{"--topology", d / "hostile.topo"}, 4u, 4u)}) {
        exported("dot", from + words{d / "fabric.dot"});
        const process_result r = run_process({"dot", "-Tsvg", d / "fabric.dot"});
        CAPTURE(r.err);
        REQUIRE(r.status == 0);
        CHECK(count(r.out, "class=\"node\"") == nodes);
        CHECK(count(r.out, "class=\"edge\"") == edges);
        if (nodes == 4) CHECK_THAT(r.out, Contains("a&lt;b&gt;&amp;\\N"));
    }
}

TEST_CASE("an exported SVG picture is well-formed and contains every node and link") {
    const directory d;
    write(d / "hostile.topo", std::string(hostile));
    exported("svg", words{"--topology", d / "hostile.topo", d / "fabric.svg"});
    const std::string svg = read(d / "fabric.svg");
    CHECK(count(svg, "<line ") == 4);
    CHECK(count(svg, "<rect ") == 2);
    CHECK(count(svg, "<circle ") == 2);
    if (!is_installed("xmllint")) return;
    const process_result r = run_process({"xmllint", "--noout", d / "fabric.svg"});
    CAPTURE(r.err);
    CHECK(r.status == 0);
}

namespace {

/// Returns what slurmctld logs after it has read a topology.conf.
std::string slurm_log(const directory& d, const std::string& topology, std::string_view hosts) {
    write(d / "topology.conf", topology);
    write(d / "slurm.conf",
          fmt::format("ClusterName=test\nSlurmctldHost=localhost\nSlurmUser={}\nStateSaveLocation={}\n"
                      "AuthType=auth/none\nCredType=cred/none\nSlurmctldPort={}\n"
                      "SlurmctldPidFile={}\nTopologyPlugin=topology/tree\nSelectType=select/cons_tres\n"
                      "NodeName={} NodeAddr=127.0.0.1 State=UNKNOWN\nPartitionName=all Nodes=ALL\n",
                      getpwuid(geteuid())->pw_name, (d / ""), comad::test::free_port(), d / "pid", hosts));
    process slurm({"slurmctld", "-D", "-c", "-vvv", "-f", d / "slurm.conf"});
    slurm.await_error("route/default: init"); // slurmctld loads it after the topology
    return slurm.errors();
}

/// Topology file with two rails at one spine, a chassis, and an adapter without a host name.
constexpr std::string_view rails = R"(
switchguid=0x1000
Switch	8 "SW"	# "MF0;core1:CS7520/L01/U1"
[1]	"H1"[1]
[2]	"H2"[1]
[3]	"H3"[1]
[8]	"SP"[1]

switchguid=0x1100
Switch	8 "SX"	# "MF0;core1:CS7520/L02/U1"
[1]	"H4"[1]
[8]	"SP"[2]

switchguid=0x1200
Switch	8 "ST"	# "MF0;st1:MQM8700/U1"
[1]	"H5"[1]
[8]	"SP"[3]

switchguid=0x1300
Switch	8 "SP"	# "MF0;core1:CS7520/S01/U1"
[1]	"SW"[8]
[2]	"SX"[8]
[3]	"ST"[8]

caguid=0xa000
Ca	1 "H1"	# "host1 mlx5_0"
[1]	"SW"[1]

caguid=0xa100
Ca	1 "H2"	# "host2 mlx5_1"
[1]	"SW"[2]

caguid=0xa200
Ca	1 "H3"	# "MT4129 ConnectX7   Mellanox Technologies"
[1]	"SW"[3]

caguid=0xa300
Ca	1 "H4"	# "host3 mlx5_0"
[1]	"SX"[1]

caguid=0xa400
Ca	1 "H5"	# "host1 mlx5_4"
[1]	"ST"[1]
)";

} // namespace

TEST_CASE("slurmctld reads the exported topology") {
    if (!is_installed("slurmctld")) return;
    const directory d;
    write(d / "two.topo", std::string(hostile));
    const std::string printed = slurm_log(d, exported("slurm", {"--topology", d / "two.topo"}).out, "host[1-2]");
    CHECK_THAT(printed, Contains("Switch level:0 name:S-0000000000001000 nodes:host1 switches:(null)"));
    CHECK_THAT(printed, Contains("Switch level:0 name:two nodes:host2 switches:(null)"));
    CHECK_THAT(printed, Contains("name:all-of-S-0000000000001000 nodes:host[1-2] switches:S-0000000000001000,two"));
    CHECK_THAT(printed, !Contains("topology/tree: error") && !Contains("lack"));
}

TEST_CASE("slurmctld reads the topology of one of two rails, with readable names for chassis switches") {
    const directory d;
    write(d / "rails.topo", std::string(rails));
    const process_result conf = exported("slurm", {"--topology", d / "rails.topo", "--name", "*mlx5_[0-3]"});
    CHECK(count(conf.err, "\n") == 0);
    CHECK_THAT(conf.out, Contains("\nSwitchName=core1-L01-U1 Nodes=host[1-2]\nSwitchName=core1-L02-U1 Nodes=host3\n"
                                  "SwitchName=core1-S01-U1 Switches=core1-L01-U1,core1-L02-U1\n"));
    const process_result all = exported("slurm", {"--topology", d / "rails.topo", "--exclude", "MF0;st1:*"});
    CHECK_THAT(all.err, EndsWith("1 adapter left out because its description contains no host name: \"MT4129 ConnectX7 "
                                 "  Mellanox Technologies\"\n"));
    CHECK(count(all.err, "\n") == 1);
    CHECK_THAT(all.out, EndsWith(conf.out.substr(conf.out.find("SwitchName="))));
    // The export from another host equals this export.
    const auto from = [&](const char* host) {
        return exported("slurm", {"--fabric", fmt::format("sim:{},at={},time=virtual", d / "rails.topo", host)}).out;
    };
    CHECK(from("H1") == from("H4"));
    if (!is_installed("slurmctld")) return;
    const std::string printed = slurm_log(d, conf.out, "host[1-3]");
    CHECK_THAT(printed, Contains("Switch level:0 name:core1-L01-U1 nodes:host[1-2] switches:(null)"));
    CHECK_THAT(printed,
               Contains("Switch level:1 name:core1-S01-U1 nodes:host[1-3] switches:core1-L01-U1,core1-L02-U1"));
    CHECK_THAT(printed, !Contains("topology/tree: error") && !Contains("lack"));
}

TEST_CASE("export refuses a selection without hosts") {
    const directory d;
    write(d / "rails.topo", std::string(rails));
    const words slurm{"export", "--format", "slurm", "--topology", d / "rails.topo"};
    check_failure(run(slurm + words{"--name", "nobody"}), 1, "the options select no node of the subnet");
    check_failure(run(slurm + words{"--exclude", "*"}), 1, "the options select no node of the subnet");
    check_failure(run(slurm + words{"--exclude", "*mlx5_*", "--exclude", "MT4129*"}), 1, "the options select no host");
}

TEST_CASE("the JSON of a discovery matches its schema") {
    if (run_process({"python3", "-c", "import jsonschema"}).status != 0) {
        WARN("skipped: there is no jsonschema for python3");
        return;
    }
    const directory d;
    exported("json", live + words{d / "fabric.json"});
    check_success(run(words{"ibnetdiscover", "--json", "--qos", d / "qos.json"} + live));
    for (const char* file : {"fabric.json", "qos.json"}) {
        const process_result r = run_process(
            {"python3", "-c",
             "import json, sys, jsonschema\n"
             "schema, data = (json.load(open(f)) for f in sys.argv[1:])\n"
             "v = jsonschema.validators.validator_for(schema); v.check_schema(schema)\n"
             "v(schema).validate(data); print(len(data['nodes']))\n"
             "data['nodes'][0]['ports'][0]['peer'] = {'port': 300}\n"
             "print(v(schema).is_valid(data))\n"
             "known = schema['definitions']['port']['properties']\n"
             "print({key for node in data['nodes'] for port in node['ports'] for key in port} - set(known))\n",
             COMAD_SOURCE_DIR "/docs/schema/subnet-1.json", d / file});
        CAPTURE(file, r.err);
        CHECK(r.out == "14\nFalse\nset()\n");
    }
    const auto qos = nlohmann::json::parse(read_file(d / "qos.json"));
    CHECK(qos["nodes"][1]["ports"].back()["SLtoVL"].size() == 4); // one entry for each of the four cabled ports
}

TEST_CASE("the option --qos requires --json and refuses a file") {
    check_failure(run(words{"ibnetdiscover", "--qos"} + live), 2, "--qos requires --json");
    check_failure(run(words{"ibnetdiscover", "--qos", "--json", "--load-cache", "x"} + live), 2,
                  "--qos excludes --load-cache");
}

TEST_CASE("a browser renders the exported page, finds a node, zooms and shows names as text") {
    if (!is_installed("chromium")) return;
    const directory d;
    write(d / "hostile.topo", std::string(hostile));
    std::string page = exported("html", {"--topology", d / "hostile.topo"}).out;
    // Sends the actions of a user as events. Afterwards the page prints what it displays.
    const std::string_view user = R"(<script>
const at = id => document.getElementById(id), say = {all: {...document.body.dataset}, title: at("status").textContent};
const canvas = at("canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
say.painted = pixels.some(value => value !== 0);
canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -500, clientX: 200, clientY: 200, bubbles: true, cancelable: true}));
at("color").value = "state"; at("color").dispatchEvent(new Event("change"));
say.zoomed = Number(document.body.dataset.zoom);
const search = text => { at("search").value = text; at("search").dispatchEvent(new Event("input")); return at("found").textContent; };
say.name = search("host2"); say.GUID = search("0x000000000000b000"); say.none = search("nobody");
say.switch = search("<\/script>"); say.details = at("details").textContent;
document.body.innerHTML = ""; document.body.textContent = "SAID" + btoa(JSON.stringify(say)) + "SAID";
</script></body>)";
    page.replace(page.rfind("</body>"), 7, user);
    write(d / "page.html", page);
    const process_result r =
        run_process({"chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,800",
                     "--user-data-dir=" + (d / "profile"), "--dump-dom", "file://" + (d / "page.html")});
    std::smatch found;
    REQUIRE(std::regex_search(r.out, found, std::regex("SAID([A-Za-z0-9+/=]+)SAID")));
    write(d / "said", found[1]);
    const auto page_state = nlohmann::json::parse(run_process({"base64", "-d", d / "said"}).out);
    CAPTURE(page_state.dump());
    CHECK(page_state["title"] == "4 nodes, 4 links");
    CHECK(page_state["all"]["nodes"] == "4");
    CHECK(page_state["all"]["links"] == "4");
    CHECK(page_state["painted"] == true);
    CHECK(page_state["zoomed"].get<double>() > std::stod(page_state["all"]["zoom"].get<std::string>()));
    CHECK_THAT(page_state["name"].get<std::string>(), Contains("host2 mlx5_0"));
    CHECK_THAT(page_state["GUID"].get<std::string>(), Contains("host2 mlx5_0"));
    CHECK(page_state["none"] == "");
    CHECK_THAT(page_state["switch"].get<std::string>(), Contains("a<b>&\\N"));
    CHECK_THAT(page_state["details"].get<std::string>(), Contains("0000:0000:0000:1000"));
}

TEST_CASE("export reports missing options, and the page contains the error counters of a sweep") {
    check_failure(run(words{"export"} + live), 2, "--format is missing");
    check_failure(run(words{"export", "--format", "dot", "--errors"} + live), 2, "--errors requires --format html");
    const auto data_of = [](const std::string& page) {
        const std::string begin = R"(<script id="data" type="application/json">)";
        const std::size_t at = page.find(begin) + begin.size();
        return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
    };
    constexpr std::size_t sum_of_errors = 7;
    const nlohmann::json with_errors = data_of(exported("html", words{"--errors"} + live).out);
    CHECK(with_errors["has_errors"] == true);
    CHECK(with_errors["links"][0][sum_of_errors] == 0);
    const nlohmann::json without_errors = data_of(exported("html", live).out);
    CHECK(without_errors["has_errors"] == false);
    CHECK(without_errors["links"][0][sum_of_errors] == nullptr);
    const std::string yaml = exported("slurm-yaml", live).out;
    CHECK(count(yaml, "- switch: ") == 5); // one for each of 4 leaves, and one for the spines
    CHECK(count(yaml, "nodes: ") == 4);
    CHECK(count(exported("topology", live).out, "\nswitchguid=") == 6);
}

} // namespace ibtool_export_test
