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

/// Returns whether the page has the series about the state of a port.
bool shows_states(const exposed_sweep&, std::size_t port) noexcept;

/// The labels of the ports of one fabric.
class metric_labels {
public:
    /// The sweep must outlive the object.
    explicit metric_labels(const exposed_sweep&);

    /// Returns whether the page has any series about the port, so that it also has its infiniband_port_info.
    bool has_series(std::size_t port) const noexcept { return !of_port(port).empty(); }
    /// Returns the counters of the port that have a value on the page.
    counter_set counters_of(std::size_t port) const noexcept { return shown_[port]; }
    /// Returns the counters that have a value on the page for at least one port.
    counter_set all_counters() const noexcept { return all_shown_; }
    /// A saturated counter of a port.
    struct pegged_counter {
        std::size_t port;
        counter which;
    };
    const std::vector<pegged_counter>& pegged() const noexcept { return pegged_; }
    /// `node_guid="...",port="3"`, with the label of the fabric before it.
    std::string_view of_port(std::size_t port) const noexcept {
        return std::string_view(text_).substr(starts_[port], starts_[port + 1] - starts_[port]);
    }
    /// Appends the labels of infiniband_port_info, without those of the neighbor.
    void add_info(std::string& to, std::size_t port) const;
    /// Appends `,peer_node_guid="...",peer_port="3",peer_node="..."` of a present neighbor.
    void add_peer(std::string& to, discovery::port_ref) const;

private:
    struct node_text {
        std::string GUID, name;
    };
    void select(std::size_t port);

    const exposed_sweep& sweep_;
    std::vector<node_text> nodes_;
    // One pass over the readings fills these. A large subnet has a hundred megabytes of readings, and each family of the page would otherwise
    // read them again.
    std::vector<counter_set> shown_;
    counter_set all_shown_;
    std::vector<pegged_counter> pegged_;
    std::string text_; // of all ports
    std::vector<std::size_t> starts_;
};

} // namespace comad::counters
