// SPDX-License-Identifier: MIT
// ibcheck_text_test.cpp - problems of links and counters, in the words of infiniband-diags' ibcheck scripts.
#include "support/catch.hpp"
#include "text/ibcheck_text.hpp"

#include <nlohmann/json.hpp>

namespace checks_test {

using namespace comad;
using namespace ibtool;
using discovery::port_ref;
using discovery::subnet;
using iba::smp::PortInfo;
using json = nlohmann::ordered_json;

namespace {

constexpr port_ref here{0, 1}, there{1, 2};
constexpr port_checks everything{.state = true, .width = true, .speed = true, .addresses = true};

/// Returns a port that runs at its best width and speed, 4x HDR.
PortInfo up() {
    PortInfo p;
    p.portState = iba::PortState::Active;
    p.portPhysicalState = iba::PortPhysicalState::LinkUp;
    p.capabilityMask = 0x4000;   // extended speeds
    p.linkWidthSupported = 0x13; // 1x, 4x, 2x
    p.linkWidthActive = iba::LinkWidth::w4x;
    p.linkSpeedSupported = 7; // up to QDR
    p.linkSpeedActive = iba::LinkSpeed::QDR;
    p.linkSpeedExtSupported = 7; // up to HDR
    p.linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(4);
    p.LID = iba::lid{5};
    p.masterSMLID = iba::lid{1};
    return p;
}

/// A link between port 1 of a switch and port 2 of a CA.
struct cable {
    cable() {
        s.nodes.resize(2);
        s.nodes[0].info.nodeType = iba::NodeType::Switch;
        s.nodes[0].ports.resize(2);
        s.nodes[0].ports[0].info = up();
        s.nodes[1].info.nodeType = iba::NodeType::CA;
        s.nodes[1].ports.resize(3);
        s.nodes[0].ports[1].peer = there;
        s.nodes[1].ports[2].peer = here;
        s.nodes[0].ports[1].info = up();
        s.nodes[1].ports[2].info = up();
    }
    PortInfo& a() { return s.nodes[0].ports[1].info.value(); }
    PortInfo& b() { return s.nodes[1].ports[2].info.value(); }
    /// Returns the findings about the end at the switch.
    std::string text(port_checks which = everything, port_ref of = here) const {
        return text_of({check_result::subject::port, 17, of.port, {}, check_port(s, of, which)}, {});
    }

    subnet s;
};

} // namespace

TEST_CASE("a link at its best common width and speed is reported as good only on request") {
    cable l;
    CHECK(l.text().empty());
    CHECK(l.text(everything, there).empty());
    const check_result good{check_result::subject::port, 17, 1, {}, {}};
    CHECK(text_of(good, {.with_good = true}) == "Port check lid 17 port 1: OK\n");
    CHECK(text_of(good, {.with_good = true, .has_colours = true}) == "Port check lid 17 port 1: \033[1;32mOK\033[0m\n");
}

TEST_CASE("a port that is down is an error without further findings, and a port that is not Active is a warning") {
    cable l;
    l.a().portState = iba::PortState::Initialize;
    CHECK(l.text() == "#warn: Logical link state is Initialize  lid 17 port 1\nPort check lid 17 port 1: FAILED\n");
    CHECK(l.text({.width = true, .speed = true}).empty());
    l.a().portState = iba::PortState::Down;
    l.a().portPhysicalState = iba::PortPhysicalState::Polling;
    l.a().linkWidthActive = iba::LinkWidth::w1x;
    CHECK(l.text() == "#error: Physical link state is Polling  lid 17 port 1\nPort check lid 17 port 1: FAILED\n");
    CHECK(l.text({.width = true}).empty());
}

TEST_CASE("the width is compared with the best width that both ends support, including 2x") {
    cable l;
    l.a().linkWidthActive = iba::LinkWidth::w2x;
    CHECK(l.text() == "#warn: Link configured as 2X, could be 4X  lid 17 port 1\nPort check lid 17 port 1: FAILED\n");
    l.b().linkWidthSupported = 0x11; // 1x and 2x
    CHECK(l.text().empty());
    l.a().linkWidthActive = iba::LinkWidth::w1x;
    CHECK(l.text({.width = true}) ==
          "#warn: Link configured as 1X, could be 2X  lid 17 port 1\nPort check lid 17 port 1: FAILED\n");
    l.b().linkWidthSupported = 1;
    CHECK(l.text().empty());
}

TEST_CASE("the speed is compared with the best speed that both ends support, from FDR10 to XDR") {
    cable l;
    l.a().linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(2);
    CHECK(l.text() == "#warn: Link runs at 25.78125 Gbps, could be 53.125 Gbps  lid 17 port 1\n"
                      "Port check lid 17 port 1: FAILED\n");
    CHECK(l.text({.state = true, .width = true}).empty());
    l.b().linkSpeedExtSupported = 3;
    CHECK(l.text().empty());
    // Both ends support XDR, but the link runs at NDR.
    l = cable();
    for (PortInfo* p : {&l.a(), &l.b()}) {
        p->linkSpeedExtSupported = 0xf;
        p->linkSpeedExtSupported2 = 1;
        p->linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(8);
    }
    CHECK(l.text({.speed = true}) == "#warn: Link runs at 106.25 Gbps, could be 212.5 Gbps  lid 17 port 1\n"
                                     "Port check lid 17 port 1: FAILED\n");
    // FDR10 reports QDR; both ends support FDR10.
    l = cable();
    for (PortInfo* p : {&l.a(), &l.b()}) {
        p->capabilityMask = 0;
        p->linkSpeedExtActive = iba::LinkSpeedExt::none;
    }
    l.s.nodes[0].ports[0].info->capabilityMask = 0;
    CHECK(l.text().empty());
    l.s.nodes[0].ports[1].fdr10_supported = l.s.nodes[1].ports[2].fdr10_supported = true;
    CHECK_FALSE(l.text().empty());
    l.s.nodes[0].ports[1].fdr10 = true;
    CHECK(l.text().empty());
}

TEST_CASE("the width is compared only with 1x if the peer is unknown") {
    cable l;
    CHECK(is_comparable(l.s, here));
    l.s.nodes[1].ports[2].info.reset();
    CHECK_FALSE(is_comparable(l.s, here));
    l.a().linkWidthActive = iba::LinkWidth::w2x;
    CHECK(l.text().empty());
    l.a().linkWidthActive = iba::LinkWidth::w1x;
    CHECK(l.text() == "#warn: Link configured as 1X  lid 17 port 1\nPort check lid 17 port 1: FAILED\n");
    l.a().linkWidthSupported = 1;
    CHECK(l.text().empty());
    l.a().portState = iba::PortState::Down;
    CHECK(is_comparable(l.s, here)); // a port that is down needs no comparison
    CHECK(is_comparable(l.s, {0, 0}));
}

TEST_CASE("addresses belong to end ports, which are CA ports and port 0 of a switch") {
    cable l;
    for (discovery::node& n : l.s.nodes)
        for (discovery::port& p : n.ports)
            if (p.info) p.info->LID = p.info->masterSMLID = iba::lid{};
    CHECK(l.text().empty());
    const std::string both =
        "#warn: Lid is not configured lid 17 port {}\n#warn: SM Lid is not configured lid 17 port {}\n"
        "Port check lid 17 port {}: FAILED\n";
    const auto with_port = [&](char port) {
        std::string text = both;
        for (std::size_t at; (at = text.find("{}")) != text.npos;) text.replace(at, 2, 1, port);
        return text;
    };
    CHECK(l.text(everything, there) == with_port('2'));
    CHECK(l.text(everything, {0, 0}) == with_port('0'));
    CHECK(l.text({.state = true}, there).empty());
}

TEST_CASE("counters above their threshold and saturated counters are reported") {
    iba::pm::PortCounters values;
    values.symbolErrorCounter = 10;
    values.portRcvErrors = 11;
    values.portXmitDiscards = 100;
    values.VL15Dropped = 101;
    values.portXmitData = 4'000'000'000;
    values.localLinkIntegrityErrors = 15; // the largest value of its 4 bits
    counters::counter_values counters;
    counters.take(values, {});
    error_thresholds limits = default_thresholds();
    const check_result v{check_result::subject::errors, 7, 3, "leaf 1", check_counters(counters, limits)};
    CHECK(text_of(v, {}) == "#warn: counter PortRcvErrors = 11 \t(threshold 10) lid 7 port 3\n"
                            "#warn: counter LocalLinkIntegrityErrors = 15 \t(threshold 10) lid 7 port 3\n"
                            "#warn: counter VL15Dropped = 101 \t(threshold 100) lid 7 port 3\n"
                            "Error check on lid 7 (leaf 1) port 3: FAILED\n");
    CHECK(text_of(v, {.with_complaints = false, .has_colours = true}) ==
          "Error check on lid 7 (leaf 1) port 3: \033[1;31mFAILED\033[0m\n");
    CHECK(json_of(v)["findings"].size() == 3);
    CHECK(json_of(v)["findings"][0] == json::parse(R"({"severity": "warning", "attribute": "portRcvErrors", "is": "11",
                                                       "expected": "10"})"));
    limits.set(counters::counter::localLinkIntegrityErrors, 20);
    limits.set(counters::counter::portRcvErrors, 0); // 0 permits every value
    limits.set(counters::counter::VL15Dropped, 101);
    REQUIRE(check_counters(counters, limits).size() == 1);
    CHECK(check_counters(counters, limits)[0].about == "localLinkIntegrityErrors");
    const check_result sum{check_result::subject::errors, 7, 255, "leaf 1", {}};
    CHECK(text_of(sum, {.with_good = true}) == "Error check on lid 7 (leaf 1) port all: OK\n");
}

TEST_CASE("each member of a finding and its check has the right value") {
    using enum complaint::severity;
    const complaint one{warning, "its text ", "its attribute", "what it is", "what it should be"},
        other{error, "another ", "another attribute", "that", "this"};
    const check_result node{check_result::subject::node, 17, 3, "its name", {one, other}, iba::guid{0x17}};
    CHECK(text_of(node, {}) == "#warn: its text  lid 17\n#error: another  lid 17\nNode check lid 17: FAILED\n");
    const json findings = json::parse(R"([
        {"severity": "warning", "attribute": "its attribute", "is": "what it is", "expected": "what it should be"},
        {"severity": "error", "attribute": "another attribute", "is": "that", "expected": "this"}])");
    CHECK(json_of(node) == json{{"check", "node"},
                                {"nodeGUID", "0000:0000:0000:0017"},
                                {"description", "its name"},
                                {"LID", 17},
                                {"ok", false},
                                {"findings", findings}});
    const check_result port{check_result::subject::port, 17, 3, {}, {}}; // the node of the port is unknown
    CHECK(json_of(port) ==
          json{{"check", "port"}, {"LID", 17}, {"port", 3}, {"ok", true}, {"findings", json::array()}});
    CHECK(json_of({check_result::subject::errors, 17, 255, "", {}})["check"] == "errors");

    // Each finding contains the actual and the expected value.
    cable l;
    l.a().linkWidthActive = iba::LinkWidth::w2x;
    l.a().linkSpeedExtActive = iba::LinkSpeedExt::EDR;
    l.b().portState = iba::PortState::Armed;
    const auto findings_at = [&](port_ref r) {
        return json_of({check_result::subject::port, 17, 1, {}, check_port(l.s, r, everything)})["findings"];
    };
    CHECK(findings_at(here) == json::parse(R"([
        {"severity": "warning", "attribute": "linkWidthActive", "is": "2X", "expected": "4X"},
        {"severity": "warning", "attribute": "linkSpeedActive", "is": "25.78125 Gbps", "expected": "53.125 Gbps"}])"));
    l.b().LID = l.b().masterSMLID = {};
    CHECK(findings_at(there) == json::parse(R"([
        {"severity": "warning", "attribute": "portState", "is": "Armed", "expected": "Active"},
        {"severity": "warning", "attribute": "LID", "is": "0", "expected": "a LID"},
        {"severity": "warning", "attribute": "masterSMLID", "is": "0", "expected": "a LID"}])"));
    l.b().portPhysicalState = iba::PortPhysicalState::Polling;
    CHECK(findings_at(there)[0] == json::parse(R"(
        {"severity": "error", "attribute": "portPhysicalState", "is": "Polling", "expected": "LinkUp"})"));
}

TEST_CASE("the default thresholds equal the thresholds of infiniband-diags' scripts") {
    CHECK(format_thresholds(default_thresholds(), false) == "SymbolErrorCounter=10\n"
                                                            "LinkErrorRecoveryCounter=10\n"
                                                            "LinkDownedCounter=10\n"
                                                            "PortRcvErrors=10\n"
                                                            "PortRcvRemotePhysicalErrors=100\n"
                                                            "PortRcvSwitchRelayErrors=100\n"
                                                            "PortXmitDiscards=100\n"
                                                            "PortXmitConstraintErrors=100\n"
                                                            "PortRcvConstraintErrors=100\n"
                                                            "LocalLinkIntegrityErrors=10\n"
                                                            "ExcessiveBufferOverrunErrors=10\n"
                                                            "VL15Dropped=100\n");
    CHECK(json::parse(format_thresholds(default_thresholds(), true)).size() == 12);
}

} // namespace checks_test
