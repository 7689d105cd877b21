// SPDX-License-Identifier: MIT
// subnet_model_test.cpp - the subnet database compared with a model. Tests random replies in any order, contradictory
// replies, links of all widths and speeds, and find_changes() after random edits.
#include "../../discovery/walk/subnet_builder.hpp"
#include "library/model_runs.hpp"
#include "subnet/sa_path.hpp"
#include "support/sanitized.hpp"
#include "wire/answering_wire.hpp"
#include <comad/coro/driver.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace subnet_model_test {

using namespace comad;
using namespace comad::test;
using coro::MADSchedule;
using discovery::failure;
using discovery::failure_kind;
using discovery::link_speeds;
using discovery::node_query;
using discovery::node_reply;
using discovery::node_request;
using discovery::port_ref;
using discovery::query_kind;
using discovery::query_queue;
using discovery::subnet;
using discovery::subnet_builder;
using iba::LinkWidth;
using iba::NodeType;
using iba::PortState;
using iba::smp::MlnxExtPortInfo;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using iba::smp::SwitchPortStateTable;
using mad::IBDRPath;

namespace {

// IBA 14.2.5.6
constexpr u32 extended_speeds_supported = 1u << 14, capability_mask2_supported = 1u << 15;
constexpr u16 state_table_supported = 1u << 3; // NVIDIA's OpenSM

/// Random numbers for the models.
struct dice {
    std::mt19937_64 random;

    explicit dice(u64 seed) : random(seed) {}
    unsigned below(std::size_t end) { return static_cast<unsigned>(random() % end); }
    bool one_in(unsigned n) { return below(n) == 0; }
    unsigned between(unsigned least, unsigned most) { return least + below(most - least + 1); }
    template <class T> const T& any(const std::vector<T>& all) { return all[below(all.size())]; }
};

[[noreturn]] void fail(const std::string& what) {
    FAIL(what);
    std::abort();
}
void expect(bool holds, const char* what) {
    if (!holds) fail(what);
}

// ---- a subnet and the replies of its nodes -------------------------------------------------------------------------------

/// An attribute of a node.
using fact = std::pair<query_kind, u8>;

struct made_port {
    std::optional<port_ref> cable; ///< the opposite end, as an index in the generated subnet
    iba::guid GUID{};
    PortInfo info;
    MlnxExtPortInfo extended;
    mad::errc lost =
        mad::errc::path_not_found; ///< why a query through this port fails; path_not_found if it does not fail
    unsigned losses = 0;           ///< how often such a query fails
};

struct made_node {
    NodeInfo info; ///< portGUID and localPortNum are set for each port
    std::vector<made_port> ports;
    std::string description;
    SwitchInfo switch_info;
    bool is_dead = false; ///< replies to nothing
    bool is_mute = false; ///< replies to NodeInfo only
    std::optional<fact> unread;
    mad::errc unread_why = mad::errc::timed_out;
    unsigned unread_times = 0; ///< how often it does not reply to the query `unread`
    std::set<fact> holes;      ///< further queries that never get a reply

    bool is_switch() const { return info.nodeType == NodeType::Switch; }
    unsigned first_port() const { return is_switch() ? 0 : 1; }
};

/// The speeds in order: 2.5 Gb/s is the first, 212.5 Gb/s the eighth.
constexpr std::array speed_bits{2.5e9, 5e9, 10e9, 14.0625e9, 25.78125e9, 53.125e9, 106.25e9, 212.5e9};

void set_active_speed(PortInfo& p, unsigned speed) {
    p.linkSpeedActive = static_cast<iba::LinkSpeed>(speed < 3 ? 1u << speed : 4u);
    p.linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(speed >= 3 && speed < 7 ? 1u << (speed - 3) : 0u);
    p.linkSpeedExtActive2 = static_cast<iba::LinkSpeedExt2>(speed == 7);
}
/// Returns the number of the active speed in a PortInfo, or nothing if there is none.
std::optional<unsigned> active_speed_of(const PortInfo& p, bool has_extended) {
    if (has_extended && p.linkSpeedExtActive2 == iba::LinkSpeedExt2::XDR) return 7;
    for (unsigned i = 0; has_extended && i < 4; ++i)
        if (static_cast<unsigned>(p.linkSpeedExtActive) == 1u << i) return 3 + i;
    for (unsigned i = 0; i < 3; ++i)
        if (static_cast<unsigned>(p.linkSpeedActive) == 1u << i) return i;
    return std::nullopt;
}

class made_subnet {
public:
    std::vector<made_node> nodes;

    const made_port& at(port_ref r) const { return nodes[r.node].ports[r.port]; }
    made_port& at(port_ref r) { return nodes[r.node].ports[r.port]; }

    void add_node(dice& d, unsigned most_ports) {
        const unsigned kind = d.below(8);
        const NodeType type = kind < 5 ? NodeType::Switch : kind < 7 ? NodeType::CA : NodeType::Router;
        add_node(d, type, d.between(1, kind == 5 ? std::min(most_ports, 4u) : most_ports));
    }
    void add_node(dice& d, NodeType type, unsigned ports) {
        made_node& n = nodes.emplace_back();
        const u64 number = nodes.size();
        n.info.nodeType = type;
        n.info.numPorts = static_cast<u8>(ports);
        n.info.nodeGUID = iba::guid{0xa00000 + (d.random() % 0xfff) * 0x100 + number};
        n.info.systemImageGUID = iba::guid{d.random()};
        n.info.vendorID = 0x2c9;
        n.info.deviceID = d.one_in(2) ? u16{0x1003} : u16{0x1002}; // the first one supports MlnxExtPortInfo
        n.description = fmt::format("node {}", d.below(5));
        n.switch_info.linearFDBCap = static_cast<u16>(d.random());
        const bool has_extended = d.one_in(2);
        n.ports.resize(n.info.numPorts + 1u);
        for (unsigned p = 0; p < n.ports.size(); ++p) {
            n.ports[p].GUID = n.is_switch() ? n.info.nodeGUID
                              : p == 0      ? iba::guid{}
                                            : iba::guid{value(n.info.nodeGUID) * 0x100 + p};
            n.ports[p].info = made_info(d, has_extended);
            n.ports[p].extended.LinkSpeedActive = static_cast<u8>(d.below(2));
            n.ports[p].extended.LinkSpeedSupported = static_cast<u8>(d.below(2));
        }
    }

    /// Connects two free ports, or a port with itself.
    void add_cable(dice& d, bool is_chain) {
        const port_ref a = any_port(d), b = d.one_in(30) ? a : any_port(d);
        if (!is_chain || a.node == b.node || a.node + 1 == b.node) add_cable(d, a, b);
    }
    void add_cable(dice& d, port_ref a, port_ref b) {
        if (at(a).cable || at(b).cable) return;
        at(a).cable = b;
        at(b).cable = a;
        for (const port_ref end : {a, b})
            at(end).info.portPhysicalState =
                d.one_in(12) ? iba::PortPhysicalState::Polling : iba::PortPhysicalState::LinkUp;
    }
    /// Adds a row of switches, and adapters that are cabled to several of them. No route leads through an adapter.
    void add_row(dice& d) {
        const unsigned switches = d.between(3, 7), adapters = d.between(2, 4);
        for (unsigned i = 0; i < switches; ++i) add_node(d, NodeType::Switch, 6);
        for (u32 i = 0; i + 1 < switches; ++i) add_cable(d, {i, 5}, {i + 1, 6});
        for (u32 i = 0; i < adapters; ++i) {
            add_node(d, NodeType::CA, 2);
            for (const u8 port : {u8{1}, u8{2}})
                add_cable(d, {switches + i, port}, {d.below(switches), static_cast<u8>(d.between(1, 4))});
        }
    }

    port_ref any_port(dice& d) const {
        const u32 n = d.below(nodes.size());
        return {n, static_cast<u8>(d.between(1, nodes[n].info.numPorts))};
    }

    /// Returns the NodeInfo that the node returns to a query through that port.
    NodeInfo info_at(port_ref entered) const {
        NodeInfo info = nodes[entered.node].info;
        info.localPortNum = entered.port;
        info.portGUID = at(entered).GUID;
        return info;
    }
    NodeDescription description_of(u32 n) const {
        NodeDescription d;
        std::copy(nodes[n].description.begin(), nodes[n].description.end(), d.nodeString.begin());
        return d;
    }

    /// Returns the port at which the packet of a route arrives, or nothing.
    std::optional<port_ref> walk(port_ref start, const IBDRPath& route) const {
        port_ref here = start;
        bool is_first = true;
        for (const u8 out : route.hops()) {
            const made_node& n = nodes[here.node];
            if (out == 0 || out > n.info.numPorts) return std::nullopt;
            if (!n.is_switch() && !(is_first && out == start.port)) return std::nullopt;
            const made_port& p = n.ports[out];
            if (!p.cable) return std::nullopt;
            here = *p.cable;
            is_first = false;
        }
        return here;
    }

    bool is_up(port_ref r) const { return at(r).info.portPhysicalState == iba::PortPhysicalState::LinkUp; }
    /// Returns true for a QDR link of a device that can distinguish FDR10 from QDR.
    bool may_be_fdr10(port_ref r) const {
        return r.port != 0 && is_up(r) && nodes[r.node].info.deviceID == 0x1003 &&
               active_speed_of(at(r).info, has_extended(r)) == 2;
    }
    bool has_extended(port_ref r) const {
        const made_node& n = nodes[r.node];
        return (n.ports[n.is_switch() ? 0 : r.port].info.capabilityMask & extended_speeds_supported) != 0;
    }

private:
    static PortInfo made_info(dice& d, bool has_extended) {
        PortInfo p;
        p.LID = iba::lid{static_cast<u16>(d.between(1, 12))}; // some LIDs are used twice
        p.LMC = static_cast<u8>(d.below(8));
        p.portState = static_cast<PortState>(d.between(1, 4));
        p.portPhysicalState = iba::PortPhysicalState::Polling;
        p.linkWidthSupported = static_cast<u8>(d.below(32));
        p.linkWidthActive = static_cast<LinkWidth>(1u << d.below(5));
        p.linkSpeedSupported = static_cast<u8>(d.below(8));
        p.linkSpeedExtSupported = static_cast<u8>(d.below(16));
        if (has_extended) p.capabilityMask = extended_speeds_supported;
        set_active_speed(p, d.one_in(2) ? 2 : d.below(has_extended ? 8 : 3));
        return p;
    }
};

// ---- expected results of a discovery -------------------------------------------------------------------------------------

/// Which links are known, by node and port.
using linked_ports = std::vector<std::vector<bool>>;

/// Order and routes that follow from the links, from the view of one port.
struct view {
    std::vector<u32> order; ///< breadth first, by index in the generated subnet, then the others by GUID
    std::vector<std::optional<unsigned>> distance; ///< empty if no route leads there
    std::vector<std::vector<u8>> routes;
    std::vector<u8> entered; ///< the port by which the route enters

    view(const made_subnet& made, const linked_ports& is_linked, const std::set<u32>& known, port_ref start)
        : order{start.node}, distance(made.nodes.size()), routes(made.nodes.size()), entered(made.nodes.size()) {
        distance[start.node] = 0;
        entered[start.node] = start.port;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const u32 n = order[i];
            for (u8 p = 1; p < made.nodes[n].ports.size(); ++p) {
                if (!is_linked[n][p] || !(made.nodes[n].is_switch() || port_ref{n, p} == start)) continue;
                const port_ref there = *made.at({n, p}).cable;
                if (distance[there.node]) continue;
                distance[there.node] = *distance[n] + 1;
                routes[there.node] = routes[n];
                routes[there.node].push_back(p);
                entered[there.node] = there.port;
                order.push_back(there.node);
            }
        }
        std::vector<u32> others;
        for (const u32 n : known)
            if (!distance[n]) others.push_back(n);
        std::ranges::sort(others, {}, [&](u32 n) { return made.nodes[n].info.nodeGUID; });
        order.insert(order.end(), others.begin(), others.end());
    }
    std::size_t reached() const {
        return static_cast<std::size_t>(std::ranges::count_if(distance, [](const auto& d) { return d.has_value(); }));
    }
};

/// The replies for a subnet so far.
struct findings {
    std::set<u32> nodes;
    linked_ports is_linked;
    std::set<std::pair<u32, u8>> infos, extended;
    std::set<u32> descriptions, switch_infos;

    friend bool operator==(const findings&, const findings&) = default;
};

/// The expected result of a discovery. It follows only from the subnet and the first port, not from the order of
/// queries.
class truth {
public:
    truth(const made_subnet& made, std::vector<port_ref> starts, unsigned max_hops, bool with_extended)
        : made_(made), starts_(std::move(starts)), max_hops_(max_hops) {
        for (const made_node& n : made_.nodes) all.is_linked.emplace_back(n.ports.size(), false);
        for (const port_ref s : starts_) all.nodes.insert(s.node);
        while (probe_all()) {}
        for (const u32 n : all.nodes) {
            if (answers(n, {query_kind::description, 0})) all.descriptions.insert(n);
            if (made_.nodes[n].is_switch() && answers(n, {query_kind::switch_info, 0})) all.switch_infos.insert(n);
            for (u8 p = 0; p < made_.nodes[n].ports.size(); ++p) {
                if (!has_info({n, p})) continue;
                all.infos.emplace(n, p);
                if (with_extended && made_.may_be_fdr10({n, p})) all.extended.emplace(n, p);
            }
        }
    }

    findings all;

    view seen() const { return {made_, all.is_linked, all.nodes, starts_[0]}; }
    /// Returns true if the port is up, and its neighbor is unknown because it is too far away.
    bool is_too_far(port_ref r, const view& v) const {
        return leads_on(r) && !all.is_linked[r.node][r.port] && v.distance[r.node] && *v.distance[r.node] >= max_hops_;
    }

private:
    bool is_start(port_ref r) const { return std::ranges::find(starts_, r) != starts_.end(); }
    bool answers(u32 n, fact f) const {
        const made_node& one = made_.nodes[n];
        return !one.is_mute && (one.unread != f || one.unread_times < 2);
    }
    bool has_info(port_ref r) const {
        const bool is_requested = made_.nodes[r.node].is_switch() || all.is_linked[r.node][r.port] || is_start(r);
        return is_requested && answers(r.node, {query_kind::port, r.port});
    }
    bool leads_on(port_ref r) const {
        return (made_.nodes[r.node].is_switch() || is_start(r)) && r.port != 0 && has_info(r) && made_.is_up(r);
    }
    // Returns true if a query found something.
    bool probe_all() {
        const view v = seen();
        for (const u32 n : all.nodes) {
            for (u8 p = 1; p < made_.nodes[n].ports.size(); ++p) {
                const made_port& port = made_.nodes[n].ports[p];
                if (!leads_on({n, p}) || all.is_linked[n][p] || !port.cable) continue;
                if (v.distance[n] && *v.distance[n] >= max_hops_) continue;
                if (port.losses > 1 || made_.nodes[port.cable->node].is_dead) continue;
                all.is_linked[n][p] = all.is_linked[port.cable->node][port.cable->port] = true;
                all.nodes.insert(port.cable->node);
                return true;
            }
        }
        return false;
    }

    const made_subnet& made_;
    const std::vector<port_ref> starts_;
    const unsigned max_hops_;
};

/// Returns a key for each port.
u64 key_of(iba::guid port) { return value(port) * 7 + 1; }
constexpr u64 default_key = 0x4711;

using failure_location = std::tuple<failure_kind, u64, u8>;

mad::mad_error error(mad::errc code) {
    mad::mad_error e;
    e.code = code;
    e.attempts = 3;
    return e;
}

/// Compares all that a subnet contains with the replies.
class comparison {
public:
    comparison(const made_subnet& made, const findings& reported, const view& seen, const subnet& found)
        : made_(made), reported_(reported), view_(seen), found_(found) {}

    void run() {
        expect(found_.nodes.size() == view_.order.size(), "the number of nodes");
        expect(found_.by_guid.size() == view_.order.size(), "the number of GUIDs");
        index_.assign(made_.nodes.size(), port_ref::npos);
        for (u32 i = 0; i < view_.order.size(); ++i) index_[view_.order[i]] = i;
        std::size_t links = 0;
        std::map<NodeType, std::size_t> types;
        unsigned hops = 0;
        for (u32 i = 0; i < view_.order.size(); ++i) {
            const u32 n = view_.order[i];
            compare_node(n, found_.nodes[i]);
            expect(found_.find(made_.nodes[n].info.nodeGUID) == &found_.nodes[i], "where a GUID leads");
            ++types[made_.nodes[n].info.nodeType];
            hops = std::max<unsigned>(hops, found_.nodes[i].route.hopCount);
            for (u8 p = 1; p < made_.nodes[n].ports.size(); ++p) {
                if (!reported_.is_linked[n][p]) continue;
                const port_ref peer = *made_.at({n, p}).cable;
                if (std::pair(n, p) <= std::pair(peer.node, peer.port)) ++links; // counts only one of the two ends
            }
        }
        expect(found_.link_count() == links, "the number of links");
        for (const NodeType t : {NodeType::Switch, NodeType::CA, NodeType::Router})
            expect(found_.count(t) == types[t], "the number of nodes of a type");
        expect(found_.max_hops() == hops, "the longest route");
        expect(found_.find(iba::guid{1}) == nullptr, "a GUID that nobody has");
    }

private:
    void compare_node(u32 n, const discovery::node& have) const {
        const made_node& want = made_.nodes[n];
        const bool is_reached = view_.distance[n].has_value();
        // No route enters a switch by port 0.
        const u8 entered = is_reached && view_.entered[n] != 0 ? view_.entered[n] : have.info.localPortNum;
        expect(entered < want.ports.size() && have.info == made_.info_at({n, entered}), "NodeInfo");
        if (is_reached) expect(std::ranges::equal(have.route.hops(), view_.routes[n]), "a route");
        expect(have.description == (reported_.descriptions.contains(n) ? want.description : ""), "a description");
        expect(have.switch_info.has_value() == reported_.switch_infos.contains(n), "whether SwitchInfo was reported");
        expect(!have.switch_info || *have.switch_info == want.switch_info, "SwitchInfo");
        expect(have.is_switch() == want.is_switch(), "whether it is a switch");
        expect(have.ports.size() == want.ports.size(), "the number of ports");
        const char letter = want.is_switch() ? 'S' : want.info.nodeType == NodeType::Router ? 'R' : 'H';
        expect(topology_id(have) == fmt::format("{}-{:016x}", letter, value(want.info.nodeGUID)), "a name");
        for (u8 p = 0; p < want.ports.size(); ++p) compare_port({n, p}, have.ports[p]);
    }
    void compare_port(port_ref r, const discovery::port& have) const {
        const made_port& want = made_.at(r);
        expect(have.info.has_value() == reported_.infos.contains({r.node, r.port}), "whether PortInfo was reported");
        PortInfo info = want.info;
        if (have.info) info.localPortNum = have.info->localPortNum; // depends on the port by which the route enters
        expect(!have.info || *have.info == info, "PortInfo");
        const bool is_linked = reported_.is_linked[r.node][r.port];
        expect(have.peer == (is_linked ? port_ref{index_[want.cable->node], want.cable->port} : port_ref{}), "a peer");
        if (is_linked) expect(found_.at(have.peer).peer == port_ref{index_[r.node], r.port}, "the peer of a peer");
        const bool is_known = made_.nodes[r.node].is_switch() || is_linked;
        if (is_known) expect(have.portGUID == want.GUID, "portGUID");
        const bool has_extended = reported_.extended.contains({r.node, r.port});
        expect(have.fdr10 == (has_extended && want.extended.LinkSpeedActive == 1), "whether it is FDR10");
        expect(have.fdr10_supported == (has_extended && want.extended.LinkSpeedSupported == 1),
               "whether it could be FDR10");
        const port_ref here{index_[r.node], r.port};
        const port_ref end = made_.nodes[r.node].is_switch() ? port_ref{here.node, 0} : here;
        expect(&found_.end_port(here) == &found_.at(end), "an end port");
    }

    const made_subnet& made_;
    const findings& reported_;
    const view& view_;
    const subnet& found_;
    std::vector<u32> index_; // index in the discovered subnet
};

/// A discovery by one or several workers that gets its replies in any order, some of them twice.
class random_discovery {
public:
    explicit random_discovery(u64 seed) : d_(seed) {}

    u64 run() {
        make();
        for (int round = 0; round < 3; ++round) discover(); // discovers the same subnet again in other orders
        return steps_;
    }

private:
    struct model_worker {
        port_ref start;
        query_queue queue{};
        std::vector<node_request> in_flight{};
        u32 start_index = port_ref::npos; ///< index of `start` in the builder
    };
    /// Which attributes of a node were read.
    struct node_reading {
        unsigned handed = 0, in_a_row = 0;
        bool is_given_up = false;
    };
    /// Queries for hidden speeds to one kind of device.
    struct kind_probes {
        unsigned sent = 0, failed = 0;
    };

    // ---- the subnet
    void make() {
        if (d_.one_in(4)) made_.add_row(d_);
        else make_any();
        for (unsigned i = d_.one_in(3) ? 2 : 1; i > 0; --i) starts_.push_back(any_start());
        if (starts_.size() == 1 && d_.one_in(2)) max_hops_ = d_.below(5);
        queries_twice_ = d_.one_in(2);
        const bool has_faults = !d_.one_in(3);
        if (has_faults) make_faults();
        // With one common start, both workers would report the same loss.
        const bool is_same = starts_.front() == starts_.back();
        if (has_faults && (is_same || !is_found_by_first())) starts_.resize(1);
        for (const made_node& n : made_.nodes)
            for (const made_port& p : n.ports)
                if (p.GUID != iba::guid{}) keys_.set(mad::key_kind::MKey, p.GUID, key_of(p.GUID));
        keys_.set_default(mad::key_kind::MKey, default_key);
    }
    void make_any() {
        const bool is_large = d_.one_in(20);
        const unsigned nodes = d_.between(1, 9);
        for (unsigned i = 0; i < nodes; ++i) made_.add_node(d_, is_large ? 36 : 5);
        const bool is_chain = d_.one_in(3); // otherwise routes are short
        const unsigned cables = d_.below((is_chain ? 20 : 4) * nodes + 1);
        for (unsigned i = 0; i < cables; ++i) made_.add_cable(d_, is_chain);
    }
    // Returns true if the first worker has a route to it. The first worker sends the repeated queries.
    bool is_found_by_first() const {
        made_subnet at_first = made_;
        for (made_node& n : at_first.nodes) {
            n.unread_times *= 2;
            for (made_port& p : n.ports) p.losses *= 2;
        }
        const view first = truth(at_first, {starts_[0]}, max_hops_, true).seen();
        const view all = truth(made_, starts_, max_hops_, true).seen();
        return first.reached() == all.order.size();
    }
    port_ref any_start() {
        const port_ref r = made_.any_port(d_);
        return {r.node, made_.nodes[r.node].is_switch() ? u8{0} : r.port};
    }
    // Returns how often a query fails. A repeated query may succeed.
    unsigned times(mad::errc why) { return queries_twice_ && why == mad::errc::timed_out && d_.one_in(2) ? 1 : 9; }
    void make_faults() {
        // Queries that one worker could not send are left to other workers.
        std::vector<mad::errc> reasons{mad::errc::timed_out, mad::errc::timed_out, mad::errc::status};
        if (starts_.size() == 1) reasons.insert(reasons.end(), {mad::errc::send_failed, mad::errc::transport_failed});
        has_holes_ = starts_.size() == 1 && d_.one_in(4);
        for (u32 n = 0; n < made_.nodes.size(); ++n) {
            made_node& one = made_.nodes[n];
            for (unsigned holes = has_holes_ ? d_.below(one.ports.size() + 1) : 0; holes > 0; --holes)
                one.holes.emplace(query_kind::port, static_cast<u8>(d_.below(one.ports.size())));
            const bool is_start = std::ranges::find(starts_, n, &port_ref::node) != starts_.end();
            if (is_start && starts_.size() > 1 && !one.is_switch())
                continue; // only the worker of this port queries its neighbor
            one.is_dead = !is_start && d_.one_in(10);
            one.is_mute = d_.one_in(10);
            if (d_.one_in(4)) {
                const u8 port = static_cast<u8>(d_.between(one.is_switch() ? 0 : 1, one.info.numPorts));
                one.unread = d_.one_in(4) ? fact(d_.one_in(2) ? query_kind::description : query_kind::switch_info, 0)
                                          : fact(query_kind::port, port);
                one.unread_why = d_.any(reasons);
                one.unread_times = times(one.unread_why);
            }
            for (made_port& p : one.ports) {
                if (!d_.one_in(8)) continue;
                p.lost = d_.any(reasons);
                p.losses = times(p.lost);
            }
        }
    }

    // ---- a discovery
    void discover() {
        const bool with_extended = !d_.one_in(4);
        const truth expected(made_, starts_, max_hops_, with_extended);
        const bool is_to_stop = d_.one_in(12), is_shared = starts_.size() > 1;
        discovery::discovery_progress progress;
        discovery::discover_options how;
        how.max_hops = max_hops_;
        how.mlnx_ext_port_info = with_extended;
        how.keys = &keys_;
        how.progress = &progress;
        subnet_builder all(how, {.has_several_workers = is_shared, .retries_timeouts = queries_twice_});
        clear(all, with_extended);
        for (u32 w = 0; w < workers_.size(); ++w) begin(w);
        for (u32 w = 0; w < workers_.size(); ++w) // each worker queries its own port before another worker can reach it
            while (!workers_[w].queue.empty()) launch(w, 0);
        for (;;) {
            explore(is_to_stop);
            order();
            if (stops_) break;
            workers_.resize(1);
            const std::vector<node_query> pending = all.take_pending();
            if (pending.empty()) break;
            for (const node_query& q : pending) take_pending(q);
        }
        const subnet found = all.finish(stops_);
        comparison(made_, reported_, *seen_, found).run();
        check_keys(found);
        // A node that fails to reply twice in a row is not queried further. What is known of such a node depends on the
        // order.
        if (!stops_ && !has_holes_) expect(reported_ == expected.all, "the nodes did not report all that they have");
        check_failures(found, expected, is_shared);
        expect(progress.nodes == found.nodes.size(), "progress: nodes");
        expect(progress.links == found.link_count(), "progress: links");
        expect(progress.failures == found.failures.size(), "progress: problems");
        expect(found.start_port == workers_[0].start.port, "start_port");
        check_other_start(found);
    }
    void clear(subnet_builder& all, bool with_extended) {
        all_ = &all;
        with_extended_ = with_extended;
        stops_ = false;
        reported_ = {};
        for (const made_node& n : made_.nodes) reported_.is_linked.emplace_back(n.ports.size(), false);
        index_.assign(made_.nodes.size(), port_ref::npos);
        made_index_.clear();
        readings_.assign(made_.nodes.size(), {});
        entries_.clear();
        times_lost_.clear();
        times_unread_.clear();
        failures_.clear();
        owed_.clear();
        probes_.clear();
        too_far_.clear();
        workers_.clear();
        for (const port_ref s : starts_) workers_.push_back({.start = s});
    }

    discovery::query_origin origin(u32 w, bool is_idle) const {
        const model_worker& one = workers_[w];
        return {w, 1 + w * 3, is_idle, {one.start_index, one.start.port}};
    }

    void begin(u32 w) {
        model_worker& one = workers_[w];
        const bool is_new = !reported_.nodes.contains(one.start.node);
        query_queue queue;
        one.start_index = all_->begin(made_.info_at(one.start), origin(w, true), queue);
        note_node(one.start_index, one.start.node);
        if (is_new) entries_[one.start.node] = one.start.port;
        const bool is_other_port = !is_new && !made_.nodes[one.start.node].is_switch();
        check_queued(queue, one.start, is_new, is_other_port);
        append(w, queue);
    }
    void note_node(u32 index, u32 n) {
        expect(index != port_ref::npos, "a contradiction where there is none");
        if (reported_.nodes.insert(n).second) {
            index_[n] = index;
            expect(index == made_index_.size(), "the index of a new node");
            made_index_.push_back(n);
        }
        expect(index == index_[n], "one node is two");
    }
    /// Checks the queries that follow when a node is reached. The node is read if it is new, or if a worker is idle and
    /// this is another port of it.
    void check_queued(const query_queue& queue, port_ref there, bool is_new, bool is_other_port) const {
        std::size_t readers = 0;
        for (const node_query& q : queue) {
            const bool is_reader = q.kind == query_kind::node && q.port == 0;
            if (is_reader) ++readers;
            else expect(q.kind == query_kind::port && q.port == there.port, "another query than for the port reached");
        }
        expect(queue.size() - readers == (is_other_port ? 1 : 0), "whether a port has a PortInfo of its own");
        if (is_new) expect(readers > 0, "a new node is not read");
    }
    void append(u32 w, const query_queue& queue) {
        workers_[w].queue.insert(workers_[w].queue.end(), queue.begin(), queue.end());
    }

    void explore(bool is_to_stop) {
        for (;;) {
            std::size_t to_do = 0;
            for (const model_worker& w : workers_) to_do += w.queue.size() + w.in_flight.size();
            if (to_do == 0) return;
            ++steps_;
            if (is_to_stop && d_.one_in(20)) stops_ = true;
            std::size_t which = d_.below(to_do);
            u32 w = 0;
            for (; which >= workers_[w].queue.size() + workers_[w].in_flight.size(); ++w)
                which -= workers_[w].queue.size() + workers_[w].in_flight.size();
            if (which < workers_[w].queue.size()) launch(w, which);
            else answer(w, which - workers_[w].queue.size());
        }
    }

    void launch(u32 w, std::size_t which) {
        query_queue& queue = workers_[w].queue;
        const node_query q = queue[which];
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(which));
        if (stops_) return;
        const std::optional<node_request> request = all_->next(q);
        const u32 n = made_index_[q.node];
        if (q.kind == query_kind::neighbor) {
            const bool is_new = !reported_.is_linked[n][q.port], is_near = q.route.hopCount < max_hops_;
            expect(request.has_value() == (is_new && is_near), "whether a neighbor is queried");
            if (is_new && !is_near) too_far_.emplace(n, q.port);
        } else {
            expect(request || q.kind == query_kind::node, "a query that is not sent");
        }
        // No port hides extended speeds, so reading one port of each kind of device again is enough.
        if (q.understands_extended_speeds && !q.is_second) {
            kind_probes& probes = probes_of(n);
            expect(probes.sent++ <= probes.failed, "a port is read again without need");
        }
        if (request) send(w, *request);
    }
    kind_probes& probes_of(u32 n) { return probes_[made_.nodes[n].info.deviceID]; }
    unsigned steps_of(u32 n) const { return made_.nodes[n].is_switch() ? made_.nodes[n].info.numPorts + 3u : 2u; }
    void send(u32 w, const node_request& request) {
        const node_query& q = request.query;
        if (q.is_step && q.kind != query_kind::ext_port_info) {
            node_reading& reading = readings_[made_index_[q.node]];
            expect(!reading.is_given_up, "queried a node that does not reply");
            expect(++reading.handed <= steps_of(made_index_[q.node]), "queried more than there is");
        }
        workers_[w].in_flight.push_back(request);
    }

    void answer(u32 w, std::size_t which) {
        model_worker& one = workers_[w];
        const node_request request = one.in_flight[which];
        const bool is_idle = one.queue.empty() && one.in_flight.size() == 1;
        one.in_flight.erase(one.in_flight.begin() + static_cast<std::ptrdiff_t>(which));
        const node_query& q = request.query;
        const auto there = made_.walk(one.start, q.route);
        expect(there && there->node == made_index_[q.node], "a route that leads elsewhere");
        if (q.kind == query_kind::neighbor) answer_probe(w, request, is_idle);
        else answer_fact(w, request, *there);
    }
    /// Accepts a reply. Returns the request that the worker sends at once, after sending it.
    std::optional<node_request> accept(u32 w, const node_request& request, const node_reply& reply, bool is_idle,
                                       query_queue& queue) {
        const std::optional<node_request> next = all_->accept(request, reply, origin(w, is_idle), queue);
        append(w, queue);
        if (next) send(w, *next);
        return next;
    }

    void answer_probe(u32 w, const node_request& request, bool is_idle) {
        const node_query& q = request.query;
        expect(request.directed.MKey == default_key, "the key of an unknown port");
        expect(request.directed.hopCount <= max_hops_, "queried farther away than allowed");
        const port_ref from{made_index_[q.node], q.port};
        const made_port& out = made_.at(from);
        if (stops_) return failed(w, request, mad::errc::cancelled);
        if (!out.cable || made_.nodes[out.cable->node].is_dead) return failed(w, request, mad::errc::timed_out);
        if (times_lost_[{from.node, from.port}]++ < out.losses) return failed(w, request, out.lost);
        const port_ref there = *out.cable;
        const bool is_new = !reported_.nodes.contains(there.node),
                   is_new_link = !reported_.is_linked[from.node][from.port];
        query_queue queue;
        expect(!accept(w, request, made_.info_at(there), is_idle, queue), "a step after a probe");
        if (is_new) note_node(static_cast<u32>(made_index_.size()), there.node);
        reported_.is_linked[from.node][from.port] = reported_.is_linked[there.node][there.port] = true;
        const node_query* const first = queue.empty() ? nullptr : &queue.front();
        expect(!first || first->node == index_[there.node], "a query to another node than the one reached");
        const bool is_switch = made_.nodes[there.node].is_switch();
        check_queued(queue, there, is_new, !is_new && is_new_link && !is_switch && !is_entry(there));
        if (is_new) entries_[there.node] = there.port;
        if (!d_.one_in(8)) return;
        query_queue again;
        accept(w, request, made_.info_at(there), false, again);
        expect(again.empty(), "a repeated reply has an effect");
    }
    /// Returns true if the node was found through this port.
    bool is_entry(port_ref r) const {
        const auto known = entries_.find(r.node);
        return known != entries_.end() && known->second == r.port;
    }

    void answer_fact(u32 w, const node_request& request, port_ref entered) {
        const node_query& q = request.query;
        const made_node& node = made_.nodes[entered.node];
        const bool is_extended = q.kind == query_kind::ext_port_info;
        // For a node with several ports, the query is about the requested port, whichever port the route enters.
        const bool is_of_port = q.kind == query_kind::port || is_extended;
        const iba::guid requested_port = made_.at(is_of_port ? port_ref{entered.node, q.port} : entered).GUID;
        expect(starts_.size() > 1 || request.directed.MKey == key_of(requested_port), "the key of another port");
        const bool is_unread = node.unread == fact(q.kind, q.port);
        if (stops_) failed(w, request, mad::errc::cancelled);
        else if (node.is_mute || node.holes.contains({q.kind, q.port})) failed(w, request, mad::errc::timed_out);
        else if (is_unread && times_unread_[entered.node]++ < node.unread_times) failed(w, request, node.unread_why);
        else take(w, request);
    }

    void take(u32 w, const node_request& request) {
        const node_query& q = request.query;
        const u32 n = made_index_[q.node];
        const made_node& node = made_.nodes[n];
        readings_[n].in_a_row = 0;
        query_queue queue;
        if (q.kind == query_kind::switch_info) {
            reported_.switch_infos.insert(n);
            accept(w, request, node.switch_info, false, queue);
        } else if (q.kind == query_kind::description) {
            reported_.descriptions.insert(n);
            accept(w, request, made_.description_of(n), false, queue);
        } else if (q.kind == query_kind::ext_port_info) {
            reported_.extended.emplace(n, q.port);
            accept(w, request, node.ports[q.port].extended, false, queue);
        } else {
            return take_info(w, request, {n, q.port});
        }
        expect(queue.empty(), "a query that follows from no PortInfo");
    }
    void take_info(u32 w, const node_request& request, port_ref where) {
        const node_query& q = request.query;
        const PortInfo& info = made_.at(where).info;
        query_queue queue;
        if (d_.one_in(8)) { // a duplicate reply, which triggers no further query
            node_request repeated = request;
            repeated.query.is_step = false;
            (void)all_->accept(repeated, info, origin(w, false), queue);
            std::erase_if(queue, [](const node_query& more) { return more.kind == query_kind::neighbor; });
        }
        reported_.infos.emplace(where.node, where.port);
        const auto next = accept(w, request, info, false, queue);
        const bool has_fdr10 = with_extended_ && made_.may_be_fdr10(where) && !q.understands_extended_speeds;
        const bool is_extended_next = next && next->query.kind == query_kind::ext_port_info;
        expect(is_extended_next == has_fdr10, "whether it may be FDR10");
        const bool is_start = workers_[w].start == where, is_linked = reported_.is_linked[where.node][where.port];
        const bool leads_on = made_.is_up(where) && where.port != 0 && !q.understands_extended_speeds &&
                              (made_.nodes[where.node].is_switch() || is_start) && !is_linked;
        const auto probes = std::ranges::count(queue, query_kind::neighbor, &node_query::kind);
        expect(probes == (leads_on ? 1 : 0), "whether a port leads on");
        for (const node_query& more : queue) {
            const bool is_reread = more.kind == query_kind::port && more.understands_extended_speeds;
            expect(is_reread || (more.kind == query_kind::neighbor && more.port == where.port), "an unexpected query");
            if (is_reread) expect(may_hide({where.node, more.port}), "a port that hides nothing is read again");
        }
    }
    /// Returns true for a port whose speeds are all zero, at a node with extended speeds.
    bool may_hide(port_ref r) const {
        const PortInfo& info = made_.at(r).info;
        const bool has_speed = info.linkSpeedExtSupported != 0 || info.linkSpeedExtActive != iba::LinkSpeedExt{} ||
                               info.linkSpeedExtActive2 != iba::LinkSpeedExt2{};
        return made_.is_up(r) && made_.has_extended(r) && !has_speed;
    }

    // ---- failures
    using owed_query = std::tuple<query_kind, u32, u8>;

    static failure_kind kind_of(mad::errc code) {
        if (code == mad::errc::timed_out) return failure_kind::timeout;
        if (code == mad::errc::send_failed || code == mad::errc::transport_failed) return failure_kind::send_failed;
        return failure_kind::error_reply;
    }
    failure_location place_of(failure_kind what, u32 n, u8 port) const {
        return {what, value(made_.nodes[n].info.nodeGUID), port};
    }
    void failed(u32 w, const node_request& request, mad::errc code) {
        const node_query& q = request.query;
        note_failed(q, code);
        query_queue queue;
        accept(w, request, error(code), false, queue);
        expect(queue.empty(), "a query that follows from a failure");
    }
    void note_failed(const node_query& q, mad::errc code) {
        const bool rejects_bit = q.understands_extended_speeds && code == mad::errc::status;
        if (code == mad::errc::cancelled || rejects_bit) return;
        const u32 n = made_index_[q.node];
        if (q.understands_extended_speeds && !q.is_second) ++probes_of(n).failed;
        const bool comes_again = queries_twice_ && !q.is_second && code == mad::errc::timed_out;
        const query_kind kind = q.kind == query_kind::ext_port_info ? query_kind::port : q.kind;
        if (comes_again) owed_.insert({kind, n, q.port});
        else failures_.push_back(place_of(kind_of(code), n, q.port));
        if (q.kind == query_kind::neighbor || code != mad::errc::timed_out) return;
        node_reading& reading = readings_[n];
        if (++reading.in_a_row < 2 || reading.is_given_up || reading.handed >= steps_of(n)) return;
        reading.is_given_up = true;
        if (comes_again) owed_.insert({query_kind::node, n, u8{0}});
        else failures_.push_back(place_of(failure_kind::timeout, n, 0));
    }

    /// Called at the end of a round. Indices change, because the discovered links define the order.
    void order() {
        const port_ref start = workers_[0].start;
        workers_[0].start_index = 0;
        all_->order_from(made_.nodes[start.node].info.nodeGUID, start.port);
        seen_.emplace(made_, reported_.is_linked, reported_.nodes, start);
        made_index_ = seen_->order;
        for (u32 i = 0; i < made_index_.size(); ++i) index_[made_index_[i]] = i;
        for (const u32 n : reported_.nodes) {
            if (seen_->distance[n]) entries_[n] = seen_->entered[n];
            const bool goes_on = owed_.contains({query_kind::node, n, u8{0}}); // continues where the query was given up
            readings_[n] = {.handed = goes_on ? readings_[n].handed : steps_of(n), .in_a_row = 0, .is_given_up = false};
        }
    }
    /// Takes the queries that are repeated.
    void take_pending(const node_query& q) {
        const u32 n = made_index_[q.node];
        expect(std::ranges::equal(q.route.hops(), seen_->routes[n]), "the route of what is asked again");
        if (q.is_second) expect(owed_.erase({q.kind, n, q.port}) == 1, "asked again what was answered");
        else if (q.understands_extended_speeds) expect(probes_of(n).failed > 0, "a port is read again without need");
        else
            expect(too_far_.erase({n, q.port}) == 1 && q.kind == query_kind::neighbor,
                   "asked again what was not too far");
        workers_[0].queue.push_back(q);
    }

    // ---- the discovered subnet
    void check_keys(const subnet& found) const {
        for (const discovery::node& n : found.nodes)
            expect(n.route.MKey == key_of(n.info.portGUID), "the key of a route");
    }

    void check_failures(const subnet& found, const truth& expected, bool is_shared) {
        std::vector<failure_location> have;
        for (const failure& p : found.failures) {
            have.push_back({p.kind, value(p.where.nodeGUID), p.where.port});
            const std::string line = describe(found, p);
            expect(line.ends_with(p.text) && line.size() >= p.text.size(), "a line of a problem");
        }
        const auto rank = [&](const failure_location& p) {
            const auto known = found.by_guid.find(iba::guid{std::get<1>(p)});
            return std::tuple(known == found.by_guid.end() ? ~u32{0} : known->second, std::get<2>(p), std::get<0>(p));
        };
        if (is_shared) expect(std::ranges::is_sorted(have, {}, rank), "the order of problems");
        // The neighbor of a port may be known from its own side. Then there is no failure, unless the discovery stopped
        // before that query.
        std::vector<failure_location> optional;
        for (const auto& [what, n, port] : owed_) {
            const bool is_known = what == query_kind::neighbor && reported_.is_linked[n][port];
            expect(is_known || stops_, "what had no answer was not asked again");
            (is_known ? optional : failures_).push_back(place_of(failure_kind::timeout, n, port));
        }
        for (const auto& [n, port] : too_far_) {
            const bool is_known = reported_.is_linked[n][port];
            (is_known ? optional : failures_).push_back(place_of(failure_kind::too_far, n, port));
            if (!stops_ && !has_holes_)
                expect(is_known || expected.is_too_far({n, port}, *seen_), "too far, and it is not");
        }
        if (stops_) failures_.push_back({failure_kind::cancelled, 0, u8{0}});
        std::ranges::sort(have);
        std::ranges::sort(failures_);
        std::ranges::sort(optional);
        std::vector<failure_location> rest;
        std::ranges::set_difference(have, failures_, std::back_inserter(rest));
        expect(have.size() - rest.size() == failures_.size(), "a problem that is not told");
        if (!stops_) expect(rest.empty(), "a problem too many");
        expect(std::ranges::includes(optional, rest), "a problem that there is not");
        expect(found.complete() == have.empty(), "whether it is complete");
    }

    /// Compares the same subnet from the view of another start.
    void check_other_start(subnet found) {
        const u32 i = d_.below(found.nodes.size()), n = seen_->order[i];
        port_ref start{n, 0};
        if (!made_.nodes[n].is_switch()) {
            start.port = static_cast<u8>(d_.between(1, made_.nodes[n].info.numPorts));
            if (!reported_.is_linked[n][start.port]) return;
        }
        std::map<u64, u64> keys;
        for (const discovery::node& one : found.nodes) keys[value(one.info.nodeGUID)] = one.route.MKey;
        put_in_order(found, i, start.port);
        const view other(made_, reported_.is_linked, reported_.nodes, start);
        comparison(made_, reported_, other, found).run();
        for (const discovery::node& one : found.nodes)
            expect(one.route.MKey == keys.at(value(one.info.nodeGUID)), "the key of another order");
        put_in_order(found);
        comparison(made_, reported_, other, found).run();
    }

    dice d_;
    u64 steps_ = 0;
    made_subnet made_;
    std::vector<port_ref> starts_;
    unsigned max_hops_ = IBDRPath::max_hops;
    bool queries_twice_ = false, has_holes_ = false, with_extended_ = false, stops_ = false;
    mad::port_keys keys_;

    subnet_builder* all_ = nullptr;
    std::vector<model_worker> workers_;
    findings reported_;
    std::optional<view> seen_;
    std::vector<u32> index_, made_index_; // from the generated subnet to the builder, and back
    std::vector<node_reading> readings_;  // by index in the generated subnet
    std::map<u32, u8> entries_;           // the port by which each node was found
    std::map<std::pair<u32, u8>, unsigned> times_lost_;
    std::map<u32, unsigned> times_unread_;
    std::vector<failure_location> failures_;
    std::set<owed_query> owed_;            // failed queries that must be repeated
    std::map<u16, kind_probes> probes_;    // by device ID, in which the kinds of devices differ
    std::set<std::pair<u32, u8>> too_far_; // ports whose neighbor was not queried
};

// ---- contradictory replies -----------------------------------------------------------------------------------------------

/// A database that receives arbitrary replies: one GUID with several contents, ports that a node does not have, ports
/// that lead to two neighbors. The first reply stays. A contradictory reply is a failure at the port through which it
/// was received.
class contradicted_subnet {
public:
    explicit contradicted_subnet(u64 seed) : d_(seed) {}

    u64 run() {
        constexpr u64 steps = 40;
        begin();
        for (u64 i = 1; i < steps; ++i) {
            if (d_.one_in(12)) begin();
            else if (d_.one_in(6)) take();
            else meet();
            expect(progress_.nodes == nodes_.size(), "the number of nodes");
            expect(progress_.links == links_, "the number of links");
            expect(progress_.failures == failures_.size(), "the number of problems");
        }
        compare(all_.finish(false));
        return steps;
    }

private:
    struct known_port {
        std::optional<port_ref> peer;
        iba::guid GUID{};
        std::optional<PortInfo> info;
    };
    struct known_node {
        NodeInfo info;
        std::vector<known_port> ports;
    };

    NodeInfo any_info() {
        NodeInfo info;
        info.nodeGUID = iba::guid{100 + d_.below(6)};
        info.portGUID = iba::guid{1000 + d_.random() % 50};
        info.nodeType = static_cast<NodeType>(d_.one_in(8) ? d_.between(1, 3) : 1 + value(info.nodeGUID) % 3);
        info.numPorts = static_cast<u8>(d_.one_in(8) ? d_.below(5) : 2 + value(info.nodeGUID) % 3);
        info.localPortNum = static_cast<u8>(d_.below(6));
        info.systemImageGUID = iba::guid{d_.random() % 3};
        return info;
    }
    std::optional<u32> find(iba::guid GUID) const {
        const auto known = std::ranges::find(nodes_, GUID, [](const known_node& n) { return n.info.nodeGUID; });
        if (known == nodes_.end()) return std::nullopt;
        return static_cast<u32>(known - nodes_.begin());
    }
    void add(const NodeInfo& info) {
        known_node& n = nodes_.emplace_back();
        n.info = info;
        n.ports.resize(std::max(info.numPorts, info.localPortNum) + 1u);
        for (unsigned p = 0; p < n.ports.size(); ++p)
            if (info.nodeType == NodeType::Switch || p == info.localPortNum) n.ports[p].GUID = info.portGUID;
    }
    static bool has_same_ports(const NodeInfo& a, const NodeInfo& b) {
        return a.nodeType == b.nodeType && a.numPorts == b.numPorts;
    }
    void contradict(port_ref where) {
        failures_.push_back({failure_kind::contradiction, value(nodes_[where.node].info.nodeGUID), where.port});
    }

    void begin() {
        const NodeInfo info = any_info();
        query_queue queue;
        const u32 started = all_.begin(info, {0, 4, true}, queue);
        const auto known = find(info.nodeGUID);
        if (!known) {
            add(info);
            // A contradiction: the program's own port does not exist, or its node has no ports. Only a switch has a
            // port 0.
            const bool is_switch = info.nodeType == NodeType::Switch;
            if (info.numPorts == 0 || info.localPortNum > info.numPorts || (info.localPortNum == 0 && !is_switch))
                failures_.push_back({failure_kind::contradiction, value(info.nodeGUID), 0});
            expect(started == nodes_.size() - 1, "the index of where a worker starts");
            expect(is_reading(queue, started) && !queue.empty(), "a new node is not read");
            return;
        }
        known_node& n = nodes_[*known];
        if (!has_same_ports(n.info, info) || info.localPortNum > info.numPorts) {
            contradict({*known, info.localPortNum});
            expect(started == port_ref::npos && queue.empty(), "a worker starts where it cannot");
            return;
        }
        const bool is_switch = info.nodeType == NodeType::Switch;
        expect(started == *known && queue.size() == (is_switch ? 0 : 1), "where another worker starts");
        if (!is_switch) expect(is_port_query(queue.front(), {started, info.localPortNum}), "the port of another start");
        if (!is_switch) n.ports[info.localPortNum].GUID = info.portGUID;
    }

    void meet() {
        const u32 n = d_.below(nodes_.size());
        const port_ref from{n, static_cast<u8>(d_.below(nodes_[n].ports.size()))};
        const NodeInfo info = any_info();
        const node_request request{.query = {.kind = query_kind::neighbor, .node = n, .port = from.port}};
        query_queue queue;
        expect(!all_.accept(request, info, {0, 4, false}, queue), "a step after a probe");
        auto known = find(info.nodeGUID);
        const bool is_port = info.localPortNum > 0 && info.localPortNum <= info.numPorts;
        if (!is_port || (known && !has_same_ports(nodes_[*known].info, info))) {
            contradict(from);
            expect(queue.empty(), "a query to a node that cannot exist");
            return;
        }
        const bool is_new = !known;
        if (is_new) {
            add(info);
            known = static_cast<u32>(nodes_.size() - 1);
        }
        if (is_new) expect(is_reading(queue, *known) && !queue.empty(), "a new node is not read");
        const port_ref there{*known, info.localPortNum};
        std::optional<port_ref>&here_peer = port(from).peer, &there_peer = port(there).peer;
        const bool has_explicit_format = here_peer == there && there_peer == from;
        const bool is_free = !here_peer && !there_peer;
        if (is_free) {
            here_peer = there;
            there_peer = from;
            port(there).GUID = info.portGUID;
            ++links_;
        } else if (!has_explicit_format) {
            contradict(from);
        }
        const bool is_first =
            info.nodeType == NodeType::Switch || info.localPortNum == nodes_[*known].info.localPortNum;
        if (is_new) return;
        const bool is_other_port = is_free && !is_first;
        expect(queue.size() == (is_other_port ? 1 : 0), "whether a port has a PortInfo of its own");
        if (is_other_port) expect(is_port_query(queue.front(), there), "the query for another port");
    }

    void take() {
        const u32 n = d_.below(nodes_.size());
        const port_ref where{n, static_cast<u8>(d_.below(nodes_[n].ports.size()))};
        PortInfo info;
        info.LID = iba::lid{static_cast<u16>(d_.below(3))};
        info.portPhysicalState = static_cast<iba::PortPhysicalState>(d_.below(8));
        info.linkSpeedActive = static_cast<iba::LinkSpeed>(1u << d_.below(3));
        const bool is_start = d_.one_in(2), is_up = info.portPhysicalState == iba::PortPhysicalState::LinkUp;
        const node_request request{.query = {.kind = query_kind::port, .node = n, .port = where.port}};
        query_queue queue;
        const auto next = all_.accept(request, info, {0, 4, false, is_start ? where : port_ref{}}, queue);
        expect(!next, "a device that does not have MlnxExtPortInfo is queried for it");
        const bool may_lead = nodes_[n].info.nodeType == NodeType::Switch || is_start;
        const bool leads_on = where.port != 0 && is_up && may_lead && !port(where).peer;
        expect(queue.size() == (leads_on ? 1 : 0), "whether a port leads on");
        if (leads_on)
            expect(queue.front().kind == query_kind::neighbor &&
                       port_ref{queue.front().node, queue.front().port} == where,
                   "the port that a neighbor is queried through");
        port(where).info = info;
    }

    static bool is_reading(const query_queue& queue, u32 index) {
        return std::ranges::all_of(queue,
                                   [&](const node_query& q) { return q.kind == query_kind::node && q.node == index; });
    }
    static bool is_port_query(const node_query& q, port_ref r) {
        return q.kind == query_kind::port && port_ref{q.node, q.port} == r;
    }

    known_port& port(port_ref r) { return nodes_[r.node].ports[r.port]; }

    void compare(const subnet& found) const {
        expect(found.nodes.size() == nodes_.size() && found.by_guid.size() == nodes_.size(), "nodes");
        expect(found.link_count() == links_, "links");
        expect(found.start_port == (nodes_[0].info.nodeType == NodeType::Switch ? 0 : nodes_[0].info.localPortNum),
               "start_port");
        for (u32 n = 0; n < nodes_.size(); ++n) {
            const discovery::node& have = found.nodes[n];
            expect(have.info == nodes_[n].info && have.ports.size() == nodes_[n].ports.size(),
                   "a node is as it was told first");
            expect(found.find(have.info.nodeGUID) == &have, "where a GUID leads");
            for (u8 p = 0; p < have.ports.size(); ++p) {
                const known_port& want = nodes_[n].ports[p];
                expect(have.ports[p].peer == want.peer.value_or(port_ref{}), "a peer");
                expect(have.ports[p].portGUID == want.GUID, "portGUID");
                expect(have.ports[p].info == want.info, "PortInfo is as it was told last");
            }
        }
        std::vector<failure_location> have;
        for (const failure& p : found.failures) have.push_back({p.kind, value(p.where.nodeGUID), p.where.port});
        expect(have == failures_, "problems");
    }

    dice d_;
    discovery::discovery_progress progress_;
    subnet_builder all_{{.progress = &progress_}, {}};
    std::vector<known_node> nodes_;
    std::size_t links_ = 0;
    std::vector<failure_location> failures_;
};

// ---- links ---------------------------------------------------------------------------------------------------------------

/// Two nodes, with or without a cable between them, whose ports have arbitrary values in the bits of the IBA.
class random_links {
public:
    explicit random_links(u64 seed) : d_(seed) {}

    u64 run() {
        constexpr u64 steps = 50;
        for (u64 i = 0; i < steps; ++i) {
            make();
            for (const port_ref r : {port_ref{0, 1}, port_ref{1, 1}}) check(r);
            const link_speeds some = d_.below(1u << d_.between(1, 10));
            const unsigned fastest = std::bit_width(some); // number of the speed, from 1
            const double expected = fastest == 0 || fastest > speed_bits.size() ? 0 : speed_bits[fastest - 1];
            expect(discovery::bits_per_second(some) == expected, "bits_per_second of a set");
        }
        return 2 * steps;
    }

private:
    void make() {
        s_ = {};
        s_.nodes.resize(2);
        for (discovery::node& n : s_.nodes) {
            n.info.nodeType = d_.one_in(2) ? NodeType::Switch : NodeType::CA;
            n.info.deviceID = d_.one_in(2) ? u16{0xc738} : u16{0xc737};
            n.ports.resize(2);
            for (discovery::port& p : n.ports) {
                p.info = any_info();
                if (d_.one_in(8)) p.info.reset();
                p.fdr10 = d_.one_in(4);
                p.fdr10_supported = d_.one_in(2);
            }
        }
        if (d_.one_in(8)) return;
        s_.nodes[0].ports[1].peer = {1, 1};
        s_.nodes[1].ports[1].peer = {0, 1};
    }
    PortInfo any_info() {
        PortInfo p;
        p.capabilityMask = (static_cast<u32>(d_.random()) & ~extended_speeds_supported) |
                           (d_.one_in(3) ? 0u : extended_speeds_supported);
        p.linkWidthSupported = static_cast<u8>(d_.one_in(2) ? 0x1f : d_.below(32));
        p.linkWidthActive = static_cast<LinkWidth>(d_.one_in(9) ? 0u : 1u << d_.below(5));
        p.linkSpeedSupported = static_cast<u8>(d_.one_in(2) ? 7 : d_.below(16));
        p.linkSpeedExtSupported = static_cast<u8>(d_.one_in(2) ? d_.below(16) : 0);
        p.linkSpeedExtSupported2 = static_cast<u8>(d_.one_in(4));
        p.linkSpeedActive = static_cast<iba::LinkSpeed>(d_.one_in(3) ? 4u : d_.one_in(9) ? 0u : 1u << d_.below(4));
        if (d_.one_in(2)) p.linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(1u << d_.below(4));
        if (d_.one_in(6)) p.linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR;
        return p;
    }

    const discovery::port& port(port_ref r) const { return s_.nodes[r.node].ports[r.port]; }
    bool has_extended(port_ref r, bool if_unknown) const {
        const bool is_switch = s_.nodes[r.node].info.nodeType == NodeType::Switch;
        const auto& end = s_.nodes[r.node].ports[is_switch ? 0 : r.port].info;
        return end ? (end->capabilityMask & extended_speeds_supported) != 0 : if_unknown;
    }
    std::optional<unsigned> active(port_ref r) const { return active_speed_of(*port(r).info, has_extended(r, false)); }
    /// Returns the numbers of the supported speeds, the slowest first.
    std::set<unsigned> supported(port_ref r) const {
        const PortInfo& p = *port(r).info;
        std::set<unsigned> all;
        for (unsigned i = 0; i < 3; ++i)
            if (p.linkSpeedSupported >> i & 1) all.insert(i);
        for (unsigned i = 0; has_extended(r, false) && i < 4; ++i)
            if (p.linkSpeedExtSupported >> i & 1) all.insert(3 + i);
        if (has_extended(r, false) && (p.linkSpeedExtSupported2 & 1)) all.insert(7);
        return all;
    }
    static link_speeds as_set(std::optional<unsigned> speed) { return speed ? 1u << *speed : 0u; }
    static unsigned lanes(LinkWidth w) {
        const std::map<unsigned, unsigned> all{{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}; // IBA 14.2.5.6
        const auto known = all.find(static_cast<unsigned>(w));
        return known == all.end() ? 0 : known->second;
    }

    void check(port_ref r) const {
        expect(discovery::has_extended_speeds(s_, r) == has_extended(r, false), "has_extended_speeds");
        if (!port(r).info) return check_unknown(r);
        const PortInfo& info = *port(r).info;
        const std::optional<unsigned> now = active(r);
        expect(discovery::active_speed(s_, r) == as_set(now), "active_speed");
        expect(discovery::active_width(s_, r) == info.linkWidthActive, "active_width");
        const bool is_fdr10 = now == 2u && port(r).fdr10;
        expect(discovery::is_fdr10(s_, r) == is_fdr10, "is_FDR10");
        const bool may_be =
            active_speed_of(info, has_extended(r, true)) == 2u && s_.nodes[r.node].info.deviceID == 0xc738;
        expect(discovery::may_be_fdr10(s_.nodes[r.node], r.port) == may_be, "may_be_FDR10");
        expect(discovery::is_degraded_to_1x(s_, r) ==
                   (info.linkWidthActive == LinkWidth::w1x && info.linkWidthSupported != 1),
               "is_degraded_to_1x");
        expect(discovery::lanes_of(info.linkWidthActive) == lanes(info.linkWidthActive), "lanes_of");
        const double lane = is_fdr10 ? 10.3125e9 : now ? speed_bits[*now] : 0;
        expect(discovery::bits_per_second(s_, r) == lane * lanes(info.linkWidthActive), "bits_per_second");
        const port_ref peer = port(r).peer;
        if (!peer || !port(peer).info) check_unknown(r);
        else check_possible(r, peer, now);
    }
    void check_unknown(port_ref r) const {
        expect(discovery::possible_width(s_, r) == LinkWidth{}, "possible_width of what is not known");
        expect(discovery::possible_speed(s_, r) == 0, "possible_speed of what is not known");
        expect(!discovery::could_be_fdr10(s_, r), "could_be_FDR10 of what is not known");
    }
    void check_possible(port_ref r, port_ref peer, std::optional<unsigned> now) const {
        LinkWidth widest{};
        for (unsigned bit = 0; bit < 5; ++bit) {
            const auto width = static_cast<LinkWidth>(1u << bit);
            const unsigned both = port(r).info->linkWidthSupported & port(peer).info->linkWidthSupported;
            if ((both >> bit & 1) && lanes(width) > lanes(widest)) widest = width;
        }
        if (lanes(widest) <= lanes(port(r).info->linkWidthActive)) widest = {};
        expect(discovery::possible_width(s_, r) == widest, "possible_width");

        const std::set<unsigned> here = supported(r), there = supported(peer);
        std::optional<unsigned> fastest;
        for (const unsigned speed : here)
            if (there.contains(speed)) fastest = speed;
        expect(discovery::possible_speed(s_, r) == (fastest > now ? as_set(fastest) : 0), "possible_speed");
        const bool could_be =
            fastest == 2u && now == 2u && port(r).fdr10_supported && port(peer).fdr10_supported && !port(r).fdr10;
        expect(discovery::could_be_fdr10(s_, r) == could_be, "could_be_FDR10");
    }

    dice d_;
    subnet s_;
};
// ---- changes -------------------------------------------------------------------------------------------------------------

coro::schedule_options one_attempt() {
    coro::schedule_options options;
    options.timeout = std::chrono::seconds(1);
    options.retries = 0;
    return options;
}

std::string name_of_state(PortState s) {
    constexpr const char* names[] = {"NoChange", "Down", "Initialize", "Armed", "Active"};
    return names[static_cast<unsigned>(s)];
}
/// Changes something in a PortInfo, including irrelevant fields.
void edit(dice& d, PortInfo& p, bool has_extended) {
    switch (d.below(7)) {
    case 0: p.portState = static_cast<PortState>(d.between(1, 4)); break;
    case 1: p.linkWidthActive = static_cast<LinkWidth>(1u << d.below(5)); break;
    case 2:
    case 3: set_active_speed(p, d.below(has_extended ? 8 : 3)); break;
    case 4: p.LID = iba::lid{static_cast<u16>(d.between(1, 0xbfff))}; break;
    case 5: // without extended speeds the field has no meaning
        p.linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(1u << d.below(4));
        break;
    default:
        p.LMC = static_cast<u8>(d.below(8));
        p.linkSpeedSupported = static_cast<u8>(d.below(8));
        p.linkWidthSupported = static_cast<u8>(d.below(32));
        p.portPhysicalState = static_cast<iba::PortPhysicalState>(d.between(1, 7));
        p.PKeyViolations = static_cast<u16>(d.random());
    }
}
PortInfo any_info(dice& d, bool has_extended) {
    PortInfo p;
    p.LID = iba::lid{static_cast<u16>(d.between(1, 0xbfff))};
    p.portState = static_cast<PortState>(d.between(1, 4));
    p.linkWidthActive = static_cast<LinkWidth>(1u << d.below(5));
    set_active_speed(p, d.below(has_extended ? 8 : 3));
    return p;
}

/// A subnet that was discovered and then edited. find_changes() must report the edits, and send only the required
/// queries.
class edited_subnet {
public:
    explicit edited_subnet(u64 seed) : d_(seed) {}

    u64 run() {
        make();
        look(); // without an edit
        for (int round = 0; round < 20; ++round) {
            const std::vector<std::vector<PortInfo>> before = now_;
            for (unsigned edits = d_.between(1, 8); edits > 0; --edits) {
                const u32 n = d_.below(now_.size());
                const u32 p = d_.below(now_[n].size());
                edit(d_, now_[n][p], has_extended({n, static_cast<u8>(p)}));
            }
            look();
            discover();
            if (round % 4 == 0) look(); // without an edit
            if (d_.one_in(2)) continue;
            now_ = before; // in the opposite direction
            look();
            discover();
        }
        make_faults();
        look();
        return examined_;
    }

private:
    void make() {
        const unsigned nodes = d_.between(1, 4);
        for (u32 n = 0; n < nodes; ++n) {
            discovery::node& one = known_.nodes.emplace_back();
            const bool is_large = d_.one_in(20);
            one.info.nodeType = d_.one_in(4) ? NodeType::CA : NodeType::Switch;
            one.info.numPorts = static_cast<u8>(is_large ? d_.between(100, 254) : d_.between(1, 9));
            one.info.nodeGUID = iba::guid{0x1000 + n};
            one.info.portGUID = iba::guid{0x2000 + n};
            if (n > 0) one.route = one.route.extended(static_cast<u8>(n));
            one.ports.resize(one.info.numPorts + 1u);
            const bool has_extended = d_.one_in(2), has_mask2 = d_.one_in(2), has_table = d_.one_in(2);
            now_.emplace_back();
            for (discovery::port& p : one.ports) {
                PortInfo& info = now_.back().emplace_back(any_info(d_, has_extended));
                if (has_extended) info.capabilityMask |= extended_speeds_supported;
                if (has_mask2) info.capabilityMask |= capability_mask2_supported;
                if (has_table) info.capabilityMask2 |= state_table_supported;
                if (!d_.one_in(10)) p.info = info;
            }
            tables_.push_back(has_mask2 && has_table && one.ports[0].info);
            keys_.set(mad::key_kind::MKey, one.info.portGUID, key_of(one.info.portGUID));
        }
        const discovery::node& first = known_.nodes[0];
        known_.start_port = first.is_switch() ? u8{0} : static_cast<u8>(d_.between(1, first.info.numPorts));
        table_status_.resize(nodes);
        is_dead_.resize(nodes);
        has_keys_ = d_.one_in(2);
    }
    /// Discovers the edited subnet, restricted to the nodes that were known before.
    void discover() {
        for (u32 n = 0; n < now_.size(); ++n) {
            for (u32 p = 0; p < now_[n].size(); ++p) {
                auto& known = known_.nodes[n].ports[p].info;
                if (known) known = now_[n][p];
            }
        }
    }
    void make_faults() {
        for (u32 n = 0; n < known_.nodes.size(); ++n) {
            is_dead_[n] = d_.one_in(4);
            table_status_[n] = d_.one_in(4);
            if (d_.one_in(3)) refused_.insert({n, static_cast<u8>(d_.below(known_.nodes[n].ports.size()))});
            if (d_.one_in(4)) silent_.insert({n, static_cast<u8>(d_.below(known_.nodes[n].ports.size()))});
        }
    }
    bool has_extended(port_ref r) const {
        const auto& end = known_.nodes[r.node].ports[known_.nodes[r.node].is_switch() ? 0 : r.port].info;
        return end && (end->capabilityMask & extended_speeds_supported) != 0;
    }

    // ---- the simulated agents
    std::vector<u8> answer(const u8* request) {
        ++smps_;
        const u32 n = request[hop_count_at] == 0 ? 0 : request[route_at + 1];
        const u32 modifier = iba::load_be<u32>(request + modifier_at) & 0x7fffffff; // no port hides its speeds
        const u64 key = has_keys_ ? key_of(known_.nodes[n].info.portGUID) : 0;
        is_as_it_should_be_ &= iba::load_be<u64>(request + mkey_at) == key;
        if (is_dead_[n]) return {};
        std::vector<u8> reply(request, request + mad::mad_size);
        reply[method_at] = 0x81; // GetResp
        reply[status_at] = 0x80; // direction bit: returned
        if (iba::load_be<u16>(request + attribute_at) == iba::attribute_id<SwitchPortStateTable>) {
            if (table_status_[n]) reply[status_at + 1] = 0x0c; // attribute not supported
            SwitchPortStateTable table;
            for (unsigned p = modifier * 128; p < now_[n].size() && p < (modifier + 1) * 128; ++p)
                table.portState[p % 128] = p == 0 ? PortState::NoChange : now_[n][p].portState;
            put(reply, table);
        } else {
            if (silent_.contains({n, static_cast<u8>(modifier)})) return {};
            if (refused_.contains({n, static_cast<u8>(modifier)})) reply[status_at + 1] = 0x1c; // invalid value
            put(reply, now_[n].at(modifier));
        }
        return reply;
    }
    template <class T> static void put(std::vector<u8>& reply, const T& value) {
        const auto bytes = iba::encode(value);
        std::ranges::copy(bytes, reply.begin() + smp_data_at);
    }

    // ---- expected changes
    using reported = std::multiset<std::tuple<u32, u8, std::string>>; // node, port, text

    void look() {
        reported expected;
        std::size_t to_query = 0;
        for (u32 n = 0; n < known_.nodes.size(); ++n) {
            if (known_.nodes[n].is_switch()) to_query += expect_switch(expected, n);
            if (known_.nodes[n].is_switch() || n != 0) continue;
            const port_ref start{0, known_.start_port};
            const bool is_dead = expect_port(expected, start) == false;
            to_query += 1u + (!is_dead && seems_to_hide_now(start));
        }
        smps_ = 0;
        reported have;
        const auto changes =
            coro::sync_wait(schedule_, discovery::find_changes(schedule_, known_, has_keys_ ? &keys_ : nullptr));
        for (const discovery::change& c : changes) {
            have.emplace(c.where.node, c.where.port, short_text(c.text));
            expect(describe(known_, c).ends_with((c.where.port ? "]: " : "\": ") + c.text), "a line of a change");
        }
        if (have != expected) fail("what is told:" + text_of(have) + "; what was edited:" + text_of(expected));
        expect(smps_ == to_query, "the number of SMPs");
        expect(is_as_it_should_be_, "the key of a node");
        for (const auto& n : now_) examined_ += n.size();
    }
    static std::string short_text(const std::string& text) {
        if (!text.starts_with("RPC ")) return text;
        return text.find("timed out") != text.npos ? "timed out" : "status";
    }
    static std::string text_of(const reported& all) {
        std::string text;
        for (const auto& [n, p, what] : all) text += fmt::format(" {}[{}] {},", n, p, what);
        return text;
    }
    // Returns the number of SMPs that this requires.
    std::size_t expect_switch(reported& all, u32 n) const {
        const std::size_t ports = now_[n].size();
        std::size_t smps = 0;
        if (tables_[n]) {
            ++smps;
            if (is_dead_[n]) {
                all.emplace(n, u8{0}, "timed out");
                return smps;
            }
            if (!table_status_[n]) {
                for (u8 p = 1; p < ports; ++p) expect_state(all, {n, p});
                return (ports + 127) / 128;
            }
        }
        for (unsigned p = 0; p < ports; ++p) {
            ++smps;
            const port_ref here{n, static_cast<u8>(p)};
            if (expect_port(all, here) == false) break;
            smps += seems_to_hide_now(here);
        }
        return smps;
    }
    static bool reports_extended(const PortInfo& p) {
        const bool has_first =
            p.linkSpeedExtSupported != 0 || p.linkSpeedExtEnabled != 0 || value(p.linkSpeedExtActive) != 0;
        return has_first || p.linkSpeedExtSupported2 != 0 || p.linkSpeedExtEnabled2 != 0 ||
               value(p.linkSpeedExtActive2) != 0;
    }
    /// Returns true for a port that reported extended speeds before, and reports none now. It is queried again with bit 31.
    bool seems_to_hide_now(port_ref r) const {
        const auto& was = known_.at(r).info;
        if (!was || refused_.contains({r.node, r.port}) || was->portState != now_[r.node][r.port].portState)
            return false;
        return has_extended(r) && reports_extended(*was) && !reports_extended(now_[r.node][r.port]);
    }
    bool expect_state(reported& all, port_ref r) const {
        const auto& was = known_.at(r).info;
        const PortState is = now_[r.node][r.port].portState;
        if (!was || was->portState == is) return false;
        all.emplace(r.node, r.port, "state is " + name_of_state(is) + ", was " + name_of_state(was->portState));
        return true;
    }
    // Returns false if it does not respond.
    std::optional<bool> expect_port(reported& all, port_ref r) const {
        const auto& was = known_.at(r).info;
        const PortInfo& is = now_[r.node][r.port];
        const bool is_silent = is_dead_[r.node] || silent_.contains({r.node, r.port});
        if (is_silent || refused_.contains({r.node, r.port})) {
            if (was) all.emplace(r.node, r.port, is_silent ? "timed out" : "status");
            return !is_silent;
        }
        if (!was || expect_state(all, r)) return true;
        if (was->linkWidthActive != is.linkWidthActive) all.emplace(r.node, r.port, "width changed");
        if (active_speed_of(*was, has_extended(r)) != active_speed_of(is, has_extended(r)))
            all.emplace(r.node, r.port, "speed changed");
        const bool has_lid = r.port == 0 || !known_.nodes[r.node].is_switch();
        if (has_lid && was->LID != is.LID)
            all.emplace(r.node, r.port, fmt::format("LID is {}, was {}", value(is.LID), value(was->LID)));
        return true;
    }

    dice d_;
    subnet known_;
    std::vector<std::vector<PortInfo>> now_;
    std::vector<bool> tables_, table_status_, is_dead_;
    std::set<std::pair<u32, u8>> refused_, silent_;
    mad::port_keys keys_;
    bool has_keys_ = false, is_as_it_should_be_ = true;
    std::size_t smps_ = 0;
    u64 examined_ = 0;
    answering_wire wire_{[this](const mad::send_request& request) { return answer(request.mad); }};
    MADSchedule schedule_{wire_, one_attempt()};
};

/// Tables of an SA that are edited between two calls of find_changes().
class edited_tables {
public:
    explicit edited_tables(u64 seed) : d_(seed) {}

    u64 run() {
        lead_to_sa(schedule_);
        discovery::sa_tables tables(schedule_);
        for (unsigned i = d_.below(30); i > 0; --i) edit_links();
        for (unsigned i = d_.below(6); i > 0; --i) add_node();
        u64 examined = 0;
        for (int look = 0; look < 60; ++look) {
            refuses_ = d_.one_in(12);
            auto changes = coro::sync_wait(schedule_, tables.find_changes());
            expect(changes.has_value() == !refuses_, "whether the SA answered");
            if (changes) compare(changes.value());
            examined += ports_.size() + links_.size() + 1;
            for (unsigned i = d_.below(6); i > 0; --i) d_.one_in(2) ? edit_links() : edit_ports();
        }
        return examined;
    }

private:
    using place = std::pair<u16, u8>; // LID and port
    using link_map = std::map<place, place>;
    /// By LID, then by port. Port 0 of a switch has the capability mask for all of its ports.
    using port_map = std::map<place, PortInfo>;

    place any_place() { return {static_cast<u16>(d_.between(1, 6)), static_cast<u8>(d_.between(1, 4))}; }
    void edit_links() {
        if (d_.one_in(3)) links_.erase(any_place());
        else links_[any_place()] = any_place();
    }
    void add_node() {
        const u16 LID = static_cast<u16>(d_.between(1, 6));
        const bool is_switch = d_.one_in(2), has_extended = d_.one_in(2);
        std::erase_if(ports_, [&](const auto& p) { return p.first.first == LID; });
        for (unsigned p = is_switch ? 0 : 1; p <= (is_switch ? d_.between(1, 5) : 1); ++p) {
            PortInfo& info = ports_[{LID, static_cast<u8>(p)}] = any_info(d_, has_extended);
            info.capabilityMask = 0x1000;
            if (has_extended && (p == 0 || !is_switch)) info.capabilityMask |= extended_speeds_supported;
        }
    }
    void edit_ports() {
        if (ports_.empty() || d_.one_in(8)) return add_node();
        auto one = std::next(ports_.begin(), d_.below(ports_.size()));
        if (d_.one_in(6)) ports_.erase(one);
        else if (d_.one_in(8) && speaks_for_all(one->first)) one->second.capabilityMask ^= extended_speeds_supported;
        else edit(d_, one->second, has_extended(ports_, one->first.first));
    }
    static bool speaks_for_all(place p) { return p.second <= 1; }
    static bool has_extended(const port_map& all, u16 LID) {
        return std::ranges::any_of(all, [&](const auto& p) {
            return p.first.first == LID && (p.second.capabilityMask & extended_speeds_supported) != 0;
        });
    }

    // ---- the simulated SA
    std::vector<u8> answer(const u8* request) const {
        const u16 attribute = iba::load_be<u16>(request + attribute_at);
        std::vector<u8> reply(request, request + sa_data_at);
        reply[method_at] = 0x92; // GetTableResp
        if (attribute == iba::attribute_id<iba::sa::LinkRecord>) {
            for (const auto& [from, to] : links_) {
                iba::sa::LinkRecord r;
                r.fromLID = iba::lid{from.first};
                r.fromPort = from.second;
                r.toLID = iba::lid{to.first};
                r.toPort = to.second;
                add(reply, r);
            }
        } else {
            if (refuses_) reply[status_at] = 1; // no resources (IBA 15.2.4)
            for (const auto& [where, info] : ports_) {
                iba::sa::PortInfoRecord r;
                r.endportLID = iba::lid{where.first};
                r.portNum = where.second;
                r.portInfo = info;
                add(reply, r);
            }
        }
        const std::size_t payload = reply.size() - sa_data_at + 20; // including the header of the SA
        const std::array<u8, 12> RMPP{
            1, 1, 7, 0, 0, 0, 0, 1, 0, 0, static_cast<u8>(payload >> 8), static_cast<u8>(payload)};
        std::ranges::copy(RMPP, reply.begin() + rmpp_at);
        reply.resize(std::max(reply.size(), mad::mad_size));
        return reply;
    }
    template <class R> static void add(std::vector<u8>& reply, const R& record) {
        const auto bytes = iba::encode(record);
        const std::size_t words = (bytes.size() + 7) / 8;
        reply[attribute_offset_at + 1] = static_cast<u8>(words);
        reply.insert(reply.end(), bytes.begin(), bytes.end());
        reply.resize(reply.size() + words * 8 - bytes.size());
    }

    // ---- expected changes
    void compare(const std::vector<discovery::change>& changes) {
        std::multiset<std::string> have, expected;
        for (const discovery::change& c : changes) {
            expect(!c.where, "a place that was not discovered");
            have.insert(c.text);
        }
        if (has_polled_) expected = edits();
        if (have != expected)
            fail(fmt::format("told: {}; edited: {}", fmt::join(have, ", "), fmt::join(expected, ", ")));
        has_polled_ = true;
        links_then_ = links_;
        ports_then_ = ports_;
    }
    std::multiset<std::string> edits() const {
        std::multiset<std::string> all;
        const auto report = [&](place p, const std::string& what) {
            all.insert(fmt::format("LID {} port {}: {}", p.first, p.second, what));
        };
        for (u16 LID = 1; LID <= 6; ++LID) {
            for (u8 port = 0; port <= 5; ++port) {
                const place p{LID, port};
                const auto link = links_.find(p), link_then = links_then_.find(p);
                const bool is_linked = link != links_.end(), was_linked = link_then != links_then_.end();
                if (was_linked && !is_linked) report(p, "link removed");
                else if (is_linked && !(was_linked && link_then->second == link->second))
                    report(p, fmt::format("linked to LID {} port {}", link->second.first, link->second.second));
                const auto is = ports_.find(p), was = ports_then_.find(p);
                if (is == ports_.end() || was == ports_then_.end()) {
                    if (was != ports_then_.end()) report(p, "removed");
                    if (is != ports_.end()) report(p, "added");
                } else if (is->second.portState != was->second.portState) {
                    report(p, "state is " + name_of_state(is->second.portState) + ", was " +
                                  name_of_state(was->second.portState));
                } else if (is->second.linkWidthActive != was->second.linkWidthActive ||
                           active_speed_of(is->second, has_extended(ports_, LID)) !=
                               active_speed_of(was->second, has_extended(ports_then_, LID))) {
                    report(p, "width or speed changed");
                }
            }
        }
        return all;
    }

    dice d_;
    link_map links_, links_then_;
    port_map ports_, ports_then_;
    bool has_polled_ = false, refuses_ = false;
    answering_wire wire_{[this](const mad::send_request& request) { return answer(request.mad); }};
    MADSchedule schedule_{wire_, one_attempt()};
};

} // namespace

TEST_CASE("the discovered subnet equals the real one for any order and repetition of replies") {
    run_model(sanitized ? 10'000 : 100'000, {}, [](u64 seed) { return random_discovery(seed).run(); });
}

TEST_CASE("the first of contradictory replies stays, and the other one is a failure") {
    run_model(sanitized ? 10'000 : 100'000, {}, [](u64 seed) { return contradicted_subnet(seed).run(); });
}

TEST_CASE("width and speed of a link, and their best values, combine both ends") {
    run_model(sanitized ? 5'000 : 50'000, {}, [](u64 seed) { return random_links(seed).run(); });
}

TEST_CASE("find_changes on an edited subnet reports exactly the edits, in both directions") {
    run_model(sanitized ? 5'000 : 50'000, {}, [](u64 seed) { return edited_subnet(seed).run(); });
}

TEST_CASE("two reads of the SA tables differ exactly by the edits, including speeds of all kinds") {
    run_model(sanitized ? 5'000 : 50'000, {}, [](u64 seed) { return edited_tables(seed).run(); });
}

} // namespace subnet_model_test
