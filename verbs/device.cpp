// SPDX-License-Identifier: MIT
// device.cpp - opens devices, and reads their tables and events.
#include <comad/iba/detail/text.hpp>
#include <comad/verbs/detail/device.hpp>

#include <boost/outcome/try.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <iterator>

namespace comad::verbs {

namespace {

using device_list = std::unique_ptr<ibv_device*, void (*)(ibv_device**)>;

device_list list_devices(int& count) {
    errno = 0;
    return {::ibv_get_device_list(&count), ::ibv_free_device_list};
}

error no_list() {
    // If the kernel module or its device is missing, libibverbs returns no list (rdma-core, libibverbs/init.c).
    return failed("libibverbs cannot list devices (is the module ib_uverbs loaded?)", errno ? errno : ENODEV);
}

iba::gid gid_of(const ibv_gid& raw) noexcept {
    iba::gid gid;
    static_assert(sizeof gid.bytes == sizeof raw.raw);
    std::memcpy(gid.bytes.data(), raw.raw, sizeof raw.raw);
    return gid;
}

} // namespace

result<std::vector<std::string>> device_names() {
    int count = 0;
    const device_list all = list_devices(count);
    if (!all) return no_list();
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.emplace_back(::ibv_get_device_name(all.get()[i]));
    std::sort(names.begin(), names.end()); // libibverbs returns them in no particular order
    return names;
}

result<context> context::open(std::string_view device) {
    int count = 0;
    const device_list all = list_devices(count);
    if (!all) return no_list();
    ibv_device** const end = all.get() + count;
    ibv_device** const found =
        std::find_if(all.get(), end, [&](ibv_device* d) { return device == ::ibv_get_device_name(d); });
    if (found == end) {
        std::vector<std::string> names;
        std::transform(all.get(), end, std::back_inserter(names), ::ibv_get_device_name);
        std::sort(names.begin(), names.end());
        return error{
            fmt::format("libibverbs has no device {}; available: {} (its provider may be missing: ibverbs-providers)",
                        iba::as_given(device), names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
            ENODEV};
    }
    errno = 0;
    ibv_context* const opened = ::ibv_open_device(*found);
    if (!opened) {
        const int error = errno ? errno : ENODEV;
        const char* advice =
            error == EACCES || error == EPERM
                ? " (grant a group access to /dev/infiniband/uverbs* with a udev rule, as the packages of rdma-core do)"
                : "";
        return failed(fmt::format("cannot open {}{}", device, advice), error);
    }
    context made(own(opened, ::ibv_close_device));
    const int flags = ::fcntl(opened->async_fd, F_GETFL);
    if (flags < 0 || ::fcntl(opened->async_fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return failed(fmt::format("cannot wait for events of {}", device), errno);
    return made;
}

std::string context::name() const { return ::ibv_get_device_name(get()->device); }

result<ibv_device_attr> context::attributes() const {
    ibv_device_attr attributes{};
    if (const int error = ::ibv_query_device(get(), &attributes))
        return failed(fmt::format("cannot query the attributes of {}", name()), error);
    return attributes;
}

result<ibv_port_attr> context::port_attributes(u8 port) const {
    ibv_port_attr attributes{};
    if (const int error = ibv_query_port(get(), port, &attributes))
        return failed(fmt::format("cannot query port {} of {}", port, name()), error);
    return attributes;
}

result<iba::gid> context::gid(u8 port, unsigned index) const {
    ibv_gid raw{};
    errno = 0;
    if (::ibv_query_gid(get(), port, static_cast<int>(index), &raw) != 0)
        return failed(fmt::format("cannot read GID {} of port {} of {}", index, port, name()), errno ? errno : EINVAL);
    return gid_of(raw);
}

result<u16> context::pkey(u8 port, unsigned index) const {
    __be16 pkey = 0;
    errno = 0;
    if (::ibv_query_pkey(get(), port, static_cast<int>(index), &pkey) != 0)
        return failed(fmt::format("cannot read P_Key {} of port {} of {}", index, port, name()),
                      errno ? errno : EINVAL);
    return be16toh(pkey);
}

result<std::vector<iba::gid>> context::gids(u8 port) const {
    BOOST_OUTCOME_TRY(const auto whole, attributes());
    BOOST_OUTCOME_TRY(const auto one, port_attributes(port));
    const auto length = static_cast<std::size_t>(std::max(one.gid_tbl_len, 0));
    // One call returns the used entries of all ports.
    std::vector<ibv_gid_entry> used(length * whole.phys_port_cnt);
    const ssize_t count = ::ibv_query_gid_table(get(), used.data(), used.size(), 0);
    if (count < 0) return failed(fmt::format("cannot read the GID table of {}", name()), static_cast<int>(-count));
    std::vector<iba::gid> table(length);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        if (used[i].port_num == port && used[i].gid_index < length) table[used[i].gid_index] = gid_of(used[i].gid);
    return table;
}

result<std::vector<u16>> context::pkeys(u8 port) const {
    BOOST_OUTCOME_TRY(const auto one, port_attributes(port));
    std::vector<u16> table;
    for (unsigned i = 0; i < one.pkey_tbl_len; ++i) {
        BOOST_OUTCOME_TRY(const u16 entry, pkey(port, i));
        table.push_back(entry);
    }
    return table;
}

std::optional<u64> context::effective_speed(u8 port) const {
    // Looked up at run time, because Debian 12 builds with a libibverbs that lacks the function.
    using query_port_speed = int (*)(ibv_context*, std::uint32_t, std::uint64_t*);
    static const auto query = reinterpret_cast<query_port_speed>(::dlsym(RTLD_DEFAULT, "ibv_query_port_speed"));
    std::uint64_t speed = 0; // unit: 100 Mb/s
    if (!query || query(get(), port, &speed) != 0) return std::nullopt;
    return speed * 100'000'000;
}

// ---- events ----------------------------------------------------------------------------------------------------------

bool event::is_of_port() const noexcept {
    switch (type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE: return true;
    default: return false;
    }
}

bool event::is_fatal() const noexcept {
    switch (type) {
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_WQ_FATAL: return true;
    default: return false;
    }
}

std::string event::name() const { return ::ibv_event_type_str(type); }

error error_of(const event& e, std::string_view device) {
    return {e.is_of_port() ? fmt::format("{}/{}: {}", device, e.port, e.name())
                           : fmt::format("{}: {}", device, e.name())};
}

result<std::optional<event>> context::next_event() const {
    ibv_async_event raw{};
    errno = 0;
    if (::ibv_get_async_event(get(), &raw) != 0) {
        if (errno == EAGAIN || errno == EINTR) return std::optional<event>{};
        return failed(fmt::format("cannot read events from {}", name()), errno ? errno : EIO);
    }
    event e{raw.event_type};
    if (e.is_of_port()) e.port = static_cast<unsigned>(raw.element.port_num);
    else if (e.type != IBV_EVENT_DEVICE_FATAL) e.object = raw.element.qp; // all members of the union are pointers
    // Acknowledge at once: an object with an unacknowledged event cannot be destroyed.
    ::ibv_ack_async_event(&raw);
    return std::optional(e);
}

} // namespace comad::verbs
