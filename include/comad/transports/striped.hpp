// SPDX-License-Identifier: MIT
// striped.hpp - one transport made of several: what the kernel allows one descriptor is allowed to each of them.
// Knows of a MAD its class, and nothing of what its members are.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/mad/unique_fd.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace comad::transports {

/// Several descriptors of one end port as one transport: requests go out by the member that holds the fewest of their
/// class, so that no member has more than its share, and replies are taken from whichever has some. Limits add up.
/// The members may also be end ports of one subnet, for MADs that are LID-routed: a directed route begins at a port.
///
/// Members: all have a descriptor, or none has one (virtual time). The descriptor of the whole is an epoll(7) instance,
///          readable when a member has something to read, or can be written to again after it would have blocked.
/// Serving: the first member serves; replies to what it got leave by it.
/// Errors:  construction throws std::invalid_argument for members that do not fit together, std::system_error where the
///          kernel gives no epoll. A request is offered to all members before it fails. A member whose receive() fails
///          is gone: the others carry on, and what it carried is sent again by them when its timeout has passed. When all
///          are gone, receive() fails.
/// Cost:    while one member carries all, no system call more than by itself; else, whenever the driver has waited, two for
///          all members and an empty read for each that had something.
class striped_transport final : public mad::transport {
public:
    explicit striped_transport(std::vector<std::unique_ptr<mad::transport>> members);

    int native_handle() const noexcept override { return any_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    /// Those of the members, each once.
    std::string name() const override;
    /// Of the first one: all are alike.
    std::string_view advice(mad::transport_call c, int error) const noexcept override {
        return members_.front().carrier->advice(c, error);
    }
    /// The tables that all members share, null if they do not: each then finds the entries of its own when it sends.
    mad::port_tables* tables() noexcept override { return tables_; }
    std::optional<unsigned> held(iba::MgmtClass) const noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override {
        return members_.front().carrier->simulated_time();
    }
    void set_now(mad::time_point now) noexcept override;

    /// Members that are gone.
    std::size_t gone() const noexcept { return gone_; }

private:
    struct member {
        std::unique_ptr<mad::transport> carrier;
        u64 sent = 0;       // requests, for members that do not know what they hold
        u64 offered_in = 0; // the send() in which it was offered the request last
        bool is_gone = false;
        bool waits_to_write = false; // its descriptor is watched for that
    };
    member* best_for(iba::MgmtClass) noexcept;
    mad::send_result offer(member&, const mad::send_request&) noexcept;
    void watch(member&) noexcept;
    void look_who_is_ready() noexcept;
    void lose(member&) noexcept;

    std::vector<member> members_;
    mad::port_tables* tables_ = nullptr;
    mad::unique_fd any_;             // none in virtual time
    std::vector<std::size_t> ready_; // members that may have a message
    std::size_t turn_ = 0;           // of ready_
    std::size_t latest_ = 0;         // member that had the latest message
    u64 sends_ = 0;
    std::size_t gone_ = 0;
    mad::time_point now_{};
};

} // namespace comad::transports
