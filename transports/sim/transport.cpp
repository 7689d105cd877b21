// SPDX-License-Identifier: MIT
// transport.cpp - implements sim_transport, the transport to a simulated subnet.
#include "fabric_core.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/system_calls.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <sys/timerfd.h>
#include <system_error>
#include <utility>

namespace comad::transports::sim {
namespace {

// Creates the timer of a transport in real time. It uses the steady clock.
mad::unique_fd make_timer(time_mode mode) {
    if (mode == time_mode::virtual_) return mad::unique_fd{};
    mad::unique_fd timer{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    if (!timer) throw std::system_error(errno, std::generic_category(), "sim: timerfd_create");
    return timer;
}

mad::any_path with_indices(mad::any_path path, const mad::table_entries& entries) noexcept {
    auto* const by_lid = std::get_if<mad::IBPath>(&path);
    auto* const route = std::get_if<mad::IBDRPath>(&path);
    (by_lid ? by_lid->pkey_index : route->pkey_index) = entries.pkey_index;
    if (by_lid) by_lid->SGID_index = entries.SGID_index;
    return path;
}

} // namespace

unsigned default_port(const node& n) noexcept {
    if (n.is_switch()) return 0;
    for (unsigned p = 1; p <= n.num_ports(); ++p) {
        if (n.ports[p].linked()) return p;
    }
    return 1;
}

sim_transport::sim_transport(fabric& net, u32 node, unsigned port, time_mode mode)
    : fabric_(*net.core_), node_(node), port_(port), endpoint_(fabric_.attach(node, port)),
      tables_(fabric_.port_tables_of(endpoint_)), tables_read_at_(fabric_.port_writes()), timer_(make_timer(mode)) {
    follow_clock();
    if (timer_) fabric_.on_change(endpoint_, [this] { set_timer(); });
}

sim_transport::sim_transport(fabric& net, time_mode mode)
    : sim_transport(net, net.graph().default_node(), default_port(net.graph().nodes[net.graph().default_node()]),
                    mode) {}

sim_transport::~sim_transport() { fabric_.detach(endpoint_); }

mad::send_result sim_transport::send(const mad::send_request& request) noexcept {
    const std::span<const u8> message(request.mad, request.size);
    if (message.size() != mad::mad_size && !mad::is_rmpp(message)) return {mad::send_state::failed, EMSGSIZE};
    follow_clock();
    const mad::path_headers& path = mad::headers_of(*request.path);
    const auto* global = std::get_if<mad::IBPath>(request.path);
    const bool has_indices =
        path.pkey_index != path.look_up && (!global || !global->has_grh || global->SGID_index != path.look_up);
    if (has_indices || iba::is_smp(iba::MgmtClass{request.mgmt_class})) {
        fabric_.send(endpoint_, *request.path, message, request.agent);
    } else {
        const mad::table_entries entries = tables()->find(*request.path);
        if (entries.miss != mad::table_miss::none) {
            misfit_ = tables_.text_of_miss(*request.path);
            return {mad::send_state::failed, EADDRNOTAVAIL};
        }
        fabric_.send(endpoint_, with_indices(*request.path, entries), message, request.agent);
    }
    set_timer();
    if (timer_) fabric_.notify_others(endpoint_); // the message may reach them before their next event
    return {};
}

std::string_view sim_transport::advice(mad::transport_call, int error) const noexcept {
    return error == EADDRNOTAVAIL ? std::string_view(misfit_) : std::string_view();
}

mad::port_tables* sim_transport::tables() noexcept {
    if (const u64 writes = fabric_.port_writes(); std::exchange(tables_read_at_, writes) != writes) {
        const mad::port_tables now = fabric_.port_tables_of(endpoint_);
        tables_.update(now.PKeys(), now.gids());
    }
    return &tables_;
}

mad::received sim_transport::receive(std::span<u8> buffer) noexcept {
    if (!fabric_.has_message(endpoint_)) follow_clock(); // a queued message can be taken without advancing the clock
    mad::received message = fabric_.take(endpoint_, buffer);
    message.source.pkey = tables()->pkey_at(message.source.pkey_index);
    set_timer();
    return message;
}

mad::transport_limits sim_transport::limits() const noexcept { return {.kernel_rmpp = true}; }

int sim_transport::serve(const mad::registration& what) noexcept { return fabric_.serve(endpoint_, what); }
void sim_transport::unserve(const mad::registration& what) noexcept { fabric_.unserve(endpoint_, what); }
void sim_transport::serve_next_to_sma() noexcept { fabric_.serve_next_to_sma(endpoint_); }
void sim_transport::set_is_sm(bool is_sm) { fabric_.set_is_sm(endpoint_, is_sm); }

// In real time, the descriptor reports each event. A second timer in the driver would only add system calls.
std::optional<mad::time_point> sim_transport::next_event() const noexcept { return timer_ ? std::nullopt : next_due(); }

/// Returns the time of the next message for this endpoint, or of the next event in the fabric.
std::optional<mad::time_point> sim_transport::next_due() const noexcept {
    return fabric_.has_message(endpoint_) ? fabric_.now() : fabric_.next_event();
}

std::optional<mad::time_point> sim_transport::simulated_time() const noexcept {
    if (timer_) return std::nullopt;
    return fabric_.now();
}

void sim_transport::set_now(mad::time_point now) noexcept { fabric_.advance(now); }

std::string sim_transport::location() const {
    return fmt::format("{}/{}", iba::escaped(fabric_.graph().nodes[node_].description), port_);
}

void sim_transport::follow_clock() noexcept {
    if (timer_) fabric_.advance(std::chrono::steady_clock::now());
}

/// The descriptor may be readable this long before an event, because setting the timer takes longer than a useless read.
constexpr mad::duration timer_slack = std::chrono::microseconds(50);

/// Sets the timer to the next event, so that the descriptor is not readable until then. While a message is waiting, or if
/// the next event is due soon, an expired timer stays expired and the descriptor readable. A timer that expires before
/// the next event stays, too: it is set again when it has expired.
void sim_transport::set_timer() noexcept {
    if (!timer_) return;
    const auto due = next_due();
    const bool has_expired = timer_set_to_ && *timer_set_to_ <= fabric_.now();
    if (due == timer_set_to_ || (has_expired && fabric_.has_message(endpoint_))) return;
    if (has_expired && due && *due <= fabric_.now() + timer_slack) return;
    if (!has_expired && due && timer_set_to_ && *timer_set_to_ < *due) return;
    timer_set_to_ = due;
    itimerspec setting{}; // zero disarms the timer
    if (due) {
        setting.it_value.tv_sec = static_cast<std::time_t>(due->time_since_epoch().count() / 1'000'000'000);
        setting.it_value.tv_nsec = static_cast<long>(due->time_since_epoch().count() % 1'000'000'000);
    }
    ++mad::detail::system_calls;
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

} // namespace comad::transports::sim
