// SPDX-License-Identifier: MIT
// queries.cpp - finds the names of nodes that were queried.
#include "session/queries.hpp"

#include <comad/iba/detail/text.hpp>

namespace ibtool {

std::string raw_name_of(const comad::discovery::node_names& names, const comad::iba::smp::NodeInfo& info,
                        const comad::iba::smp::NodeDescription& description) {
    comad::discovery::node n;
    n.info = info;
    n.description = text(description);
    return names.raw(n);
}

std::string name_of(const comad::discovery::node_names& names, const comad::iba::smp::NodeInfo& info,
                    const comad::iba::smp::NodeDescription& description) {
    return comad::iba::escaped(raw_name_of(names, info, description));
}

} // namespace ibtool
