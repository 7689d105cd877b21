// SPDX-License-Identifier: MIT
// request.cpp - checks and decodes requests. The order of the checks decides which fault is reported.
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/sa/format.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/server/detail/request.hpp>

namespace comad::server {

using iba::MADHeader;
using iba::MgmtClass;

u16 status_of(fault f) noexcept {
    switch (f) {
    case fault::base_version:
    case fault::class_version: return status::bad_version;
    case fault::unknown_class: return status::unsupported_method;
    case fault::unknown_attribute: return status::unsupported_attribute;
    case fault::undecodable: return status::invalid_value;
    case fault::too_short:
    case fault::no_request:
    case fault::wrong_length: break;
    }
    return 0;
}

namespace {

/// Returns whether any version of the class is known.
bool is_known(MgmtClass mgmt_class) noexcept {
    return iba::find_format(mgmt_class, 1) || iba::find_format(mgmt_class, 2);
}

bool refuses(unknown_attributes unknown, MgmtClass mgmt_class) noexcept {
    if (unknown == unknown_attributes::refused_unless_vendor)
        return !iba::is_vendor(mgmt_class) && !iba::is_vendor_oui(mgmt_class);
    return unknown == unknown_attributes::refused;
}

} // namespace

u32 request::OUI() const noexcept {
    return iba::is_vendor_oui(header.mgmtClass) ? iba::get<&iba::vend::OUIFormat::OUI>(mad.data()) : 0;
}

u64 request::component_mask() const noexcept {
    return header.mgmtClass == MgmtClass::SubnAdm ? iba::get<&iba::sa::Header::componentMask>(mad.data()) : 0;
}

parsed parse_request(std::span<const u8> message, const mad::source_address& source,
                     unknown_attributes unknown) noexcept {
    if (message.size() <= iba::wire_size<MADHeader>) return fault::too_short;
    if (mad::is_response(message)) return fault::no_request;
    request r;
    r.mad = message;
    r.source = source;
    iba::decode(r.header, message.data());
    const MADHeader& h = r.header;
    if (h.baseVersion != 1) return fault::base_version;
    if (!is_known(h.mgmtClass)) return fault::unknown_class;
    if (!iba::find_format(h.mgmtClass, h.classVersion, h.attributeID)) return fault::class_version;

    if (message.size() != mad::mad_size && !mad::is_rmpp(message)) return fault::wrong_length;
    r.data = message.subspan(mad::payload_offset(h.mgmtClass, h.attributeID));
    r.attribute = iba::find_attribute(h.mgmtClass, h.classVersion, h.attributeID, r.OUI());
    if (!r.attribute && refuses(unknown, h.mgmtClass)) return fault::unknown_attribute;
    if (r.attribute && r.data.size() < r.attribute->bytes) return fault::undecodable;
    return r;
}

} // namespace comad::server
