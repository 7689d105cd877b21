// SPDX-License-Identifier: MIT
// subnet_queries.cpp - formats lines and JSON about queried nodes.
#include "session/subnet_queries.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ibtool {

using discovery::port_ref;
using discovery::subnet;

bool is_counted(const subnet& s, port_ref where) {
    return where.port != 0 && where.port != all_ports && s.end_port(where).info && is_in_use(s.at(where));
}

std::string node_line(std::string_view doing, const discovery::node& n) {
    return fmt::format("# {} {}: nodeguid 0x{:016x}", doing, discovery::names_of_type(n.info.nodeType).record,
                       value(n.info.nodeGUID));
}

nlohmann::ordered_json place_json(const subnet& s, const discovery::end_port_ref& e, u8 port) {
    const discovery::node& n = s.nodes[e.where.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", json_string(n.description)},
            {"LID", value(e.path.DLID)},
            {"port", port}};
}

} // namespace ibtool
