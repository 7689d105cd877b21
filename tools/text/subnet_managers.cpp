// SPDX-License-Identifier: MIT
// subnet_managers.cpp - finds problems of subnet managers: compares masters and standbys by state, priority and GUID.
#include "text/subnet_managers.hpp"

#include "comad.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace ibtool {
namespace {

std::string name_and_priority(const manager_facts& m) {
    return fmt::format("{} (GUID {}, priority {})", manager_name(m), m.info.GUID, m.info.priority);
}

/// Returns whether the first of two subnet managers should be the master (IBA 14.4.1).
bool outranks(const iba::smp::SMInfo& a, const iba::smp::SMInfo& b) {
    return std::tuple(a.priority, value(b.GUID)) > std::tuple(b.priority, value(a.GUID));
}

} // namespace

std::string manager_name(const manager_facts& m) {
    return m.LID != 0 ? fmt::format("LID {}", m.LID) : fmt::format("route {}", m.route);
}

std::string manager_state(const iba::smp::SMInfo& info) {
    return fmt::format("{}, GUID {}, priority {}, activity {}", iba::name_or_number(info.SMState), info.GUID,
                       info.priority, info.actCount);
}

std::vector<manager_problem> manager_problems(std::span<const manager_facts> all) {
    std::vector<const manager_facts*> masters, standbys;
    bool is_any_known = false;
    for (const manager_facts& m : all) {
        is_any_known |= m.is_known();
        if (m.is_known() && m.info.SMState == iba::SMState::Master) masters.push_back(&m);
        if (m.is_known() && m.info.SMState == iba::SMState::Standby) standbys.push_back(&m);
    }
    std::vector<manager_problem> problems;
    using kind = manager_problem::kind;
    if (masters.empty() && is_any_known)
        problems.push_back({kind::no_master, "no subnet manager is the master, so the subnet is not configured"});
    if (masters.size() > 1) {
        std::vector<std::string> names;
        for (const manager_facts* m : masters) names.push_back(name_and_priority(*m));
        problems.push_back(
            {kind::several_masters,
             fmt::format("{} subnet managers are the master of this subnet: {}; they overwrite each other's "
                         "configuration",
                         masters.size(), fmt::join(names, ", "))});
    }
    for (const manager_facts* m : masters)
        for (const manager_facts* s : standbys)
            if (outranks(s->info, m->info))
                problems.push_back(
                    {kind::outranked_master,
                     fmt::format("the master at {} has a lower {} than the standby at {}", name_and_priority(*m),
                                 s->info.priority != m->info.priority ? "priority" : "rank", name_and_priority(*s))});
    return problems;
}

} // namespace ibtool
