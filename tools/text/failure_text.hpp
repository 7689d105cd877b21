// SPDX-License-Identifier: MIT
// failure_text.hpp - formats failures as lines for users, one for each cause. Does not depend on a subnet.
#pragma once
#include "comad.hpp"
#include <comad/discovery/database/failure.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ibtool {

/// Returns a failure with this location, which may be empty; `text` and `cause` as in discovery::failure. All texts are safe for a
/// terminal.
inline discovery::failure failure_at(std::string name, std::string text, std::string cause = {}) {
    discovery::failure f;
    f.where.name = std::move(name);
    f.text = std::move(text);
    f.cause = std::move(cause);
    return f;
}
/// Returns a failure of a port with this number.
inline discovery::failure port_failure(u8 port, std::string name, std::string text, std::string cause = {}) {
    discovery::failure f = failure_at(std::move(name), std::move(text), std::move(cause));
    f.where.port = port;
    return f;
}
/// Returns the failure as that of a requested change: it is printed on its own line, and always affects the exit status.
inline discovery::failure of_write(discovery::failure f) {
    if (!f.is_write()) f.kind = discovery::failure_kind::not_written;
    return f;
}

/// Returns one line for each cause, in the order of their first locations: `S-0002c90000000001 "leaf-0001"[3]: NodeInfo timed out`, for
/// several locations `512 ports: NodeInfo timed out; first: leaf-0001 port 3`. With `each`, one line for each location with all details.
/// Locations are named by location::name. `disconnect` (session::disconnect_text()) is one cause for all failures: the device was
/// disconnected meanwhile. The failure of a change always has its own line, after all others.
std::vector<std::string> format_missing(const std::vector<discovery::failure>& missing, bool each,
                                        const std::string& disconnect = {});
/// Prints these lines on stderr.
void print_missing(const std::vector<discovery::failure>& missing, bool each, const std::string& disconnect = {});

} // namespace ibtool
