// SPDX-License-Identifier: MIT
// rmpp.hpp - a transport that carries messages of any length by RMPP over a transport of single MADs (IBA 13.6), as the kernel does for
// umad. It depends on no management class.
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

/// Options of an rmpp_transport.
struct rmpp_options {
    mad::rmpp_receiver_options receiving{};
    mad::rmpp_timing sending{};
    mad::duration linger = std::chrono::seconds(10); ///< time for which a last ACK is repeated on request
    /// The largest number of transfers in each direction. Further requests of other nodes are ignored, and thus time
    /// out. A reply to one of our requests replaces a request of another node.
    std::size_t max_transfers = 1024;
    std::size_t max_sending = std::size_t{256} << 20; ///< bytes of all messages that are being sent
    /// Bytes of all messages that are arriving. The transfer that exceeds the limit fails, unless it is complete at
    /// that moment.
    std::size_t max_receiving = std::size_t{256} << 20;
};

/// Adds transfers of several MADs to `inner`. It cuts messages to send into segments, and reassembles and
/// acknowledges messages that arrive.
///
/// Our requests: a request longer than a MAD is sent as a transfer of send_request::size bytes. While segments of a
/// reply arrive, receive() reports them (received::is_part), so that the request does not time out. If a transfer
/// fails, receive() returns only its first segment, which never decodes as a table. A reply starts a transfer only if
/// its request was sent here, and only from the node to which the request was sent. It can do so once, until
/// send_request::operation_timeout or rmpp_timing::total has passed. All other responses are ignored.
///
/// Requests of other nodes, after serve(): receive() returns an RMPP request when it is complete, and nothing if it
/// fails. A reply with an RMPP header is sent by RMPP, regardless of its length. send() accepts the reply and drops
/// it when the requester has acknowledged all of it or stops acknowledging. If there is no space for the reply,
/// send() fails with ENOBUFS, and the requester may retry. While the reply is being sent, another reply to the same
/// request is dropped.
class rmpp_transport final : public mad::transport {
public:
    /// Uses `inner`, which must outlive the transport.
    explicit rmpp_transport(mad::transport& inner, rmpp_options options = {}) : inner_(inner), options_(options) {}
    /// Takes ownership of `inner`.
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

    /// Returns the number of transfers in both directions, including ended ones that are kept for a last ACK.
    std::size_t transfers() const noexcept { return incoming_.size() + outgoing_.size(); }

private:
    /// The peer of a transfer.
    struct peer {
        mad::any_path path;
        u32 agent;
        bool is(const mad::source_address&) const noexcept;
    };
    /// The fields that all MADs of one side of a transfer share.
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
        std::array<u8, mad::mad_size> first;    // the first MAD of the transfer
        std::optional<mad::time_point> ended{}; // when the message was passed to receive()
    };
    struct outgoing {
        mad::rmpp_sender transfer;
        transfer_id id;
        peer to;
        std::size_t size;
        std::optional<mad::time_point> ended{};
    };
    /// A request that was sent and whose reply may be a transfer.
    struct expected {
        transfer_id reply;
        mad::any_path path;
        mad::time_point until;
    };
    struct packet { // with the headroom that transports need
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

    std::unique_ptr<mad::transport> owned_; // null: the caller owns the transport
    mad::transport& inner_;
    rmpp_options options_;
    mad::time_point now_{};
    std::vector<mad::registration> served_;
    std::list<expected> expected_; // ordered by time of sending
    std::list<incoming> incoming_;
    std::size_t receiving_ = 0;    // bytes held by incoming_
    std::list<outgoing> outgoing_; // the next one to send is first
    std::optional<packet> unsent_; // a MAD that blocked the inner transport
    std::deque<whole_message> arrived_;
};

} // namespace comad::transports
