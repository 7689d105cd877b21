// SPDX-License-Identifier: MIT
// striped.cpp - selects the member for each MAD to send, and the order in which members are read.
#include <comad/mad/detail/system_calls.hpp>
#include <comad/transports/striped.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <sys/epoll.h>
#include <system_error>
#include <utility>

namespace comad::transports {

striped_transport::striped_transport(std::vector<std::unique_ptr<mad::transport>> members) {
    if (members.empty()) throw std::invalid_argument("a striped transport needs at least one member");
    const bool is_virtual = members.front()->native_handle() < 0;
    for (auto& carrier : members) {
        if ((carrier->native_handle() < 0) != is_virtual)
            throw std::invalid_argument(
                "the members of a striped transport must all use virtual time or all use real time");
        members_.push_back({std::move(carrier)});
    }
    mad::port_tables* const first = members_.front().carrier->tables();
    if (std::all_of(members_.begin(), members_.end(), [&](const member& m) { return m.carrier->tables() == first; }))
        tables_ = first;
    ready_.reserve(members_.size());
    if (is_virtual) return;
    any_ = mad::unique_fd(::epoll_create1(EPOLL_CLOEXEC));
    for (std::size_t i = 0; i < members_.size(); ++i) {
        epoll_event readable{.events = EPOLLIN, .data = {.u64 = i}};
        if (!any_ || ::epoll_ctl(any_.get(), EPOLL_CTL_ADD, members_[i].carrier->native_handle(), &readable) != 0)
            throw std::system_error(errno, std::generic_category(), "cannot wait on more than one transport at a time");
    }
}

// ---- sending -------------------------------------------------------------------------------------------------------

// Returns the member that holds the fewest requests. Among equals, it prefers the member with the latest message, so
// that few members are read while few MADs are in flight. Null: all members were tried or are disconnected.
striped_transport::member* striped_transport::best_for(iba::MgmtClass mgmt_class) noexcept {
    member* best = nullptr;
    u64 fewest = 0;
    for (std::size_t n = 0; n < members_.size(); ++n) {
        member& m = members_[(latest_ + n) % members_.size()];
        if (m.is_gone || m.offered_in == sends_) continue;
        const auto held = m.carrier->held(mgmt_class);
        const u64 load = held ? *held : m.sent;
        if (best && load >= fewest) continue;
        best = &m;
        fewest = load;
    }
    return best;
}

mad::send_result striped_transport::send(const mad::send_request& request) noexcept {
    if (request.agent != mad::any_agent) {
        // The member that received the request must send the reply; see receive().
        member& m = members_[request.agent % members_.size()];
        mad::send_request reply = request;
        reply.agent = request.agent / static_cast<u32>(members_.size()) - 1;
        return m.is_gone ? mad::send_result{mad::send_state::failed, ENODEV} : offer(m, reply);
    }
    ++sends_;
    mad::send_result result{mad::send_state::failed, ENODEV};
    bool is_blocked = false;
    while (member* const m = best_for(iba::MgmtClass{request.mgmt_class})) {
        m->offered_in = sends_;
        result = offer(*m, request);
        if (result.state == mad::send_state::sent) return result;
        is_blocked = is_blocked || result.state == mad::send_state::would_block;
    }
    return is_blocked ? mad::send_result{mad::send_state::would_block} : result;
}

mad::send_result striped_transport::offer(member& m, const mad::send_request& request) noexcept {
    const mad::send_result result = m.carrier->send(request);
    if (result.state == mad::send_state::sent) ++m.sent;
    // An epoll instance is never writable. If a member becomes writable, the instance becomes readable.
    if (result.state == mad::send_state::would_block && m.carrier->wants_writable() && any_ && !m.waits_to_write) {
        m.waits_to_write = true;
        watch(m);
    }
    return result;
}

void striped_transport::watch(member& m) noexcept {
    epoll_event wanted{.events = EPOLLIN, .data = {.u64 = static_cast<u64>(&m - members_.data())}};
    if (m.waits_to_write) wanted.events |= EPOLLOUT;
    ::epoll_ctl(any_.get(), EPOLL_CTL_MOD, m.carrier->native_handle(), &wanted);
}

// ---- receiving -----------------------------------------------------------------------------------------------------

// Reads in turn from the ready members, each until it has no more messages. An unsuccessful read thus happens only once each time that a
// member was ready. The result is "no message" only if this call found no ready member.
mad::received striped_transport::receive(std::span<u8> buffer) noexcept {
    const auto members = static_cast<u32>(members_.size());
    for (bool has_polled = false;; has_polled = true) {
        while (!ready_.empty()) {
            if (turn_ >= ready_.size()) turn_ = 0;
            const std::size_t index = ready_[turn_];
            mad::received r = members_[index].carrier->receive(buffer);
            if (r.state == mad::receive_state::message) {
                latest_ = index;
                // If the message did not fit, the member keeps it: the next call must read from the same member.
                if (r.full_size <= r.mad.size()) ++turn_;
                // An unknown agent of this member, any_agent, becomes the lowest number of the member.
                r.source.agent = (r.source.agent + 1) * members + static_cast<u32>(index);
                return r;
            }
            ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(turn_));
            if (r.state == mad::receive_state::would_block) continue;
            lose(members_[index]);
            if (gone_ == members_.size()) return r;
        }
        if (has_polled) return {};
        find_ready();
    }
}

void striped_transport::find_ready() noexcept {
    if (any_) {
        std::array<epoll_event, 16> events; // the next call finds further ready members
        ++mad::detail::system_calls;
        const int count = ::epoll_wait(any_.get(), events.data(), static_cast<int>(events.size()), 0);
        for (int i = 0; i < count; ++i) {
            const auto& event = events[static_cast<std::size_t>(i)];
            const u64 index = event.data.u64; // a copy: the kernel's structure is packed
            if (event.events & EPOLLOUT && std::exchange(members_[index].waits_to_write, false)) watch(members_[index]);
            if (event.events & ~u32{EPOLLOUT}) ready_.push_back(index);
        }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i].is_gone) continue;
        const auto due = members_[i].carrier->next_event();
        if (due && *due <= now_ && std::find(ready_.begin(), ready_.end(), i) == ready_.end()) ready_.push_back(i);
    }
}

// Removes a disconnected device from the epoll instance, because its descriptor is always readable.
void striped_transport::lose(member& m) noexcept {
    m.is_gone = true;
    ++gone_;
    if (any_) ::epoll_ctl(any_.get(), EPOLL_CTL_DEL, m.carrier->native_handle(), nullptr);
}

// ---- the members as one transport ----------------------------------------------------------------------------------

mad::transport_limits striped_transport::limits() const noexcept {
    mad::transport_limits sum{.max_window = 0,
                              .sa_window = 0,
                              .smi = true,
                              .smi_by_lid = true,
                              .timer_resolution = mad::duration{0},
                              .kernel_rmpp = true};
    for (const member& m : members_) {
        const mad::transport_limits one = m.carrier->limits();
        sum.max_window += one.max_window;
        sum.sa_window += one.sa_window;
        sum.smi = sum.smi && one.smi;
        sum.smi_by_lid = sum.smi_by_lid && one.smi_by_lid;
        sum.timer_resolution = std::max(sum.timer_resolution, one.timer_resolution);
        sum.kernel_rmpp = sum.kernel_rmpp && one.kernel_rmpp;
    }
    return sum;
}

int striped_transport::serve(const mad::registration& what) noexcept { return members_.front().carrier->serve(what); }

std::string striped_transport::name() const {
    std::vector<std::string> names;
    for (const member& m : members_) names.push_back(m.carrier->name());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<unsigned> striped_transport::held(iba::MgmtClass mgmt_class) const noexcept {
    std::optional<unsigned> sum;
    for (const member& m : members_) {
        if (m.is_gone) continue;
        if (const auto held = m.carrier->held(mgmt_class)) sum = sum.value_or(0) + *held;
    }
    return sum;
}

std::optional<mad::time_point> striped_transport::next_event() const noexcept {
    std::optional<mad::time_point> earliest;
    for (const member& m : members_) {
        if (m.is_gone) continue;
        const auto due = m.carrier->next_event();
        if (due && (!earliest || *due < *earliest)) earliest = due;
    }
    return earliest;
}

void striped_transport::set_now(mad::time_point now) noexcept {
    now_ = now;
    for (const member& m : members_)
        if (!m.is_gone) m.carrier->set_now(now);
}

} // namespace comad::transports
