// SPDX-License-Identifier: MIT
// umad.cpp - the header, agents, timeouts and errors of the kernel's MAD device (Linux, drivers/infiniband/core/user_mad.c).
#include <comad/iba/vendor.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/rmpp.hpp>
#include <comad/mad/detail/system_calls.hpp>
#include <comad/transports/umad.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <endian.h>
#include <fcntl.h>
#include <new>
#include <rdma/ib_user_mad.h>
#include <stdexcept>
#include <string_view>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace comad::transports {

namespace {

using header = ib_user_mad_hdr;
static_assert(sizeof(header) == 64 && sizeof(header) <= mad::headroom);
static_assert(offsetof(header, id) == 0 && offsetof(header, status) == 4 && offsetof(header, timeout_ms) == 8);
static_assert(offsetof(header, retries) == 12 && offsetof(header, length) == 16 && offsetof(header, qpn) == 20);
static_assert(offsetof(header, qkey) == 24 && offsetof(header, lid) == 28 && offsetof(header, sl) == 30);
static_assert(offsetof(header, path_bits) == 31 && offsetof(header, grh_present) == 32);
static_assert(offsetof(header, gid) == 36 && offsetof(header, pkey_index) == 56);
static_assert(sizeof(ib_user_mad_reg_req) == 28);

template <class F> ssize_t uninterrupted(F&& call) noexcept {
    for (;;)
        if (const ssize_t n = call(); n >= 0 || errno != EINTR) return n;
}

/// Throws an error with the meaning of errno.
[[noreturn]] void refuse(const std::string& what, umad_call call) {
    const int error = errno;
    const std::string_view advice = umad_advice(call, error);
    throw std::runtime_error(
        fmt::format("{}: {}{}{}", what, std::generic_category().message(error), advice.empty() ? "" : "; ", advice));
}

mad::unique_fd open_device(const std::filesystem::path& path) {
    const auto open = [&] { return ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC); };
    mad::unique_fd fd{static_cast<int>(uninterrupted(open))};
    if (!fd) refuse("cannot open " + path.string(), umad_call::open);
    return fd;
}

/// The number of times that the kernel sends an unacknowledged window of an RMPP reply again. It waits 2 s each time
/// (mad_rmpp.c), because it gets no timeout. With 0, a single lost segment would end the reply.
constexpr u32 answer_repetitions = mad::rmpp_timing{}.retries;

/// Returns whether the kernel is short of memory. A retry can succeed when the kernel has released memory.
bool is_shortage(int error) noexcept { return error == EAGAIN || error == ENOMEM || error == ENOBUFS; }

bool is_transient(int error) noexcept {
    return is_shortage(error) || error == EIO || error == ENOSPC || error == EBUSY;
}

constexpr mad::duration first_pause = std::chrono::milliseconds(1);
constexpr unsigned most_repeated = 9; // half a second in total

// Sizes of buffers for messages whose length the kernel does not report.
constexpr std::size_t first_large = std::size_t{64} << 10, most_large = std::size_t{64} << 20;

} // namespace

umad_options::umad_options()
    : ioctl([](int fd, unsigned long request, void* argument) { return ::ioctl(fd, request, argument); }),
      read([](int fd, void* buffer, std::size_t size) { return ::read(fd, buffer, size); }),
      write([](int fd, const void* packet, std::size_t size) { return ::write(fd, packet, size); }) {}

namespace {

umad_options named(umad_options options, const std::string& name) {
    if (options.name.empty()) options.name = name;
    return options;
}

/// Adds the tables of the end port that sysfs lists for the device.
umad_options for_device(umad_options options, const std::filesystem::path& device) {
    if (!options.tables)
        for (end_port& port : end_ports())
            if (port.umad == device.filename())
                options.tables = std::make_shared<mad::port_tables>(std::move(port.PKeys), std::move(port.gids));
    return named(std::move(options), device.string());
}

/// Adds the properties of the port that the caller has not set.
umad_options for_port(umad_options options, const end_port& port) {
    if (!options.tables) options.tables = std::make_shared<mad::port_tables>(port.PKeys, port.gids);
    if (options.sa_window == 0 && port.sa_max_outstanding > 0)
        options.sa_window = std::min(port.sa_max_outstanding, umad_limits.sa_window);
    return named(std::move(options), fmt::format("{} ({})", port.name(), port.umad));
}

} // namespace

umad_transport::umad_transport(const end_port& port, umad_options options)
    : umad_transport("/dev/infiniband" / std::filesystem::path(port.umad), for_port(std::move(options), port)) {}

umad_transport::umad_transport(const std::filesystem::path& device, umad_options options)
    : umad_transport(open_device(device), for_device(std::move(options), device)) {}

umad_transport::umad_transport(mad::unique_fd device, umad_options options)
    : options_(std::move(options)), device_(std::move(device)), readable_(::epoll_create1(EPOLL_CLOEXEC)),
      held_(options_.max_held, options_.timeout) {
    if (!options_.tables) options_.tables = std::make_shared<mad::port_tables>();
    const std::string of = options_.name.empty() ? "the MAD device" : options_.name;
    if (!readable_) refuse("cannot wait for " + of, umad_call::poll);
    if (uninterrupted([&] { return options_.ioctl(device_.get(), IB_USER_MAD_ENABLE_PKEY, nullptr); }) != 0)
        refuse("cannot enable P_Key indices of " + of, umad_call::ioctl);
    listen(true);
    if (!is_listening_) refuse("cannot wait for " + of, umad_call::poll);
}

/// Adds or removes the device in readable_.
void umad_transport::listen(bool to_device) noexcept {
    if (is_listening_ == to_device) return;
    epoll_event message{.events = EPOLLIN, .data = {}};
    const int done = ::epoll_ctl(readable_.get(), to_device ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, device_.get(), &message);
    if (done == 0) is_listening_ = to_device;
}

/// Counts a failure. Returns true if the call must be repeated at `due`.
bool umad_transport::repetition::rest(mad::time_point now) noexcept {
    due.reset();
    if (failures == most_repeated) return false;
    due = now + first_pause * (1 << failures++);
    return true;
}

std::optional<mad::time_point> umad_transport::next_event() const noexcept {
    if (whole_) return now_;
    if (!reading_.due || !writing_.due) return reading_.due ? reading_.due : writing_.due;
    return std::min(*reading_.due, *writing_.due);
}

/// Registers an agent. Returns nullopt and sets errno if the kernel rejects it.
std::optional<u32> umad_transport::register_agent(const mad::registration& what) noexcept {
    const auto ioctl = [&](unsigned long request, void* argument) {
        return uninterrupted([&] { return options_.ioctl(device_.get(), request, argument); }) == 0;
    };
    if (options_.user_rmpp && mad::has_rmpp(what.mgmt_class)) {
        ib_user_mad_reg_req2 registration{};
        registration.qpn = 1;
        registration.mgmt_class = value(what.mgmt_class);
        registration.mgmt_class_version = what.class_version;
        registration.flags = IB_USER_MAD_USER_RMPP;
        registration.rmpp_version = 1;
        registration.method_mask[0] = what.methods;
        registration.oui = what.OUI;
        if (!ioctl(IB_USER_MAD_REGISTER_AGENT2, &registration)) return std::nullopt;
        return registration.id;
    }
    ib_user_mad_reg_req registration{};
    registration.qpn = iba::is_smp(what.mgmt_class) ? 0 : 1;
    registration.mgmt_class = value(what.mgmt_class);
    registration.mgmt_class_version = what.class_version;
    registration.rmpp_version = what.rmpp ? 1 : 0;
    // The kernel reads the words as one bitmap of longs.
    const std::uint64_t methods = what.methods;
    std::memcpy(registration.method_mask, &methods, sizeof methods);
    for (int i = 0; i < 3; ++i) registration.oui[i] = static_cast<u8>(what.OUI >> (16 - 8 * i));
    if (!ioctl(IB_USER_MAD_REGISTER_AGENT, &registration)) return std::nullopt;
    return registration.id;
}

int umad_transport::serve(const mad::registration& what) noexcept { return register_agent(what) ? 0 : errno; }

/// Returns the agent for a request's class, and registers it first if necessary. Returns null and sets errno if the
/// kernel rejects it.
umad_transport::agent* umad_transport::agent_for(const mad::send_request& request) noexcept {
    const iba::MgmtClass mgmt_class{request.mgmt_class};
    const bool reports_oui =
        iba::is_vendor_oui(mgmt_class) && request.size >= iba::offset_of<&iba::vend::OUIFormat::data>;
    const u32 OUI = reports_oui ? iba::get<&iba::vend::OUIFormat::OUI>(request.mad) : 0;
    const auto known = std::find_if(agents_.begin(), agents_.begin() + agent_count_, [&](const agent& a) {
        return a.mgmt_class == request.mgmt_class && a.class_version == request.class_version && a.OUI == OUI;
    });
    if (known != agents_.begin() + agent_count_) return &*known;

    if (agent_count_ == agents_.size()) {
        errno = ENOMEM; // the kernel's error in this case
        return nullptr;
    }
    const auto id = register_agent(
        {mgmt_class, request.class_version, 0, OUI, mad::has_rmpp(mgmt_class)}); // no methods: no requests
    if (!id) return nullptr;
    agent& registered = agents_[agent_count_++];
    registered = {request.mgmt_class, request.class_version, OUI, *id};
    return &registered;
}

mad::send_result umad_transport::send(const mad::send_request& request) noexcept {
    if (gone_) return {mad::send_state::failed, gone_};
    if (writing_.is_resting(now_)) return {mad::send_state::would_block};
    if (request.expects_reply && held_.is_full()) return {mad::send_state::would_block};
    const mad::path_headers& path = mad::headers_of(*request.path);
    const bool is_smp = iba::is_smp(iba::MgmtClass{request.mgmt_class});
    mad::table_entries entries;
    if (!is_smp) entries = options_.tables->find(*request.path);
    else if (path.pkey_index != mad::path_headers::look_up) entries.pkey_index = path.pkey_index;
    if (entries.miss != mad::table_miss::none) [[unlikely]] {
        misfit_ = options_.tables->text_of_miss(*request.path);
        return {mad::send_state::failed, EADDRNOTAVAIL};
    }
    agent* const own = request.agent == mad::any_agent ? agent_for(request) : nullptr;
    unsent_by_ = umad_call::ioctl;
    if (!own && request.agent == mad::any_agent) return {mad::send_state::failed, errno};
    unsent_by_ = umad_call::write;

    header h{};
    h.id = own ? own->id : request.agent;
    h.timeout_ms = held_.timeout_ms(request);
    const std::span<const u8> message(request.mad, request.size);
    if (!request.expects_reply && !options_.user_rmpp && mad::is_rmpp(message)) h.retries = answer_repetitions;
    h.length = static_cast<u32>(request.size);
    h.qpn = htobe32(is_smp ? 0 : path.dqpn);
    h.qkey = htobe32(path.qkey);
    h.lid = htobe16(value(path.DLID));
    h.sl = path.SL;
    // The source LID is a LID of the port. Its low LMC bits, at most seven, are the path bits.
    h.path_bits = path.SLID == iba::permissive_lid ? 0 : value(path.SLID) & 0x7f;
    h.pkey_index = entries.pkey_index;
    if (const auto* global = std::get_if<mad::IBPath>(request.path); global && global->has_grh) {
        h.grh_present = 1;
        h.gid_index = entries.SGID_index;
        h.hop_limit = global->hop_limit;
        h.traffic_class = global->traffic_class;
        h.flow_label = htobe32(global->flow_label);
        std::memcpy(h.gid, global->DGID.bytes.data(), sizeof h.gid);
    }
    u8* const packet = request.mad - sizeof h;
    std::memcpy(packet, &h, sizeof h);

    const std::size_t size = sizeof h + request.size;
    ++mad::detail::system_calls;
    const ssize_t written = uninterrupted([&] { return options_.write(device_.get(), packet, size); });
    if (written >= 0) {
        writing_ = {};
        if (request.expects_reply) held_.add(iba::MgmtClass{request.mgmt_class});
        return {};
    }
    const int error = errno;
    if (is_shortage(error) && held_.count() > 0) return {mad::send_state::would_block};
    if (is_transient(error) && writing_.rest(now_)) return {mad::send_state::would_block};
    return {mad::send_state::failed, error};
}

mad::received umad_transport::receive(std::span<u8> buffer) noexcept {
    // Blocked sends are tried again after this call. Until then, next_event() must report their time, but not any
    // longer.
    if (!writing_.is_resting(now_)) writing_.due.reset();
    if (whole_) return hand_over(buffer);
    if (gone_) return {mad::receive_state::failed, gone_};
    if (reading_.is_resting(now_)) return {};

    const bool is_large = large_.size() > buffer.size();
    const std::span<u8> into = is_large ? std::span(large_) : buffer;
    std::memset(into.data(), 0, sizeof(header)); // interpret() must not find the header of an earlier message
    ++mad::detail::system_calls;
    const ssize_t bytes = uninterrupted([&] { return options_.read(device_.get(), into.data(), into.size()); });
    mad::received r = interpret(into, bytes, bytes < 0 ? errno : 0);
    if (bytes >= 0 && static_cast<std::size_t>(bytes) < sizeof(header)) ++short_reads_;
    if (r.state == mad::receive_state::failed) return failed_read(r.error);
    reading_ = {};
    listen(true);
    if (!is_listening_) reading_.due = now_ + first_pause; // short of memory: alternate reads with the clock

    if (is_large && bytes >= 0) {
        whole_ = static_cast<std::size_t>(bytes);
        return hand_over(buffer);
    }
    if (is_large && r.state == mad::receive_state::message) { // this time the kernel reported the length
        std::memcpy(buffer.data(), into.data(), buffer.size());
        r = interpret(buffer, bytes, ENOSPC);
    }
    large_ = {};
    const bool taken = bytes >= 0 && r.state == mad::receive_state::message;
    if (taken) held_.take_back(r, class_of_agent(r.source.agent));
    r.source.pkey = options_.tables->pkey_at(r.source.pkey_index);
    return r;
}

mad::received umad_transport::failed_read(int error) noexcept {
    listen(false);
    if (error == ENOSPC) grow();
    if (is_transient(error) && reading_.rest(now_)) return {};
    gone_ = error;
    reading_.due.reset();
    writing_.due.reset(); // no call is repeated any more
    return {mad::receive_state::failed, gone_};
}

// Grows the buffer as far as memory allows.
void umad_transport::grow() noexcept {
    const std::size_t size = large_.empty() ? first_large : std::min(4 * large_.size(), most_large);
    try {
        large_.assign(size, 0);
    } catch (const std::bad_alloc&) {
        large_ = {};
    }
}

// Passes the message in large_ to the caller as a read would.
mad::received umad_transport::hand_over(std::span<u8> buffer) noexcept {
    const std::size_t size = whole_;
    if (size > buffer.size()) {
        const u32 length = static_cast<u32>(size);
        std::memcpy(large_.data() + offsetof(header, length), &length, sizeof length);
        std::memcpy(buffer.data(), large_.data(), buffer.size());
        return interpret(buffer, -1, ENOSPC);
    }
    std::memcpy(buffer.data(), large_.data(), size);
    whole_ = 0;
    large_ = {};
    mad::received r = interpret(buffer, static_cast<ssize_t>(size), 0);
    held_.take_back(r, class_of_agent(r.source.agent));
    r.source.pkey = options_.tables->pkey_at(r.source.pkey_index);
    return r;
}

// Returns the class of an agent. For an agent of a server, the class is 0, which no request has.
iba::MgmtClass umad_transport::class_of_agent(u32 id) const noexcept {
    const auto end = agents_.begin() + agent_count_;
    const auto whose = std::find_if(agents_.begin(), end, [&](const agent& a) { return a.id == id; });
    return iba::MgmtClass{whose == end ? u8{0} : whose->mgmt_class};
}

std::optional<unsigned> umad_transport::held(iba::MgmtClass c) const noexcept { return held_.count(c); }

mad::received umad_transport::interpret(std::span<const u8> buffer, ssize_t bytes, int error) noexcept {
    mad::received r;
    if (bytes < 0 && error == EAGAIN) return r;

    header h{};
    if (buffer.size() >= sizeof h) std::memcpy(&h, buffer.data(), sizeof h);
    // ENOSPC: the message is larger than the buffer. The kernel copied its header and first segment and keeps the
    // whole message.
    const bool too_large = bytes < 0 && error == ENOSPC && h.length > buffer.size();
    const bool is_whole = bytes >= 0 && static_cast<std::size_t>(bytes) >= sizeof h;
    if (!is_whole && !too_large) {
        r.state = mad::receive_state::failed;
        r.error = bytes < 0 ? error : EIO;
        return r;
    }

    r.state = mad::receive_state::message;
    const std::size_t present =
        too_large ? std::min(buffer.size(), sizeof h + mad::mad_size) : static_cast<std::size_t>(bytes);
    r.status = h.status;
    r.mad = buffer.subspan(sizeof h, present - sizeof h);
    r.full_size = too_large ? h.length - sizeof h : r.mad.size();
    r.source.SLID = iba::lid{be16toh(h.lid)};
    r.source.SL = h.sl;
    r.source.pkey_index = h.pkey_index;
    r.source.sqpn = be32toh(h.qpn);
    r.source.path_bits = h.path_bits;
    r.source.agent = h.id;
    if (h.grh_present) {
        r.source.has_grh = true;
        r.source.SGID_index = h.gid_index;
        r.source.hop_limit = h.hop_limit;
        r.source.traffic_class = h.traffic_class;
        r.source.flow_label = be32toh(h.flow_label);
        std::memcpy(r.source.SGID.bytes.data(), h.gid, sizeof h.gid);
    }
    return r;
}

mad::transport_limits umad_transport::limits() const noexcept {
    mad::transport_limits limits = umad_limits;
    if (options_.sa_window > 0) limits.sa_window = options_.sa_window;
    limits.kernel_rmpp = !options_.user_rmpp;
    return limits;
}

std::string_view umad_transport::advice(mad::transport_call call, int error) const noexcept {
    switch (call) {
    case mad::transport_call::serve: return umad_advice(umad_call::ioctl, error);
    case mad::transport_call::receive: return umad_advice(umad_call::read, error);
    case mad::transport_call::send:
        if (error == EADDRNOTAVAIL && !gone_ && !misfit_.empty()) return misfit_;
        return umad_advice(gone_ ? umad_call::read : unsent_by_, error);
    }
    return {};
}

} // namespace comad::transports
