// SPDX-License-Identifier: MIT
// sa_discovery.cpp - builds a subnet from SA records: the nodes, then their ports, then the links.
#include <comad/coro/detail/with_timeout.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/iba/detail/sa/records.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace comad::discovery {

using coro::MADSchedule;
using coro::task;
using iba::sa::LinkRecord;
using iba::sa::NodeRecord;
using iba::sa::PortInfoRecord;
using iba::sa::SwitchInfoRecord;

namespace {

/// Builds a subnet from records. Checks them, because they may be wrong.
class record_reader {
public:
    explicit record_reader(const discover_options& options) : options_(options) {}

    void take(std::span<const NodeRecord> records) {
        if (is_table_unread_) allow_more(records.size()); // each names ports, and PortInfoRecords may be missing
        for (const NodeRecord& r : records) take(r);
    }
    void take(std::span<const PortInfoRecord> records) {
        if (is_table_unread_) allow_more(records.size()); // each names ports, and PortInfoRecords may be missing
        add_all_lids(records);
        for (const PortInfoRecord& r : records) take(r);
    }
    void take(std::span<const SwitchInfoRecord> records) {
        for (const SwitchInfoRecord& r : records) {
            const port_ref at = lids_.at(r.LID);
            if (at && node_at(at).is_switch()) node_at(at).switch_info = r.switchInfo;
            else
                contradict(
                    {}, 0,
                    fmt::format("the SA has a SwitchInfoRecord of LID {}, but no switch has this LID", value(r.LID)));
        }
    }
    void take(std::span<const LinkRecord> records) {
        if (is_table_unread_) allow_more(records.size()); // each names ports, and PortInfoRecords may be missing
        for (const LinkRecord& r : records) take(r);
    }

    /// Records that a table was not read, with one failure for all records that are missing because of that.
    void note_unread(std::string_view record, const mad::mad_error& e) {
        is_table_unread_ = true;
        add({kind_of(e), {}, fmt::format("{}s not read: {}", record, to_string(e)), cause_text(e)});
    }

    port_ref end_port_of(iba::lid LID) const noexcept { return lids_.at(LID); }

    subnet finish(port_ref start) {
        for (node& n : found_.nodes) complete_ports(n);
        note_missing_records();
        if (node_at(start).is_switch()) node_at(start).info.localPortNum = 0; // no route enters it
        put_in_order(found_, start.node, start.port);
        for (node& n : found_.nodes)
            n.route.MKey = options_.keys ? options_.keys->of(mad::key_kind::MKey, n.info.portGUID) : 0;
        for (failure& p : found_.failures)
            if (const node* n = found_.find(p.where.nodeGUID)) p.where.route = n->route;
        return std::move(found_);
    }

private:
    node& node_at(port_ref r) { return found_.nodes[r.node]; }

    void add(failure p) {
        found_.failures.push_back(std::move(p));
        if (options_.progress) options_.progress->failures.store(found_.failures.size(), std::memory_order_relaxed);
    }
    void contradict(iba::guid nodeGUID, u8 port, std::string text) {
        add({failure_kind::contradiction, {nodeGUID, port}, std::move(text)});
    }

    // A NodeRecord can claim any number of ports, and each takes memory: a wrong record of some bytes would cost a quarter of a
    // megabyte. So a node has the ports up to the highest one that a record names. It also has the ports above that, as long as
    // these are few compared with the records.

    void allow_more(std::size_t records) { most_unnamed_ += unnamed_per_record * records; }

    /// Adds the ports of the node up to this one. Returns false if too many of them are not named by any record.
    bool add_ports(node& n, unsigned number) {
        if (number < n.ports.size()) return true;
        const std::size_t more = number + 1 - n.ports.size();
        if (unnamed_ + more > most_unnamed_) return false;
        n.ports.resize(number + 1);
        if (n.is_switch())
            for (port& p : n.ports) p.portGUID = n.info.portGUID;
        unnamed_ += more;
        return true;
    }
    void name(port& p, const iba::smp::PortInfo& info) {
        if (!p.info && unnamed_ > 0) --unnamed_;
        p.info = info;
    }
    void complete_ports(node& n) {
        if (add_ports(n, n.info.numPorts)) return;
        if (!is_table_unread_)
            contradict(n.info.nodeGUID, 0,
                       fmt::format("NodeInfo reports {} ports, but the SA has records only up to port {}",
                                   n.info.numPorts, n.ports.size() - 1));
        n.info.numPorts = static_cast<u8>(n.ports.size() - 1);
    }

    void take(const NodeRecord& r) {
        const iba::smp::NodeInfo& info = r.nodeInfo;
        const bool is_entered = info.nodeType == iba::NodeType::Switch || info.localPortNum > 0;
        if (info.nodeGUID == iba::guid{} || !is_entered || info.localPortNum > info.numPorts) {
            contradict({}, 0,
                       fmt::format("the NodeRecord of LID {} is invalid: node GUID {}, port {} of {} ports",
                                   value(r.LID), info.nodeGUID, info.localPortNum, info.numPorts));
            return;
        }
        const auto [known, is_new] = found_.by_guid.emplace(info.nodeGUID, static_cast<u32>(found_.nodes.size()));
        if (is_new && !add_node(r)) {
            found_.by_guid.erase(known);
            return;
        }
        const port_ref at{known->second, info.nodeType == iba::NodeType::Switch ? u8{0} : info.localPortNum};
        node& n = node_at(at);
        if (n.info.nodeType != info.nodeType || n.info.numPorts != info.numPorts) {
            contradict(
                info.nodeGUID, 0,
                fmt::format("the NodeRecord of LID {} has the GUID of this node, but another type or number of ports",
                            value(r.LID)));
            return;
        }
        if (!add_ports(n, at.port)) {
            contradict(info.nodeGUID, 0,
                       fmt::format("the NodeRecord of LID {} names port {}, but the SA has records of far fewer ports",
                                   value(r.LID), at.port));
            return;
        }
        if (!n.is_switch()) n.ports[at.port].portGUID = info.portGUID;
        add_lids(at, r.LID, 0);
    }

    bool add_node(const NodeRecord& r) {
        if (found_.nodes.size() >= options_.max_nodes || ports_ + r.nodeInfo.numPorts >= options_.max_ports) {
            if (!std::exchange(is_full_, true))
                add({failure_kind::limit,
                     {},
                     fmt::format(
                         "not all nodes were read: {} nodes with {} ports were read, and the limit is {} nodes and {} "
                         "ports",
                         found_.nodes.size(), ports_, options_.max_nodes, options_.max_ports)});
            return false;
        }
        node& n = found_.nodes.emplace_back();
        n.info = r.nodeInfo;
        n.description = iba::smp::text(r.nodeDescription);
        if (!add_ports(n, n.is_switch() ? 0 : n.info.localPortNum)) {
            contradict({}, 0,
                       fmt::format("the NodeRecord of LID {} names port {} of {}, but the SA has records of far fewer "
                                   "ports; the node is left out",
                                   value(r.LID), r.nodeInfo.localPortNum, r.nodeInfo.numPorts));
            found_.nodes.pop_back();
            return false;
        }
        ports_ += n.info.numPorts + 1u;
        if (options_.progress) options_.progress->nodes.store(found_.nodes.size(), std::memory_order_relaxed);
        return true;
    }

    void add_lids(port_ref at, iba::lid base, unsigned LMC) {
        const std::size_t before = lids_.duplicates().size();
        lids_.add(at, base, LMC);
        for (std::size_t i = before; i < lids_.duplicates().size(); ++i)
            contradict(node_at(at).info.nodeGUID, at.port, describe(found_, lids_.duplicates()[i]));
    }

    // Adds the LIDs of all end ports. This must precede lookups by LIDs that the LMC adds.
    void add_all_lids(std::span<const PortInfoRecord> records) {
        for (const PortInfoRecord& r : records) {
            const port_ref at = lids_.at(r.endportLID);
            if (at && at.port == r.portNum) add_lids(at, r.portInfo.LID, r.portInfo.LMC);
        }
    }

    void take(const PortInfoRecord& r) {
        const port_ref at = lids_.at(r.endportLID);
        if (!at) {
            if (!is_full_)
                contradict({}, 0,
                           fmt::format("the SA has a PortInfoRecord for LID {}, but no NodeRecord for it",
                                       value(r.endportLID)));
            return;
        }
        node& n = node_at(at);
        if (r.portNum > n.info.numPorts || (!n.is_switch() && r.portNum != at.port) || !add_ports(n, r.portNum)) {
            contradict(n.info.nodeGUID, 0,
                       fmt::format("the SA has a PortInfoRecord of port {} at LID {}, but this node has no such port",
                                   r.portNum, value(r.endportLID)));
            return;
        }
        name(n.ports[r.portNum], r.portInfo);
    }

    // Takes a record of a link. Each link has two records, one from each end.
    void take(const LinkRecord& r) {
        const port_ref a = port_at(r.fromLID, r.fromPort), b = port_at(r.toLID, r.toPort);
        if (!a || !b) {
            if (!is_full_)
                contradict({}, 0,
                           fmt::format("the SA has a LinkRecord from LID {} port {} to LID {} port {}, but one of "
                                       "these ports does not exist",
                                       value(r.fromLID), r.fromPort, value(r.toLID), r.toPort));
            return;
        }
        port& here = node_at(a).ports[a.port];
        port& there = node_at(b).ports[b.port];
        if (here.peer == b && there.peer == a) return;
        if (here.peer || there.peer) {
            contradict(node_at(a).info.nodeGUID, a.port,
                       fmt::format("the SA has a LinkRecord to {}[{}], but another LinkRecord connects one of the two "
                                   "ports to another port",
                                   name_of(node_at(b)), b.port));
            return;
        }
        here.peer = b;
        there.peer = a;
        if (auto* progress = options_.progress) progress->links.fetch_add(1, std::memory_order_relaxed);
    }

    port_ref port_at(iba::lid LID, u8 port) {
        port_ref at = lids_.at(LID);
        if (!at) return {};
        node& n = found_.nodes[at.node];
        if (port == 0 || port > n.info.numPorts || (!n.is_switch() && port != at.port) || !add_ports(n, port))
            return {};
        at.port = port;
        return at;
    }

    // Adds failures for data that a discovery by SMPs would have read.
    void note_missing_records() {
        if (is_table_unread_) return;
        for (const node& n : found_.nodes) {
            for (unsigned p = 0; p < n.ports.size(); ++p) {
                const bool has_record = n.is_switch() || n.ports[p].portGUID != iba::guid{};
                if (has_record && !n.ports[p].info)
                    add({failure_kind::error_reply,
                         {n.info.nodeGUID, static_cast<u8>(p)},
                         "the SA has no PortInfoRecord of this port"});
            }
            if (n.is_switch() && !n.switch_info && options_.wanted.SwitchInfo)
                add({failure_kind::error_reply, {n.info.nodeGUID}, "the SA has no SwitchInfoRecord of this switch"});
        }
    }

    const discover_options& options_;
    subnet found_;
    lid_index lids_;
    std::size_t ports_ = 0; // number that NodeRecords claim
    static constexpr std::size_t unnamed_per_record = 4;
    std::size_t unnamed_ = 0, most_unnamed_ = 8192; // ports without PortInfo
    bool is_full_ = false;
    bool is_table_unread_ = false; // if true, a missing record is not a separate failure
};

template <class R> task<mad::result<std::vector<R>>> table(MADSchedule& schedule) {
    const iba::query<R> all;
    auto found = co_await schedule.SubnAdmGetTable<R>(all);
    if (!found && sa::is_no_records(found.error())) co_return std::vector<R>{};
    co_return found;
}

/// Reads a table that the discovery does not strictly need.
template <class R> task<void> read(MADSchedule& schedule, record_reader& all) {
    auto found = co_await table<R>(schedule);
    if (found) {
        all.take(std::span<const R>(found.value()));
        co_return;
    }
    all.note_unread(iba::info_of<R>.name, found.error());
}

task<mad::result<subnet>> read_tables(MADSchedule& schedule, iba::lid local_lid, const discover_options& options) {
    record_reader all(options);
    auto nodes = co_await table<NodeRecord>(schedule);
    if (!nodes) co_return std::move(nodes.error());
    all.take(std::span<const NodeRecord>(nodes.value()));
    nodes.value() = {};
    co_await read<PortInfoRecord>(schedule, all);
    if (options.wanted.SwitchInfo) co_await read<SwitchInfoRecord>(schedule, all);
    if (options.wanted.links) co_await read<LinkRecord>(schedule, all);
    const port_ref start = all.end_port_of(local_lid);
    if (start) co_return all.finish(start);
    mad::mad_error none;
    none.code = mad::errc::path_not_found;
    none.message(fmt::format("the SA has no NodeRecord of LID {}, the LID of the local port", value(local_lid)));
    co_return none;
}

} // namespace

task<mad::result<subnet>> discover_by_sa(MADSchedule& schedule, iba::lid local_lid, discover_options options) {
    task<mad::result<subnet>> reading = read_tables(schedule, local_lid, options);
    if (options.max_time.count() <= 0) co_return co_await std::move(reading);
    auto found = co_await coro::with_timeout(schedule, options.max_time, std::move(reading));
    if (found) co_return std::move(*found);
    mad::mad_error late;
    late.code = mad::errc::timed_out;
    late.message(fmt::format("stopped at the time limit of {} s", mad::in_seconds(options.max_time)));
    co_return late;
}

} // namespace comad::discovery
