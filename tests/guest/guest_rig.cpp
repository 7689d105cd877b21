// SPDX-License-Identifier: MIT
// guest_rig.cpp - the kernel module, ports and peers for the programs of the guest.
#include "guest_rig.hpp"

#include "kernel/errno_error.hpp"
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/server/detail/reply.hpp>

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace comad::test {

// ---- ports -------------------------------------------------------------------------------------------------------------

namespace {

void must_run(std::vector<std::string> words) {
    const process_result r = run_process(std::move(words));
    if (r.status != 0) throw std::runtime_error("a program of the guest failed: " + r.err);
}

class loaded_fakeib {
public:
    ~loaded_fakeib() {
        if (!parameters_.empty()) run_process({"busybox", "rmmod", "fakeib"});
    }
    void use(const std::string& parameters) {
        if (parameters_ == parameters) return;
        if (!parameters_.empty()) must_run({"busybox", "rmmod", "fakeib"});
        parameters_.clear();
        must_run({"sh", "-c", "busybox insmod /run/guest/fakeib.ko " + parameters});
        parameters_ = parameters;
    }

private:
    std::string parameters_;
};

} // namespace

void use_fakeib(const std::string& parameters) {
    static loaded_fakeib module;
    module.use(parameters);
}

end_port port_of(const std::string& name) {
    for (end_port& port : transports::end_ports())
        if (port.name() == name) return std::move(port);
    throw std::runtime_error("there is no end port " + name);
}

mad::IBPath to_lid(u16 LID) {
    mad::IBPath path;
    path.DLID = iba::lid{LID};
    return path;
}

mad::IBPath to_gid(const end_port& port) {
    mad::IBPath path;
    path.has_grh = true;
    path.hop_limit = 64;
    path.DGID = port.gids.at(0);
    return path;
}

// ---- single MADs -------------------------------------------------------------------------------------------------------

outgoing_mad::outgoing_mad(mad::any_path to, iba::MgmtClass mgmt_class, u8 class_version, iba::Method method,
                           u16 attribute, u32 tid)
    : path(std::move(to)) {
    using iba::MADHeader;
    u8* const m = mad();
    m[0] = 1;
    m[1] = value(mgmt_class);
    m[2] = class_version;
    m[3] = value(method);
    mad::set_low_tid(m, tid);
    iba::put<&MADHeader::attributeID>(m, attribute);
}

mad::send_result outgoing_mad::send(mad::transport& by, std::optional<u8> agents_version) {
    mad::send_request request{};
    request.path = &path;
    request.mad = mad();
    request.size = packet.size() - mad::headroom;
    request.mgmt_class = mad()[1];
    request.class_version = agents_version.value_or(mad()[2]);
    request.expects_reply = expects_reply;
    request.attempt_timeout = request.operation_timeout = timeout;
    by.set_now(clock_now());
    return by.send(request);
}

u32 message::tid() const { return mad::low_tid(mad.data()); }

namespace {

/// Returns the message that is available now.
std::optional<message> read_message(mad::transport& from, std::vector<u8>& buffer) {
    from.set_now(clock_now());
    mad::received r = from.receive(buffer);
    if (r.state == mad::receive_state::message && r.full_size > r.mad.size() && !r.is_part) {
        buffer.resize(mad::headroom + r.full_size);
        r = from.receive(buffer);
    }
    if (r.state == mad::receive_state::failed) throw std::runtime_error("the device has gone");
    if (r.state == mad::receive_state::would_block || r.is_part) return std::nullopt;
    return message{r.status, {r.mad.begin(), r.mad.end()}, r.source};
}

/// Returns the milliseconds until the transport or `due` needs a call; -1: no limit.
int wait_for(const mad::transport& from, std::optional<mad::time_point> due) {
    const auto wanted = from.next_event();
    if (wanted && (!due || *wanted < *due)) due = wanted;
    if (!due) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - clock_now());
    return static_cast<int>(std::max(left, 0ms).count());
}

} // namespace

std::optional<message> await_message(mad::transport& from, mad::duration limit) {
    const mad::time_point end = clock_now() + limit;
    std::vector<u8> buffer(1024);
    for (;;) {
        if (auto got = read_message(from, buffer)) return got;
        if (clock_now() >= end) return std::nullopt;
        pollfd waiting{from.native_handle(), POLLIN, 0};
        if (::poll(&waiting, 1, wait_for(from, end)) < 0 && errno != EINTR) fail("poll");
    }
}

// ---- peers -------------------------------------------------------------------------------------------------------------

peer::peer(const end_port& at, const mad::registration& what, plan p)
    : device_(at), plan_(std::move(p)), stop_(::eventfd(0, EFD_CLOEXEC)) {
    if (!stop_) fail("eventfd");
    if (const int error = device_.serve(what)) throw std::system_error(error, std::generic_category(), "serve");
    thread_ = std::thread([this] { run(); });
}
peer::~peer() {
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
}

std::vector<u32> peer::requested() const {
    const std::lock_guard lock(mutex_);
    return requested_;
}
std::size_t peer::most_waiting() const {
    const std::lock_guard lock(mutex_);
    return most_waiting_;
}

void peer::await_count(std::size_t count) const {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, 20s, [&] { return requested_.size() >= count; }))
        throw std::runtime_error("the requests do not come");
}

void peer::run() {
    try {
        serve_until_stopped();
    } catch (const std::runtime_error&) { // its device was removed
    }
}

void peer::serve_until_stopped() {
    std::vector<u8> buffer(1024);
    for (;;) {
        while (auto got = read_message(device_, buffer)) {
            if (mad::is_response(got->mad)) continue;
            const std::vector<mad::duration> times = plan_(got->mad);
            const mad::time_point now = clock_now();
            for (const mad::duration after : times) due_.emplace(now + after, *got);
            const std::lock_guard lock(mutex_);
            requested_.push_back(got->tid());
            most_waiting_ = std::max(most_waiting_, due_.size());
            came_.notify_all();
        }
        while (!due_.empty() && due_.begin()->first <= clock_now()) {
            const message request = std::move(due_.extract(due_.begin()).mapped());
            const mad::any_path back = server::reply_path(request.mad, request.source);
            std::array<u8, mad::headroom + mad::mad_size> packet{};
            const std::span mad = std::span(packet).last<mad::mad_size>();
            std::copy_n(request.mad.begin(), mad.size(), mad.begin());
            server::turn_into_reply(mad);
            device_.send({&back, mad.data(), mad.size(), mad[1], mad[2], false, {}, {}, request.source.agent});
        }
        std::optional<mad::time_point> next;
        if (!due_.empty()) next = due_.begin()->first;
        pollfd waiting[] = {{device_.native_handle(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
        if (::poll(waiting, 2, wait_for(device_, next)) < 0 && errno != EINTR) return;
        if (waiting[1].revents) return;
    }
}

peer::plan answer_after(mad::duration time) {
    return [time](std::span<const u8>) { return std::vector{time}; };
}
peer::plan silence() {
    return [](std::span<const u8>) { return std::vector<mad::duration>{}; };
}

// ---- servers -----------------------------------------------------------------------------------------------------------

namespace {

coro::task<void> for_ever(coro::MADSchedule& s) { co_await s.pause(mad::duration::max()); }

} // namespace

served_port::served_port(std::unique_ptr<mad::transport> carrier, server::responder answers)
    : carrier_(std::move(carrier)), answers_(std::move(answers)), agent_(*carrier_, answers_), schedule_(*carrier_) {
    schedule_.set_server(&agent_);
    thread_ = std::jthread([this](std::stop_token stop) { coro::sync_wait(schedule_, for_ever(schedule_), stop); });
}
served_port::~served_port() {
    thread_.request_stop();
    thread_.join();
}

} // namespace comad::test
