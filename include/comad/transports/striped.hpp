// SPDX-License-Identifier: MIT
// striped.hpp - several transports as one: each file descriptor of a device has its own limits in the kernel.
// Of a MAD, it only reads the class.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace comad::transports {

/// Several descriptors of one end port as one transport. A request is sent by the member that holds the fewest requests of its class.
/// Replies are received from every member. The limits of the members add up. The members can also be several end ports of one
/// subnet, if all MADs are LID-routed: a directed route starts at one port.
///
///     std::vector<std::unique_ptr<mad::transport>> members;
///     for (int i = 0; i < 4; ++i) members.push_back(std::make_unique<transports::umad_transport>(port));
///     transports::striped_transport device(std::move(members));
///
/// Members:  Either all have a descriptor, or none has one (virtual time). The descriptor of the whole is an epoll(7) instance. It
///           is readable if a member has something to read, or is writable again after it would have blocked.
/// Serving:  The first member serves, and sends the replies to its requests.
/// Errors:   The constructor throws std::invalid_argument if the members do not fit together, and std::system_error if the kernel
///           provides no epoll instance. A request is offered to all members before it fails. A member whose receive() fails
///           is gone: the others go on, and send its requests again after their timeouts. If all members are gone, receive()
///           fails.
/// Cost:     None if one member carries everything. Otherwise, each time after the driver waited, two system calls for all members,
///           and an empty read for each member that had a message.
/// Lifetime: It owns its members.
/// Threads:  Not thread-safe.
class striped_transport final : public mad::transport {
public:
    explicit striped_transport(std::vector<std::unique_ptr<mad::transport>> members);

    int native_handle() const noexcept override { return any_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    int serve(const mad::registration& what) noexcept override;
    /// The names of the members, each once.
    std::string name() const override;
    /// The advice of the first member, because all are of the same kind.
    std::string_view advice(mad::transport_call c, int error) const noexcept override {
        return members_.front().carrier->advice(c, error);
    }
    /// The tables that all members share; null if they do not share them: each member then looks up its own when it sends.
    mad::port_tables* tables() noexcept override { return tables_; }
    std::optional<unsigned> held(iba::MgmtClass) const noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    std::optional<mad::time_point> simulated_time() const noexcept override {
        return members_.front().carrier->simulated_time();
    }
    void set_now(mad::time_point now) noexcept override;

    /// The number of members that are gone.
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
    void find_ready() noexcept;
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
