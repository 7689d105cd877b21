// SPDX-License-Identifier: MIT
// sweep_ibsim_test.cpp - a sweep compared with infiniband-diags' perfquery for every port of an ibsim subnet with counters
// set by the test.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <sstream>

using namespace ibtool_rig;
using nlohmann::json;

namespace {

/// Returns a text in lower case.
std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// The values of lines such as `Name:....7`, by their names in lower case.
using numbers = std::map<std::string, std::uint64_t>;

/// Returns the values of a text of infiniband-diags.
numbers dotted_in(const std::string& text) {
    numbers all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(":.");
        if (line[0] != '#' && colon != std::string::npos)
            all[lower(line.substr(0, colon))] =
                std::stoull(line.substr(line.find_first_not_of(":.", colon)), nullptr, 0);
    }
    return all;
}

const std::map<std::string, words> settable{
    {"PortCounters",
     {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
      "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors",
      "PortRcvConstraintErrors", "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped",
      "PortXmitWait"}},
    {"PortCountersExtended",
     {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortUnicastXmitPkts", "PortUnicastRcvPkts",
      "PortMultiCastXmitPkts"}},
    {"PortXmitDiscardDetails",
     {"PortInactiveDiscards", "PortNeighborMTUDiscards", "PortSwLifetimeLimitDiscards",
      "PortSwHOQLifetimeLimitDiscards"}},
    {"PortRcvErrorDetails",
     {"PortLocalPhysicalErrors", "PortMalformedPacketErrors", "PortBufferOverrunErrors", "PortDLIDMappingErrors",
      "PortVLMappingErrors", "PortLoopingErrors"}},
};

/// Returns our name for a field. Two fields have different names in ibsim, in infiniband-diags and in the IBA.
std::string our_name(std::string field) {
    if (field == "PortSwHOQLifetimeLimitDiscards") return "portSwHOQLimitDiscards";
    field[0] = 'p';
    return field;
}
/// Returns infiniband-diags' name for a field.
std::string perfquery_name(const std::string& field) {
    return field == "PortMalformedPacketErrors" ? "PortMalformedPktErrors" : field;
}

/// Returns perfquery's values of a port for one attribute.
numbers peers(const subnet& s, const json& port, const words& how) {
    const process_result r =
        s.peer(words{"perfquery"} + how +
               words{std::to_string(port.at("LID").get<int>()), std::to_string(port.at("port").get<int>())});
    CAPTURE(r.out, r.err);
    REQUIRE(r.status == 0);
    return dotted_in(r.out);
}

/// Returns the ports of a sweep with their counters.
std::vector<json> swept(const subnet& s) {
    const process_result r =
        s.ours({"sweep", "--json", "--details", "PortRcvErrorDetails", "--details", "PortXmitDiscardDetails"});
    check_success(r);
    std::vector<json> ports;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) {
        const json o = json::parse(line);
        if (o.contains("counters")) ports.push_back(o);
    }
    return ports;
}

/// Returns the name of a port on ibsim's console.
std::string place_of(const json& port) {
    const std::map<std::string, std::string> names{{"0000:0000:0000:5000", "S1"},
                                                   {"0000:0000:0000:6000", "S2"},
                                                   {"0000:0000:0000:a000", "A"},
                                                   {"0000:0000:0000:b000", "B"},
                                                   {"0000:0000:0000:c000", "C"}};
    return fmt::format("\"{}\"[{}]", names.at(port.at("nodeGUID")), port.at("port").get<int>());
}

} // namespace

TEST_CASE("a sweep reads the counter values that infiniband-diags reads from every port") {
    subnet s(topology, manager::leaves);
    const std::vector<json> before = swept(s);
    REQUIRE(before.size() == 20 + 4 + 3);
    unsigned value = 0;
    for (const json& port : before) {
        for (const auto& [group, fields] : settable) {
            for (const std::string& field : fields) {
                // Some counters have four bits and some have eight. 64-bit counters get values that do not fit into
                // smaller counters.
                const std::uint64_t wide = group == "PortCountersExtended" ? 5'000'000'000 : 0;
                s.console(fmt::format("PerformanceSet {} {}.{}={}", place_of(port), group, field, wide + ++value % 15));
            }
        }
    }

    std::vector<numbers> at_first;
    for (const json& port : before) at_first.push_back(peers(s, port, {"-x"}));
    const std::vector<json> ours = swept(s);
    REQUIRE(ours.size() == before.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const json& port = ours[i];
        CAPTURE(place_of(port));
        // The MADs that read the counters also increase the counters of data and packets.
        const numbers at_last = peers(s, port, {"-x"});
        numbers reported;
        for (const auto& [name, number] : port.at("counters").items()) reported[lower(name)] = number;
        CHECK(at_last.size() > 7);
        for (const auto& [name, number] : at_last) {
            CAPTURE(name);
            if (!reported.contains(name)) continue; // skips portSelect and counterSelect
            CHECK(reported[name] >= at_first[i].at(name));
            CHECK(reported[name] <= number);
            reported.erase(name);
        }
        const numbers plain = peers(s, port, {});
        for (const std::string& field : settable.at("PortCounters")) {
            CAPTURE(field);
            CHECK(reported.at(lower(field)) == plain.at(lower(field)));
            reported.erase(lower(field));
        }
        // infiniband-diags reads another counter as QP1Dropped.
        reported.erase("qp1dropped");
        CHECK(reported.empty());
        for (const auto& [group, option] :
             {std::pair{"PortRcvErrorDetails", "-E"}, std::pair{"PortXmitDiscardDetails", "-D"}}) {
            const numbers theirs = peers(s, port, {option});
            for (const std::string& field : settable.at(group)) {
                CAPTURE(group, field);
                CHECK(port.at("details").at(group).at(our_name(field)) == theirs.at(lower(perfquery_name(field))));
            }
        }
    }
}
