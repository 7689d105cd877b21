// SPDX-License-Identifier: MIT
// changed_counters.hpp - remembers which counters of which ports have changed, for metric_choice::changed. Sends nothing.
#pragma once
#include <comad/counters/formats.hpp>

#include <memory>
#include <vector>

namespace comad::counters {

/// Remembers the counters that have changed since the first sweep, and the ports whose link has changed. A port that disappears is
/// forgotten.
class changed_counters {
public:
    /// Takes the next sweep, and compares it with sweep_view::before. Returns what has changed so far, in the order of its ports.
    /// Lifetime: keeps the data of the view by sweep_view::kept until the next call. Without `kept`, the subnet of the view must exist
    /// until then.
    std::shared_ptr<const std::vector<changed_port>> take(const sweep_view&);

private:
    void follow(const sweep_view&);

    std::vector<changed_port> ports_;
    std::vector<discovery::port_ref> places_; // of ports_, in subnet_
    const discovery::subnet* subnet_ = nullptr;
    std::shared_ptr<const void> kept_; // owner of subnet_
};

} // namespace comad::counters
