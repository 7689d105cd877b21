// SPDX-License-Identifier: MIT
// ibqueryerrors_test.cpp - ibqueryerrors compared with infiniband-diags on an ibsim subnet: thresholds, parts, links,
// data and clears. Causes of errors, MADs, unresponsive nodes and JSON are checked by hand.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace ibtool_ibqueryerrors_test {

using namespace ibtool_rig;

namespace {

// The programs run at the first switch. Ports without a cable count only what the test sets on ibsim's console.
constexpr std::string_view described = R"(
switchguid=0x5000
Switch	6 "S1"	# "first switch" enhanced port 0 lid 0 lmc 0
[1]	"A"[1]
[2]	"B"[1]
[5]	"S2"[3]

switchguid=0x6000
Switch	4 "S2"	# "second switch" base port 0 lid 0 lmc 0
[3]	"S1"[5]
[4]	"A"[2]

caguid=0xa000
Hca	2 "A"	# "host A"
[1]	"S1"[1]
[2]	"S2"[4]

caguid=0xb000
Hca	1 "B"	# "host B"
[1]	"S1"[2]
)";

/// A subnet in which the test sets error counters.
struct faulty_subnet : counted_subnet {
    faulty_subnet() : counted_subnet(described) {}

    /// Sets errors of both switches and both hosts, at ports with and without a cable.
    void set_errors() {
        set("\"S1\"[3]", "PortCounters.SymbolErrorCounter", 20);
        set("\"S1\"[3]", "PortCounters.PortXmitDiscards", 5);
        set("\"S1\"[3]", "PortCounters.PortRcvErrors", 6);
        set("\"S1\"[1]", "PortCounters.PortRcvSwitchRelayErrors", 7);
        set("\"S1\"[4]", "PortCounters.PortXmitWait", 4'000'000'000);
        set("\"S2\"[4]", "PortCounters.LinkDownedCounter", 255);
        set("\"A\"[2]", "PortCounters.VL15Dropped", 2);
        set("\"B\"[1]", "PortCounters.ExcessiveBufferOverrunErrors", 15);
    }
    /// Sets values close to the limits between units.
    void set_data() {
        const char* fields[] = {"PortXmitData",          "PortRcvData",         "PortXmitPkts",
                                "PortRcvPkts",           "PortUnicastXmitPkts", "PortUnicastRcvPkts",
                                "PortMultiCastXmitPkts", "PortMultiCastRcvPkts"};
        const std::uint64_t values[] = {256, 257, 1023, 1024, 1'048'575, 5'000'000'000'000, 999, 1};
        for (std::size_t i = 0; i < std::size(fields); ++i)
            set("\"S1\"[3]", std::string("PortCountersExtended.") + fields[i], values[i]);
        set("\"S1\"[4]", "PortCountersExtended.PortXmitData", 3'000'000'000);
    }
};

/// Returns the sections of the report with their headings, and the summary last. The sections are sorted, because
/// infiniband-diags prints nodes in another order.
std::multiset<std::string> stanzas_of(const std::string& text) {
    std::multiset<std::string> all;
    std::string stanza;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const bool is_first = line.empty() || line.starts_with("Errors") || line.starts_with("Data");
        if (is_first && !stanza.empty()) all.insert(std::exchange(stanza, {}));
        stanza += line + '\n';
    }
    all.insert(stanza);
    return all;
}

/// Returns the lines of the ports without a cable, with their details.
std::string uncabled(const std::string& text) {
    std::string kept;
    std::istringstream in(text);
    bool is_kept = false;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("       ")) // indented lines describe the peer of a port
            is_kept = line.starts_with("   GUID 0x5000 port 3") || line.starts_with("   GUID 0x5000 port 4");
        if (is_kept) kept += line + '\n';
    }
    return kept;
}

/// The results of both programs.
struct both {
    process_result theirs, ours;
};

/// Runs both programs, which must exit with equal status.
both query_both(const subnet& s, const words& options) {
    const words command = words{"ibqueryerrors"} + options;
    both b{s.peer(command), s.ours(command)};
    CHECK(b.ours.err.empty());
    CHECK(b.ours.status == b.theirs.status);
    return b;
}

/// Checks that both programs print equal sections and exit with this status.
void compare_stanzas(const subnet& s, const words& options, int status) {
    CAPTURE(options);
    const both b = query_both(s, options);
    INFO("theirs:\n" << b.theirs.out << b.theirs.err);
    REQUIRE(b.theirs.status == status);
    CHECK(stanzas_of(b.ours.out) == stanzas_of(b.theirs.out));
}

/// Returns the line of a label; empty if it is missing.
std::string line_of(const std::string& text, const std::string& label) {
    const std::size_t begin = text.find(label + ":");
    return begin == text.npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
}

/// Returns the JSON objects that a command printed, one per line.
std::vector<nlohmann::json> lines_as_json(const process_result& r) {
    std::vector<nlohmann::json> lines;
    std::istringstream in(r.out);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
}

/// Returns the number of MADs that a command with -v reports.
unsigned mads_of(const process_result& r) {
    CAPTURE(r.err);
    const std::size_t at = r.err.find(" MADs sent");
    REQUIRE(at != r.err.npos);
    return static_cast<unsigned>(std::stoul(r.err.substr(r.err.rfind('\n', at) + 1)));
}

} // namespace

TEST_CASE("ibqueryerrors prints what infiniband-diags' ibqueryerrors prints") {
    faulty_subnet s;
    compare_stanzas(s, {"--skip-sl"}, 0);
    s.set_errors();
    for (const words& options : {words{},
                                 {"-c"},
                                 {"--suppress-common", "-r"},
                                 {"-s", "SymbolErrorCounter,PortXmitWait"},
                                 {"-s", "SymbolErrorCounter", "-c", "-s", "VL15Dropped"},
                                 {"--suppress", "LinkDownedCounter,PortXmitData", "-c"},
                                 {"--switch"},
                                 {"--ca"},
                                 {"--ca", "--switch"},
                                 {"--report-port"},
                                 {"-R", "-o", "4"}})
        compare_stanzas(s, words{"--skip-sl"} + options, 1);
    // Only under its own name, ibtool refuses options that select no node.
    const std::string link = s.files() / "ibqueryerrors";
    std::filesystem::create_symlink(std::filesystem::absolute(ibtool_program()), link);
    const process_result no_router = run_process({link, "--skip-sl", "--router", "--fabric", s.fabric()});
    check_success(no_router);
    CHECK(stanzas_of(no_router.out) == stanzas_of(s.peer({"ibqueryerrors", "--skip-sl", "--router"}).out));

    // Parts of the subnet. For a GUID, infiniband-diags first queries the SA without success and then searches the
    // subnet.
    compare_stanzas(s, {"--skip-sl", "--port-guid", "0xa002"}, 1);
    compare_stanzas(s, {"--skip-sl", "-D", "0,2"}, 1);
    compare_stanzas(s, {"--skip-sl", "--Direct", "0", "-r"}, 1);
    const std::string by_guid = s.ours({"ibqueryerrors", "--skip-sl", "-G", "0x6000"}).out;
    for (const words& part : {words{"-S", "0x6000"}, {"-D", "0,5"}})
        CHECK(s.ours(words{"ibqueryerrors", "--skip-sl"} + part).out == by_guid);
    CHECK_THAT(by_guid, StartsWith("Errors for 0x6000 \"second switch\"\n"));

    const std::string names = s.files().write("names", "0x5000 \"spine, by its map\"\n0xa000 \"a host\"\n");
    compare_stanzas(s, {"--skip-sl", "--node-name-map", names}, 1);
    const std::string thresholds = s.files().write("thresholds", "# ours\nSymbolErrorCounter=19\n\nPortRcvErrors=6\n"
                                                                 "VL15Dropped=0x2\nPortXmitWait=4000000000\n");
    compare_stanzas(s, {"--skip-sl", "--threshold-file", thresholds}, 1);
    // The sum of a switch exceeds a threshold, although none of its ports does.
    s.set("\"S1\"[4]", "PortCounters.SymbolErrorCounter", 19);
    const std::string sum = s.files().write("sum", "SymbolErrorCounter=20\n");
    compare_stanzas(
        s, {"--skip-sl", "-D", "0", "--threshold-file", sum, "-c", "-s", "PortXmitDiscards,PortRcvErrors,PortXmitWait"},
        0);
}

TEST_CASE("ibqueryerrors prints data and packets in the units of infiniband-diags") {
    faulty_subnet s;
    s.set_errors();
    s.set_data();
    for (const words& options : {words{"--data"}, {"--counters"}, {"--counters", "-r"}, {"--data", "--report-port"}}) {
        CAPTURE(options);
        const both b = query_both(s, words{"--skip-sl"} + options);
        CHECK_THAT(b.theirs.out, Contains("(4.547T)") && Contains("(1024.000B)"));
        CHECK(uncabled(b.ours.out) == uncabled(b.theirs.out));
    }
    // Compares the headings and the summary, and the number of ports.
    const both b = query_both(s, {"--skip-sl", "--counters", "--ca"});
    const auto is_number = [](const std::string& line) { return line.starts_with("   GUID"); };
    auto theirs = lines_of(b.theirs.out), ours = lines_of(b.ours.out);
    CHECK(std::erase_if(theirs, is_number) == 3);
    CHECK(std::erase_if(ours, is_number) == 3);
    CHECK(ours == theirs);
}

TEST_CASE("ibqueryerrors prints error causes by their right names, which infiniband-diags 44 mixes up") {
    faulty_subnet s;
    s.set_errors();
    s.set("\"S1\"[3]", "PortXmitDiscardDetails.PortNeighborMTUDiscards", 3);
    s.set("\"S1\"[3]", "PortXmitDiscardDetails.PortSwLifetimeLimitDiscards", 2);
    s.set("\"S1\"[3]", "PortRcvErrorDetails.PortLocalPhysicalErrors", 4);
    s.set("\"S1\"[3]", "PortRcvErrorDetails.PortLoopingErrors", 2);
    const process_result r = s.ours({"ibqueryerrors", "--skip-sl", "--details", "-G", "0x5000", "-c"});
    CHECK(r.status == 1);
    CHECK_THAT(r.out, Contains("   GUID 0x5000 port 3: [SymbolErrorCounter == 20] [PortRcvErrors == 6] "
                               "[PortLocalPhysicalErrors == 4] [PortLoopingErrors == 2] [PortXmitDiscards == 5] "
                               "[PortNeighborMTUDiscards == 3] [PortSwLifetimeLimitDiscards == 2]\n"));
    CHECK_THAT(r.out,
               Contains(" port ALL: [SymbolErrorCounter == 20] [PortRcvErrors == 6] [PortLocalPhysicalErrors == 4]"));
    CHECK_THAT(r.out, Contains(" port 4: [PortXmitWait == 4000000000]\n"));
}

TEST_CASE("ibqueryerrors clears only the requested counters, as infiniband-diags' ibqueryerrors does") {
    faulty_subnet s;
    const std::string here = s.lid_at("0"), host = s.lid_at("0,2");
    const auto set_all = [&] {
        s.set_errors();
        s.set_data();
        s.set("\"S1\"[3]", "PortCounters.PortXmitData", 70);
        s.set("\"S1\"[3]", "PortXmitDiscardDetails.PortNeighborMTUDiscards", 3);
        s.set("\"S1\"[3]", "PortRcvErrorDetails.PortLoopingErrors", 3);
    };
    // Returns the counters of the ports without a cable, which do not count the MADs of the test, and one counter of a
    // host.
    const auto left = [&] {
        std::string text;
        for (const char* group : {"-L", "-x", "-D", "-E"}) text += s.ours({"perfquery", "-l", group, here, "3-4"}).out;
        return text + line_of(s.ours({"perfquery", host, "1"}).out, "ExcessiveBufferOverrunErrors");
    };
    set_all();
    const std::string before = left();
    CHECK(s.ours({"ibqueryerrors", "--skip-sl", "--details", "--data"}).status == 1);
    CHECK(left() == before);
    std::set<std::string> different;
    for (const words& options : {words{"-k"},
                                 {"-K"},
                                 {"--clear-errors", "--clear-counts"},
                                 {"-k", "--details"},
                                 {"-k", "--ca"},
                                 {"-K", "--counters"}}) {
        CAPTURE(options);
        const words command = words{"ibqueryerrors", "--skip-sl"} + options;
        set_all();
        const int status = s.peer(command).status;
        const std::string theirs = left();
        set_all();
        // ibsim does not clear PortRcvPkts of PortCountersExtended, and infiniband-diags does not detect this.
        const bool clears_counts = options[0] != "-k";
        const process_result ours = s.ours(command);
        CHECK(ours.status == (clears_counts ? 3 : status));
        CHECK((ours.err.find("not cleared: portRcvPkts is ") != ours.err.npos) == clears_counts);
        CHECK(left() == theirs);
        CHECK(theirs != before);
        different.insert(theirs);
    }
    CHECK(different.size() == 5);
}

TEST_CASE("ibqueryerrors without an SA prints everything except the service levels") {
    const faulty_subnet s;
    const process_result theirs = s.peer({"ibqueryerrors"});
    CHECK(theirs.out.empty()); // infiniband-diags exits with 0
    const process_result r = s.ours({"ibqueryerrors", "--timeout", "100ms", "--retries", "0"});
    CHECK(r.status == 0);
    CHECK_THAT(r.out, Contains("## Summary: 4 nodes checked, 0 bad nodes found\n"));
    CHECK_THAT(r.err, StartsWith("ibtool: cannot read the service levels from the SA: ") && Contains("did not reply"));
}

TEST_CASE("ibqueryerrors --json prints the values of the text by their IBA names") {
    faulty_subnet s;
    s.set_errors();
    s.set("\"S1\"[3]", "PortXmitDiscardDetails.PortNeighborMTUDiscards", 3);
    const process_result r = s.ours({"ibqueryerrors", "--skip-sl", "--json", "--details", "-r", "-c"});
    CHECK(r.status == 1);
    const auto lines = lines_as_json(r);
    REQUIRE(lines.size() == 8); // S1: sum, two ports; S2: sum, one port; A and B: one port; summary
    std::map<std::string, nlohmann::json> by_place;
    for (const auto& line : lines)
        if (line.contains("port"))
            by_place[fmt::format("{}/{}", line["description"].get<std::string>(), line["port"].get<int>())] = line;
    REQUIRE(by_place.size() == 7);
    const auto& worst = by_place["first switch/3"];
    CHECK(worst["errors"] ==
          nlohmann::json({{"symbolErrorCounter", 20}, {"portRcvErrors", 6}, {"portXmitDiscards", 5}}));
    CHECK(worst["details"]["portNeighborMTUDiscards"] == 3);
    CHECK(worst["link"]["portState"] == "Down");
    CHECK(worst["nodeType"] == "Switch");
    CHECK(worst["portGUID"] == "0000:0000:0000:5000");
    CHECK_FALSE(worst.contains("pegged"));
    CHECK(by_place["first switch/255"]["errors"]["portXmitWait"] == 4'000'000'000);
    CHECK(by_place["second switch/4"]["errors"] == nlohmann::json({{"linkDownedCounter", 255}}));
    CHECK(by_place["second switch/4"]["pegged"] == nlohmann::json({"linkDownedCounter"}));
    CHECK(by_place["second switch/4"]["link"]["peer"]["description"] == "host A");
    CHECK(by_place["host A/2"]["errors"] == nlohmann::json({{"VL15Dropped", 2}}));
    CHECK(by_place["host B/1"]["pegged"] == nlohmann::json({"excessiveBufferOverrunErrors"}));
    const auto& all = lines.back();
    CHECK(all["nodes"] == 4);
    CHECK(all["bad_nodes"] == 4);
    CHECK(all["ports"] == 14);
    CHECK(all["bad_ports"] == 5);
    CHECK(all["failures"] == 0);
    CHECK(all["suppressed"] == nlohmann::json({"portRcvSwitchRelayErrors"}));
    const auto data = lines_as_json(s.ours({"ibqueryerrors", "--skip-sl", "--json", "--counters", "--ca"}));
    REQUIRE(data.size() == 4);
    CHECK(data[0]["data"]["portXmitData"] > 0);
    CHECK_FALSE(data[0].contains("errors"));
}

TEST_CASE("ibqueryerrors requests the service levels of all nodes or of the given node from the SA") {
    const words command{"ibqueryerrors", "-v", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
    for (const words& part : {words{}, {"-D", "0,1"}}) {
        const process_result with = run(command + part), without = run(command + part + words{"--skip-sl"});
        CHECK(with.status == 0);
        CHECK(with.out == without.out);
        CHECK(mads_of(with) > mads_of(without));
        CHECK_THAT(with.err, !Contains("service levels"));
    }
}

TEST_CASE("ibqueryerrors sends one MAD to a switch without errors, and one more per port with errors") {
    const std::string clean = "sim:fattree2,radix=8,sm=1,time=virtual"; // 12 switches with 8 ports, and 32 hosts
    const unsigned discovery = mads_of(run({"ibnetdiscover", "-v", "--fabric", clean}));
    const auto queries_of = [&](const std::string& fabric, const words& options = {}) {
        return mads_of(run(words{"ibqueryerrors", "--skip-sl", "-v", "--fabric", fabric} + options)) - discovery;
    };
    CHECK(queries_of(clean) == 44 + 12 + 32);
    CHECK(queries_of(clean + ",pma=basic") == 44 + 12 * 8 + 32);
    CHECK(queries_of(clean, {"--switch"}) == 12 + 12);
    CHECK(queries_of(clean, {"--counters"}) == 44 + 12 * 8 + 32);
    // If errors and data are in two attributes, ibqueryerrors queries only the one that it needs.
    CHECK(queries_of(clean + ",pma=all+wide+unicast") == 44 + 12 + 32);
    CHECK(queries_of(clean + ",pma=all+wide+unicast", {"--counters", "--ca"}) == 32 + 32);
    CHECK(queries_of(clean + ",counters=3") == 44 + 12 + 12 * 8 + 32);
    CHECK(queries_of(clean, {"-k"}) == 44 + 12 + 32 + 2 * 44);
}

TEST_CASE("ibqueryerrors prints a unit for 64-bit counters") {
    const words command{"ibqueryerrors", "--skip-sl", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,counters=3"};
    const process_result r = run(command);
    CHECK(r.status == 1);
    const auto lines = lines_as_json(run(command + words{"--json"}));
    std::size_t small = 0, large = 0;
    for (const auto& line : lines) {
        if (!line.contains("errors")) continue;
        const auto discards = line["errors"].value("portXmitDiscards", std::uint64_t{0});
        const auto waits = line["errors"].value("portXmitWait", std::uint64_t{0});
        if (discards > 0 && discards < 1024) {
            CHECK_THAT(r.out, Contains(fmt::format(" [PortXmitDiscards == {0} ({0}.000)]", discards)));
            ++small;
        }
        if (waits >= 1024 && waits < 1024 * 1024) {
            CHECK_THAT(r.out, Contains(fmt::format(" [PortXmitWait == {} ({:.3f}K)]", waits,
                                                   static_cast<float>(waits) / 1024)));
            ++large;
        }
    }
    CHECK(small > 0);
    CHECK(large > 0);
}

TEST_CASE("ibqueryerrors names what is missing, prints the rest and exits with 3") {
    const words command{"ibqueryerrors", "--skip-sl", "--fabric"};
    const process_result dead = run(command + words{"sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"});
    CHECK(dead.status == 3);
    CHECK_THAT(dead.out, Contains("## Summary: 13 nodes checked, 0 bad nodes found\n"));
    CHECK_THAT(dead.err, StartsWith("ibtool: "));

    // A node that stops replying after its discovery and before its counters are queried.
    const std::string far = "sim:fattree2,radix=4,sm=1,time=virtual,latency=1ms";
    const process_result found = run({"ibnetdiscover", "-v", "--fabric", far});
    const std::size_t end = found.err.find(" s of virtual time");
    REQUIRE(end != found.err.npos);
    const double seconds = std::stod(found.err.substr(found.err.rfind(' ', end - 1) + 1));
    const process_result died = run(command + words{fmt::format("{},kill=h-0008 HCA-1@{}ms", far, 1000 * seconds + 1)});
    CHECK(died.status == 3);
    CHECK_THAT(died.out, Contains("## Summary: 13 nodes checked") && Contains("##          1 PMA query failures\n"));
    CHECK_THAT(died.err, Contains("\"h-0008 HCA-1\"[1]: ") && Contains("timed out"));
    CHECK(std::count(died.err.begin(), died.err.end(), '\n') == 1);

    // Without a subnet manager no port has a LID.
    const process_result unmanaged = run(command + words{"sim:fattree2,radix=4,time=virtual"});
    CHECK(unmanaged.status == 3);
    CHECK_THAT(unmanaged.out,
               Contains("## Summary: 0 nodes checked") && Contains("##          14 PMA query failures\n"));
    CHECK_THAT(unmanaged.err, Contains("no LID"));
}

// The list contains old names of libibmad, which Oracle's advice for Exadata still uses, and names that no version
// knows.
TEST_CASE("ibqueryerrors accepts older counter names to suppress and ignores unknown names") {
    const words command{"ibqueryerrors", "--fabric",
                        "sim:fattree2,radix=4,sm=1,time=virtual,traffic=1000,errors=1:50,counters=3"};
    const auto suppressed = [&](const std::string& names) { return run(command + words{"-s", names}); };
    const process_result all = run(command);
    REQUIRE_THAT(all.out, Contains("[SymbolErrorCounter == ") && Contains("[PortRcvErrors == ") &&
                              Contains("[PortXmitDiscards == ") && Contains("[PortXmitWait == "));
    const process_result some = suppressed("RcvSwRelayErrors,XmtDiscards,XmtWait,VL15Dropped");
    CHECK(some.err.empty());
    CHECK_THAT(some.out,
               Contains("[SymbolErrorCounter == ") && Contains("[PortRcvErrors == ") &&
                   !Contains("[PortXmitDiscards == ") && !Contains("[PortXmitWait == ") &&
                   Contains("## Suppressed: PortRcvSwitchRelayErrors PortXmitDiscards PortXmitWait VL15Dropped"));
    const process_result none = suppressed(
        "SymbolErrors,LinkRecovers,LinkDowned,RcvErrors,RcvRemotePhysErrors,RcvSwRelayErrors,XmtDiscards,"
        "XmtConstraintErrors,RcvConstraintErrors,LinkIntegrityErrors,ExcBufOverrunErrors,VL15Dropped,XmtWait");
    CHECK(none.status == 0);
    CHECK_THAT(none.out, Contains(", 0 ports have errors beyond threshold"));
    const process_result unknown = suppressed("1,SymbolErrorCounter");
    CHECK(unknown.status == 1);
    CHECK(unknown.err == "ibtool: --suppress: unknown counter '1'; it is ignored\n");
    CHECK(unknown.out == suppressed("SymbolErrorCounter").out);
}

TEST_CASE("ibqueryerrors refuses options that together select no node") {
    const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual"; // hosts have names like `h-0001 HCA-1`
    for (const words& none : {words{"--switch", "--name", "h-*"},
                              {"--switch", "--type", "ca"},
                              {"--ca", "--type", "switch"},
                              {"--ca", "--name", "leaf-*"},
                              {"--router"},
                              {"--router", "--name", "h-*"},
                              {"--switch", "-D", "0"},
                              {"--name", "h-*", "--type", "switch"}}) {
        CAPTURE(none);
        check_failure(run(words{"ibqueryerrors", "--fabric", tree} + none), 1,
                      "the options select no node of the subnet");
    }
    check_success(run({"ibqueryerrors", "--fabric", tree, "--switch", "--ca", "--name", "h-*"}));
    // The nodes that are missing may be switches.
    const process_result partial =
        run({"ibqueryerrors", "--fabric", "sim:single,sm=1,time=virtual,dead=h-0002 HCA-1", "--switch"});
    CHECK(partial.status == 3);
    CHECK_THAT(partial.err, !Contains("select no node"));
}

TEST_CASE("ibqueryerrors refuses invalid arguments") {
    const directory files;
    struct {
        words arguments;
        int code;
        std::string what;
    } const lines[] = {
        {{"--threshold-file", files / "none"}, 1, "cannot read '"},
        {{"--threshold-file", files.write("wrong", "\nSymbolErorCounter=10\n")}, 1, "wrong:2: unknown error counter"},
        {{"-G", "0xdead"}, 1, "the subnet has no port '0xdead'"},
        {{"-D", "0,17"}, 1, "the subnet has no port '0,17'"},
        {{"-G", "0x1", "-D", "0"}, 2, "excludes"},
        {{"--load-cache", "no-such-file"}, 1, "cannot read 'no-such-file'"},
        {{"-o", "0"}, 2, "-o"},
        {{"7"}, 2, "7"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.arguments);
        check_failure(
            run(words{"ibqueryerrors", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"} + line.arguments),
            line.code, line.what);
    }
}

} // namespace ibtool_ibqueryerrors_test
