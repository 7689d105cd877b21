// SPDX-License-Identifier: MIT
// transport.cpp - returns the reply path of a received MAD, and whether a registration covers a request.
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/mad/transport.hpp>

namespace comad::mad {

bool describes(const registration& what, std::span<const u8> request) noexcept {
    using iba::MADHeader;
    const u8* mad = request.data();
    const unsigned method = value(iba::get<&MADHeader::method>(mad));
    return iba::get<&MADHeader::mgmtClass>(mad) == what.mgmt_class &&
           iba::get<&MADHeader::classVersion>(mad) == what.class_version && method < 32 &&
           (what.methods >> method & 1) != 0 &&
           (!iba::is_vendor_oui(what.mgmt_class) || iba::get<&iba::vend::OUIFormat::OUI>(mad) == what.OUI);
}

IBPath path_back(const source_address& source) noexcept {
    IBPath came;
    came.SLID = source.SLID;
    came.DLID = iba::lid{source.path_bits};
    came.SL = source.SL;
    came.pkey = source.pkey;
    came.pkey_index = source.pkey_index;
    came.sqpn = source.sqpn;
    came.has_grh = source.has_grh;
    if (source.has_grh) {
        came.SGID = source.SGID;
        came.SGID_index = source.SGID_index;
        came.hop_limit = source.hop_limit;
        came.traffic_class = source.traffic_class;
        came.flow_label = source.flow_label;
    }
    return reverse(came);
}

} // namespace comad::mad
