// SPDX-License-Identifier: MIT
// samples.hpp - the sampling mechanisms of the PMAs of a simulated subnet (IBA 16.1.3.2 to 16.1.3.4, 16.1.4.10).
#pragma once
#include "counters.hpp"
#include "pma.hpp"
#include <comad/iba/detail/pm/sampled_counters.hpp>
#include <comad/server/responder.hpp>

#include <array>
#include <map>
#include <tuple>

namespace comad::transports::sim {

/// The sampling mechanisms of all PMAs. A switch has two mechanisms, each for any of its ports. Every port of another node has one. Each
/// mechanism has five counters of 32 bits for the results, which PortSamplesResultExtended returns with 64 bits.
///
/// A sample is the difference of two values of the port's counters, without what was written to them. These values are exact for a load.
/// Of the MADs that a port sends itself, a sample also contains those between its end and the first request after that.
class samples {
public:
    /// `of` and `t` must outlive it.
    samples(const counters& of, const topology& t) : counters_(of), topology_(t) {}

    /// Returns whether an attribute belongs to sampling.
    static bool has(u16 attributeID) noexcept;
    /// Replies to a request for such an attribute. `port`: where the request arrived. A Set of a mechanism that is not idle changes nothing;
    /// its reply contains the present values.
    server::response answer(const pma& here, unsigned port, mad::time_point now, const server::request& r);

private:
    using values = std::array<u64, iba::pm::sample_counters>;
    /// The latest sample of a mechanism.
    struct mechanism {
        iba::pm::PortSamplesCtl control{};
        unsigned port = 0;
        mad::time_point begin{}, end{};
        bool has_begun = true, has_ended = true;
        values at_begin{}, counted{};

        iba::pm::SampleStatus status() const noexcept;
    };

    void advance(mechanism&, u32 node, mad::time_point now) const;
    values read(const mechanism&, u32 node, mad::time_point) const;
    server::response control(mechanism&, const pma& here, mad::time_point now, const server::request& r) const;

    const counters& counters_;
    const topology& topology_;
    std::map<std::tuple<u32, unsigned, u32>, mechanism> mechanisms_; // by node, port (0: the switch), and number
};

} // namespace comad::transports::sim
