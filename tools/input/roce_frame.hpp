// SPDX-License-Identifier: MIT
// roce_frame.hpp - finds InfiniBand transport packets in frames of other networks: RoCE (IBA annexes A16 and A17). Does not depend on a
// file format.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/packet.hpp>

#include <span>
#include <string>

namespace ibtool {

/// The header at the start of a frame.
enum class frame_start {
    ethernet, ///< destination, source, VLAN tags if there are any, EtherType
    cooked,   ///< Linux's header of captures on all interfaces, version 1 (tcpdump -i any)
    cooked2,  ///< version 2 of the cooked header
    ip,       ///< IPv4 or IPv6, according to the version field
};

/// A packet from its GRH (RoCE version 1) or BTH (version 2) on, without its invariant CRC; empty: the frame contains none.
struct framed_packet {
    std::span<const comad::u8> bytes;
    comad::mad::packet_start starts_with = comad::mad::packet_start::BTH;
    std::string where; ///< `RoCEv2 from 10.0.0.1 to 10.0.0.2`
};

/// Finds the packet in a frame: EtherType 0x8915, or UDP over IPv4 or IPv6 to port 4791. Fragments are ignored. The bytes are not trusted.
/// If the frame was not captured as a whole, the packet is shorter.
framed_packet packet_in_frame(std::span<const comad::u8> frame, frame_start from);

} // namespace ibtool
