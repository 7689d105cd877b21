// SPDX-License-Identifier: MIT
// discovery_speed_test.cpp - widths and speeds of links: every combination in discoveries, topology files and caches.
// Also speeds that change, with PortInfo responses that are modified in transit.
#include "library/discovery_rig.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/iba/detail/codec.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace discovery_speed_test {

using namespace comad;
using namespace comad::test;
using iba::smp::PortInfo;

namespace {

constexpr std::size_t smp_data = 64; // IBA 14.2.1.1

/// Forwards everything, modifies PortInfo with `retell`, and counts queries for FDR10.
class retelling final : public mad::transport {
public:
    explicit retelling(mad::transport& real) : real_(real) {}

    std::function<void(PortInfo&)> retell = [](PortInfo&) {};
    std::size_t fdr10_queries = 0;

    int native_handle() const noexcept override { return real_.native_handle(); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        fdr10_queries += iba::get<&iba::MADHeader::attributeID>(request.mad) == 0xff90;
        return real_.send(request);
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        const mad::received message = real_.receive(buffer);
        if (message.state != mad::receive_state::message || message.full_size != mad::mad_size ||
            iba::get<&iba::MADHeader::attributeID>(message.mad.data()) != iba::attribute_id<PortInfo>)
            return message;
        u8* const data = buffer.data() + (message.mad.data() - buffer.data()) + smp_data;
        PortInfo info;
        iba::decode(info, data);
        retell(info);
        iba::encode(info, data);
        return message;
    }
    mad::transport_limits limits() const noexcept override { return real_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return real_.next_event(); }
    void set_now(mad::time_point now) noexcept override { real_.set_now(now); }

private:
    mad::transport& real_;
};

topology of_devices_with_fdr10(std::string_view specification, u32 vendor) {
    topology t = managed(specification);
    for (auto& n : t.nodes) {
        n.deviceID = n.is_switch() ? 0xd2f0 : 0x101b; // Quantum, ConnectX-6
        n.vendorID = vendor;
    }
    return t;
}

/// A subnet whose PortInfo responses are modified.
struct retold_world : world {
    explicit retold_world(std::string_view specification, u32 vendor = 0x2c9)
        : world(of_devices_with_fdr10(specification, vendor)), wire(seen), requester(wire, window()) {}

    subnet find() {
        auto found = coro::sync_wait(requester, discovery::discover(requester));
        REQUIRE(found);
        return std::move(found).value();
    }
    std::vector<std::string> look(const subnet& known) {
        std::vector<std::string> texts;
        for (const discovery::change& c : coro::sync_wait(requester, discovery::find_changes(requester, known)))
            texts.push_back(c.text);
        return texts;
    }

    retelling wire;
    coro::MADSchedule requester;
};

// As with real switches, only port 0 and end ports report their capabilities.
constexpr std::string_view tree = "fattree2,radix=4"; // 6 switches of 4 ports, 8 hosts

void run_at_xdr(PortInfo& i) {
    i.linkSpeedActive = iba::LinkSpeed::QDR;
    i.linkSpeedExtActive = iba::LinkSpeedExt::none;
    i.linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR;
}
void run_at_qdr(PortInfo& i) {
    i.linkSpeedActive = iba::LinkSpeed::QDR;
    i.linkSpeedExtActive = iba::LinkSpeedExt::none;
}

} // namespace

TEST_CASE("an XDR link is reported as XDR, and FDR10 is not queried") {
    retold_world w(tree);
    w.wire.retell = run_at_xdr;
    const subnet s = w.find();
    CHECK(s.complete());
    CHECK(w.wire.fdr10_queries == 0);
    CHECK(discovery::format_link_speed(s, {0, s.start_port}) == "XDR");
    CHECK(discovery::format_link_speed(s, s.at({0, s.start_port}).peer) == "XDR");
}

TEST_CASE("both ends of a QDR link are queried for FDR10") {
    retold_world w(tree);
    w.wire.retell = run_at_qdr;
    const subnet s = w.find();
    CHECK(w.wire.fdr10_queries == 2 * s.link_count());
    CHECK(s.complete());
}

TEST_CASE("a device that rejects the FDR10 attribute in spite of its vendor ID causes no failure") {
    retold_world w(tree, 0x1234); // the simulated devices of another vendor reject the attribute with status 0x0c
    w.wire.retell = run_at_qdr;
    const subnet s = w.find();
    CHECK(w.wire.fdr10_queries == 2 * s.link_count());
    CHECK(s.complete());
    for (const discovery::node& n : s.nodes)
        for (const discovery::port& p : n.ports) CHECK_FALSE(p.fdr10);
}

TEST_CASE("a link that fell back from XDR is a change at a switch and at a host") {
    retold_world w(tree);
    w.wire.retell = run_at_xdr;
    subnet known = w.find();
    for (discovery::node& n : known.nodes)
        if (n.is_switch()) n.ports[0].info->capabilityMask2 = 0; // no state table: queries each port
    CHECK(w.look(known).empty());
    w.wire.retell = [](PortInfo& i) {
        run_at_xdr(i);
        i.linkSpeedExtActive2 = {};
        i.linkSpeedExtActive = iba::LinkSpeedExt::NDR;
    };
    // Each port of the six switches, including port 0, and the port of the local host.
    CHECK(w.look(known) == std::vector<std::string>(6 * 5 + 1, "speed changed"));
}

namespace {

constexpr std::string_view every_width[] = {"1x", "2x", "4x", "8x", "12x"};
constexpr std::string_view every_speed[] = {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"};

subnet discovered(topology t) { return world(std::move(t)).discover(); }

topology read(const std::string& text) {
    std::istringstream in(text);
    return transports::sim::read_topology(in, "text");
}

/// Returns each width and speed of the ports with a link, once.
std::set<std::string> links_in(const subnet& s) {
    std::set<std::string> all;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) {
            const discovery::port_ref here{n, static_cast<u8>(p)};
            if (s.at(here).peer)
                all.insert(fmt::format("{}{}", discovery::format_link_width(s.at(here)), format_link_speed(s, here)));
        }
    }
    return all;
}

/// Returns the signaling rate of a lane in Gb/s (IBA volume 2, 5.6; FDR10 by Mellanox).
double gigabits_of(std::string_view speed) {
    static const std::map<std::string_view, double> rates{{"SDR", 2.5},       {"DDR", 5},       {"QDR", 10},
                                                          {"FDR10", 10.3125}, {"FDR", 14.0625}, {"EDR", 25.78125},
                                                          {"HDR", 53.125},    {"NDR", 106.25},  {"XDR", 212.5}};
    return rates.at(speed);
}

} // namespace

TEST_CASE("discovery, topology files and caches preserve every width and speed") {
    for (const std::string_view width : every_width) {
        for (const std::string_view speed : every_speed) {
            const std::set<std::string> expected{fmt::format("{}{}", width, speed)};
            CAPTURE(*expected.begin());
            const subnet first =
                discovered(managed(fmt::format("line,switches=2,hosts=1,width={},speed={}", width, speed)));
            CHECK(first.complete());
            CHECK(links_in(first) == expected);
            for (const bool full : {false, true}) { // -f adds bit masks of the active values
                discovery::topology_options options;
                options.full = full;
                const subnet second = discovered(read(format_topology(first, {}, options)));
                CHECK(links_in(second) == expected);
                CHECK(format_topology(second, {}, {}) == format_topology(first, {}, {}));
            }
            const std::string bytes = cache_bytes(first, {});
            const subnet cached =
                discovery::read_cache({reinterpret_cast<const u8*>(bytes.data()), bytes.size()}).found;
            CHECK(links_in(cached) == expected);
            const discovery::port_ref local{0, first.start_port};
            CHECK(discovery::bits_per_second(first, local) ==
                  1e9 * gigabits_of(speed) * std::stoi(std::string(width.substr(0, width.size() - 1))));
            CHECK(discovery::possible_width(first, local) == iba::LinkWidth{});
            CHECK(discovery::possible_speed(first, local) == 0);
            CHECK_FALSE(discovery::could_be_fdr10(first, local));
            CHECK(nlohmann::json::parse(json_text(first)).at("nodes").at(0).at("ports").at(0).at("linkSpeedActive") ==
                  speed);
            CHECK(format_dot(first, {}).find(fmt::format("tooltip=\"{}\"", *expected.begin())) != std::string::npos);
            CHECK(format_svg(first, {}).find(std::string(speed)) != std::string::npos);
        }
    }
}

TEST_CASE("a topology file with XDR, split ports, a router and FDR10 keeps the width and speed of each link") {
    const std::string text = "vendid=0x2c9\ndevid=0xd2f4\nswitchguid=0x910(910)\n"
                             "Switch\t150 \"S-0910\"\t\t# \"Q3400\" enhanced port 0 lid 8 lmc 0\n"
                             "[1]\t\"H-0100\"[1](101) \t\t# \"h-1\" lid 1 4xXDR\n"
                             "[2]\t\"H-0200\"[1](201) \t\t# \"h-2\" lid 2 2xXDR\n"
                             "[3]\t\"H-0300\"[1](301) \t\t# \"h-3\" lid 3 2xNDR\n"
                             "[149]\t\"R-0928\"[2](929) \t\t# \"Q3400/RT\" lid 9 1xXDR\n"
                             "[150]\t\"S-0a00\"[1]\t\t# \"SX6036\" lid 10 4xQDR\n\n"
                             "vendid=0x2c9\ndevid=0x1023\ncaguid=0x100\nCa\t1 \"H-0100\"\t\t# \"h-1\"\n"
                             "[1](101) \t\"S-0910\"[1]\t\t# lid 1 lmc 0 \"Q3400\" lid 8 4xXDR\n\n"
                             "caguid=0x200\nCa\t1 \"H-0200\"\t\t# \"h-2\"\n\n"
                             "caguid=0x300\nCa\t1 \"H-0300\"\t\t# \"h-3\"\n\n"
                             "rtguid=0x928\nRt\t8 \"R-0928\"\t\t# \"Q3400/RT\"\n"
                             "[2](929) \t\"S-0910\"[149]\t\t# lid 9 lmc 0 \"Q3400\" lid 8 1xXDR\n\n"
                             "vendid=0x2c9\ndevid=0xc738\nswitchguid=0xa00(a00)\n"
                             "Switch\t36 \"S-0a00\"\t\t# \"SX6036\" base port 0 lid 10 lmc 0\n"
                             "[1]\t\"S-0910\"[150]\t\t# \"Q3400\" lid 8 4xFDR10\n";
    const subnet s = discovered(read(text));
    CHECK(s.complete());
    // The two ends of a link can differ. Each end keeps its own value.
    CHECK(links_in(s) == std::set<std::string>{"4xXDR", "2xXDR", "2xNDR", "1xXDR", "4xQDR", "4xFDR10"});
    const discovery::node& sw = s.nodes[s.at({0, s.start_port}).peer.node];
    CHECK(sw.info.numPorts == 150);
    const PortInfo& info = *sw.ports[1].info;
    CHECK(info.linkSpeedExtActive2 == iba::LinkSpeedExt2::XDR);
    CHECK(info.linkSpeedExtSupported2 == 1);
    CHECK(info.linkSpeedExtEnabled2 == 1);
    // rdma-core 691953d8d ignores LinkSpeedExt2 without this bit (libibnetdisc, ibnd_get_agg_linkspeedext_field).
    CHECK((sw.ports[0].info->capabilityMask2 & value(iba::CapabilityMask2::IsExtendedSpeeds2Supported)) != 0);
    CHECK((sw.ports[0].info->capabilityMask2 & value(iba::CapabilityMask2::IsLinkSpeedXDRSupported)) != 0);
    CHECK((sw.ports[0].info->capabilityMask2 & value(iba::CapabilityMask2::IsLinkWidth2xSupported)) != 0);
}

} // namespace discovery_speed_test
