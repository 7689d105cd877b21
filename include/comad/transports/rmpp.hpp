// SPDX-License-Identifier: MIT
// rmpp.hpp - a transport that carries messages of any length over one that carries single MADs (IBA 13.6), as the kernel
// does on its own device. Knows no class but which of them have RMPP.
#pragma once
#include <comad/mad/detail/rmpp.hpp>
#include <comad/mad/transport.hpp>

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace comad::transports {

struct rmpp_options {
    mad::rmpp_receiver_options receiving{};
    mad::rmpp_timing sending{};
    mad::duration linger = std::chrono::seconds(10); ///< how long the last ACK of a message is repeated when asked for
    /// Under way at a time, each way. Further requests of others are ignored, and so time out; a reply to a request of our own
    /// takes the place of a request of others.
    std::size_t max_transfers = 1024;
    std::size_t max_sending = std::size_t{256} << 20; ///< bytes of all messages that are being sent
    /// Bytes of all messages that are arriving. The transfer that exceeds it fails, unless it is whole then.
    std::size_t max_receiving = std::size_t{256} << 20;
};

/// What `inner` carries, and transfers of several MADs: those to be sent are cut into segments, those that arrive are put
/// together and acknowledged.
///
/// Of ours: requests longer than a MAD go out by send_request::size. While segments of an answer arrive, receive() says so
/// (received::is_part), so that its request does not time out. A transfer that fails is given as its first segment alone,
/// which no table is read from. Only a reply to a request that was sent here, and from where it was sent to, starts a transfer,
/// once, until send_request::operation_timeout or rmpp_timing::total has passed. All other responses are ignored.
///
/// Of others, where serve() was called: a request by RMPP is given when it is whole, and not at all if it fails. An answer
/// whose header says RMPP goes out by it, whatever its length; send() takes it and forgets it when all is acknowledged, or
/// when the requester stopped to do so. There is no room for it: ENOBUFS, and the requester may ask again. While it is
/// under way, another answer to the same request is dropped.
class rmpp_transport final : public mad::transport {
public:
    /// `inner` must outlive it, or is its own.
    explicit rmpp_transport(mad::transport& inner, rmpp_options options = {}) : inner_(inner), options_(options) {}
    explicit rmpp_transport(std::unique_ptr<mad::transport> inner, rmpp_options options = {})
        : owned_(std::move(inner)), inner_(*owned_), options_(options) {}

    int native_handle() const noexcept override { return inner_.native_handle(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration&) noexcept override;
    std::string name() const override { return inner_.name(); }
    std::string_view advice(mad::transport_call c, int error) const noexcept override {
        return inner_.advice(c, error);
    }
    mad::port_tables* tables() noexcept override { return inner_.tables(); }
    std::optional<unsigned> held(iba::MgmtClass c) const noexcept override { return inner_.held(c); }
    bool wants_writable() const noexcept override { return inner_.wants_writable(); }
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override { return inner_.simulated_time(); }
    void set_now(mad::time_point) noexcept override;

    /// Under way, both ways; those that ended and are kept for a last ACK included.
    std::size_t transfers() const noexcept { return incoming_.size() + outgoing_.size(); }

private:
    /// The other end of a transfer.
    struct peer {
        mad::any_path path;
        u32 agent;
        bool is(const mad::source_address&) const noexcept;
    };
    /// What all MADs of one side of a transfer have in common.
    struct transfer_id {
        u8 mgmt_class, method;
        u64 transactionID;
        static transfer_id of(const u8* mad) noexcept;
        friend bool operator==(const transfer_id&, const transfer_id&) = default;
    };
    struct incoming {
        mad::rmpp_receiver transfer;
        transfer_id id;
        mad::source_address source;
        peer from;
        std::array<u8, mad::mad_size> first;    // MAD that came
        std::optional<mad::time_point> ended{}; // and given to receive()
    };
    struct outgoing {
        mad::rmpp_sender transfer;
        transfer_id id;
        peer to;
        std::size_t size;
        std::optional<mad::time_point> ended{};
    };
    /// A request that was sent and may be answered by a transfer.
    struct expected {
        transfer_id reply;
        mad::any_path path;
        mad::time_point until;
    };
    struct packet { // with the headroom that transports want
        peer to;
        alignas(8) std::array<u8, mad::headroom + mad::mad_size> bytes{};
        std::span<u8, mad::mad_size> mad() noexcept { return std::span(bytes).last<mad::mad_size>(); }
    };
    struct whole_message {
        std::vector<u8> bytes;
        mad::source_address source;
    };

    bool has_room_for(std::size_t size) const noexcept;
    bool begin(const mad::received&);
    bool is_served(std::span<const u8> mad) const noexcept;
    void expect_reply(const mad::send_request&);
    std::list<expected>::iterator find_expected(const mad::received&);
    bool make_room(bool for_reply);
    void grow(incoming&, std::span<const u8> mad);
    void limit(incoming&) noexcept;
    std::list<incoming>::iterator erase(std::list<incoming>::iterator);
    bool take(const mad::received&);
    bool feed_known(const mad::received&);
    void settle();
    void settle(incoming&);
    bool prepare();
    void flush() noexcept;
    mad::received deliver(std::span<u8> buffer) noexcept;

    std::unique_ptr<mad::transport> owned_; // null: it is somebody else's
    mad::transport& inner_;
    rmpp_options options_;
    mad::time_point now_{};
    std::vector<mad::registration> served_;
    std::list<expected> expected_; // the one sent last is last
    std::list<incoming> incoming_;
    std::size_t receiving_ = 0;    // bytes that they hold
    std::list<outgoing> outgoing_; // the next one to send is in front
    std::optional<packet> unsent_; // what the inner transport did not take
    std::deque<whole_message> arrived_;
};

} // namespace comad::transports
