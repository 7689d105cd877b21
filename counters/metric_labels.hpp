// SPDX-License-Identifier: MIT
// metric_labels.hpp - the labels of ports on a page of metrics, and the ports and counters that metric_choice selects. A large subnet has
// hundreds of thousands of ports, so texts of nodes are made only once for each page.
#pragma once
#include <comad/counters/formats.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace comad::counters {

/// Returns the value of a label with quotes and escapes.
std::string quoted_label(std::string_view text);
/// Returns the label of the fabric; empty if the fabric has no label.
std::string fabric_label(const exposed_sweep&);

/// Returns whether the page has the series of a counter. Precondition: the counter was read.
bool shows_counter(const exposed_sweep&, std::size_t port, counter) noexcept;
/// Returns whether the page has the series about the state of a port.
bool shows_states(const exposed_sweep&, std::size_t port) noexcept;

/// The labels of the ports of one fabric.
class metric_labels {
public:
    /// The sweep must outlive the object.
    explicit metric_labels(const exposed_sweep&);

    /// Returns whether the page has any series about the port, so that it also has its infiniband_port_info.
    bool has_series(std::size_t port) const noexcept { return !of_ports_[port].empty(); }
    /// `node_guid="...",port="3"`, with the label of the fabric before it.
    const std::string& of_port(std::size_t port) const noexcept { return of_ports_[port]; }
    /// The labels of infiniband_port_info. `peer_labels`: those of the neighbor.
    std::string of_info(std::size_t port, std::string_view peer_labels) const;
    /// `,peer_node_guid="...",peer_port="3",peer_node="..."` of a present neighbor.
    std::string of_peer(discovery::port_ref) const;

private:
    struct node_text {
        std::string GUID, name;
    };
    const exposed_sweep& sweep_;
    std::vector<node_text> nodes_;
    std::vector<std::string> of_ports_;
};

} // namespace comad::counters
