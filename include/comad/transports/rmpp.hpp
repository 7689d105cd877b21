// SPDX-License-Identifier: MIT
// rmpp.hpp - a transport that carries messages of any length over one that carries single MADs (IBA 13.6), as the kernel
// does on its own device. Knows no class but which of them have RMPP.
#pragma once
#include <comad/mad/rmpp.hpp>
#include <comad/mad/transport.hpp>

#include <deque>
#include <list>
#include <optional>
#include <vector>

namespace comad::transports {

struct rmpp_options {
    mad::rmpp_receiver_options receiving{};
    mad::rmpp_sender_options sending{};
    mad::duration linger = std::chrono::seconds(10); ///< how long the last ACK of a message is repeated when asked for
    std::size_t max_transfers = 1024;                ///< under way at a time; more are ignored, and so time out
};

/// What `inner` carries, and transfers of several MADs: those to be sent are cut into segments, those that arrive are put
/// together and acknowledged. A transfer that fails is given as its first segment alone, which no table is read from.
///
/// Messages longer than a MAD go out by send_request::size. While segments of an answer arrive, receive() says so
/// (received::is_part), so that its request does not time out.
class rmpp_transport final : public mad::transport {
public:
    /// `inner` must outlive it.
    explicit rmpp_transport(mad::transport& inner, rmpp_options options = {}) : inner_(inner), options_(options) {}

    int native_handle() const noexcept override { return inner_.native_handle(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    bool wants_writable() const noexcept override { return inner_.wants_writable(); }
    std::optional<mad::time_point> next_event() const noexcept override;
    void set_now(mad::time_point) noexcept override;

    std::size_t transfers() const noexcept { return incoming_.size() + outgoing_.size(); }

private:
    struct packet { // with the headroom that transports want
        mad::any_path path;
        alignas(8) std::array<u8, mad::headroom + mad::mad_size> bytes;
        u8* mad() noexcept { return bytes.data() + mad::headroom; }
    };
    struct incoming {
        mad::rmpp_receiver transfer;
        mad::source_address source;
        std::array<u8, mad::mad_size> first;    // MAD that came
        std::optional<mad::time_point> ended{}; // and given to receive()
    };
    struct outgoing {
        mad::rmpp_sender transfer;
        mad::any_path path;
    };
    struct message {
        std::vector<u8> bytes;
        mad::source_address source;
    };

    bool take(const mad::received&);
    bool feed_known(const mad::received&);
    void settle();
    void settle(incoming&);
    void settle(outgoing&);
    packet& add_packet(const mad::any_path&);
    void flush() noexcept;
    mad::received deliver(std::span<u8> buffer) noexcept;

    mad::transport& inner_;
    rmpp_options options_;
    mad::time_point now_{};
    std::list<incoming> incoming_;
    std::list<outgoing> outgoing_;
    std::deque<packet> unsent_;
    std::deque<message> arrived_;
};

} // namespace comad::transports
