// SPDX-License-Identifier: MIT
// discover.cpp - what is still to be asked, in order, and what the answers mean.
#include <comad/discovery/discover.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

namespace comad::discovery {
namespace {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::IBDRPath;

// Devices that answer SMP 0xff90, as libibnetdisc (query_smp.c, is_mlnx_ext_port_info_supported) knows them: to any
// other it would be a timeout. The second range is the same chips under Bull's vendor ID.
bool has_mlnx_ext_port_info(const NodeInfo& node) {
    const u16 id = node.deviceID;
    const bool switch_chip =
        (id >= 0xc738 && id <= 0xc73b) || id == 0xc839 || id == 0xcb20 || id == 0xcf08 || id == 0xcf09 || id == 0xd2f0;
    const bool adapter_chip = (id >= 0x1003 && id <= 0x101b) || id == 0xa2d2;
    const bool bull =
        node.vendorID == 0x119f && ((id >= 0x1b02 && id <= 0x1b50) || id == 0x1ba0 || id == 0x1bd0 || id == 0x1bf0);
    return switch_chip || adapter_chip || bull;
}

bool is_up(const PortInfo& info) { return info.portPhysicalState == iba::PortPhysicalState::LinkUp; }

problem::kind kind_of(const mad::mad_error& e) {
    switch (e.code) {
    case mad::errc::timed_out: return problem::kind::no_answer;
    case mad::errc::cancelled: return problem::kind::cancelled;
    case mad::errc::send_failed:
    case mad::errc::transport_failed: return problem::kind::send_failed;
    default: return problem::kind::error_reply;
    }
}

class discoverer {
public:
    discoverer(MADSchedule& schedule, const discover_options& options) : schedule_(schedule), options_(options) {}

    task<mad::result<subnet>> run() {
        const IBDRPath local = with_key({}, {});
        BOOST_OUTCOME_CO_TRY(const NodeInfo first, co_await schedule_.SubnGet<NodeInfo>(local));
        start(first, local);
        do {
            coro::sweep_report swept = co_await schedule_.mqueue(questions());
            stopped_ = swept.stopped;
            put_in_order(found_);
            readings_.assign(found_.nodes.size(), {}); // indices have changed, and whatever could be read was
        } while (!stopped_ && reconsider_far_ports());
        report_far_ports();
        if (stopped_) add_problem({problem::kind::cancelled, {}, 0, {}, "stopped before everything was asked"});
        co_return std::move(found_);
    }

private:
    // ---- what is to be asked: pulled by the schedule while its window has room --------------------------------------

    struct question {
        enum class kind : u8 { probe, read_node, read_port };
        kind what;
        u32 node;
        u8 port = 0; // of probe: the port to go through; of read_port: the port to read, by which `route` enters
        IBDRPath route{};
    };
    // How far the reading of a node has come; its readers share it.
    struct reading {
        unsigned next_step = 0;
        unsigned readers = 0;
        unsigned timeouts_in_a_row = 0;
        bool given_up = false;
    };

    // Whether a link still has to be probed is decided here, when there is a slot for it, and not when its port was read:
    // meanwhile the other end may have told.
    generator<task<void>> questions() {
        while (!to_ask_.empty() || running_ > 0) {
            if (to_ask_.empty()) {
                co_yield task<void>{};
                continue;
            }
            const question q = to_ask_.front();
            to_ask_.pop_front();
            if (q.what == question::kind::probe) {
                if (found_.nodes[q.node].ports[q.port].peer) continue;
                if (found_.nodes[q.node].route.hopCount >= longest_route()) {
                    far_ports_.push_back({found_.nodes[q.node].info.nodeGUID, q.port});
                    continue;
                }
            }
            co_yield answer(q);
        }
    }

    task<void> answer(question q) {
        ++running_;
        switch (q.what) {
        case question::kind::probe: co_await probe(q.node, q.port); break;
        case question::kind::read_node: co_await read_node(q.node); break;
        case question::kind::read_port: co_await read_port(q.node, q.port, q.route); break;
        }
        --running_;
    }

    // ---- who is there -----------------------------------------------------------------------------------------------

    void start(const NodeInfo& info, const IBDRPath& local) {
        const u32 index = add_node(info, local);
        if (!found_.nodes[index].is_switch()) found_.start_port = info.localPortNum;
    }

    task<void> probe(u32 from, u8 port) {
        const IBDRPath route = with_key(found_.nodes[from].route.extended(port), {});
        auto reply = co_await schedule_.SubnGet<NodeInfo>(route);
        if (!reply) {
            note_failure(reply.error(), from, port, route, "no answer from behind it");
            co_return;
        }
        const NodeInfo& info = reply.value();
        const auto known = found_.by_guid.find(info.nodeGUID);
        if (known == found_.by_guid.end()) {
            if (info.localPortNum > info.numPorts || info.localPortNum == 0) {
                contradict(from, port, route,
                           fmt::format("its neighbour claims to be entered by port {} of {}", info.localPortNum,
                                       info.numPorts));
                co_return;
            }
            connect({from, port}, {add_node(info, route), info.localPortNum}, info.portGUID, route);
            co_return;
        }
        const u32 there = known->second;
        if (!is_same(found_.nodes[there], info)) {
            contradict(from, port, route,
                       "its neighbour has the GUID of another node, " + name_of(found_.nodes[there]));
            co_return;
        }
        connect({from, port}, {there, info.localPortNum}, info.portGUID, route);
    }

    static bool is_same(const node& known, const NodeInfo& info) {
        return known.info.nodeType == info.nodeType && known.info.numPorts == info.numPorts && info.localPortNum > 0 &&
               info.localPortNum <= info.numPorts;
    }

    u32 add_node(const NodeInfo& info, const IBDRPath& route) {
        const auto index = static_cast<u32>(found_.nodes.size());
        node& n = found_.nodes.emplace_back();
        n.info = info;
        n.route = with_key(route, info.portGUID);
        n.ports.resize(info.numPorts + 1u);
        if (n.is_switch()) {
            for (port& p : n.ports) p.portGUID = info.portGUID;
        } else if (info.localPortNum < n.ports.size()) {
            n.ports[info.localPortNum].portGUID = info.portGUID;
        }
        found_.by_guid.emplace(info.nodeGUID, index);
        readings_.emplace_back();
        if (options_.progress) ++options_.progress->nodes;
        // As many readers as the node may have SMPs in flight.
        const unsigned bound = schedule_.options().per_destination;
        const unsigned readers = std::min(n.is_switch() ? steps_of(n) : 2u, bound ? bound : 4u);
        readings_.back().readers = readers;
        for (unsigned i = 0; i < readers; ++i) to_ask_.push_back({question::kind::read_node, index});
        return index;
    }

    void connect(port_ref a, port_ref b, iba::guid portGUID_b, const IBDRPath& route) {
        port& here = found_.nodes[a.node].ports[a.port];
        port& there = found_.nodes[b.node].ports[b.port];
        if (here.peer == b && there.peer == a) return; // both ends were asked at once
        if (here.peer || there.peer) {
            contradict(
                a.node, a.port, route,
                fmt::format("it leads to {}[{}], which has another neighbour", name_of(found_.nodes[b.node]), b.port));
            return;
        }
        here.peer = b;
        there.peer = a;
        there.portGUID = portGUID_b;
        if (options_.progress) ++options_.progress->links;
        const node& n = found_.nodes[b.node];
        if (n.is_switch() || b.port == n.info.localPortNum) return;
        // Another port of a node with several: it answers for itself, by its own way.
        to_ask_.push_back({question::kind::read_port, b.node, b.port, route});
    }

    // ---- what they are ----------------------------------------------------------------------------------------------

    // A switch: its ports first, because what is behind them depends on it; then port 0, SwitchInfo, NodeDescription.
    // Another node: the port we came by, NodeDescription.
    static unsigned steps_of(const node& n) { return n.is_switch() ? n.info.numPorts + 3u : 2u; }

    task<void> read_node(u32 index) {
        while (readings_[index].next_step < steps_of(found_.nodes[index]) && !readings_[index].given_up) {
            // Until a silence is explained, the request that is still under way is enough.
            if (readings_[index].timeouts_in_a_row > 0 && readings_[index].readers > 1) break;
            const unsigned step = readings_[index].next_step++;
            const bool is_switch = found_.nodes[index].is_switch();
            const unsigned last_port = is_switch ? found_.nodes[index].info.numPorts : 0u;
            if (is_switch && step < last_port) co_await read_port(index, static_cast<u8>(step + 1), route_to(index));
            else if (is_switch && step == last_port) co_await read_port(index, 0, route_to(index));
            else if (is_switch && step == last_port + 1) co_await read_switch_info(index);
            else if (!is_switch && step == 0)
                co_await read_port(index, found_.nodes[index].info.localPortNum, route_to(index));
            else co_await read_description(index);
        }
        --readings_[index].readers;
    }

    // One fact about a known node; nothing where it is silent or refuses, which is noted.
    template <class T> task<std::optional<T>> ask(u32 index, u8 port, IBDRPath route) {
        const node& n = found_.nodes[index];
        const iba::guid portGUID = n.ports[port].portGUID;
        route = with_key(route, portGUID != iba::guid{} ? portGUID : n.info.portGUID);
        auto reply = co_await schedule_.SubnGet<T>(route, port);
        if (!reply) {
            note_read_failure(reply.error(), index, port, route, iba::info_of<T>.name);
            co_return std::nullopt;
        }
        readings_[index].timeouts_in_a_row = 0;
        co_return reply.value();
    }

    task<void> read_port(u32 index, u8 number, IBDRPath route) {
        const auto info = co_await ask<PortInfo>(index, number, route);
        if (!info) co_return;
        port& p = found_.nodes[index].ports[number];
        p.info = *info;
        if (number == 0 || !is_up(*info)) co_return;
        const bool leads_on = found_.nodes[index].is_switch() || index == 0;
        if (leads_on && !p.peer) to_ask_.push_back({question::kind::probe, index, number});
        if (!may_be_fdr10(index, *info)) co_return;
        const auto extended = co_await ask<iba::smp::MlnxExtPortInfo>(index, number, route);
        found_.nodes[index].ports[number].fdr10 = extended && extended->LinkSpeedActive & 1;
    }

    bool may_be_fdr10(u32 index, const PortInfo& info) const {
        return options_.mlnx_ext_port_info && info.linkSpeedActive == iba::LinkSpeed::QDR &&
               !(has_extended_speeds(info) && info.linkSpeedExtActive != iba::LinkSpeedExt::none) &&
               has_mlnx_ext_port_info(found_.nodes[index].info);
    }

    task<void> read_switch_info(u32 index) {
        const auto info = co_await ask<SwitchInfo>(index, 0, route_to(index));
        found_.nodes[index].switch_info = info;
    }

    task<void> read_description(u32 index) {
        const auto description = co_await ask<NodeDescription>(index, 0, route_to(index));
        if (description) found_.nodes[index].description = iba::smp::text(*description);
    }

    // ---- what goes wrong --------------------------------------------------------------------------------------------

    void note_read_failure(const mad::mad_error& e, u32 index, u8 port, const IBDRPath& route, std::string_view what) {
        note_failure(e, index, port, route, fmt::format("{} not read", what));
        reading& r = readings_[index];
        if (e.code != mad::errc::timed_out) return;
        // Asking a dead node for each of its ports would cost seconds for each.
        if (++r.timeouts_in_a_row < 2 || r.given_up || r.next_step >= steps_of(found_.nodes[index])) return;
        r.given_up = true;
        add_problem({problem::kind::no_answer, found_.nodes[index].info.nodeGUID, 0, route,
                     "stopped answering, not asked further"});
    }

    void note_failure(const mad::mad_error& e, u32 index, u8 port, const IBDRPath& route, std::string_view text) {
        if (e.code == mad::errc::cancelled) return; // said once, at the end
        add_problem(
            {kind_of(e), found_.nodes[index].info.nodeGUID, port, route, fmt::format("{}: {}", text, to_string(e))});
    }

    void contradict(u32 index, u8 port, const IBDRPath& route, std::string text) {
        add_problem({problem::kind::contradiction, found_.nodes[index].info.nodeGUID, port, route, std::move(text)});
    }

    void add_problem(problem p) {
        found_.problems.push_back(std::move(p));
        if (options_.progress) ++options_.progress->problems;
    }

    // ---- how far away -----------------------------------------------------------------------------------------------

    unsigned longest_route() const { return std::min(options_.max_hops, IBDRPath::max_hops); }
    IBDRPath route_to(u32 index) const { return found_.nodes[index].route; }
    // `port`: the one that it leads to; zero: still unknown.
    IBDRPath with_key(IBDRPath route, iba::guid port) const {
        route.MKey = options_.keys ? options_.keys->of(mad::key_kind::MKey, port) : 0;
        return route;
    }

    // With all links known some nodes turn out to be nearer than the way they were found: ask again from there.
    bool reconsider_far_ports() {
        std::erase_if(far_ports_, [&](const far_port& far) {
            const u32 index = found_.by_guid.at(far.nodeGUID);
            const node& n = found_.nodes[index];
            if (n.ports[far.port].peer) return true;
            if (n.route.hopCount >= longest_route()) return false;
            to_ask_.push_back({question::kind::probe, index, far.port});
            return true;
        });
        return !to_ask_.empty();
    }

    void report_far_ports() {
        for (const far_port& far : far_ports_) {
            const IBDRPath& route = found_.find(far.nodeGUID)->route;
            add_problem({problem::kind::too_far, far.nodeGUID, far.port, route,
                         fmt::format("what is behind it is more than {} hops away", longest_route())});
        }
    }

    struct far_port {
        iba::guid nodeGUID;
        u8 port;
    };

    MADSchedule& schedule_;
    const discover_options options_;
    subnet found_;
    std::vector<reading> readings_;   // by node index
    std::deque<question> to_ask_;     // oldest first: breadth first
    std::vector<far_port> far_ports_; // up, but at the end of the longest route
    std::size_t running_ = 0;
    bool stopped_ = false;
};

} // namespace

task<mad::result<subnet>> discover(MADSchedule& schedule, discover_options options) {
    discoverer d(schedule, options);
    co_return co_await d.run();
}

} // namespace comad::discovery
