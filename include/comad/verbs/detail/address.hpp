// SPDX-License-Identifier: MIT
// address.hpp - converts between paths and the address structures of libibverbs, for sent and received datagrams.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>
#include <comad/verbs/detail/memory.hpp>

#include <span>

namespace comad::verbs {

/// The bytes before each datagram in a receive buffer: its global route header, or undefined bytes (IBA 11.4.2.2).
inline constexpr std::size_t grh_size = 40;

/// Converts a GID to the type of libibverbs.
ibv_gid raw_gid(const iba::gid&) noexcept;

/// Returns the address to which a path leads from a port. Rate 0 means the port's own rate. A GID index that must be
/// looked up becomes 0, because this function has no port tables (mad::port_tables).
ibv_ah_attr address_of(const mad::IBPath& to, u8 port) noexcept;

/// Returns the source of a received datagram. `wc` is its completion, `grh` the first grh_size bytes of its buffer.
/// For RoCE with IPv4, the sender's GID is the IPv4-mapped address. The index of the local GID is not set; the caller
/// must look it up.
mad::source_address source_of(const ibv_wc& wc, std::span<const u8, grh_size> grh) noexcept;
/// Returns the local GID to which the datagram was sent; zero if it has no global route header.
iba::gid destination_of(const ibv_wc& wc, std::span<const u8, grh_size> grh) noexcept;

/// An address handle, to which UD QPs of a protection domain can send.
class address_handle : public owned<ibv_ah> {
public:
    /// Creates an address handle.
    /// Errors: EINVAL if the address is invalid on this link. For RoCE, the kernel resolves the neighbor during the
    ///         call. If there is no neighbor, the call fails with ETIMEDOUT after about a second.
    static result<address_handle> create(const pd&, const ibv_ah_attr& to);
    static result<address_handle> create(const pd& domain, const mad::IBPath& to, u8 port) {
        return create(domain, address_of(to, port));
    }

private:
    using owned::owned;
};

} // namespace comad::verbs
