// SPDX-License-Identifier: MIT
// ibqueryerrors_text_test.cpp - each number in the report of ibqueryerrors has the right name, in a subnet whose
// counters are all different. The labels of counters and causes are those of libibmad.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/ibqueryerrors_text.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <infiniband/mad.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace error_report_test {

using namespace comad;
using namespace ibtool;
using counters::counter;
using nlohmann::json;
using test::made_host_port, test::made_switch_port;

namespace {

/// Returns ` [LABEL == NUMBER]` for each field, as libibmad decodes the field.
std::string causes_of(MAD_FIELDS first, MAD_FIELDS last, std::span<const u8> bytes) {
    std::array<u8, 256> buffer{};
    std::ranges::copy(bytes, buffer.begin());
    std::string text;
    for (int f = first; f <= last; ++f)
        text += fmt::format(" [{} == {}]", mad_field_name(static_cast<MAD_FIELDS>(f)),
                            mad_get_field(buffer.data(), 0, static_cast<MAD_FIELDS>(f)));
    return text;
}

/// Sets errors at one port of the switch and at two ports of the host.
struct reported {
    reported() {
        iba::pm::PortCounters errors;
        errors.portRcvErrors = 21;
        errors.portXmitDiscards = 22;
        errors.linkDownedCounter = 7; // equals its threshold, so it is not an error
        errors.VL15Dropped = 24;
        errors.portXmitData = 1000;
        errors.portRcvData = 500'000;
        errors.portXmitPkts = 3000;
        errors.portRcvPkts = 40;
        add(made_switch_port, errors);
        all.ports[0].details = {test::made<iba::pm::PortRcvErrorDetails>(1),
                                test::made<iba::pm::PortXmitDiscardDetails>(2)};
        errors = {};
        errors.symbolErrorCounter = 65535; // saturated
        add({1, 1}, errors);
        errors.symbolErrorCounter = 30;
        add(made_host_port, errors);
        add(test::made_router_port, {});
        all.failures = {{discovery::failure_kind::timeout, s.location_of({0, 1}), {}},
                        {discovery::failure_kind::timeout, s.location_of({0, 2}), {}},
                        {discovery::failure_kind::timeout, s.location_of({0, 4}), {}},
                        {discovery::failure_kind::timeout, s.location_of({0, 4}), {}},
                        {discovery::failure_kind::timeout, s.location_of({0, 4}), {}}};
        rules.thresholds.set(counter::linkDownedCounter, 7);
        rules.thresholds.set(counter::portRcvErrors, 20);
        rules.named = {counter::linkDownedCounter, counter::portRcvErrors};
        rules.suppressed = {counter::VL15Dropped, counter::portXmitWait};
    }
    void add(discovery::port_ref where, const iba::pm::PortCounters& c) {
        counters::reading& r = all.ports.emplace_back();
        r.where = where;
        r.valid = true;
        r.counters.counters.take(c, {});
    }
    std::string text(const report_choice& choice = {}) const { return error_report(s, names, rules, choice).of(all); }
    std::vector<json> lines(report_choice choice) const {
        choice.json = true;
        std::vector<json> found;
        std::istringstream in(text(choice));
        for (std::string line; std::getline(in, line);) found.push_back(json::parse(line));
        return found;
    }
    std::string causes(unsigned which) const {
        if (which == 0) {
            const auto bytes = iba::encode(test::made<iba::pm::PortRcvErrorDetails>(1));
            return causes_of(IB_PC_RCV_LOCAL_PHY_ERR_F, IB_PC_RCV_LOOPING_ERR_F, bytes);
        }
        const auto bytes = iba::encode(test::made<iba::pm::PortXmitDiscardDetails>(2));
        return causes_of(IB_PC_XMT_INACT_DISC_F, IB_PC_XMT_SW_HOL_DISC_F, bytes);
    }

    discovery::subnet s = test::made_subnet();
    discovery::node_names names;
    error_rules rules;
    counters::sweep all;
};

constexpr const char* summary = "\n## Summary: 3 nodes checked, 2 bad nodes found\n"
                                "##          4 ports checked, 3 ports have errors beyond threshold\n"
                                "## Thresholds: [LinkDownedCounter = 7][PortRcvErrors = 20]\n"
                                "##          5 PMA query failures\n"
                                "## Suppressed: VL15Dropped PortXmitWait\n";

} // namespace

TEST_CASE("an error follows its label, and its causes follow the error") {
    const reported r;
    const auto guid = [&](discovery::port_ref p) { return value(r.s.at(p).portGUID); };
    CHECK(r.text() == fmt::format("Errors for 0x{:x} \"made switch\"\n"
                                  "   GUID 0x{:x} port 3: [PortRcvErrors == 21]{} [PortXmitDiscards == 22]{}\n"
                                  "Errors for \"made host\"\n"
                                  "   GUID 0x{:x} port 1: [SymbolErrorCounter == 65535]\n"
                                  "   GUID 0x{:x} port 2: [SymbolErrorCounter == 30]\n",
                                  guid({0, 0}), guid(made_switch_port), r.causes(0), r.causes(1), guid({1, 1}),
                                  guid(made_host_port)) +
                          summary);
}

TEST_CASE("link and data counters follow the errors") {
    const reported r;
    const std::string text = r.text({.data = true, .links = true});
    CHECK_THAT(text, Catch::Contains(" [PortXmitData == 1000 (3.906KB)] [PortRcvData == 500000 (1.907MB)]"
                                     " [PortXmitPkts == 3000 (2.930K)] [PortRcvPkts == 40 (40.000)]\n"));
    CHECK_THAT(text, Catch::Contains(
                         fmt::format("\n       Link info: {:6}   3[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>  "
                                     "0x{:016x} {:6}    2[  ] \"made host\" (Could be 8X 5.0 Gbps at the other end)\n",
                                     value(r.s.nodes[0].ports[0].info->LID), value(r.s.at(made_host_port).portGUID),
                                     value(r.s.at(made_host_port).info->LID))));
}

TEST_CASE("a link with an unknown peer prints no peer name") {
    reported r;
    r.s.nodes[0].ports[made_switch_port.port].peer = {};
    CHECK_THAT(r.text({.links = true}), Catch::Contains("Active/  LinkUp)==>             [  ] \"\" ( )\n"));
}

TEST_CASE("data counters without errors are printed with the GUID of the node") {
    const reported r;
    const u64 GUID = value(r.s.nodes[0].info.nodeGUID);
    CHECK_THAT(r.text({.data_only = true}),
               Catch::StartsWith(fmt::format("Data Counters for 0x{:x} \"made switch\"\n"
                                             "   GUID 0x{:x} port 3: [PortXmitData == 1000 (3.906KB)]",
                                             GUID, GUID)));
}

TEST_CASE("the JSON of an error report has each value under the right name") {
    const reported r;
    const auto lines = r.lines({.data = true, .links = true});
    REQUIRE(lines.size() == 4);
    json port = lines[0];
    CHECK(port["link"]["peer"]["description"] == "made host");
    json details = port["details"];
    const auto received = test::made<iba::pm::PortRcvErrorDetails>(1);
    const auto discarded = test::made<iba::pm::PortXmitDiscardDetails>(2);
    CHECK(details == json{{"portLocalPhysicalErrors", received.portLocalPhysicalErrors},
                          {"portMalformedPacketErrors", received.portMalformedPacketErrors},
                          {"portBufferOverrunErrors", received.portBufferOverrunErrors},
                          {"portDLIDMappingErrors", received.portDLIDMappingErrors},
                          {"portVLMappingErrors", received.portVLMappingErrors},
                          {"portLoopingErrors", received.portLoopingErrors},
                          {"portInactiveDiscards", discarded.portInactiveDiscards},
                          {"portNeighborMTUDiscards", discarded.portNeighborMTUDiscards},
                          {"portSwLifetimeLimitDiscards", discarded.portSwLifetimeLimitDiscards},
                          {"portSwHOQLimitDiscards", discarded.portSwHOQLimitDiscards}});
    port.erase("link");
    port.erase("details");
    CHECK(port ==
          json{{"nodeType", "Switch"},
               {"nodeGUID", fmt::format("{}", r.s.nodes[0].info.nodeGUID)},
               {"description", "made switch"},
               {"portGUID", fmt::format("{}", r.s.at(made_switch_port).portGUID)},
               {"LID", value(r.s.nodes[0].ports[0].info->LID)},
               {"port", 3},
               {"errors", {{"portRcvErrors", 21}, {"portXmitDiscards", 22}}},
               {"data",
                {{"portXmitData", 1000}, {"portRcvData", 500'000}, {"portXmitPkts", 3000}, {"portRcvPkts", 40}}}});
    CHECK(lines[1]["pegged"] == json{"symbolErrorCounter"});
    CHECK_FALSE(lines[2].contains("pegged"));
    CHECK(lines[3] == json{{"schema", "comad.errors/1"},
                           {"nodes", 3},
                           {"bad_nodes", 2},
                           {"ports", 4},
                           {"bad_ports", 3},
                           {"complete", false},
                           {"failures", 5},
                           {"thresholds", {{"linkDownedCounter", 7}, {"portRcvErrors", 20}}},
                           {"suppressed", {"VL15Dropped", "portXmitWait"}}});
    CHECK(r.lines({.data_only = true})[0]["data"]["portXmitPkts"] == 3000);
}

} // namespace error_report_test
