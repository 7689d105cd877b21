// SPDX-License-Identifier: MIT
// verbs.cpp - carries MADs as datagrams of a UD queue pair, and replaces the queue pair after errors and device events.
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/system_calls.hpp>
#include <comad/transports/detail/umad_errors.hpp>
#include <comad/transports/rmpp.hpp>
#include <comad/transports/verbs.hpp>
#include <comad/verbs/detail/bring_up.hpp>

#include <boost/outcome/try.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>
#include <sys/epoll.h>
#include <system_error>
#include <type_traits>
#include <utility>

namespace comad::transports {

namespace {

constexpr std::size_t datagram_size = verbs::grh_size + mad::mad_size;
constexpr std::size_t slot_size = 320; // a whole number of cache lines
constexpr unsigned most_broken_in_a_row = 9;
constexpr mad::duration until_sent = std::chrono::microseconds(100); // until a send queue has space

template <class T> T value_or_throw(verbs::result<T> r) {
    if (!r) throw std::runtime_error(r.error().text);
    if constexpr (!std::is_void_v<T>) return std::move(r.value());
}

verbs_options with_defaults(verbs_options options, const end_port& port) {
    if (options.name.empty()) options.name = fmt::format("{} (verbs)", port.name());
    while (options.session == 0) options.session = std::random_device{}();
    return options;
}

u16 default_pkey_index(const end_port& port) noexcept { return port.pkey_index(0xffff).value_or(0); }
u16 pkey_at(const end_port& port, u16 index) noexcept { return index < port.PKeys.size() ? port.PKeys[index] : u16{0}; }

mad::IBPath with_SGID_index(mad::IBPath path, u8 index) noexcept {
    path.SGID_index = index;
    return path;
}

// The values in epoll_event::data.
enum event_source : u64 { of_completions, of_events };

} // namespace

verbs_transport::verbs_transport(const end_port& port, verbs_options options)
    : port_(port), options_(with_defaults(std::move(options), port)), tables_(port.PKeys, port.gids),
      is_default_pkey_(options_.pkey_index == mad::path_headers::look_up),
      pkey_place_(is_default_pkey_ ? default_pkey_index(port) : options_.pkey_index), pkey_(pkey_at(port, pkey_place_)),
      device_(value_or_throw(verbs::context::open(port.device))), domain_(value_or_throw(verbs::pd::create(device_))),
      addresses_(domain_, static_cast<u8>(port.port), std::max(options_.max_addresses, 1u)),
      readable_(::epoll_create1(EPOLL_CLOEXEC)), lane_(value_or_throw(make_lane())) {
    if (is_default_pkey_) options_.pkey_index = pkey_place_;
    tables_.only_pkey_index(pkey_place_, options_.pkey_index);
    epoll_event events{.events = EPOLLIN, .data = {.u64 = of_events}};
    if (!readable_ || ::epoll_ctl(readable_.get(), EPOLL_CTL_ADD, device_.event_descriptor(), &events) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot wait for events of " + options_.name);
    value_or_throw(watch(*lane_));
}
verbs_transport::~verbs_transport() = default;

verbs::result<std::unique_ptr<verbs_transport::lane>> verbs_transport::make_lane() const {
    BOOST_OUTCOME_TRY(auto channel, verbs::completion_channel::create(device_));
    BOOST_OUTCOME_TRY(auto received, verbs::completion_queue::create(device_, options_.receives, channel));
    BOOST_OUTCOME_TRY(auto sent, verbs::completion_queue::create(device_, options_.sends));
    BOOST_OUTCOME_TRY(auto receives, verbs::buffer_pool::create(domain_, options_.receives, slot_size));
    BOOST_OUTCOME_TRY(auto sends, verbs::buffer_pool::create(domain_, options_.sends, mad::mad_size));
    verbs::queue_pair_options wanted;
    wanted.max_sends = options_.sends;
    wanted.max_receives = options_.receives;
    BOOST_OUTCOME_TRY(auto pair, verbs::queue_pair::create(domain_, sent, received, wanted));
    auto made = std::make_unique<lane>(
        lane{verbs::completions(received, channel), sent, std::move(receives), std::move(sends), std::move(pair), {}});
    made->on_their_way.resize(options_.sends);

    mad::IBPath ours;
    ours.pkey_index = pkey_place_;
    ours.qkey = options_.qkey;
    verbs::connection how;
    how.port = static_cast<u8>(port_.port);
    BOOST_OUTCOME_TRYV(verbs::to_init(made->pair, ours, how));
    BOOST_OUTCOME_TRYV(made->receives.post_receives(made->pair, options_.receives));
    BOOST_OUTCOME_TRYV(verbs::to_rtr(made->pair, ours, how));
    BOOST_OUTCOME_TRYV(verbs::to_rts(made->pair, ours, how));
    return made;
}

// Adds the lane to the epoll instance. The descriptor of a replaced lane was closed, which removed it from the instance.
verbs::result<void> verbs_transport::watch(const lane& l) const {
    epoll_event completions{.events = EPOLLIN, .data = {.u64 = of_completions}};
    if (::epoll_ctl(readable_.get(), EPOLL_CTL_ADD, l.received.descriptor(), &completions) != 0)
        return verbs::failed("cannot wait for completions of " + options_.name, errno);
    return verbs::success();
}

/// Replaces the lane. Returns false if that fails; the transport is then disconnected.
bool verbs_transport::replace_lane() noexcept {
    unread_ = {};
    is_broken_ = false;
    if (++broken_in_a_row_ > most_broken_in_a_row) {
        gone_ = EIO;
        return false;
    }
    lane_->on_their_way.clear();
    auto made = make_lane();
    if (made) {
        lane_ = std::move(made.value());
        ++replaced_;
        if (watch(*lane_)) return true;
    }
    gone_ = made ? EIO : made.error().sys_errno ? made.error().sys_errno : EIO;
    return false;
}

// ---- sending -------------------------------------------------------------------------------------------------------

/// Releases the buffers of completed sends.
void verbs_transport::reap() noexcept {
    std::array<ibv_wc, 16> left;
    for (;;) {
        const auto found = lane_->sent.poll(left);
        if (!found) is_broken_ = true;
        if (!found || found.value().empty()) return;
        for (const ibv_wc& wc : found.value()) {
            if (wc.status != IBV_WC_SUCCESS) is_broken_ = true;
            const auto number = static_cast<u32>(wc.wr_id);
            lane_->on_their_way[number].reset();
            lane_->sends.give_back(number);
        }
    }
}

// Writes the session to the transaction ID of a request. Responses, including RMPP ACKs, keep the transaction ID of the requester.
void verbs_transport::stamp(std::span<u8> mad) const noexcept {
    if (mad::is_response(mad)) return;
    iba::store_be<u32>(mad.data() + iba::offset_of<&iba::MADHeader::transactionID>, options_.session);
}

mad::send_result verbs_transport::send(const mad::send_request& request) noexcept {
    if (gone_) return {mad::send_state::failed, gone_};
    if (iba::is_smp(iba::MgmtClass{request.mgmt_class})) return {mad::send_state::failed, EPROTONOSUPPORT};
    const auto* path = std::get_if<mad::IBPath>(request.path);
    if (!path) return {mad::send_state::failed, EINVAL};
    if (request.size > mad::mad_size) return {mad::send_state::failed, EMSGSIZE};
    const mad::table_entries entries = tables_.find(*request.path);
    if (entries.miss != mad::table_miss::none) {
        misfit_ = tables_.text_of_miss(*request.path);
        return {mad::send_state::failed, EADDRNOTAVAIL};
    }
    reap();
    if (is_broken_ && !replace_lane()) return {mad::send_state::failed, gone_};

    const bool needs_index = path->has_grh && path->SGID_index != entries.SGID_index;
    auto address = addresses_.get(needs_index ? with_SGID_index(*path, entries.SGID_index) : *path);
    if (!address) return {mad::send_state::failed, address.error().sys_errno};
    const auto number = lane_->sends.take();
    waits_for_room_ = !number;
    if (!number) return {mad::send_state::would_block};
    const std::span<u8> mad = lane_->sends[*number];
    std::memcpy(mad.data(), request.mad, request.size);
    std::memset(mad.data() + request.size, 0, mad::mad_size - request.size);
    stamp(mad);

    ibv_sge piece = lane_->sends.piece(*number, mad::mad_size);
    ibv_send_wr work = verbs::send_request(*number, IBV_WR_SEND, {&piece, 1});
    work.wr.ud = {address.value().get(), path->dqpn, path->qkey};
    if (const auto posted = lane_->pair.post_send(work); !posted) {
        lane_->sends.give_back(*number);
        return {mad::send_state::failed, posted.error().sys_errno};
    }
    lane_->on_their_way[*number] = std::move(address.value());
    return {};
}

std::optional<mad::time_point> verbs_transport::next_event() const noexcept {
    if (gone_ || !unread_.empty() || !injected_.empty() || !lane_->received.will_report()) return now_;
    if (waits_for_room_) return now_ + until_sent;
    return std::nullopt;
}

std::string_view verbs_transport::advice(mad::transport_call, int error) const noexcept {
    switch (error) {
    case EPROTONOSUPPORT: return "SMPs cannot be sent over verbs; use a umad device, or query the SA (--sa)";
    case EADDRNOTAVAIL: return misfit_;
    case EMSGSIZE: return "the message is longer than a MAD, and its management class does not support RMPP";
    case EINVAL: return "the device rejected the address; paths from an Ethernet port need a GRH";
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ETIMEDOUT: return umad_advice(umad_call::write, error); // routes are resolved in the same way
    case ENODEV:
    case EIO: return "the device was removed or failed; it can be reopened after it returns";
    default: return {};
    }
}

// ---- receiving -----------------------------------------------------------------------------------------------------

int verbs_transport::serve(const mad::registration& what) noexcept {
    if (iba::is_smp(what.mgmt_class)) return EPROTONOSUPPORT;
    served_.push_back(what);
    return 0;
}

mad::received verbs_transport::receive(std::span<u8> buffer) noexcept {
    waits_for_room_ = false;
    while (!gone_) {
        if (unread_.empty() && !fill()) break;
        if (unread_.empty()) continue; // an event, or another lane
        const ibv_wc wc = unread_.front();
        unread_ = unread_.subspan(1);
        if (auto r = take(wc, buffer)) return *r;
        if (is_broken_) replace_lane();
    }
    has_waited_ = true;
    if (gone_) return {mad::receive_state::failed, gone_};
    return {};
}

/// Gets completions to read. Returns false if there is nothing to read.
bool verbs_transport::fill() noexcept {
    if (!injected_.empty()) {
        const verbs::event next = injected_.front();
        injected_.erase(injected_.begin());
        on_event(next);
        return true;
    }
    const bool has_notification = std::exchange(has_waited_, false) && poll_events();
    if (gone_) return false;
    const auto found = lane_->received.poll(batch_, has_notification);
    if (is_broken_ || !found) return replace_lane();
    unread_ = found.value();
    return !unread_.empty();
}

/// Processes events. Returns whether the lane has a notification.
bool verbs_transport::poll_events() noexcept {
    std::array<epoll_event, 2> ready;
    ++mad::detail::system_calls;
    const int count = ::epoll_wait(readable_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    bool has_notification = false;
    for (int i = 0; i < count; ++i) {
        const u64 whose = ready[static_cast<std::size_t>(i)].data.u64;
        if (whose == of_completions) has_notification = true;
        else read_events();
    }
    return has_notification;
}

/// Returns a datagram as a message, or nullopt if the message is not for this transport.
std::optional<mad::received> verbs_transport::take(const ibv_wc& wc, std::span<u8> buffer) noexcept {
    if (wc.status != IBV_WC_SUCCESS) {
        is_broken_ = true;
        return std::nullopt;
    }
    broken_in_a_row_ = 0;
    const auto number = static_cast<u32>(wc.wr_id & ~verbs::buffer_pool::is_receive);
    const std::span<const u8> datagram = lane_->receives[number];
    const std::size_t length = std::min<std::size_t>(wc.byte_len, datagram_size);
    mad::received r;
    if (length > verbs::grh_size) {
        const std::span<u8> mad = buffer.subspan(mad::headroom, length - verbs::grh_size);
        std::memcpy(mad.data(), datagram.data() + verbs::grh_size, mad.size());
        r.state = mad::receive_state::message;
        r.mad = mad;
        r.full_size = mad.size();
        const auto grh = datagram.first<verbs::grh_size>();
        r.source = verbs::source_of(wc, grh);
        r.source.pkey_index = pkey_place_;
        r.source.pkey = tables_.pkey_at(pkey_place_);
        if (r.source.has_grh) r.source.SGID_index = port_.gid_index(verbs::destination_of(wc, grh)).value_or(0);
        if (!is_for_us(mad)) r.state = mad::receive_state::would_block;
    }
    if (!lane_->receives.post_again(lane_->pair, number)) is_broken_ = true;
    if (r.state != mad::receive_state::message) return std::nullopt;
    return r;
}

bool verbs_transport::is_for_us(std::span<u8> mad) noexcept {
    if (mad.size() < iba::wire_size<iba::MADHeader>) return true; // the engine counts malformed MADs
    if (!mad::is_response(mad)) {
        if (mad.size() < mad::mad_size || served_.empty()) return false;
        // The ACKs of our RMPP replies also have the R bit clear.
        return mad::is_rmpp(mad) ||
               std::any_of(served_.begin(), served_.end(), [&](const auto& what) { return mad::describes(what, mad); });
    }
    u8* const upper = mad.data() + iba::offset_of<&iba::MADHeader::transactionID>;
    if (iba::load_be<u32>(upper) != options_.session) {
        ++foreign_;
        return false;
    }
    iba::store_be<u32>(upper, 0);
    return true;
}

mad::transport_limits verbs_transport::limits() const noexcept {
    // Half of the receives are reserved for segments of replies.
    const unsigned window = std::max(options_.receives / 2, 1u);
    return {.max_window = window,
            .sa_window = window,
            .smi = false,
            .timer_resolution = std::chrono::microseconds(100),
            .kernel_rmpp = false};
}

// ---- events --------------------------------------------------------------------------------------------------------

void verbs_transport::read_events() noexcept {
    while (!gone_) {
        const auto next = device_.next_event();
        if (!next) gone_ = next.error().sys_errno;
        if (!next || !next.value()) return;
        on_event(*next.value());
    }
}

void verbs_transport::inject(const verbs::event& e) { injected_.push_back(e); }

void verbs_transport::on_event(const verbs::event& e) noexcept {
    if (e.is_of_port()) {
        if (e.port != port_.port) return;
        refresh();
    } else if (e.type == IBV_EVENT_DEVICE_FATAL) {
        gone_ = ENODEV;
    } else if (e.is_fatal()) {
        is_broken_ = true; // only this transport has queues in this context
    }
    if (options_.on_event) options_.on_event(e, port_);
}

/// Values that cannot be read remain; the next event triggers another attempt.
void verbs_transport::refresh() noexcept {
    const auto number = static_cast<u8>(port_.port);
    if (const auto now = device_.port_attributes(number)) {
        port_.portState = iba::PortState{static_cast<u8>(now.value().state)};
        port_.portPhysicalState = iba::PortPhysicalState{now.value().phys_state};
        port_.LID = iba::lid{now.value().lid};
        port_.LMC = now.value().lmc;
        port_.masterSMLID = iba::lid{now.value().sm_lid};
        port_.masterSMSL = now.value().sm_sl;
        port_.capabilityMask = now.value().port_cap_flags;
    }
    if (auto gids = device_.gids(number)) {
        port_.gids = std::move(gids.value());
        if (!port_.gids.empty()) {
            port_.GIDPrefix = port_.gids.front().prefix();
            port_.portGUID = port_.gids.front().interface_id();
        }
    }
    if (auto pkeys = device_.pkeys(number)) {
        port_.PKeys = std::move(pkeys.value());
        follow_pkey();
    }
    tables_.update(port_.PKeys, port_.gids);
    tables_.only_pkey_index(pkey_place_, options_.pkey_index);
    addresses_.clear();
}

/// Follows a change of the index of the local P_Key. A QP in use must then be recreated.
void verbs_transport::follow_pkey() {
    if (pkey_ == 0) pkey_ = pkey_at(port_, is_default_pkey_ ? default_pkey_index(port_) : pkey_place_);
    if (pkey_ == 0 || pkey_at(port_, pkey_place_) == pkey_) return;
    const auto place = std::find(port_.PKeys.begin(), port_.PKeys.end(), pkey_);
    if (place == port_.PKeys.end()) return; // without the P_Key nothing can be sent; a later event may restore it
    pkey_place_ = static_cast<u16>(place - port_.PKeys.begin());
    is_broken_ = true;
}

std::unique_ptr<mad::transport> open_verbs_port(const end_port& port, verbs_options options) {
    return std::make_unique<rmpp_transport>(std::make_unique<verbs_transport>(port, std::move(options)));
}

} // namespace comad::transports
