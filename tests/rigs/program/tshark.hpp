// SPDX-License-Identifier: MIT
// tshark.hpp - what Wireshark's InfiniBand dissector makes of a capture: every field, and the bits where it found it.
#pragma once
#include <string>
#include <vector>

/// A field without fields of its own.
struct tshark_field {
    std::string name;  ///< infiniband.nodeinfo.nodeguid
    unsigned off;      ///< first bit, from the packet's first
    unsigned width;    ///< bits
    std::string value; ///< hex digits, lower case, as many as the width needs
};

struct tshark_packet {
    std::vector<tshark_field> fields; ///< in the dissector's order
    bool is_malformed = false;        ///< the dissector says so
};

/// The packets of a file. Throws std::runtime_error if tshark fails.
std::vector<tshark_packet> dissect_with_tshark(const std::string& file);
