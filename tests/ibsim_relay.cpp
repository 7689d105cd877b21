// SPDX-License-Identifier: MIT
// ibsim_relay.cpp - one thread, one poll: a server's sockets towards the clients, a client's towards the server.
#include "ibsim_relay.hpp"

#include <comad/transports/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
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
using time_point = std::chrono::steady_clock::time_point;
using transports::unique_fd;

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

/// An abstract unix address: a leading NUL, the name, and - ibsim counts it - the closing NUL.
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
    /// For the kernel to fill in.
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

unique_fd datagram_socket() {
    unique_fd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) fail("socket");
    return fd;
}

bool is_bound(const unique_fd& fd, const address& a) noexcept { return ::bind(fd.get(), a.raw(), a.length()) == 0; }
bool is_connected(const unique_fd& fd, const address& a) noexcept {
    return ::connect(fd.get(), a.raw(), a.length()) == 0;
}

/// `struct sim_ctl`, what is not a MAD: magic, the client's slot, what it asks for, size of data, data.
using control_message = std::array<u8, 80>;
constexpr std::size_t slot_at = 4, type_at = 8, size_at = 12, id_at = 16;
enum control_type : u32 { ctl_error = 0, ctl_connect = 1, ctl_disconnect = 2 };

u32 word(const control_message& m, std::size_t at) noexcept {
    u32 value;
    std::memcpy(&value, m.data() + at, sizeof value);
    return value;
}
void set_word(control_message& m, std::size_t at, u32 value) noexcept {
    std::memcpy(m.data() + at, &value, sizeof value);
}

control_message disconnect_of(u32 slot) noexcept {
    control_message m{};
    set_word(m, 0, 0xdeadbeef);
    set_word(m, slot_at, slot);
    set_word(m, type_at, ctl_disconnect);
    set_word(m, size_at, 0);
    return m;
}

constexpr std::size_t block = 32;       // datagrams read or written by one call
constexpr std::size_t most_bytes = 512; // of a datagram; those of ibsim have 288

struct datagram {
    time_point due;
    u16 size;
    u8 bytes[most_bytes];
};

/// One direction of one client: datagrams that wait until they are due, and until there is room for them.
class lane {
public:
    lane(nanoseconds delay, double loss, std::mt19937_64& luck) noexcept : delay_(delay), loss_(loss), luck_(luck) {}

    void read(int from, time_point now, u64& passed, u64& lost) {
        std::array<std::array<u8, most_bytes>, block> bytes;
        std::array<iovec, block> parts;
        std::array<mmsghdr, block> messages{};
        for (std::size_t i = 0; i < block; ++i) {
            parts[i] = {bytes[i].data(), bytes[i].size()};
            messages[i].msg_hdr.msg_iov = &parts[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        const int n = ::recvmmsg(from, messages.data(), block, 0, nullptr);
        for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n); ++i) {
            ++passed;
            if (loss_ > 0 && std::bernoulli_distribution(loss_)(luck_)) {
                ++lost;
                continue;
            }
            datagram& d = waiting_.emplace_back();
            d.due = now + delay_;
            d.size = static_cast<u16>(messages[i].msg_len);
            std::memcpy(d.bytes, bytes[i].data(), d.size);
        }
    }

    /// Sends what is due. False: nobody is there to receive it.
    bool write(int to, time_point now) {
        is_blocked_ = false;
        while (!waiting_.empty() && waiting_.front().due <= now) {
            std::array<iovec, block> parts;
            std::array<mmsghdr, block> messages{};
            unsigned count = 0;
            for (; count < block && count < waiting_.size() && waiting_[count].due <= now; ++count) {
                parts[count] = {waiting_[count].bytes, waiting_[count].size};
                messages[count].msg_hdr.msg_iov = &parts[count];
                messages[count].msg_hdr.msg_iovlen = 1;
            }
            const int n = ::sendmmsg(to, messages.data(), count, MSG_NOSIGNAL);
            if (n < 0) {
                if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) return false;
                is_blocked_ = true;
                return true;
            }
            waiting_.erase(waiting_.begin(), waiting_.begin() + n);
        }
        return true;
    }

    bool is_blocked() const noexcept { return is_blocked_; }
    /// When write() has something to do; nothing while it waits for room.
    std::optional<time_point> due() const noexcept {
        if (is_blocked_ || waiting_.empty()) return {};
        return waiting_.front().due;
    }

private:
    nanoseconds delay_;
    double loss_;
    std::mt19937_64& luck_;
    std::deque<datagram> waiting_;
    bool is_blocked_ = false;
};

struct client {
    enum class state {
        connecting, ///< CONNECT is with the server
        connected,
        leaving, ///< the client has gone; the server is to take the slot back
        gone,
    };

    client(const address& from, u32 its_id, lane its_requests, lane its_replies)
        : control(from), id(its_id), server_control(datagram_socket()), server_data(datagram_socket()),
          requests(std::move(its_requests)), replies(std::move(its_replies)) {}

    address control;                       ///< its own, where answers go
    u32 id;                                ///< in the names of its sockets
    unique_fd server_control, server_data; ///< ours, as a client
    unique_fd data;                        ///< ours, as its server; only while it is connected
    lane requests, replies;
    state now = state::connecting;
    std::optional<u32> slot; ///< that the server gave it
    relay_counts counts{};
};

constexpr std::size_t events_each = 3; // of a client: its server's answers, its server's MADs, its own MADs

} // namespace

class ibsim_relay::loop {
public:
    explicit loop(relay_options options);
    void run();
    void stop() noexcept;

private:
    void await(std::vector<pollfd>& events, std::optional<time_point> until);
    std::optional<time_point> next_due() const noexcept;
    void serve_control();
    void connect(control_message& message, const address& from);
    bool answer(const address& to, const control_message& message) noexcept;
    void serve(client& c, const pollfd* events);
    void hear_server(client& c);
    void leave(client& c);
    void end(client& c);
    void bury_the_dead();

    relay_options options_;
    std::mt19937_64 requests_luck_, replies_luck_;
    unique_fd control_, stop_;
    std::vector<std::unique_ptr<client>> clients_;
    u32 connects_ = 0;
};

ibsim_relay::loop::loop(relay_options options)
    : options_(std::move(options)), requests_luck_(options_.seed), replies_luck_(options_.seed + 1),
      control_(datagram_socket()), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stop_) fail("eventfd");
    if (!is_bound(control_, address(options_.sockname, "ctl")))
        fail(fmt::format("cannot serve clients at socket name '{}'", options_.sockname));
}

void ibsim_relay::loop::stop() noexcept {
    const u64 one = 1;
    [[maybe_unused]] const ssize_t always_fits = ::write(stop_.get(), &one, sizeof one);
}

void ibsim_relay::loop::run() {
    ::prctl(PR_SET_TIMERSLACK, 1); // nanosecond: a delay is to be what was asked for
    std::vector<pollfd> events;
    while (true) {
        events.assign({{stop_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}});
        await(events, next_due());
        for (std::size_t i = 0; i < clients_.size(); ++i) serve(*clients_[i], &events[2 + events_each * i]);
        if (events[1].revents != 0) serve_control();
        std::erase_if(clients_, [](const auto& c) { return c->now == client::state::gone; });
        if (events[0].revents != 0) break;
    }
    // Clients that are still there find nobody from now on. A server whose client vanishes may end: it says when it is done.
    for (const auto& c : clients_) leave(*c);
    const time_point deadline = std::chrono::steady_clock::now() + 1s;
    while (std::erase_if(clients_, [](const auto& c) { return c->now == client::state::gone; }),
           !clients_.empty() && std::chrono::steady_clock::now() < deadline) {
        events.clear();
        await(events, deadline);
        for (std::size_t i = 0; i < clients_.size(); ++i) serve(*clients_[i], &events[events_each * i]);
    }
    for (const auto& c : clients_) end(*c);
    clients_.clear();
}

/// Appends the clients' sockets to `events` and awaits any of all, or the time.
void ibsim_relay::loop::await(std::vector<pollfd>& events, std::optional<time_point> until) {
    const auto wants = [](const lane& out) { return static_cast<short>(POLLIN | (out.is_blocked() ? POLLOUT : 0)); };
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

/// When the first MAD goes on its way.
std::optional<time_point> ibsim_relay::loop::next_due() const noexcept {
    std::optional<time_point> first;
    for (const auto& c : clients_)
        for (const auto due : {c->requests.due(), c->replies.due()})
            if (due && (!first || *due < *first)) first = due;
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

/// A new client: asks the server for a slot in its place.
void ibsim_relay::loop::connect(control_message& message, const address& from) {
    bury_the_dead(); // the slot that the new one gets may be theirs
    auto c = std::make_unique<client>(from, word(message, id_at),
                                      lane(options_.request_delay, options_.request_loss, requests_luck_),
                                      lane(options_.reply_delay, options_.reply_loss, replies_luck_));
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

/// False: nobody is there to hear it.
bool ibsim_relay::loop::answer(const address& to, const control_message& message) noexcept {
    return ::sendto(control_.get(), message.data(), message.size(), MSG_NOSIGNAL, to.raw(), to.length()) > 0;
}

/// Does what the client's three events ask for, and what is due.
void ibsim_relay::loop::serve(client& c, const pollfd* events) {
    if (events[0].revents != 0) hear_server(c);
    const time_point now = std::chrono::steady_clock::now();
    if (events[1].revents != 0) c.replies.read(c.server_data.get(), now, c.counts.replies, c.counts.lost_replies);
    if (c.now != client::state::connected) return;
    if (events[2].revents != 0) c.requests.read(c.data.get(), now, c.counts.requests, c.counts.lost_requests);
    if (!c.requests.write(c.server_data.get(), now)) {
        leave(c); // the server has ended; without our sockets the client sees it, too
    } else if (!c.replies.write(c.data.get(), now)) {
        leave(c);
    }
}

/// The server's answer to what is not a MAD, for the client.
void ibsim_relay::loop::hear_server(client& c) {
    control_message message;
    const ssize_t n = ::recv(c.server_control.get(), message.data(), message.size(), 0);
    if (n != static_cast<ssize_t>(message.size())) return;
    const u32 type = word(message, type_at);
    const bool has_gone = c.now == client::state::leaving;
    if (type == ctl_connect) {
        c.slot = word(message, id_at);
        c.now = client::state::connected;
        // It looks for us by the slot, and the server for it by ours.
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

/// Gives the client's slot back.
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
    if (c.slot && options_.on_gone) options_.on_gone(c.counts);
}

/// A datagram socket is not told that the other end was closed, but nobody connects to one.
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

} // namespace comad::test
