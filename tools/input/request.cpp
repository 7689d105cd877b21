// SPDX-License-Identifier: MIT
// request.cpp - builds requests: finds RPCs, attributes and fields by name.
#include "input/request.hpp"

#include "comad.hpp"
#include "input/field_changes.hpp"
#include "input/options.hpp"
#include "input/structure.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ibtool {
namespace {

using iba::Method;
using iba::MgmtClass;

/// An RPC with its name, class and method.
struct rpc_name {
    std::string_view name;
    MgmtClass mgmt_class; ///< Vend: any vendor class
    Method method;
};
constexpr rpc_name rpc_names[] = {
    {"SubnGet", MgmtClass::SubnLID, Method::Get},
    {"SubnSet", MgmtClass::SubnLID, Method::Set},
    {"SubnAdmGet", MgmtClass::SubnAdm, Method::Get},
    {"SubnAdmGetTable", MgmtClass::SubnAdm, Method::GetTable},
    {"SubnAdmSet", MgmtClass::SubnAdm, Method::Set},
    {"SubnAdmDelete", MgmtClass::SubnAdm, Method::Delete},
    {"PerformanceGet", MgmtClass::Performance, Method::Get},
    {"PerformanceSet", MgmtClass::Performance, Method::Set},
    {"BMGet", MgmtClass::BM, Method::Get},
    {"BMSet", MgmtClass::BM, Method::Set},
    {"DevMgtGet", MgmtClass::DevMgt, Method::Get},
    {"DevMgtSet", MgmtClass::DevMgt, Method::Set},
    {"CommMgtGet", MgmtClass::CommMgt, Method::Get},
    {"CommMgtSet", MgmtClass::CommMgt, Method::Set},
    {"SNMPGet", MgmtClass::SNMP, Method::Get},
    {"CongestionControlGet", MgmtClass::CongestionControl, Method::Get},
    {"CongestionControlSet", MgmtClass::CongestionControl, Method::Set},
    {"VendGet", MgmtClass::Vend, Method::Get},
    {"VendSet", MgmtClass::Vend, Method::Set},
};

const rpc_name& rpc_named(const std::string& name) {
    std::vector<std::string_view> names;
    for (const rpc_name& r : rpc_names) {
        if (r.name == name) return r;
        names.push_back(r.name);
    }
    throw usage_error(fmt::format("unknown RPC '{}'; similar: {}", iba::escaped(name), iba::most_similar(name, names)));
}

/// Returns the use of the attribute that has the method of the RPC, in the class of the RPC.
iba::attribute_use use_of(const iba::structure& s, const rpc_name& rpc) {
    std::string legal;
    for (const iba::attribute_use& use : s.uses) {
        const bool is_vendors = iba::is_vendor(use.mgmt_class) || iba::is_vendor_oui(use.mgmt_class);
        const bool is_meant = rpc.mgmt_class == MgmtClass::Vend ? is_vendors : use.covers(rpc.mgmt_class);
        if (is_meant && use.allows(rpc.method)) {
            iba::attribute_use found = use;
            if (!is_vendors) found.mgmt_class = rpc.mgmt_class;
            return found;
        }
        for (const rpc_name& other : rpc_names)
            if ((use.covers(other.mgmt_class) || (other.mgmt_class == MgmtClass::Vend && is_vendors)) &&
                use.allows(other.method))
                legal += fmt::format("{}{}", legal.empty() ? "" : ", ", other.name);
    }
    throw usage_error(fmt::format("{} does not support {}; {}", rpc.name, s.info->name,
                                  legal.empty() ? "no RPC supports it" : "use " + legal));
}

} // namespace

const iba::structure& attribute_named(const std::string& name, MgmtClass mgmt_class) {
    constexpr std::string_view prefixes[] = {"SMP", "SA", "PM", "MAD", "CC", "DM", "BM", "CM", "SNMP"};
    for (const std::string_view prefix : prefixes) {
        const iba::structure* found = iba::find_structure(std::string(prefix) + name);
        if (!found) continue;
        for (const iba::attribute_use& use : found->uses)
            if (use.covers(mgmt_class)) return *found;
    }
    return structure_named(name);
}

request make_request(const std::string& rpc_word, const std::string& attribute_word,
                     const std::vector<std::string>& fields) {
    const rpc_name& rpc = rpc_named(rpc_word);
    const iba::structure& attribute = attribute_named(attribute_word, rpc.mgmt_class);
    const iba::attribute_use use = use_of(attribute, rpc);
    request r{&attribute,
              {use.mgmt_class, use.class_version, rpc.method, attribute.attributeID, true, use.OUI},
              fields,
              std::vector<u8>(attribute.info->bytes)};
    for (const std::string& field : fields) {
        assign(*attribute.info, r.payload, field);
        if (rpc.mgmt_class != MgmtClass::SubnAdm) continue;
        const auto mask = iba::component_mask(*attribute.info, iba::parse_assignment(field).value().name);
        if (!mask) throw usage_error(mask.error().text);
        r.component_mask |= mask.value();
    }
    return r;
}

bool writes_all_fields(const request& r) {
    const MgmtClass in = r.kind.mgmt_class;
    const bool is_whole = in == MgmtClass::SubnLID || in == MgmtClass::CongestionControl ||
                          r.kind.attributeID == iba::attribute_id<iba::ClassPortInfo>;
    return r.kind.method == Method::Set && is_whole && std::ranges::any_of(r.attribute->uses, [&](const auto& use) {
               return use.covers(in) && use.allows(Method::Get);
           });
}

mad::rpc_kind reading(const request& r) {
    mad::rpc_kind kind = r.kind;
    kind.method = Method::Get;
    return kind;
}

} // namespace ibtool
