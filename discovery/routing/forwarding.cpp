// SPDX-License-Identifier: MIT
// forwarding.cpp - reads the blocks of forwarding tables in parallel.
#include <comad/discovery/routing/detail/forwarding.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace comad::discovery {

namespace smp = iba::smp;
using block_of = switch_forwarding;

bool switch_forwarding::knows(unsigned LID) const noexcept {
    return is_known && std::ranges::find(missing_unicast, LID / lids_per_block) == missing_unicast.end();
}

std::size_t forwarding_tables::bytes() const noexcept {
    std::size_t sum = 0;
    for (const switch_forwarding& t : of_node) sum += t.unicast.size() + 2 * t.multicast.size();
    return sum;
}

namespace {

/// Reads the forwarding tables of all switches.
class table_reader {
public:
    table_reader(coro::MADSchedule& schedule, const subnet& s, const forwarding_options& how)
        : schedule_(schedule), subnet_(s), how_(how) {
        tables_.of_node.resize(s.nodes.size());
        for (u32 n = 0; n < s.nodes.size(); ++n)
            if (s.nodes[n].is_switch()) measure(n);
    }

    coro::task<forwarding_tables> read() {
        if (how_.by_sa) co_await schedule_.mqueue(records());
        else co_await schedule_.mqueue(blocks());
        for (const u32 n : switches_) close(n);
        co_return std::move(tables_);
    }

private:
    using error = std::tuple<failure_kind, std::string, std::string>; // kind, text and cause

    /// Determines the size of a switch's tables and the blocks to read. All of them are missing until they are read.
    void measure(u32 n) {
        switch_forwarding& t = tables_.of_node[n];
        const node& sw = subnet_.nodes[n];
        if (!sw.switch_info) {
            tables_.failures.push_back({failure_kind::other, subnet_.location_of({n, 0}),
                                        "forwarding tables not read: SwitchInfo is unknown", "SwitchInfo is unknown"});
            return;
        }
        t.is_known = true;
        switches_.push_back(n);
        const smp::SwitchInfo& info = *sw.switch_info;
        const auto wanted = [](unsigned requested, unsigned bound) {
            return requested ? std::min(requested, bound) : bound;
        };
        if (how_.unicast) {
            t.first_lid = how_.first_lid;
            t.last_lid = wanted(how_.last_lid, std::min<unsigned>(info.linearFDBTop, lid_index::last_unicast_lid));
            t.unicast.assign((t.last_lid / block_of::lids_per_block + 1) * block_of::lids_per_block, not_forwarded);
            for (u32 b = t.first_lid / block_of::lids_per_block; b <= t.last_lid / block_of::lids_per_block; ++b)
                t.missing_unicast.push_back(b);
        }
        if (how_.multicast && info.multicastFDBCap) {
            t.first_group = how_.first_group ? how_.first_group : first_mlid;
            t.last_group = wanted(how_.last_group, std::min(first_mlid + info.multicastFDBCap - 1, last_mlid));
            if (!how_.whole_multicast && info.multicastFDBTop >= first_mlid - 1)
                t.last_group = std::min<unsigned>(t.last_group, info.multicastFDBTop);
            if (t.last_group < t.first_group) return;
            t.positions = sw.info.numPorts / block_of::ports_per_mask + 1u;
            const u32 first = (t.first_group - first_mlid) / block_of::mlids_per_block;
            const u32 last = (t.last_group - first_mlid) / block_of::mlids_per_block;
            t.multicast.assign(std::size_t{last + 1} * block_of::mlids_per_block * t.positions, 0);
            for (u32 b = first; b <= last; ++b)
                for (u32 position = 0; position < t.positions; ++position)
                    t.missing_multicast.push_back(b | position << position_shift);
        }
    }

    mad::any_path path_to(u32 n) const {
        const node& sw = subnet_.nodes[n];
        return how_.keys ? how_.keys->put_into(sw.route, sw.info.portGUID) : mad::any_path(sw.route);
    }

    // ---- by SMPs: one block of each switch at a time, so that an unresponsive switch is not queried for all of its blocks --

    coro::generator<coro::task<void>> blocks() {
        for (const u32 n : switches_) co_yield read_blocks(n);
    }

    coro::task<void> read_blocks(u32 n) {
        // Copies, because the lists in the tables shrink during the loop.
        const std::vector<u32> unicast = tables_.of_node[n].missing_unicast;
        const std::vector<u32> multicast = tables_.of_node[n].missing_multicast;
        for (const u32 block : unicast) {
            const bool answers = co_await read_block<smp::LinearForwardingTable>(n, block);
            if (!answers) co_return;
        }
        for (const u32 block : multicast) {
            const bool answers = co_await read_block<smp::MulticastForwardingTable>(n, block);
            if (!answers) co_return;
        }
    }

    /// Reads a block. Returns false if the switch did not reply, because it is then not expected to reply for further blocks either.
    template <class T> coro::task<bool> read_block(u32 n, u32 block) {
        const mad::any_path path = path_to(n);
        auto answer = co_await schedule_.SubnGet<T>(path, block);
        if (answer) take(n, block, answer.value());
        else note(n, answer.error());
        const bool is_refused = !answer && (answer.error().code == mad::errc::status);
        co_return answer || is_refused;
    }

    // ---- by the SA -----------------------------------------------------------------------------------------------------

    coro::generator<coro::task<void>> records() {
        for (const u32 n : switches_) co_yield read_records(n);
    }

    coro::task<void> read_records(u32 n) {
        const auto& own = subnet_.nodes[n].ports[0].info;
        if (!own) co_return;
        const iba::lid LID = own->LID;
        if (how_.unicast) {
            using record = iba::sa::LinearForwardingTableRecord;
            const auto wanted = iba::query<record>{}.where<&record::LID>(LID);
            auto found = co_await schedule_.SubnAdmGetTable(wanted);
            if (found)
                for (const record& r : found.value()) take(n, r.blockNum, r.linearForwardingTable);
            else note(n, found.error());
        }
        if (!tables_.of_node[n].missing_multicast.empty()) {
            using record = iba::sa::MulticastForwardingTableRecord;
            const auto wanted = iba::query<record>{}.where<&record::LID>(LID);
            auto found = co_await schedule_.SubnAdmGetTable(wanted);
            if (!found) {
                note(n, found.error());
                co_return;
            }
            for (const record& r : found.value())
                take(n, r.blockNum | u32{r.position} << position_shift, r.multicastForwardingTable);
            tables_.of_node[n].missing_multicast.clear(); // the SA has no records of empty blocks
        }
    }

    // ---- replies -------------------------------------------------------------------------------------------------------

    void take(u32 n, u32 block, const smp::LinearForwardingTable& from) {
        switch_forwarding& t = tables_.of_node[n];
        const std::size_t begin = std::size_t{block} * from.portBlock.size();
        if (std::erase(t.missing_unicast, block) == 0) return; // the block was not requested
        std::ranges::copy(from.portBlock, t.unicast.begin() + static_cast<std::ptrdiff_t>(begin));
    }

    void take(u32 n, u32 block, const smp::MulticastForwardingTable& from) {
        switch_forwarding& t = tables_.of_node[n];
        if (std::erase(t.missing_multicast, block) == 0) return;
        const u32 position = block >> position_shift;
        const std::size_t begin = std::size_t{block & ~(~u32{0} << position_shift)} * from.portMaskBlock.size();
        for (std::size_t i = 0; i < from.portMaskBlock.size(); ++i)
            t.multicast[(begin + i) * t.positions + position] = from.portMaskBlock[i];
    }

    void note(u32 n, const mad::mad_error& e) {
        errors_.try_emplace(n, kind_of(e), to_string(e), cause_text(e)); // the first one is reported
    }

    void close(u32 n) {
        const switch_forwarding& t = tables_.of_node[n];
        const std::size_t missing = t.missing_unicast.size() + t.missing_multicast.size();
        if (missing == 0) return;
        const auto e = errors_.find(n);
        const auto [kind, text, cause] =
            e != errors_.end() ? e->second : error{failure_kind::cancelled, "not queried", "not queried"};
        tables_.failures.push_back(
            {kind, subnet_.location_of({n, 0}),
             fmt::format("{} block{} of the forwarding tables not read: {}", missing, missing == 1 ? "" : "s", text),
             cause});
    }

    static constexpr unsigned position_shift = 28; // bit position in the attribute modifier, IBA 14.2.5.12
    coro::MADSchedule& schedule_;
    const subnet& subnet_;
    const forwarding_options how_;
    forwarding_tables tables_;
    std::vector<u32> switches_;
    std::map<u32, error> errors_; // the first error of each node
};

} // namespace

coro::task<forwarding_tables> read_forwarding(coro::MADSchedule& schedule, const subnet& s, forwarding_options how) {
    table_reader reader(schedule, s, how);
    co_return co_await reader.read();
}

} // namespace comad::discovery
