// SPDX-License-Identifier: MIT
// probe_lids.cpp - reads the nodes at a list of LIDs.
#include <comad/coro/detail/generator.hpp>
#include <comad/discovery/walk/detail/probe_lids.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace comad::discovery {
namespace {

/// Sends the queries of one call of probe_lids().
class lid_prober {
public:
    lid_prober(coro::MADSchedule& schedule, std::vector<iba::lid> lids, const probe_options& options)
        : schedule_(schedule), options_(options) {
        std::ranges::sort(lids);
        const auto repeated = std::ranges::unique(lids);
        lids.erase(repeated.begin(), repeated.end());
        for (const iba::lid LID : lids) found_.push_back({.LID = LID});
    }

    coro::task<std::vector<lid_probe>> run() {
        co_await schedule_.mqueue(queries());
        for (lid_probe& p : found_) {
            if (p.info) p.description = descriptions_[p.info->nodeGUID];
            else if (!p.error) p.error.emplace().code = mad::errc::cancelled;
        }
        co_return std::move(found_);
    }

private:
    // LIDs of one port are neighbors in the list (LMC). They are sent far apart, because a node processes one SMP at a time.
    coro::generator<coro::task<void>> queries() {
        constexpr unsigned most_lids_of_port = 128;
        for (unsigned offset = 0; offset < most_lids_of_port; ++offset)
            for (lid_probe& p : found_)
                if (value(p.LID) % most_lids_of_port == offset) co_yield query(p);
    }

    coro::task<void> query(lid_probe& p) {
        mad::IBPath path;
        path.DLID = p.LID;
        path.dqpn = path.sqpn = path.qkey = 0;
        path.MKey = options_.MKey;
        auto info = co_await schedule_.SubnGet<iba::smp::NodeInfo>(path);
        if (!info) {
            p.error = std::move(info.error());
            co_return;
        }
        p.info = info.value();
        const bool is_new = descriptions_.try_emplace(info.value().nodeGUID).second;
        if (!options_.description || !is_new) co_return;
        auto description = co_await schedule_.SubnGet<iba::smp::NodeDescription>(path);
        if (description) descriptions_[info.value().nodeGUID] = iba::smp::text(description.value());
        else p.error = std::move(description.error());
    }

    coro::MADSchedule& schedule_;
    const probe_options options_;
    std::vector<lid_probe> found_;
    std::unordered_map<iba::guid, std::string> descriptions_; // of nodes that replied
};

} // namespace

coro::task<std::vector<lid_probe>> probe_lids(coro::MADSchedule& schedule, std::vector<iba::lid> lids,
                                              probe_options options) {
    lid_prober prober(schedule, std::move(lids), options);
    co_return co_await prober.run();
}

} // namespace comad::discovery
