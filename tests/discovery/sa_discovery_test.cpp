// SPDX-License-Identifier: MIT
// sa_discovery_test.cpp - discovery by the tables of the SA compared with discovery by directed routes, in virtual
// time, with and without losses. The SA is the simulator's; ibtool_vumad_test uses a real OpenSM.
#include "library/discovery_rig.hpp"
#include "wire/altering_transport.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using transports::sim::make_sim;

namespace {

/// Counts the SMPs that are sent.
class counting final : public mad::transport {
public:
    explicit counting(mad::transport& carrier) : carrier_(carrier) {}

    int native_handle() const noexcept override { return carrier_.native_handle(); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        const auto mgmt_class = iba::MgmtClass{request.mgmt_class};
        smps += mgmt_class == iba::MgmtClass::SubnLID || mgmt_class == iba::MgmtClass::SubnDirected;
        return carrier_.send(request);
    }
    mad::received receive(std::span<u8> buffer) noexcept override { return carrier_.receive(buffer); }
    mad::transport_limits limits() const noexcept override { return carrier_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return carrier_.next_event(); }
    void set_now(mad::time_point now) noexcept override { carrier_.set_now(now); }

    unsigned smps = 0;

private:
    mad::transport& carrier_;
};

/// A subnet whose SA returns a wrong second record of one kind. The first record may be the record of the local node.
struct wrong_sa {
    explicit wrong_sa(const char* of_subnet = "ring,switches=3,hosts=2,sm=1")
        : sim(make_sim(of_subnet, time_mode::virtual_)), wire(*sim.transport, {}) {}

    subnet discover(const discovery::discover_options& how = {}) {
        coro::MADSchedule schedule(wire, window());
        const iba::lid local = sim.fabric->graph().nodes[sim.place->node()].ports[sim.place->port()].LID;
        mad::IBPath to;
        to.DLID = sim.fabric->graph().sm_lid;
        to.SLID = local;
        schedule.set_sa_path(to);
        auto found = coro::sync_wait(schedule, discovery::discover_by_sa(schedule, local, how));
        REQUIRE(found);
        return std::move(found).value();
    }
    template <class R> subnet discover_with(std::function<void(R&)> change) {
        wire.alter([change](std::span<u8> reply) {
            constexpr std::size_t offset_at = 44, first = 56;
            constexpr u8 table = 0x92; // GetTableResp
            if (reply[1] != value(iba::MgmtClass::SubnAdm) || reply[3] != table) return;
            if (iba::load_be<u16>(reply.data() + 16) != iba::attribute_id<R>) return;
            const std::size_t second = first + 8u * iba::load_be<u16>(reply.data() + offset_at);
            if (reply.size() < second + iba::wire_size<R>) return;
            R r;
            iba::decode(r, reply.data() + second);
            change(r);
            const auto bytes = iba::encode(r);
            std::copy(bytes.begin(), bytes.end(), reply.begin() + static_cast<std::ptrdiff_t>(second));
        });
        return discover();
    }

    const simulation sim;
    altering_transport wire;
};

std::string problems_of(const subnet& s) {
    std::string all;
    for (const discovery::failure& p : s.failures) all += describe(s, p) + '\n';
    return all;
}

/// Returns the fields of a port or a node as text. Two texts are equal if the fields are equal.
template <class T> std::string words_of(const T& value) {
    std::string text;
    for (const u8 byte : iba::encode(value)) text += fmt::format("{:02x}", byte);
    return text;
}

std::vector<std::string> lines_of(const subnet& s) {
    std::vector<std::string> lines{fmt::format("start port {}", s.start_port)};
    for (const discovery::node& n : s.nodes) {
        const std::string id = topology_id(n);
        lines.push_back(fmt::format("{} {} '{}' {} {} hops {}", id, words_of(n.info), n.description, to_string(n.route),
                                    n.hops, n.switch_info ? words_of(*n.switch_info) : "no SwitchInfo"));
        for (std::size_t p = 0; p < n.ports.size(); ++p) {
            const discovery::port& port = n.ports[p];
            lines.push_back(fmt::format("{}[{}] GUID {:x} to {}[{}] {}", id, p, value(port.portGUID),
                                        port.peer ? topology_id(s.nodes[port.peer.node]) : "nobody", port.peer.port,
                                        port.info ? words_of(*port.info) : "no PortInfo"));
        }
    }
    for (const discovery::failure& p : s.failures) lines.push_back("problem: " + describe(s, p));
    return lines;
}

/// Returns the lines that only one of the two has.
std::vector<std::string> unlike_parts(const subnet& a, const subnet& b) {
    const std::vector<std::string> one = lines_of(a), other = lines_of(b);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < std::max(one.size(), other.size()) && found.size() < 6; ++i) {
        const std::string x = i < one.size() ? one[i] : "nothing", y = i < other.size() ? other[i] : "nothing";
        if (x != y) found.push_back(x + "\n  and " + y);
    }
    return found;
}

} // namespace

TEST_CASE("a discovery by the SA requests only the wanted tables") {
    auto sim = make_sim("ring,switches=3,hosts=2,sm=1", time_mode::virtual_);
    const auto tables = [&](discovery::wanted_attributes wanted) {
        coro::MADSchedule schedule(*sim.transport, window());
        const iba::lid local = sim.fabric->graph().nodes[sim.place->node()].ports[sim.place->port()].LID;
        mad::IBPath to;
        to.DLID = sim.fabric->graph().sm_lid;
        to.SLID = local;
        schedule.set_sa_path(to);
        auto found = coro::sync_wait(schedule, discovery::discover_by_sa(schedule, local, {.wanted = wanted}));
        REQUIRE(found);
        CHECK(found.value().complete());
        CHECK(found.value().nodes.size() == 9);
        CHECK(found.value().link_count() == (wanted.links ? 9 : 0));
        for (const discovery::node& n : found.value().nodes)
            CHECK(n.switch_info.has_value() == (n.is_switch() && wanted.SwitchInfo));
        return schedule.counters().sent;
    };
    CHECK(tables({}) == 4);
    CHECK(tables({.SwitchInfo = false}) == 3);
    CHECK(tables({.SwitchInfo = false, .links = false}) == 2);
}

TEST_CASE("SA discovery returns what directed routes and the ports report, even with losses") {
    const auto [specification, nodes] =
        GENERATE(std::pair<std::string, std::size_t>{"fattree2,radix=8,loss=0.01", 32 + 8 + 4},
                 std::pair<std::string, std::size_t>{"torus,x=3,y=3,z=2,hosts=1,loss=0.01", 36},
                 std::pair<std::string, std::size_t>{"ring,switches=5,hosts=2", 15});
    CAPTURE(specification);
    const simulation sim = make_sim(specification + ",sm=1", time_mode::virtual_);
    counting wire(*sim.transport);
    coro::schedule_options patient = window(32, 8);
    patient.timeout = std::chrono::milliseconds(100);
    coro::MADSchedule schedule(wire, patient);
    const iba::lid local = sim.fabric->graph().nodes[sim.place->node()].ports[sim.place->port()].LID;
    mad::IBPath to;
    to.DLID = sim.fabric->graph().sm_lid;
    to.SLID = local;
    schedule.set_sa_path(to);

    const auto by_sa = coro::sync_wait(schedule, discovery::discover_by_sa(schedule, local));
    INFO((by_sa ? "" : to_string(by_sa.error())));
    REQUIRE(by_sa);
    const subnet& known = by_sa.value();
    constexpr discovery::table_kinds all{true, true, true, true, true};
    const discovery::subnet_tables reported =
        coro::sync_wait(schedule, discovery::read_subnet_tables_by_sa(schedule, known, all));
    CHECK(wire.smps == 0);
    const auto directed = coro::sync_wait(schedule, discovery::discover(schedule));
    REQUIRE(directed);
    const discovery::subnet_tables requested =
        coro::sync_wait(schedule, discovery::read_subnet_tables(schedule, known, all));
    CHECK(directed.value().nodes.size() == nodes);
    CHECK(unlike_parts(directed.value(), known) == std::vector<std::string>{});
    CHECK((directed.value().complete() && known.complete()));
    CHECK(inconsistencies(known) == std::vector<std::string>{});

    // Compares the tables of the ports bit by bit, except the SMInfo of the SM, which counts its own activity.
    for (const discovery::subnet_tables* facts : {&requested, &reported}) {
        std::string failures;
        for (const discovery::failure& p : facts->failures) failures += p.text + '\n';
        CHECK(failures.empty());
        CHECK((facts->PKeys.complete() && facts->SLToVL.complete() && facts->VLArbitration.complete()));
        CHECK((facts->guids.complete() && facts->SMs.complete()));
    }
    CHECK(requested.PKeys.values.size() > nodes);
    CHECK(requested.SLToVL.values.size() > nodes);
    CHECK(requested.VLArbitration.values.size() > nodes);
    CHECK(requested.guids.values.size() >= nodes);
    CHECK(requested.SMs.values.size() == 1);
    CHECK(requested.PKeys == reported.PKeys);
    CHECK(requested.SLToVL == reported.SLToVL);
    CHECK(requested.VLArbitration == reported.VLArbitration);
    CHECK(requested.guids == reported.guids);
    REQUIRE(reported.SMs.values.size() == 1);
    CHECK(requested.SMs.values.begin()->first == reported.SMs.values.begin()->first);
    CHECK(requested.SMs.values.begin()->second.GUID == reported.SMs.values.begin()->second.GUID);

    // Every LID belongs to its end port, and to no other.
    const discovery::lid_index lids(known);
    CHECK(lids.duplicates().empty());
    CHECK(discovery::differences(directed.value(), known).empty());
    for (u32 n = 0; n < known.nodes.size(); ++n) {
        const discovery::node& node = known.nodes[n];
        const discovery::port_ref end{n, node.is_switch() ? u8{0} : node.info.localPortNum};
        const iba::smp::PortInfo& info = *known.at(end).info;
        CHECK(lids.at(info.LID) == end);
        CHECK(lids.at(iba::lid{static_cast<u16>(value(info.LID) + (1u << info.LMC) - 1)}) == end);
    }
}

TEST_CASE("an impossible SA record is reported and dropped, and the other records form the subnet") {
    using namespace iba::sa;
    using Catch::Contains;
    wrong_sa w;
    const subnet no_node = w.discover_with<NodeRecord>([](NodeRecord& r) { r.nodeInfo.nodeGUID = {}; });
    CHECK_THAT(problems_of(no_node), Contains("is invalid: node GUID 0000:0000:0000:0000, port"));
    CHECK_FALSE(no_node.find({}));
    const subnet nowhere = w.discover_with<LinkRecord>([](LinkRecord& r) { r.toLID = iba::lid{0xbf00}; });
    CHECK_THAT(problems_of(nowhere),
               Contains("to LID 48896 port ") && Contains(", but one of these ports does not exist"));
    const subnet no_switch = w.discover_with<SwitchInfoRecord>([](SwitchInfoRecord& r) { r.LID = iba::lid{0xbf00}; });
    CHECK_THAT(problems_of(no_switch),
               Contains("the SA has a SwitchInfoRecord of LID 48896, but no switch has this LID"));
    for (const subnet* s : {&no_node, &nowhere, &no_switch}) {
        CHECK_FALSE(s->complete());
        CHECK(s->nodes.size() >= 8);
        CHECK(inconsistencies(*s) == std::vector<std::string>{});
    }
    const iba::lid host = w.sim.fabric->graph().nodes[w.sim.place->node()].ports[w.sim.place->port()].LID;
    const subnet of_host = w.discover_with<SwitchInfoRecord>([&](SwitchInfoRecord& r) { r.LID = host; });
    CHECK_THAT(problems_of(of_host), Contains("but no switch has this LID"));
}

TEST_CASE("SA discovery reports nodes beyond max_nodes as one failure without a location") {
    wrong_sa w;
    discovery::discover_options how;
    how.max_nodes = 3;
    const subnet s = w.discover(how);
    CHECK(s.nodes.size() == 3);
    const auto limits = [](const discovery::failure& p) { return p.kind == discovery::failure_kind::limit; };
    REQUIRE(std::count_if(s.failures.begin(), s.failures.end(), limits) == 1);
    const discovery::failure& p = *std::find_if(s.failures.begin(), s.failures.end(), limits);
    CHECK(p.where.nodeGUID == iba::guid{});
    CHECK(p.where.port == 0);
}

TEST_CASE("an SA that claims 255 ports per adapter gets ports only for its records") {
    wrong_sa SA("fattree3,radix=16,sm=1"); // 1,024 adapters and 320 switches
    const auto lie = [](u8 local_port, iba::NodeType type = iba::NodeType::CA) {
        return [local_port, type](std::span<u8> reply) {
            constexpr std::size_t offset_at = 44, first = 56;
            if (reply[1] != value(iba::MgmtClass::SubnAdm) || reply[3] != 0x92) return; // GetTableResp
            if (iba::load_be<u16>(reply.data() + 16) != iba::attribute_id<iba::sa::NodeRecord>) return;
            const std::size_t stride = 8u * iba::load_be<u16>(reply.data() + offset_at);
            for (std::size_t at = first; at + iba::wire_size<iba::sa::NodeRecord> <= reply.size(); at += stride) {
                iba::sa::NodeRecord r;
                iba::decode(r, reply.data() + at);
                if (r.nodeInfo.nodeType != iba::NodeType::CA) continue;
                r.nodeInfo.numPorts = 255;
                r.nodeInfo.nodeType = type;
                if (local_port) r.nodeInfo.localPortNum = local_port;
                const auto bytes = iba::encode(r);
                std::copy(bytes.begin(), bytes.end(), reply.begin() + static_cast<std::ptrdiff_t>(at));
            }
        };
    };
    const auto count_ports = [](const subnet& s) {
        std::size_t ports = 0;
        for (const discovery::node& n : s.nodes) {
            ports += n.ports.size();
            CHECK(n.ports.size() == n.info.numPorts + 1u);
        }
        return ports;
    };
    const subnet honest = SA.discover();
    CHECK(honest.failures.empty());
    const std::size_t usual = count_ports(honest);
    // For each record there are at most 4 ports that no record names, and 8,192 in total.
    const std::size_t most = usual + 8192 + 4 * (2 * honest.nodes.size() + usual);
    SA.wire.alter(lie(0));
    const subnet claimed = SA.discover();
    CHECK(claimed.nodes.size() == honest.nodes.size());
    CHECK(claimed.link_count() == honest.link_count());
    CHECK(count_ports(claimed) < most);
    CHECK_THAT(problems_of(claimed),
               Catch::Contains("NodeInfo reports 255 ports, but the SA has records only up to port 1"));
    SA.wire.alter(lie(255));
    CHECK(count_ports(SA.discover()) < most);
    SA.wire.alter(lie(0, iba::NodeType::Switch)); // each switch port without PortInfo is a failure of its own
    const subnet switches = SA.discover();
    CHECK(count_ports(switches) < most);
    CHECK(switches.failures.size() < most);
}

TEST_CASE("SA discovery ends at its time limit if the SA does not reply") {
    const simulation sim = make_sim("ring,switches=3,hosts=2,sm=1", time_mode::virtual_);
    coro::MADSchedule schedule(*sim.transport, window());
    mad::IBPath no_node;
    no_node.DLID = iba::lid{200};
    schedule.set_sa_path(no_node);
    discovery::discover_options how;
    how.max_time = std::chrono::milliseconds(250); // shorter than the first attempt
    const auto found = coro::sync_wait(schedule, discovery::discover_by_sa(schedule, iba::lid{1}, how));
    REQUIRE_FALSE(found);
    CHECK(found.error().code == mad::errc::timed_out);
    CHECK_THAT(to_string(found.error()), Catch::Contains("stopped at the time limit of 0.25 s"));
}

TEST_CASE("LIDs of an LMC belong to one port, and ports that share or change LIDs are reported") {
    const simulation sim = make_sim("ring,switches=3,hosts=2,sm=1", time_mode::virtual_);
    coro::MADSchedule schedule(*sim.transport, window());
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    REQUIRE(found);
    subnet today = found.value();
    const auto end_of = [&](u32 n) {
        return discovery::port_ref{n, today.nodes[n].is_switch() ? u8{0} : today.nodes[n].info.localPortNum};
    };
    const auto give = [&](u32 n, unsigned LID, u8 LMC) {
        iba::smp::PortInfo& info = *today.nodes[n].ports[end_of(n).port].info;
        info.LID = iba::lid{static_cast<u16>(LID)};
        info.LMC = LMC;
    };
    for (u32 n = 0; n < today.nodes.size(); ++n) give(n, 16 * (n + 1), 2);
    const subnet before = today;
    const discovery::lid_index clean(today);
    CHECK(clean.duplicates().empty());
    CHECK(clean.at(iba::lid{15}) == discovery::port_ref{});
    for (unsigned LID : {16u, 19u}) CHECK(clean.at(iba::lid{static_cast<u16>(LID)}) == end_of(0));
    CHECK(clean.at(iba::lid{20}) == discovery::port_ref{});
    CHECK(clean.at(iba::lid{35}) == end_of(1));

    give(2, 34, 1); // 34 and 35 also belong to node 1
    const discovery::lid_index lids(today);
    const std::vector<discovery::lid_index::shared> expected{{iba::lid{34}, end_of(1), end_of(2)}};
    CHECK(lids.duplicates() == expected);
    CHECK(lids.at(iba::lid{35}) == end_of(1));
    CHECK(describe(today, expected[0]).starts_with("LID 34 is assigned to both "));
    const auto changed = discovery::differences(before, today);
    REQUIRE(changed.size() == 1);
    CHECK(changed[0].of == discovery::difference::subject::LID);
    CHECK(changed[0].was == "LID 48 LMC 2");
    CHECK_THAT(changed[0].is, Catch::StartsWith("LID 34 LMC "));
}
