// SPDX-License-Identifier: MIT
// ibsim_relay.cpp - the relay runs in one thread with one poll(). It has sockets of a server for the clients, and
// sockets of a client for the server.
#include "ibsim/ibsim_relay.hpp"

#include "ibsim/relay_lane.hpp"
#include "kernel/errno_error.hpp"
#include "kernel/kernel_repeats.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <vector>

namespace comad::test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using time_point = relay_buffer::time_point;
using mad::unique_fd;

namespace {

/// An abstract unix address: a leading NUL, the name, and a closing NUL, which ibsim includes in the length.
class address {
public:
    address() = default;
    address(const std::string& sockname, const std::string& which) {
        const std::string name = sockname + ':' + which;
        if (name.size() + 2 > sizeof bytes_.sun_path) throw std::runtime_error("too long for a socket: " + name);
        bytes_.sun_family = AF_UNIX;
        std::memcpy(bytes_.sun_path + 1, name.c_str(), name.size() + 1);
        length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2);
    }

    sockaddr* raw() noexcept { return reinterpret_cast<sockaddr*>(&bytes_); }
    const sockaddr* raw() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes_); }
    socklen_t length() const noexcept { return length_; }
    /// Constructs an address for the kernel to fill in.
    socklen_t* room() noexcept {
        length_ = sizeof bytes_;
        return &length_;
    }
    friend bool operator==(const address& a, const address& b) noexcept {
        return a.length_ == b.length_ && std::memcmp(&a.bytes_, &b.bytes_, a.length_) == 0;
    }

private:
    sockaddr_un bytes_{};
    socklen_t length_ = 0;
};

/// Returns a new non-blocking datagram socket.
unique_fd datagram_socket() {
    unique_fd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) fail("socket");
    return fd;
}

/// Binds a socket. Returns false if the name is in use.
bool is_bound(const unique_fd& fd, const address& a) noexcept { return ::bind(fd.get(), a.raw(), a.length()) == 0; }
/// Connects a socket. Returns false if no socket has this address.
bool is_connected(const unique_fd& fd, const address& a) noexcept {
    return ::connect(fd.get(), a.raw(), a.length()) == 0;
}

/// ibsim's `struct sim_ctl`, a control message: magic, the client's slot, request type, data size, data.
using control_message = std::array<u8, 80>;
constexpr std::size_t slot_at = 4, type_at = 8, size_at = 12, id_at = 16, node_at = 28, node_size = 32;
/// Request types of control messages.
enum control_type : u32 { ctl_error = 0, ctl_connect = 1, ctl_disconnect = 2 };

/// Returns the 32-bit word at an offset of a control message.
u32 word(const control_message& m, std::size_t at) noexcept {
    u32 value;
    std::memcpy(&value, m.data() + at, sizeof value);
    return value;
}
/// Sets the 32-bit word at an offset of a control message.
void set_word(control_message& m, std::size_t at, u32 value) noexcept {
    std::memcpy(m.data() + at, &value, sizeof value);
}

/// Returns the message that releases a slot.
control_message disconnect_of(u32 slot) noexcept {
    control_message m{};
    set_word(m, 0, 0xdeadbeef);
    set_word(m, slot_at, slot);
    set_word(m, type_at, ctl_disconnect);
    set_word(m, size_at, 0);
    return m;
}

/// A client of the relay with its sockets, lanes and counters.
struct client {
    enum class state {
        connecting, ///< CONNECT was sent to the server
        connected,
        leaving, ///< the client has exited; the server must release its slot
        gone,
    };

    client(const address& from, u32 its_id, relay_lane its_requests, relay_lane its_replies)
        : control(from), id(its_id), server_control(datagram_socket()), server_data(datagram_socket()),
          requests(std::move(its_requests)), replies(std::move(its_replies)) {}

    relay_counts all_counts() const {
        relay_counts all = counts;
        all.requests = requests.counts();
        all.replies = replies.counts();
        return all;
    }

    address control;                       ///< the client's address for control replies
    u32 id;                                ///< part of the names of its sockets
    unique_fd server_control, server_data; ///< our sockets as a client of the server
    unique_fd data;                        ///< our socket as the client's server, while the client is connected
    relay_lane requests, replies;
    std::optional<kernel_repeats> kernel;
    state now = state::connecting;
    std::optional<u32> slot; ///< slot that the server assigned
    relay_counts counts{};   ///< counts except those of the lanes
};

constexpr std::size_t events_each = 3; // per client: control and MADs of its server, its own MADs

} // namespace

/// The state of run(): the relay's control socket and its clients.
class ibsim_relay::loop {
public:
    explicit loop(relay_options options);
    void run();
    void stop() noexcept { raise(stop_); }
    void request_report() noexcept { raise(requested_); }

private:
    static unique_fd made_event();
    static void raise(const unique_fd& event) noexcept;
    void await(std::vector<pollfd>& events, std::optional<time_point> until);
    std::optional<time_point> next_due() const noexcept;
    void serve_control();
    void connect(control_message& message, const address& from);
    bool answer(const address& to, const control_message& message) noexcept;
    void take_in(client& c, const pollfd* events);
    void repeat(client& c, time_point now);
    void pass_buffer();
    void pass_on(client& c, time_point now);
    void report();
    void hear_server(client& c);
    void leave(client& c);
    void end(client& c);
    void bury_the_dead();

    relay_options options_;
    std::mt19937_64 requests_luck_, replies_luck_;
    relay_buffer buffer_;
    unique_fd control_, stop_, requested_;
    std::vector<std::unique_ptr<client>> clients_;
    std::vector<relay_lane*> lanes_; // lanes of the connected clients
    u32 connects_ = 0;
};

ibsim_relay::loop::loop(relay_options options)
    : options_(std::move(options)), requests_luck_(options_.seed), replies_luck_(options_.seed + 1),
      buffer_(options_.buffer_places, options_.service_time), control_(datagram_socket()), stop_(made_event()),
      requested_(made_event()) {
    const bool is_distance = options_.request_delay + options_.reply_delay + options_.service_time != 0ns ||
                             options_.request_loss + options_.reply_loss > 0;
    if (options_.kernel_timeout != 0ns && is_distance)
        throw std::invalid_argument(
            "a kernel is nearer to its clients than delay and loss: give it a relay of its own");
    if (!is_bound(control_, address(options_.sockname, "ctl")))
        fail(fmt::format("cannot serve clients at socket name '{}'", options_.sockname));
}

unique_fd ibsim_relay::loop::made_event() {
    unique_fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!event) fail("eventfd");
    return event;
}

void ibsim_relay::loop::raise(const unique_fd& event) noexcept {
    const u64 one = 1;
    [[maybe_unused]] const ssize_t always_fits = ::write(event.get(), &one, sizeof one);
}

void ibsim_relay::loop::run() {
    ::prctl(PR_SET_TIMERSLACK, 1); // 1 ns, so that delays are exact
    std::vector<pollfd> events;
    while (true) {
        events.assign({{stop_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}, {requested_.get(), POLLIN, 0}});
        const std::size_t ours = events.size();
        await(events, next_due());
        for (std::size_t i = 0; i < clients_.size(); ++i) take_in(*clients_[i], &events[ours + events_each * i]);
        pass_buffer();
        if (events[1].revents != 0) serve_control();
        std::erase_if(clients_, [](const auto& c) { return c->now == client::state::gone; });
        if (events[2].revents != 0) report();
        if (events[0].revents != 0) break;
    }
    // From now on clients find no server. The server may exit when a client disappears, so the relay waits for the
    // confirmations of the server.
    for (const auto& c : clients_) leave(*c);
    const time_point deadline = std::chrono::steady_clock::now() + 1s;
    while (std::erase_if(clients_, [](const auto& c) { return c->now == client::state::gone; }),
           !clients_.empty() && std::chrono::steady_clock::now() < deadline) {
        events.clear();
        await(events, deadline);
        for (std::size_t i = 0; i < clients_.size(); ++i) take_in(*clients_[i], &events[events_each * i]);
    }
    for (const auto& c : clients_) end(*c);
    clients_.clear();
}

void ibsim_relay::loop::report() {
    u64 times;
    [[maybe_unused]] const ssize_t was_raised = ::read(requested_.get(), &times, sizeof times);
    std::vector<relay_counts> all;
    for (const auto& c : clients_)
        if (c->now == client::state::connected) all.push_back(c->all_counts());
    if (options_.on_report) options_.on_report(all);
}

/// Appends the clients' sockets to `events` and waits for an event or the next deadline.
void ibsim_relay::loop::await(std::vector<pollfd>& events, std::optional<time_point> until) {
    const auto wants = [](const relay_lane& out) {
        return static_cast<short>(POLLIN | (out.is_blocked() ? POLLOUT : 0));
    };
    for (const auto& c : clients_) {
        events.push_back({c->server_control.get(), POLLIN, 0});
        events.push_back({c->server_data.get(), wants(c->requests), 0});
        events.push_back({c->data.get(), wants(c->replies), 0});
    }
    timespec left{};
    if (until) {
        const nanoseconds ns = std::max<nanoseconds>(*until - std::chrono::steady_clock::now(), 0ns);
        left = {ns / 1s, (ns % 1s).count()};
    }
    if (::ppoll(events.data(), events.size(), until ? &left : nullptr, nullptr) < 0 && errno != EINTR) fail("ppoll");
}

/// Returns when the next MAD leaves a lane or a waiting request becomes overdue.
std::optional<time_point> ibsim_relay::loop::next_due() const noexcept {
    std::optional<time_point> first;
    for (const auto& c : clients_) {
        if (c->now != client::state::connected) continue;
        const auto overdue = c->kernel ? c->kernel->due() : std::nullopt;
        for (const auto due :
             {c->requests.arrival(), c->replies.arrival(), c->requests.served(), c->replies.served(), overdue})
            if (due && (!first || *due < *first)) first = due;
    }
    return first;
}

void ibsim_relay::loop::serve_control() {
    control_message message;
    address from;
    const ssize_t n = ::recvfrom(control_.get(), message.data(), message.size(), 0, from.raw(), from.room());
    if (n != static_cast<ssize_t>(message.size())) return;
    const auto sender =
        std::find_if(clients_.begin(), clients_.end(), [&](const auto& c) { return c->control == from; });
    if (sender != clients_.end()) ::send((*sender)->server_control.get(), message.data(), message.size(), MSG_NOSIGNAL);
    else if (word(message, type_at) == ctl_connect) connect(message, from);
}

/// Connects to the server on behalf of a new client.
void ibsim_relay::loop::connect(control_message& message, const address& from) {
    bury_the_dead(); // the server may assign the slot of a client that has exited
    auto c = std::make_unique<client>(from, word(message, id_at),
                                      relay_lane(options_.request_delay, options_.request_loss, requests_luck_),
                                      relay_lane(options_.reply_delay, options_.reply_loss, replies_luck_));
    if (options_.kernel_timeout != 0ns) c->kernel.emplace(options_.kernel_timeout, options_.kernel_retries);
    u32 id;
    do id = static_cast<u32>(::getpid()) << 8 | (connects_++ & 0xff);
    while (!is_bound(c->server_data, address(options_.server, fmt::format("in{}", id))) && errno == EADDRINUSE);
    set_word(message, id_at, id);
    if (is_bound(c->server_control, address(options_.server, fmt::format("ctl{}", id))) &&
        is_connected(c->server_control, address(options_.server, "ctl")) &&
        ::send(c->server_control.get(), message.data(), message.size(), MSG_NOSIGNAL) > 0) {
        clients_.push_back(std::move(c));
    } else {
        set_word(message, type_at, ctl_error);
        answer(from, message);
    }
}

/// Sends a control reply. Returns false if the client no longer exists.
bool ibsim_relay::loop::answer(const address& to, const control_message& message) noexcept {
    return ::sendto(control_.get(), message.data(), message.size(), MSG_NOSIGNAL, to.raw(), to.length()) > 0;
}

/// Reads the data of the client's three events and sends overdue requests of its kernel model.
void ibsim_relay::loop::take_in(client& c, const pollfd* events) {
    if (events[0].revents != 0) hear_server(c);
    const time_point now = std::chrono::steady_clock::now();
    if (events[1].revents != 0) {
        c.replies.read(c.server_data.get(), now, [&](std::span<const u8> reply) {
            const bool is_awaited = !c.kernel || c.kernel->accepts(reply);
            c.counts.unawaited += !is_awaited;
            return is_awaited;
        });
    }
    if (c.now != client::state::connected) return;
    if (events[2].revents != 0) {
        c.requests.read(c.data.get(), now, [&](std::span<const u8> request) {
            if (c.kernel) c.kernel->note(request, now);
            return true;
        });
    }
    if (c.kernel) repeat(c, now);
}

/// Moves arrived MADs into the buffer and sends those that were served.
void ibsim_relay::loop::pass_buffer() {
    lanes_.clear();
    for (const auto& c : clients_)
        if (c->now == client::state::connected) lanes_.insert(lanes_.end(), {&c->requests, &c->replies});
    const time_point now = std::chrono::steady_clock::now();
    enter_in_order(lanes_, buffer_, now);
    for (const auto& c : clients_) pass_on(*c, now);
}

/// Sends the MADs of a client that leave the buffer now.
void ibsim_relay::loop::pass_on(client& c, time_point now) {
    if (c.now != client::state::connected) return;
    if (!c.requests.write(c.server_data.get(), now)) {
        leave(c); // the server has exited; the client notices because our sockets close
    } else if (!c.replies.write(c.data.get(), now)) {
        leave(c);
    }
}

/// Sends or returns the requests that are overdue in the kernel model.
void ibsim_relay::loop::repeat(client& c, time_point now) {
    while (const auto overdue = c.kernel->next(now)) {
        ++(overdue->is_in_vain ? c.counts.given_back : c.counts.repeated);
        (overdue->is_in_vain ? c.replies : c.requests).push(overdue->datagram, now);
    }
}

/// Passes a control reply of the server to the client.
void ibsim_relay::loop::hear_server(client& c) {
    control_message message;
    const ssize_t n = ::recv(c.server_control.get(), message.data(), message.size(), 0);
    if (n != static_cast<ssize_t>(message.size())) return;
    const u32 type = word(message, type_at);
    const bool has_gone = c.now == client::state::leaving;
    if (type == ctl_connect) {
        c.slot = word(message, id_at);
        const char* const node = reinterpret_cast<const char*>(message.data()) + node_at;
        c.counts.node.assign(node, ::strnlen(node, node_size));
        c.now = client::state::connected;
        // The client finds us by the name that contains the slot. The server finds the client by our name.
        c.data = datagram_socket();
        const bool is_there = is_bound(c.data, address(options_.sockname, fmt::format("out{}", *c.slot))) &&
                              is_connected(c.data, address(options_.sockname, fmt::format("in{}", c.id))) &&
                              is_connected(c.server_data, address(options_.server, fmt::format("out{}", *c.slot)));
        if (has_gone || !is_there) return leave(c);
    }
    const bool was_heard = has_gone || answer(c.control, message);
    if (type == ctl_disconnect || (type == ctl_error && c.now == client::state::connecting)) end(c);
    else if (!was_heard) leave(c);
}

/// Releases the client's slot at the server.
void ibsim_relay::loop::leave(client& c) {
    c.data.reset();
    if (c.now == client::state::connected) {
        const control_message message = disconnect_of(*c.slot);
        if (::send(c.server_control.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0) return end(c);
    }
    c.now = client::state::leaving;
}

void ibsim_relay::loop::end(client& c) {
    c.data.reset();
    c.now = client::state::gone;
    if (c.slot && options_.on_gone) options_.on_gone(c.all_counts());
}

/// Releases the slots of clients that have exited. A datagram socket does not report that its peer has closed, but a
/// new connect() to the peer fails.
void ibsim_relay::loop::bury_the_dead() {
    for (const auto& c : clients_) {
        if (c->now == client::state::connected &&
            !is_connected(c->data, address(options_.sockname, fmt::format("in{}", c->id))))
            leave(*c);
    }
}

ibsim_relay::ibsim_relay(relay_options options) : loop_(std::make_unique<loop>(std::move(options))) {}
ibsim_relay::~ibsim_relay() = default;
void ibsim_relay::run() { loop_->run(); }
void ibsim_relay::stop() noexcept { loop_->stop(); }
void ibsim_relay::report() noexcept { loop_->request_report(); }

} // namespace comad::test
