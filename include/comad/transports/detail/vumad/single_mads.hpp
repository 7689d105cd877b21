// SPDX-License-Identifier: MIT
// single_mads.hpp - single_mads: a transport of single MADs over a transport of whole messages, such as the embedded simulator. As
// the peer of rmpp_transport, it segments longer messages and acknowledges their segments.
#pragma once
#include <comad/mad/detail/rmpp.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <vector>

namespace comad::transports::vumad {

/// Converts between whole messages and RMPP segments. receive() returns the messages of `inner` as segments, and
/// continues as acknowledgements arrive through send(). send() collects the segments of a request and passes the
/// whole request to `inner`. All other MADs pass unchanged, including those of transfers between two programs.
class single_mads final : public mad::transport {
public:
    /// Creates the transport. `inner` must outlive it.
    explicit single_mads(mad::transport& inner);

    int native_handle() const noexcept override { return inner_.native_handle(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override { return inner_.serve(what); }
    std::string name() const override { return inner_.name(); }
    mad::port_tables* tables() noexcept override { return inner_.tables(); }
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override { return inner_.simulated_time(); }
    void set_now(mad::time_point) noexcept override;

    /// Returns the number of unfinished transfers.
    std::size_t transfers() const noexcept { return answers_.size() + requests_.size(); }

private:
    struct answer {
        mad::rmpp_sender transfer;
        mad::source_address source;
        u64 tid;
    };
    struct request {
        mad::rmpp_receiver transfer;
        mad::any_path path;
        u64 tid;
        mad::time_point start;
        bool has_left = false; // kept because its sender may need the last ACK again
    };
    struct segment {
        std::array<u8, mad::mad_size> bytes;
        mad::source_address source;
    };

    void begin_answer(const mad::received&);
    mad::send_result take_request(const mad::send_request&);
    void settle();

    mad::transport& inner_;
    mad::time_point now_{};
    std::vector<u8> whole_;
    std::list<answer> answers_;
    std::list<request> requests_;
    std::deque<segment> segments_; // waiting for receive()
};

} // namespace comad::transports::vumad
