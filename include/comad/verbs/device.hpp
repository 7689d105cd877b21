// SPDX-License-Identifier: MIT
// device.hpp - an open device of libibverbs: what it can do, its ports and their tables, and its asynchronous events.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/verbs/error.hpp>

#include <infiniband/verbs.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::verbs {

/// The devices that libibverbs has a driver for, by name. Of a device that sysfs shows and that is not here, the provider is
/// missing (Debian: ibverbs-providers).
result<std::vector<std::string>> device_names();

/// An asynchronous event (IBA 11.6.3). It was acknowledged already.
struct event {
    ibv_event_type type{};
    unsigned port = 0;            ///< of events of a port: its number
    const void* object = nullptr; ///< of events of a CQ, QP or SRQ: what its get() gives

    bool is_of_port() const noexcept;
    /// Of the device, a QP, a CQ or an SRQ that has failed, or of a path that was not migrated.
    bool is_fatal() const noexcept;
    /// In libibverbs' words: `port active`.
    std::string name() const;
};
/// A fatal event as an error.
error error_of(const event&, std::string_view device);

/// An open device. Attributes are libibverbs' structures, asked anew each time.
class context : public owned<ibv_context> {
public:
    /// Errors: there is no such device, or it may not be opened.
    static result<context> open(std::string_view device);

    std::string name() const;
    result<ibv_device_attr> attributes() const;
    result<ibv_port_attr> port_attributes(u8 port) const;
    result<iba::gid> gid(u8 port, unsigned index) const;
    /// The whole table; zero: an entry that is not used.
    result<std::vector<iba::gid>> gids(u8 port) const;
    result<u16> pkey(u8 port, unsigned index) const;
    /// The whole table, likewise.
    result<std::vector<u16>> pkeys(u8 port) const;

    /// The effective speed of a port in bits per second, a multiple of 100 Mb/s: with link aggregation and the limits of PCIe
    /// (ibv_query_port_speed of rdma-core 62 and later). Nothing: the libibverbs that this program runs with, the driver or the
    /// kernel does not report it.
    std::optional<u64> effective_speed(u8 port) const;

    /// Readable when there is an event.
    int event_descriptor() const noexcept { return get()->async_fd; }
    /// The next event, if there is one: it never waits.
    result<std::optional<event>> next_event() const;

private:
    using owned::owned;
};

} // namespace comad::verbs
