// SPDX-License-Identifier: MIT
// sma.cpp - replies of subnet management agents.
#include "sma.hpp"

#include <comad/server/reply.hpp>
#include <comad/server/request.hpp>

#include <algorithm>
#include <array>

namespace comad::transports::sim {
namespace {

using header = iba::MADHeader;
namespace status = server::status;

u16 put_attribute(attributes& of, u32 node, u8 in_port, mad_view smp) noexcept {
    const u8* m = smp.data();
    if (iba::get<&header::classVersion>(m) != 1) return status::bad_version;
    const auto method = iba::get<&header::method>(m);
    if (method == iba::Method::Set) return status::unsupported_attribute; // no attribute here can be set yet
    if (method != iba::Method::Get) return status::unsupported_method;
    std::array<u8, 64> attribute;
    const u16 refused =
        of.get(node, in_port, iba::get<&header::attributeID>(m), iba::get<&header::attributeModifier>(m), attribute);
    if (refused == 0)
        std::copy(attribute.begin(), attribute.end(), smp.begin() + iba::offset_of<&iba::smp::Format::data>);
    return refused;
}

} // namespace

bool answer(attributes& of, u32 node, u8 in_port, mad_view smp) noexcept {
    return server::turn_round(smp, put_attribute(of, node, in_port, smp));
}

} // namespace comad::transports::sim
