// SPDX-License-Identifier: MIT
// device.hpp - an open device of libibverbs: its attributes, its ports and their tables, and its asynchronous events.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/verbs/detail/error.hpp>

#include <infiniband/verbs.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::verbs {

/// Returns the names of the devices that libibverbs has a driver for. If sysfs has a device that is not in this list, its provider is
/// not installed (Debian: ibverbs-providers).
result<std::vector<std::string>> device_names();

/// An asynchronous event (IBA 11.6.3), which next_event() has already acknowledged.
struct event {
    ibv_event_type type{};
    unsigned port = 0;            ///< the number of the port, for events of a port
    const void* object = nullptr; ///< the get() of the CQ, QP or SRQ, for its events

    /// Returns true if the event concerns a port.
    bool is_of_port() const noexcept;
    /// True if the device, a QP, a CQ or an SRQ failed, or a path was not migrated.
    bool is_fatal() const noexcept;
    /// The name in libibverbs: `port active`.
    std::string name() const;
};
/// Converts a fatal event to an error.
error error_of(const event&, std::string_view device);

/// An open device. Each call queries libibverbs, and returns its structures.
///
///     auto device = verbs::context::open("mlx5_0");
///     if (!device) return fail(device.error().text);
///     const auto port = device.value().port_attributes(1);
///
/// Errors:   verbs::error, with one line of text.
/// Lifetime: Copies share the device. It is closed when the last copy, and the last object that was made from it, is destroyed.
/// Threads:  As libibverbs: several threads can query a device.
class context : public owned<ibv_context> {
public:
    /// Errors: there is no such device, or the user may not open it.
    static result<context> open(std::string_view device);

    /// Returns the name of the device.
    std::string name() const;
    /// Returns the attributes of the device.
    result<ibv_device_attr> attributes() const;
    /// Returns the attributes of a port.
    result<ibv_port_attr> port_attributes(u8 port) const;
    /// Returns one entry of the GID table.
    result<iba::gid> gid(u8 port, unsigned index) const;
    /// Returns the whole GID table; zero: an entry that is not used.
    result<std::vector<iba::gid>> gids(u8 port) const;
    /// Returns one entry of the P_Key table.
    result<u16> pkey(u8 port, unsigned index) const;
    /// Returns the whole P_Key table; zero: an entry that is not used.
    result<std::vector<u16>> pkeys(u8 port) const;

    /// Returns the effective speed of a port in bits per second, a multiple of 100 Mb/s, with link aggregation and the limits of PCIe
    /// (ibv_query_port_speed of rdma-core 62 and later). nullopt: the installed libibverbs, the driver or the kernel does not report
    /// it.
    std::optional<u64> effective_speed(u8 port) const;

    /// Returns a descriptor that is readable when there is an event.
    int event_descriptor() const noexcept { return get()->async_fd; }
    /// Returns the next event, or nullopt if there is none. It never waits.
    result<std::optional<event>> next_event() const;

private:
    using owned::owned;
};

} // namespace comad::verbs
