// SPDX-License-Identifier: MIT
// missing.hpp - failures as lines for a user, one for each cause. Does not depend on a subnet.
#pragma once
#include "comad.hpp"
#include <comad/discovery/database/failure.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ibtool {

/// A failure at a location of this name, which can be empty; `text` and `cause` as in discovery::failure. All are safe for a terminal.
inline discovery::failure failure_at(std::string name, std::string text, std::string cause = {}) {
    discovery::failure f;
    f.where.name = std::move(name);
    f.text = std::move(text);
    f.cause = std::move(cause);
    return f;
}
/// The same for a port of this number.
inline discovery::failure port_failure(u8 port, std::string name, std::string text, std::string cause = {}) {
    discovery::failure f = failure_at(std::move(name), std::move(text), std::move(cause));
    f.where.port = port;
    return f;
}
/// The same failure, of a change that was to be made: it has a line of its own, and always counts.
inline discovery::failure of_write(discovery::failure f) {
    if (!f.is_write()) f.kind = discovery::failure_kind::not_written;
    return f;
}

/// One line for each cause, in the order of their first locations: `S-0002c90000000001 "leaf-0001"[3]: NodeInfo timed out`, for several
/// locations `512 ports: NodeInfo timed out; first: leaf-0001 port 3`. With `each` one line for each location, with all details.
/// Names of locations are those in location::name. `disconnect`, as session::disconnect_text() returns it, is one cause for all: the
/// device was disconnected meanwhile. A failure of a change has a line of its own in any case, after all others.
std::vector<std::string> format_missing(const std::vector<discovery::failure>& missing, bool each,
                                        const std::string& disconnect = {});
/// Prints these lines on stderr.
void print_missing(const std::vector<discovery::failure>& missing, bool each, const std::string& disconnect = {});

} // namespace ibtool
