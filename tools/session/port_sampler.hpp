// SPDX-License-Identifier: MIT
// port_sampler.hpp - samples counters of a port with PortSamplesControl (IBA 16.1.3.2). Does not depend on a command.
#pragma once
#include "session/counter_queries.hpp"
#include "session/port_view.hpp"
#include <comad/iba/detail/pm/sampled_counters.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// Returns whether PMAs of the fabric may be queried for PortSamplesControl. Not in ibsim: it hands the request to the program at that port,
/// and OpenSM 3.3.23 then ends with a segmentation fault. A real node replies itself.
bool may_query_port_samples(const global_options&);

/// The rate of a port's link, and what a tick means there.
struct sampled_link {
    explicit sampled_link(const port_view&);
    double data_rate = 0; ///< bits per second, without line encoding; 0: no link
    double tick_unit =
        4e-9; ///< seconds for a tick of 0; greater values are multiples. By default that of a lane at 2.5 Gb/s
    double tick_seconds(comad::u8 tick) const noexcept { return (tick + 1) * tick_unit; }
};

/// What is sampled, and how.
struct sampling_request {
    performance_agent agent;
    comad::u8 port = 0;
    sampled_link link;
    std::vector<comad::iba::pm::sampled_quantity> quantities{}; ///< at least one
    std::chrono::nanoseconds interval{};
    std::optional<comad::u8> mechanism{}; ///< nullopt: the first one that is idle
    comad::u16 first_tag = 0;             ///< a random number, because two programs must not use the same tags
};

/// One sample: the counts of the quantities, in the order of the request.
struct port_sample {
    comad::mad::time_point begin; ///< about half a round trip before the interval began
    struct count {
        comad::u64 value;
        bool is_limit; ///< the counter stopped at its largest value, so `value` is a lower limit
    };
    std::vector<count> counts;
};

/// Takes samples of a port, one after the other. It uses a sampling mechanism of the device only while this mechanism is idle, and detects
/// other programs that use it at the same time by their tags.
class port_sampler {
public:
    port_sampler(session& in, sampling_request request)
        : in_(in), request_(std::move(request)), tag_(request_.first_tag) {}

    /// Reads what the device supports, and chooses a mechanism. Sends only Gets.
    /// Errors: that of a Get. Throws std::runtime_error with one line if every mechanism is busy, or if the device cannot sample what the
    /// request names.
    query_task<bool> prepare();
    /// Takes one sample (writes). Precondition: prepare().
    /// Errors: that of an RPC, or that of a cancelled pause. The error of the Set means that the device refused it. Throws
    /// std::runtime_error with one line if the device did not start this sample, or if that is unknown.
    query_task<port_sample> take();

    comad::u8 mechanism() const noexcept { return mechanism_; }
    double tick_seconds() const noexcept { return tick_seconds_; }
    /// Returns whether a Set was sent.
    bool has_written() const noexcept { return has_written_; }
    /// Returns the interval that is sampled: a whole number of ticks.
    comad::u32 ticks() const noexcept { return ticks_; }
    double interval_seconds() const noexcept { return ticks_ * tick_seconds_; }

private:
    using control = comad::iba::pm::PortSamplesCtl;
    query_task<control> read_control(comad::u8 mechanism);
    query_task<bool> choose_mechanism();
    void check_quantities(const control&) const;
    void set_interval(comad::u8 tick);
    query_task<bool> start();
    query_task<bool> read_result(port_sample&);
    std::string place() const;
    std::string not_sampled(comad::u16 tag) const;

    session& in_;
    const sampling_request request_;
    comad::u16 tag_;
    comad::u8 mechanism_ = 0;
    double tick_seconds_ = 0;
    comad::u32 ticks_ = 1;
    unsigned bits_ = 32;
    bool has_extended_results_ = false;
    bool has_written_ = false;
};

} // namespace ibtool
