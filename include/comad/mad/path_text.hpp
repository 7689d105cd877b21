// SPDX-License-Identifier: MIT
// path_text.hpp - converts paths from and to the text that users write. It does not depend on devices or on the
// subnet: end ports remain names, and a GID remains without a LID until a resolver finds it.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comad::mad {

/// The values of a path specification that only a queue pair needs. MADs do not contain them, so paths do not have
/// them. The names come from python-rdma. verbs::connection_of() makes a connection of them.
struct qp_values {
    u8 min_rnr_timer = 0;   ///< code of the time that a sender waits if no receive was posted (IBA 9.7.5.2.8), 5 bits
    u8 dack_resp_time = 20; ///< time until the destination acknowledges, 4.096 us * 2^n, 5 bits
    u8 sack_resp_time = 20; ///< time until the source acknowledges, 4.096 us * 2^n, 5 bits
    u8 drdatomic = 255;     ///< RDMA reads and atomics that the destination can have in flight
    u8 srdatomic = 255;     ///< RDMA reads and atomics that the source can have in flight
    u32 dqpsn = 0;          ///< PSN of the first packet from the destination, 24 bits
    u32 sqpsn = 0;          ///< PSN of the first packet from the source, 24 bits

    friend bool operator==(const qp_values&, const qp_values&) = default;
};

/// A parsed target.
struct address {
    any_path path;                       ///< the path; for a GID or GUID only DGID is set, for a LID only DLID
    std::optional<std::string> end_port; ///< name of the local port to send from, if the text contains one
    qp_values qp{};                      ///< values of a queue pair; the defaults if the text contains none
    /// The offsets of SLID and DLID from the LID of the local port, 0..127. set_local_lid() replaces them by LIDs.
    std::optional<u8> SLID_bits{}, DLID_bits{};
    /// The number of the umad agent that received a MAD, as python-rdma prints it. It identifies an agent only in the
    /// program that printed the path. Sends ignore it; send_request::agent selects an agent.
    std::optional<u32> umad_agent_id{};

    friend bool operator==(const address&, const address&) = default;
};

/// Replaces SLID_bits and DLID_bits by the LID of the local port plus these bits (IBA 4.1.3, LMC). Other addresses stay
/// as they are.
void set_local_lid(address&, iba::lid local) noexcept;

/// The meaning of `0x` and up to 16 hexadecimal digits, such as `0x2c90300001491`.
enum class hex_means : u8 { LID, GUID };

/// Parses a target. The function tries these forms in this order:
///
///   IBPath(DLID=7, SL=1)            path specification (see below), if the text contains a `(`
///   0,1,4                           directed route, if it contains a `,`; ports in decimal, each below 255, the first is 0
///   fe80::2:c903:0:1491%mlx5_0/1    GID and the local port to send from, if it contains a `%`
///   fe80::2:c903:0:1491             GID: an IPv6 address
///   0002:c903:0000:1491             port GUID, which becomes a link-local GID; leading zeros of a group, or all colons, may
///                                   be omitted
///   7, 0x1f                         unicast LID, 1 to 0xbfff
///
/// A path specification is `IBPath(...)` (or `Path(...)`) or `IBDRPath(...)` with names and values of members, each at most
/// once, and at least one of them. Besides the members of the path, these are the members of `address` and qp_values.
/// Integers are decimal, or hexadecimal after 0x, and must fit the field of the header. A GID is an address or
/// GID('fe80::1'), drPath is `0:1:4:`, has_grh is also True or False, and end_port is 'mlx5_0/1' or None. SLID and
/// SLID_bits exclude each other, and so do DLID and DLID_bits.
///
/// Errors: unreadable, unknown_name (of a member), out_of_range; the message has one line for any input. It does not throw
/// for invalid text.
iba::result<address> from_string(std::string_view text, hex_means = hex_means::LID);

/// Returns the path specification from which from_string() makes an equal path: `IBPath(DLID=7, SL=1)`. It omits
/// members that have their default value; if all have it, one of them is printed. Precondition: each value fits the
/// field of the header, and the ports of a route are below 255.
std::string spec_string(const any_path& p);
/// Returns the path specification from which from_string() makes an equal address: `IBPath(end_port='mlx5_0/1',
/// DLID=7, sqpsn=99)`. Precondition: as for a path, and the name of the end port comes from from_string().
std::string spec_string(const address& a);

} // namespace comad::mad
