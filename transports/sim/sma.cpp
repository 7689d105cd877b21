// SPDX-License-Identifier: MIT
// sma.cpp - makes the replies of simulated subnet management agents.
#include "sma.hpp"

#include <comad/server/detail/reply.hpp>
#include <comad/server/detail/request.hpp>

#include <algorithm>
#include <array>

namespace comad::transports::sim {
namespace {

using header = iba::MADHeader;
namespace status = server::status;

u16 put_attribute(attributes& of, u32 node, u8 in_port, mad_view smp) {
    const u8* m = smp.data();
    if (iba::get<&header::classVersion>(m) != 1) return status::bad_version;
    const auto method = iba::get<&header::method>(m);
    const bool is_set = method == iba::Method::Set;
    if (!is_set && method != iba::Method::Get) return status::unsupported_method;
    const u16 attributeID = iba::get<&header::attributeID>(m);
    const u32 modifier = iba::get<&header::attributeModifier>(m);
    const auto data = smp.subspan<iba::offset_of<&iba::smp::Format::data>, 64>();
    if (is_set)
        if (const u16 refused = of.set(node, in_port, attributeID, modifier, data); refused != 0) return refused;
    std::array<u8, 64> attribute;
    const u16 refused = of.get(node, in_port, attributeID, modifier, attribute);
    if (refused == 0) std::copy(attribute.begin(), attribute.end(), data.begin());
    return refused;
}

bool knows_key(attributes::key key, mad_view smp) noexcept {
    return key.MKey == 0 || iba::get<&iba::smp::Format::MKey>(smp.data()) == key.MKey;
}

/// Returns whether an SMP needs the key (IBA 14.2.4.1): writes, and reads if reads are protected. SMInfo belongs to
/// the subnet manager, not to the SMA.
bool needs_key(attributes::key key, mad_view smp) noexcept {
    if (iba::get<&header::attributeID>(smp.data()) == iba::attribute_id<iba::smp::SMInfo>) return false;
    const auto method = iba::get<&header::method>(smp.data());
    return method == iba::Method::Set || method == iba::Method::TrapRepress ||
           (method == iba::Method::Get && key.protect_bits >= 2);
}

void hide_key(mad_view reply) noexcept {
    if (iba::get<&header::attributeID>(reply.data()) == iba::attribute_id<iba::smp::PortInfo>)
        iba::put<&iba::smp::PortInfo::MKey>(reply.data() + iba::offset_of<&iba::smp::Format::data>, 0);
}

} // namespace

sma_outcome answer(attributes& of, u32 node, u8 in_port, mad_view smp, mad::time_point now) {
    const attributes::key key = of.key_of(node, in_port, now);
    const bool has_key = knows_key(key, smp);
    if (has_key) of.renew_lease(node, in_port);
    if (!has_key && needs_key(key, smp)) {
        of.count_mkey_violation(node, in_port, now);
        return sma_outcome::wrong_mkey;
    }
    const u16 status = put_attribute(of, node, in_port, smp);
    if (!has_key && key.protect_bits != 0) hide_key(smp);
    return server::turn_into_reply(smp, status) ? sma_outcome::replied : sma_outcome::silent;
}

} // namespace comad::transports::sim
