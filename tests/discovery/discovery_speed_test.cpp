// SPDX-License-Identifier: MIT
// discovery_speed_test.cpp - speeds that no simulator has, in discoveries and in looks for changes: PortInfo is told in
// another way on its way.
#include "discovery_rig.hpp"
#include <comad/discovery/changes.hpp>
#include <comad/iba/codec.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace discovery_speed_test { // compiled together with others

using namespace comad;
using namespace comad::test;
using iba::smp::PortInfo;

namespace {

constexpr std::size_t SMP_data = 64; // IBA 14.2.1.1

/// Passes everything on, PortInfo as `retell` makes it, and counts questions about FDR10.
class retelling final : public mad::transport {
public:
    explicit retelling(mad::transport& real) : real_(real) {}

    std::function<void(PortInfo&)> retell = [](PortInfo&) {};
    std::size_t asked_for_FDR10 = 0;

    int native_handle() const noexcept override { return real_.native_handle(); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        asked_for_FDR10 += iba::get<&iba::MADHeader::attributeID>(request.mad) == 0xff90;
        return real_.send(request);
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        const mad::received message = real_.receive(buffer);
        if (message.state != mad::receive_state::message || message.full_size != mad::mad_size ||
            iba::get<&iba::MADHeader::attributeID>(message.mad.data()) != iba::attribute_id<PortInfo>)
            return message;
        u8* const data = buffer.data() + (message.mad.data() - buffer.data()) + SMP_data;
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

topology of_devices_with_FDR10(std::string_view specification, u32 vendor) {
    topology t = managed(specification);
    for (auto& n : t.nodes) {
        n.deviceID = n.is_switch() ? 0xd2f0 : 0x101b; // Quantum, ConnectX-6
        n.vendorID = vendor;
    }
    return t;
}

/// A subnet whose PortInfo is told in another way.
struct retold_world : world {
    explicit retold_world(std::string_view specification, u32 vendor = 0x2c9)
        : world(of_devices_with_FDR10(specification, vendor)), wire(seen), asker(wire, window()) {}

    subnet find() {
        auto found = coro::sync_wait(asker, discovery::discover(asker));
        REQUIRE(found);
        return std::move(found).value();
    }
    std::vector<std::string> look(const subnet& known) {
        std::vector<std::string> texts;
        for (const discovery::change& c : coro::sync_wait(asker, discovery::find_changes(asker, known)))
            texts.push_back(c.text);
        return texts;
    }

    retelling wire;
    coro::MADSchedule asker;
};

// As switches do, only port 0 and end ports say what they can.
constexpr std::string_view tree = "fattree2,radix=4"; // 6 switches of 4 ports, 8 hosts

void run_at_XDR(PortInfo& i) {
    i.linkSpeedActive = iba::LinkSpeed::QDR;
    i.linkSpeedExtActive = iba::LinkSpeedExt::none;
    i.linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR;
}
void run_at_QDR(PortInfo& i) {
    i.linkSpeedActive = iba::LinkSpeed::QDR;
    i.linkSpeedExtActive = iba::LinkSpeedExt::none;
}

} // namespace

TEST_CASE("an XDR link is found as one, and nobody asks whether it is FDR10") {
    retold_world w(tree);
    w.wire.retell = run_at_XDR;
    const subnet s = w.find();
    CHECK(s.complete());
    CHECK(w.wire.asked_for_FDR10 == 0);
    CHECK(discovery::link_speed_text(s, {0, s.start_port}) == "XDR");
    CHECK(discovery::link_speed_text(s, s.at({0, s.start_port}).peer) == "XDR");
}

TEST_CASE("of a QDR link both ends are asked whether it is FDR10") {
    retold_world w(tree);
    w.wire.retell = run_at_QDR;
    const subnet s = w.find();
    CHECK(w.wire.asked_for_FDR10 == 2 * s.link_count());
    CHECK(s.complete());
}

TEST_CASE("a device that does not know of FDR10, although its ID says so, lacks nothing") {
    retold_world w(tree, 0x119f); // another vendor: the simulator's devices of that refuse, with 0x0c
    w.wire.retell = run_at_QDR;
    const subnet s = w.find();
    CHECK(w.wire.asked_for_FDR10 == 2 * s.link_count());
    CHECK(s.complete());
    for (const discovery::node& n : s.nodes)
        for (const discovery::port& p : n.ports) CHECK_FALSE(p.fdr10);
}

TEST_CASE("a link that has fallen back from XDR is a change, at a switch and at a host") {
    retold_world w(tree);
    w.wire.retell = run_at_XDR;
    subnet known = w.find();
    for (discovery::node& n : known.nodes)
        if (n.is_switch()) n.ports[0].info->capabilityMask2 = 0; // it has no table of states: each port is asked
    CHECK(w.look(known).empty());
    w.wire.retell = [](PortInfo& i) {
        run_at_XDR(i);
        i.linkSpeedExtActive2 = {};
        i.linkSpeedExtActive = iba::LinkSpeedExt::NDR;
    };
    // Each port of the six switches, port 0 included, and the local host's.
    CHECK(w.look(known) == std::vector<std::string>(6 * 5 + 1, "has another speed"));
}

} // namespace discovery_speed_test
