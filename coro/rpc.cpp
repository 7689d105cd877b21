// SPDX-License-Identifier: MIT
// rpc.cpp - the part of an RPC that does not depend on its payload: sending, redirects, checks of the reply and errors.
#include <comad/coro/detail/rpc.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/mad/detail/engine.hpp>
#include <comad/mad/detail/peer_cache.hpp>

namespace comad::coro::detail {
namespace {

constexpr u8 most_redirects = 3; // more redirects are likely a loop
constexpr u64 all_sas = 0x5a;    // destination key of all requests to the SA; keys of paths equal it only by chance

constexpr mad::rtt_estimator::distance first_group = mad::rtt_estimator::most_hops + 1;
constexpr u32 groups = mad::rtt_estimator::most_distance - first_group; // groups of GMP classes

/// Returns whether two copies of such a request may be in flight. This is harmless if their replies take similar times. The SA is
/// excluded: it stops for seconds when the subnet changes, and an early retry only adds to its load.
bool may_be_hedged(const mad::rpc_kind& kind) noexcept {
    return kind.method == iba::Method::Get && kind.expects_reply && kind.mgmt_class != iba::MgmtClass::SubnAdm;
}

/// Returns whether the request is a Set. A retry of a Set must not be in flight while the first attempt may still take effect.
bool is_set(const mad::rpc_kind& kind) noexcept {
    return kind.method == iba::Method::Set && kind.expects_reply && kind.mgmt_class != iba::MgmtClass::SubnAdm;
}

mad::errc code_of(mad::completion_status v) noexcept {
    switch (v) {
    case mad::completion_status::timed_out: return mad::errc::timed_out;
    case mad::completion_status::send_failed: return mad::errc::send_failed;
    case mad::completion_status::transport_failed: return mad::errc::transport_failed;
    default: return mad::errc::cancelled;
    }
}

constexpr mad::completion never_started{mad::completion_status::cancelled, 0, 0, {}, {}};

/// Suspends the coroutine forever and resumes another one, which may destroy the suspended one.
struct resuming {
    std::coroutine_handle<> other;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return other; }
    void await_resume() const noexcept {}
};

} // namespace

/// The search for a path to a redirect target: a coroutine that the RPC owns.
struct rpc_base::detour {
    detour(scope_state* around, task<void> search) : outer(around), domain(around), way(search.release()) {
        way.promise().scope = &domain;
    }
    ~detour() { way.destroy(); }
    detour(const detour&) = delete;
    detour& operator=(const detour&) = delete;

    scope_state* outer;
    scope_state domain;
    std::coroutine_handle<promise<void>> way;
};

rpc_base::~rpc_base() {
    if (state != mad::operation_state::idle) withdraw();
}

rpc_base::rpc_base(MADSchedule& schedule, const rpc_request& request, const payload_ops* payload, take_reply take,
                   bool table) noexcept
    : schedule_(schedule), kind_(request.kind), path_(request.path), attributeModifier_(request.attributeModifier),
      component_mask_(request.component_mask), payload_ops_(payload), take_reply_(take) {
    const schedule_options& otherwise = schedule.options();
    encode = &encode_request;
    done = &finished;
    path = &path_;
    if (kind_.mgmt_class == iba::MgmtClass::SubnAdm)
        if (const auto* to = std::get_if<mad::IBPath>(&path_); to && *to == schedule.sa_path()) SA_LID_ = to->DLID;
    if (auto* gmp = std::get_if<mad::IBPath>(&path_); gmp && is_gmp() && !schedule.peer_cache_->empty())
        schedule.peer_cache_->apply(*gmp, kind_.mgmt_class);
    timeout = request.options.timeout.count() > 0 ? request.options.timeout : otherwise.timeout;
    const int wanted = request.options.retries < 0 ? otherwise.retries : request.options.retries;
    const bool is_measured = timeout.count() == 0 && request.options.retries < 0 && may_be_hedged(kind_) && !table;
    const bool is_measured_set = timeout.count() == 0 && is_set(kind_) && !table;
    if (timeout.count() == 0 && !is_measured) {
        timeout = otherwise.unmeasured_timeout.count() > 0 ? otherwise.unmeasured_timeout : mad::mad_timeout(path_);
        if (is_measured_set) longest_timeout = timeout;
    }
    const u8 usual = is_measured_set ? schedule_options::set_retries : schedule_options::usual_retries;
    retries = wanted < 0 ? usual : static_cast<u8>(wanted);
    patience = request.options.patience;
    address();
    expects_reply = kind_.expects_reply;
    busy_retries = otherwise.busy_retries;
    takes_table = table;
}

/// Sets the keys that determine which RPCs share a limit and measured round-trip times with this one.
void rpc_base::address() noexcept {
    counts_attempts = kind_.mgmt_class == iba::MgmtClass::SubnAdm;
    if (counts_attempts) {
        // The kernel holds back requests of an agent to the SA beyond a limit, while our timeouts run.
        destination = all_sas;
        destination_bound = schedule_.options().sa_outstanding;
        return;
    }
    destination = mad::destination_key(path_);
    if (const auto* route = mad::directed(path_)) {
        distance = route->hopCount;
        return;
    }
    distance = first_group;
    if (!is_gmp()) return; // a LID-routed SMP
    destination_bound = schedule_.options().gmps_per_destination;
    if (destination_bound == 0) destination_bound = unbounded;
    const u32 group = value(kind_.mgmt_class) % groups; // response times differ between agents of different classes
    distance = static_cast<u8>(first_group + 1 + group);
    destination ^= u64{group + 1} << 32;
}

bool rpc_base::submit(scope_state* scope) noexcept {
    if (scope && scope->cancelled()) {
        fail(mad::errc::cancelled, never_started);
        return false;
    }
    // RoCE paths have only GIDs.
    if (const auto* to = std::get_if<mad::IBPath>(&path_);
        to && to->DLID == iba::lid{} && !(to->has_grh && to->DGID != iba::gid{})) {
        fail(mad::errc::incomplete_path, never_started);
        return false;
    }
    if (!fits_port_tables()) return false;
    if (payload_ops_ && !payload_ops_->fits(*this)) {
        fail(mad::errc::out_of_range, never_started);
        error_->detail->invalid_value = payload_ops_->invalid_value(*this);
        return false;
    }
    link(scope);
    follow_round_trips();
    schedule_.engine_->submit(*this);
    return true;
}

/// Returns false if the RPC has failed. SMPs are exempt: they go to QP0, which has no P_Key, and have no GRH.
bool rpc_base::fits_port_tables() noexcept {
    const mad::port_tables* const tables = iba::is_smp(kind_.mgmt_class) ? nullptr : schedule_.transport_.tables();
    if (!tables || tables->put_into(path_) == mad::table_miss::none) return true;
    fail(mad::errc::not_in_port_table, never_started);
    error_->detail->invalid_value = tables->text_of_miss(path_);
    return false;
}

/// Derives the timeout of a Set from the measured round-trip times, unless the caller has set a timeout.
void rpc_base::follow_round_trips() noexcept {
    if (longest_timeout.count() > 0)
        timeout = std::min(schedule_.engine_->measured().set_timeout(destination, distance), longest_timeout);
}

void rpc_base::cancel() noexcept { schedule_.engine_->cancel(*this); }
void rpc_base::withdraw() noexcept { schedule_.engine_->withdraw(*this); }

void rpc_base::encode_request(mad::operation& o, u8* mad) {
    auto& self = static_cast<rpc_base&>(o);
    u8* payload = mad::write_request(mad, self.kind_, self.path_, self.attributeModifier_, self.component_mask_);
    if (self.payload_ops_) self.payload_ops_->encode(self, payload);
}

bool rpc_base::is_gmp() const noexcept { return kind_.mgmt_class != iba::MgmtClass::SubnLID; }

// Returns true if the reply is a redirect and the request was sent to its target or has failed.
bool rpc_base::follow_redirect(std::span<const u8> reply) {
    const auto* from = std::get_if<mad::IBPath>(&path_);
    const std::size_t begin = mad::payload_offset(kind_.mgmt_class, kind_.attributeID);
    if (!from || !is_gmp() || (mad::status_of(reply.data()) & iba::status_redirect) == 0) return false;
    if (redirects_ == most_redirects || reply.size() < begin + iba::wire_size<iba::ClassPortInfo>) return false;
    iba::ClassPortInfo info;
    iba::decode(info, reply.data() + begin);
    const std::optional<mad::IBPath> to = mad::detail::redirected(*from, info);
    const bool is_path = to && to->DLID != iba::lid{};
    if (!to || (!is_path && !schedule_.path_resolver_)) return false;
    ++redirects_;
    if (is_path) {
        learn_redirect(*to);
        if (send_to(*to)) return true;
        unlink();
        awaiting_.resume();
        return true;
    }
    // The redirect contains only a GID. The path must be queried first, in a domain that the cancellation of the RPC
    // also cancels.
    scope_state* const domain = linked_in();
    unlink();
    detour_ = std::make_unique<detour>(domain, find_route(*to));
    detour_->way.resume(); // resume() may destroy the RPC
    return true;
}

void rpc_base::learn_redirect(const mad::IBPath& to) {
    schedule_.peer_cache_->redirect(*std::get_if<mad::IBPath>(&path_), kind_.mgmt_class, to);
}

/// Sends the request to another target. Returns false if the path does not fit the port tables; error_ is then set,
/// and the waiting coroutine is not resumed.
bool rpc_base::send_to(const mad::IBPath& to) noexcept {
    path_ = to;
    address();
    if (!fits_port_tables()) return false;
    follow_round_trips();
    schedule_.engine_->submit(*this);
    return true;
}

task<void> rpc_base::find_route(mad::IBPath to) {
    auto found = co_await schedule_.path_resolver_->resolve_path(to);
    scope_state& domain = detour_->domain;
    if (found && !domain.cancelled()) {
        learn_redirect(found.value());
        link(detour_->outer);
        if (send_to(found.value())) co_return;
        unlink();
    } else if (found) {
        fail(mad::errc::cancelled, never_started);
    } else {
        error_.emplace(std::move(found.error()))
            .message("the target redirected the request to a GID, whose path is unknown");
    }
    co_await resuming{awaiting_};
}

/// Returns true if the SA did not reply, or if the port rejected the request because no SA runs there any more (IBA
/// 13.4.7, 15.2.2).
bool rpc_base::wants_other_sa() const noexcept {
    if (SA_LID_ == iba::lid{} || !schedule_.path_resolver_) return false;
    if (error_->code == mad::errc::timed_out || error_->code == mad::errc::status) return true;
    if (error_->code != mad::errc::class_status) return false;
    const auto code = iba::SAStatus{iba::class_status(error_->status)};
    return code == iba::SAStatus::ERR_NO_RESOURCES || code == iba::SAStatus::ERR_REQ_DENIED;
}

task<void> rpc_base::query_sa_again() {
    const iba::lid queried_sa = std::exchange(SA_LID_, iba::lid{});
    auto search = schedule_.path_resolver_->find_sa(queried_sa);
    std::optional<mad::IBPath> to = co_await std::move(search);
    if (!to && has_left_sa()) { // the SA has not moved, but its redirect target is gone
        schedule_.peer_cache_->forget(schedule_.sa_path(), kind_.mgmt_class);
        to = schedule_.sa_path();
    }
    const bool is_cancelled = detour_->domain.cancelled();
    if (to && !is_cancelled && to->DLID != iba::lid{}) {
        error_.reset();
        link(detour_->outer);
        if (send_to(*to)) co_return;
        unlink();
    } else if (is_cancelled) {
        fail(mad::errc::cancelled, never_started);
    }
    co_await resuming{awaiting_};
}

/// Returns true if the request was redirected away from the schedule's sa_path().
bool rpc_base::has_left_sa() const noexcept {
    const mad::IBPath& begin = schedule_.sa_path();
    const auto& now = *std::get_if<mad::IBPath>(&path_);
    return now.DLID != begin.DLID || now.dqpn != begin.dqpn || now.DGID != begin.DGID;
}

// Learns the response time of the target from a ClassPortInfo.
void rpc_base::learn(std::span<const u8> reply) {
    const auto* target = std::get_if<mad::IBPath>(&path_);
    const std::size_t begin = mad::payload_offset(kind_.mgmt_class, kind_.attributeID);
    if (!target || !is_gmp()) return;
    if (reply.size() < begin + iba::wire_size<iba::ClassPortInfo>) return;
    const u8 exponent = iba::get<&iba::ClassPortInfo::respTimeValue>(reply.data() + begin);
    schedule_.peer_cache_->response_time(*target, kind_.mgmt_class, exponent);
}

/// Returns why a successful reply is invalid. If it is valid, decodes it and returns an empty string. The request is
/// encoded again only for classes whose replies are compared with the request.
std::string rpc_base::invalid_value_of(std::span<const u8> reply) {
    const bool has_echo = kind_.mgmt_class == iba::MgmtClass::Performance || iba::is_vendor_oui(kind_.mgmt_class);
    const bool has_same_version = iba::get<&iba::MADHeader::classVersion>(reply.data()) == kind_.class_version;
    if (has_echo || !has_same_version) {
        std::array<u8, mad::mad_size> request;
        encode_request(*this, request.data());
        if (std::string broken = mad::broken_echo(request, reply); !broken.empty()) return broken;
    }
    return take_reply_(*this, reply);
}

void rpc_base::finished(mad::operation& o, const mad::completion& how) {
    auto& self = static_cast<rpc_base&>(o);
    const u16 status = how.what == mad::completion_status::replied ? mad::status_of(how.reply.data()) : u16{0};
    if (status != 0 && self.follow_redirect(how.reply)) return;
    scope_state* const domain = self.linked_in();
    self.unlink();
    if (how.what == mad::completion_status::replied) {
        self.source_ = how.source;
        if (const auto error = mad::evaluate(status)) self.fail(*error, how);
        else if (std::string invalid_value = self.invalid_value_of(how.reply); !invalid_value.empty()) {
            self.fail(mad::errc::malformed_reply, how);
            self.error_->detail->invalid_value = std::move(invalid_value);
        } else if (self.kind_.attributeID == iba::attribute_id<iba::ClassPortInfo>) self.learn(how.reply);
    } else if (how.what != mad::completion_status::sent) {
        self.fail(code_of(how.what), how);
    }
    if (!self.failed() || !self.wants_other_sa()) {
        self.awaiting_.resume();
        return;
    }
    self.detour_ = std::make_unique<detour>(domain, self.query_sa_again());
    self.detour_->way.resume(); // resume() may destroy the RPC
}

void rpc_base::fail(mad::errc code, const mad::completion& how) {
    mad::mad_error& e = error_.emplace();
    e.code = code;
    e.attempts = how.attempts;
    if (how.attempts > 0 && has_started) e.elapsed = schedule_.now() - started;
    e.mgmt_class = mad::class_on(kind_, path_);
    e.class_version = kind_.class_version;
    e.method = kind_.method;
    e.attributeID = kind_.attributeID;
    e.attributeModifier = attributeModifier_;
    e.sys_errno = how.error;
    e.detail = std::make_unique<mad::error_detail>();
    e.detail->path = path_;
    encode_request(*this, e.detail->request.data());
    // Name the device in the error: the program may use several devices, and may continue after one is disconnected.
    if (std::string text = schedule_.transport_.name(); how.error != 0 && !text.empty()) {
        const bool has_gone = code == mad::errc::transport_failed;
        text += has_gone ? " was disconnected" : " rejected the request";
        const auto call = has_gone ? mad::transport_call::receive : mad::transport_call::send;
        if (const std::string_view advice = schedule_.transport_.advice(call, how.error); !advice.empty())
            text.append(" (").append(advice) += ')';
        e.message(std::move(text));
    }
    if (!how.reply.empty()) {
        e.status = mad::status_of(how.reply.data());
        e.detail->reply.assign(how.reply.begin(), how.reply.end());
    }
}

} // namespace comad::coro::detail
