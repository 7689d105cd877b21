// SPDX-License-Identifier: MIT
// tshark.hpp - decodes a capture with Wireshark's InfiniBand dissector into fields with their bit positions.
#pragma once
#include <string>
#include <vector>

/// A field without subfields.
struct tshark_field {
    std::string name;  ///< full name, such as infiniband.nodeinfo.nodeguid
    unsigned off;      ///< first bit, counted from the start of the packet
    unsigned width;    ///< number of bits
    std::string value; ///< lower-case hex digits, as many as the width needs
};

/// A packet as the dissector describes it.
struct tshark_packet {
    std::vector<tshark_field> fields; ///< fields in the dissector's order
    bool is_malformed = false;        ///< whether the dissector reports a malformed packet
};

/// Returns the packets of a capture file. Throws std::runtime_error if tshark fails.
std::vector<tshark_packet> dissect_with_tshark(const std::string& file);
