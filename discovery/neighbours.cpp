// SPDX-License-Identifier: MIT
// neighbours.cpp - the node first, then all of its ports at once, each of which goes on to whoever is behind it.
#include "problem_kind.hpp"
#include <comad/discovery/neighbours.hpp>
#include <comad/iba/format.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace comad::discovery {
namespace {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::any_path;
using mad::IBDRPath;
using mad::IBPath;

mad::mad_error no_path(const any_path& path, std::string why) {
    mad::mad_error e;
    e.code = mad::errc::path_not_found;
    e.message(fmt::format("{}: {}", to_string(path), why));
    return e;
}

class neighbourhood {
public:
    neighbourhood(MADSchedule& schedule, any_path path, std::optional<u8> only, const mad::port_keys* keys)
        : schedule_(schedule), path_(path), only_(only), keys_(keys) {}

    task<mad::result<subnet>> run() {
        auto info = co_await schedule_.SubnGet<NodeInfo>(path_);
        if (!info) co_return std::move(info.error());
        if (auto refused = refusal(info.value())) co_return std::move(*refused);
        const IBDRPath* route = mad::directed(path_);
        if (!route) {
            auto known = co_await learn_own_LID();
            if (!known) co_return std::move(known.error());
        }
        add(info.value(), route ? *route : IBDRPath{});
        found_.start_port = here().is_switch() ? u8{0} : info.value().localPortNum;
        co_await schedule_.mqueue(questions());
        order_neighbours();
        co_return std::move(found_);
    }

private:
    node& here() { return found_.nodes[0]; }

    std::optional<mad::mad_error> refusal(const NodeInfo& info) const {
        const bool is_switch = info.nodeType == iba::NodeType::Switch;
        if (!is_switch && !mad::directed(path_))
            return no_path(path_, "it is not a switch, so it cannot forward a directed route");
        if (info.localPortNum > info.numPorts) return no_path(path_, "it reports a local port that it does not have");
        const bool is_there = !only_ || (*only_ != 0 && *only_ <= info.numPorts);
        if (!is_there) return no_path(path_, fmt::format("it has no port {}", *only_));
        if (only_ && !is_switch && *only_ != info.localPortNum)
            return no_path(path_, fmt::format("the path leads to port {}, not to port {}", info.localPortNum, *only_));
        return std::nullopt;
    }

    task<mad::result<void>> learn_own_LID() {
        own_LID_ = std::get<IBPath>(path_).SLID;
        if (own_LID_ != iba::lid{}) co_return mad::success();
        auto own = co_await schedule_.SubnGet<PortInfo>(IBDRPath{});
        if (!own) co_return std::move(own.error());
        own_LID_ = own.value().LID;
        co_return mad::success();
    }

    generator<task<void>> questions() {
        co_yield read_description(0, path_);
        if (!here().is_switch()) {
            co_yield read_port(here().info.localPortNum);
            co_return;
        }
        co_yield read_switch();
        for (unsigned p = only_.value_or(u8{1}); p <= only_.value_or(here().info.numPorts); ++p)
            co_yield read_port(static_cast<u8>(p));
    }

    task<void> read_port(u8 port) {
        const bool is_read = co_await read_end(0, port, path_);
        if (!is_read || here().ports[port].info->portPhysicalState != iba::PortPhysicalState::LinkUp) co_return;
        const std::optional<IBDRPath> beyond = path_beyond(port);
        if (!beyond) {
            add_problem(0, port, problem::kind::too_far, here().route,
                        fmt::format("neighbor not read: the directed route already has the maximum of {} hops",
                                    IBDRPath::max_hops),
                        {});
            co_return;
        }
        auto info = co_await schedule_.SubnGet<NodeInfo>(*beyond);
        if (!info) {
            failed(0, port, *beyond,
                   info.error().code == mad::errc::timed_out ? "no reply from the neighbor" : "neighbor not read",
                   info.error());
            co_return;
        }
        const std::optional<u32> there = meet(port, info.value(), *beyond);
        if (!there) co_return;
        const port_ref peer = here().ports[port].peer;
        const IBDRPath way = with_key(*beyond, found_.nodes[*there].ports[peer.port].portGUID);
        co_await read_end(*there, peer.port, way);
        if (is_read_[*there]) co_return;
        is_read_[*there] = true;
        if (found_.nodes[*there].is_switch()) co_await read_end(*there, 0, way);
        co_await read_description(*there, way);
    }

    /// To whoever is behind a port: on from a switch or the local port, back from another CA.
    std::optional<IBDRPath> path_beyond(u8 port) {
        IBDRPath beyond;
        if (const IBDRPath* route = mad::directed(path_)) {
            if (goes_back(*route)) {
                beyond = *route;
                beyond.drPath[beyond.hopCount--] = 0;
            } else {
                if (!route->can_extend()) return std::nullopt;
                beyond = route->extended(port);
            }
        } else {
            beyond = IBDRPath::from_LID(std::get<IBPath>(path_).DLID, port, own_LID_);
        }
        beyond.MKey = keys_ ? keys_->beyond(mad::key_kind::MKey, here().ports[port].portGUID, port) : 0;
        return beyond;
    }
    bool goes_back(const IBDRPath& route) { return !here().is_switch() && route.hopCount > 0; }

    /// Who is behind a port of nodes[0]; nothing: there is a contradiction, and it is noted.
    std::optional<u32> meet(u8 port, const NodeInfo& info, const IBDRPath& beyond) {
        // Who is asked by the way back tells by which port that comes in, and not which one leads on to here.
        const IBDRPath* route = mad::directed(path_);
        const u8 peer_port = route && goes_back(*route) ? route->drPath[route->hopCount] : info.localPortNum;
        if (info.nodeGUID == iba::guid{} || peer_port == 0 || peer_port > info.numPorts) {
            add_problem(0, port, problem::kind::contradiction, beyond,
                        fmt::format("the neighbor sent an invalid NodeInfo: node GUID {}, port {} of {} ports",
                                    info.nodeGUID, peer_port, info.numPorts),
                        {});
            return std::nullopt;
        }
        const u32 there = add(info, beyond);
        node& n = found_.nodes[there];
        const bool is_same = n.info.nodeType == info.nodeType && n.info.numPorts == info.numPorts;
        if (!is_same || n.ports[peer_port].peer || here().ports[port].peer) {
            const bool is_loop = there == 0 && is_same && here().ports[port].peer == port_ref{0, peer_port};
            if (!is_loop)
                add_problem(0, port, problem::kind::contradiction, beyond,
                            fmt::format("connected to {}[{}], but earlier replies contradict this: a cable was moved, "
                                        "or two nodes have the same GUID",
                                        name_of(n), peer_port),
                            {});
            return std::nullopt;
        }
        n.ports[peer_port].peer = {0, port};
        here().ports[port].peer = {there, peer_port};
        if (!n.is_switch()) n.ports[peer_port].portGUID = info.portGUID;
        return there;
    }

    u32 add(const NodeInfo& info, const IBDRPath& route) {
        const auto [known, is_new] = found_.by_guid.emplace(info.nodeGUID, static_cast<u32>(found_.nodes.size()));
        if (!is_new) return known->second;
        node& n = found_.nodes.emplace_back();
        n.info = info;
        n.route = with_key(route, info.portGUID);
        n.ports.resize(info.numPorts + 1u);
        if (n.is_switch())
            for (port& p : n.ports) p.portGUID = info.portGUID;
        else n.ports[info.localPortNum].portGUID = info.portGUID;
        is_read_.push_back(found_.nodes.size() == 1);
        return known->second;
    }

    // ---- facts

    // The caller's path has the key of the node; neighbours have that of the port by which they are asked.
    task<bool> read_end(u32 n, u8 port, any_path path) {
        auto info = co_await schedule_.SubnGet<PortInfo>(path, port);
        if (info) found_.nodes[n].ports[port].info = info.value();
        else failed(n, port, route_of(path), "PortInfo not read", info.error());
        co_return info.has_value();
    }
    task<void> read_switch() {
        co_await read_end(0, 0, path_);
        auto info = co_await schedule_.SubnGet<SwitchInfo>(path_);
        if (info) here().switch_info = info.value();
        else failed(0, 0, route_of(path_), "SwitchInfo not read", info.error());
    }
    task<void> read_description(u32 n, any_path path) {
        auto description = co_await schedule_.SubnGet<NodeDescription>(path);
        if (description) found_.nodes[n].description = iba::smp::text(description.value());
        else failed(n, 0, route_of(path), "NodeDescription not read", description.error());
    }

    IBDRPath with_key(IBDRPath route, iba::guid port) const {
        if (keys_) route.MKey = keys_->of(mad::key_kind::MKey, port);
        return route;
    }
    static IBDRPath route_of(const any_path& path) {
        const IBDRPath* route = mad::directed(path);
        return route ? *route : IBDRPath{};
    }

    // ---- the result

    void add_problem(u32 n, u8 port, problem::kind what, const IBDRPath& route, std::string text, std::string cause) {
        found_.problems.push_back(
            {what, found_.nodes[n].info.nodeGUID, port, route, std::move(text), std::move(cause)});
    }
    void failed(u32 n, u8 port, const IBDRPath& route, std::string_view what, const mad::mad_error& e) {
        add_problem(n, port, kind_of(e), route, fmt::format("{}: {}", what, to_string(e)), cause_text(e));
    }

    /// They were met in any order.
    void order_neighbours() {
        std::vector<u32> place(found_.nodes.size(), port_ref::nobody);
        std::vector<node> nodes;
        const auto take = [&](u32 n) {
            if (place[n] != port_ref::nobody) return;
            place[n] = static_cast<u32>(nodes.size());
            nodes.push_back(found_.nodes[n]);
        };
        take(0);
        for (const port& p : here().ports)
            if (p.peer) take(p.peer.node);
        for (u32 n = 0; n < place.size(); ++n) take(n); // with which there is a contradiction
        for (node& n : nodes) {
            found_.by_guid[n.info.nodeGUID] = place[found_.by_guid.at(n.info.nodeGUID)];
            for (port& p : n.ports)
                if (p.peer) p.peer.node = place[p.peer.node];
        }
        found_.nodes = std::move(nodes);
    }

    MADSchedule& schedule_;
    const any_path path_;
    const std::optional<u8> only_;
    const mad::port_keys* const keys_;
    iba::lid own_LID_{}; // where it is needed
    subnet found_;
    std::vector<bool> is_read_; // by index: it has been asked what it is
};

} // namespace

task<mad::result<subnet>> find_neighbours(MADSchedule& schedule, any_path path, const mad::port_keys* keys) {
    neighbourhood around(schedule, path, std::nullopt, keys);
    co_return co_await around.run();
}

task<mad::result<subnet>> find_neighbour(MADSchedule& schedule, any_path path, u8 port, const mad::port_keys* keys) {
    neighbourhood around(schedule, path, port, keys);
    co_return co_await around.run();
}

} // namespace comad::discovery
