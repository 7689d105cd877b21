// SPDX-License-Identifier: MIT
// address.hpp - between paths and what libibverbs calls addresses: where a datagram goes, and where one came from.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>
#include <comad/verbs/detail/memory.hpp>

#include <span>

namespace comad::verbs {

/// Bytes in front of each datagram in a receive buffer: its global route header, or nothing of use (IBA 11.4.2.2).
inline constexpr std::size_t grh_size = 40;

ibv_gid raw_gid(const iba::gid&) noexcept;

/// The address that a path leads to, from a port. Rate 0 means the port's own. A GID index that is to be looked up is 0:
/// the tables are not known here (mad::port_tables).
ibv_ah_attr address_of(const mad::IBPath& to, u8 port) noexcept;

/// Says in the buffer of a datagram where it came from: `wc` is its completion, `grh` the first grh_size bytes. Of RoCE with
/// IPv4 the GID of the sender is the mapped one. The index of our own GID is left for whoever knows the table.
mad::source_address source_of(const ibv_wc& wc, std::span<const u8, grh_size> grh) noexcept;
/// Our GID that it was sent to; zero without a global route header.
iba::gid destination_of(const ibv_wc& wc, std::span<const u8, grh_size> grh) noexcept;

/// An address that UD QPs of a protection domain can send to.
class address_handle : public owned<ibv_ah> {
public:
    /// Errors: EINVAL for an address that makes no sense on this link. Of RoCE the kernel looks for the neighbour meanwhile,
    /// for a second if there is none, and then fails with ETIMEDOUT.
    static result<address_handle> create(const pd&, const ibv_ah_attr& to);
    static result<address_handle> create(const pd& domain, const mad::IBPath& to, u8 port) {
        return create(domain, address_of(to, port));
    }

private:
    using owned::owned;
};

} // namespace comad::verbs
