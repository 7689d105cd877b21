// SPDX-License-Identifier: MIT
// hierarchy.cpp - reads HierarchyInfo of each port. The reply for the first index contains the number of indices.
#include <comad/coro/schedule.hpp>
#include <comad/discovery/chassis/detail/hierarchy.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::HierarchyInfo;

bool has_hierarchy(const subnet& s, port_ref r) {
    const auto& end = s.end_port(r).info;
    return end && s.at(r).info && (end->capabilityMask & value(iba::CapabilityMask::IsHierarchyInfoSupported));
}

std::tuple<u32, u8, u8> order_of(const port_hierarchy& h) { return {h.where.node, h.where.port, h.index}; }

/// Reads HierarchyInfo of all ports in parallel.
class hierarchy_reader {
public:
    hierarchy_reader(coro::MADSchedule& schedule, const subnet& s) : schedule_(schedule), subnet_(s) {}

    coro::task<hierarchies> read() {
        co_await schedule_.mqueue(ports());
        std::ranges::sort(found_.entries, {}, order_of);
        std::ranges::sort(found_.failures, {}, [this](const failure& f) {
            const port_ref at = subnet_.find(f.where);
            return std::pair(at.node, at.port);
        });
        co_return std::move(found_);
    }

private:
    coro::generator<coro::task<void>> ports() {
        for (u32 n = 0; n < subnet_.nodes.size(); ++n) {
            for (unsigned p = subnet_.nodes[n].is_switch() ? 0 : 1; p < subnet_.nodes[n].ports.size(); ++p) {
                const port_ref here{n, static_cast<u8>(p)};
                if (has_hierarchy(subnet_, here)) co_yield read_port(here);
            }
        }
    }

    coro::task<void> read_port(port_ref here) {
        constexpr u32 index_shift = 8; // position of the index in the attribute modifier, above the port number
        const mad::any_path path = subnet_.nodes[here.node].route;
        unsigned last = 0;
        for (unsigned index = 0; index <= last; ++index) {
            auto answer = co_await schedule_.SubnGet<HierarchyInfo>(path, here.port | index << index_shift);
            if (!answer) {
                found_.failures.push_back(
                    {kind_of(answer.error()),
                     {subnet_.nodes[here.node].info.nodeGUID, here.port, subnet_.nodes[here.node].route},
                     "HierarchyInfo not read: " + to_string(answer.error()),
                     cause_text(answer.error())});
                co_return;
            }
            if (index == 0) last = answer.value().maxActiveIndex;
            if (answer.value().activeLevels != 0)
                found_.entries.push_back({here, static_cast<u8>(index), answer.value()});
        }
    }

    coro::MADSchedule& schedule_;
    const subnet& subnet_;
    hierarchies found_;
};

} // namespace

std::span<const port_hierarchy> hierarchies::of(port_ref r) const noexcept {
    const auto by_port = [](const port_hierarchy& h) { return std::pair(h.where.node, h.where.port); };
    const auto [first, last] = std::ranges::equal_range(entries, std::pair(r.node, r.port), {}, by_port);
    return {first, last};
}

coro::task<hierarchies> read_hierarchies(coro::MADSchedule& schedule, const subnet& s) {
    hierarchy_reader reader(schedule, s);
    co_return co_await reader.read();
}

} // namespace comad::discovery
