// SPDX-License-Identifier: MIT
// failure_list.hpp - collects the failures of a discovery, and sorts them for its result.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <string>
#include <utility>
#include <vector>

namespace comad::discovery {

/// Collects the failures of a discovery.
class failure_list {
public:
    explicit failure_list(discovery_progress* progress) : progress_(progress) {}

    /// Adds a failure. `is_beyond_port`: it concerns the node on the other end of the link, not the port.
    void add(failure, bool is_beyond_port = false);
    /// Adds a contradiction: the node on the other end of the link at this port sent an impossible reply.
    void add_contradiction(iba::guid nodeGUID, u8 port, const mad::IBDRPath& route, std::string text,
                           iba::guid doubledGUID = {});

    /// Returns the failures in the order in which they occurred.
    std::vector<failure> take() { return std::move(failures_); }
    /// Returns the failures in the order, and with the routes, of a discovery by one worker that sends one query at a time.
    std::vector<failure> take_sorted(const subnet&);

private:
    discovery_progress* progress_;
    std::vector<failure> failures_;
    std::vector<bool> is_beyond_port_; // flag of each failure
};

} // namespace comad::discovery
