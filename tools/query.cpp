// SPDX-License-Identifier: MIT
// query.cpp - query: any RPC of the IBA with any field, by name. Knows no attribute.
#include "ask.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "structure.hpp"
#include <comad/iba/codec.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/mask.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/suggest.hpp>
#include <comad/iba/text.hpp>
#include <comad/mad/record_table.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <optional>

namespace ibtool {
namespace {

namespace iba = comad::iba;
namespace mad = comad::mad;
using comad::u32;
using comad::u64;
using comad::u8;
using iba::Method;
using iba::MgmtClass;

/// An RPC by its name: class and method.
struct rpc_name {
    std::string_view name;
    MgmtClass mgmt_class; ///< Vend: whatever vendor class the attribute has
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
    throw usage_error(
        fmt::format("there is no RPC '{}'; there are {}", iba::escaped(name), iba::most_similar_first(name, names)));
}

/// Where the attribute has the method, in the class of the RPC.
iba::attribute_use use_of(const iba::structure& s, const rpc_name& rpc) {
    std::string legal;
    for (const iba::attribute_use& use : s.uses) {
        const bool is_vendors = iba::is_vendor(use.mgmt_class) || iba::is_vendor_OUI(use.mgmt_class);
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
    throw usage_error(fmt::format("{} does not go with {}; {}", rpc.name, s.info->name,
                                  legal.empty() ? "no RPC carries it" : "what does: " + legal));
}

/// With its full name, or without the prefix of its class.
const iba::structure& attribute_named(const std::string& name, const rpc_name& rpc) {
    constexpr std::string_view prefixes[] = {"SMP", "SA", "PM", "MAD", "CC", "DM", "BM", "CM", "SNMP"};
    for (const std::string_view prefix : prefixes) {
        const iba::structure* found = iba::find_structure(std::string(prefix) + name);
        if (!found) continue;
        for (const iba::attribute_use& use : found->uses)
            if (use.covers(rpc.mgmt_class)) return *found;
    }
    return structure_named(name);
}

struct settings {
    std::string method, attribute, target;
    std::vector<std::string> fields;
    u32 modifier = 0;
    target_options kind;
    bool json = false;
};

/// What is asked, but not yet of whom.
struct request {
    const iba::structure* attribute;
    mad::rpc_kind kind;
    std::vector<u8> payload;
    u64 component_mask = 0;
};

request make_request(const settings& s) {
    const rpc_name& rpc = rpc_named(s.method);
    const iba::structure& attribute = attribute_named(s.attribute, rpc);
    const iba::attribute_use use = use_of(attribute, rpc);
    request r{&attribute,
              {use.mgmt_class, use.class_version, rpc.method, attribute.attributeID, true, use.OUI},
              std::vector<u8>(attribute.info->bytes)};
    for (const std::string& field : s.fields) {
        const auto parts = iba::parse_assignment(field);
        if (!parts) throw usage_error(parts.error().text);
        if (const auto set = iba::set_field(*attribute.info, r.payload, parts.value().name, parts.value().text); !set)
            throw usage_error(set.error().text);
        if (rpc.mgmt_class != MgmtClass::SubnAdm) continue;
        const auto mask = iba::component_mask(*attribute.info, parts.value().name);
        if (!mask) throw usage_error(mask.error().text);
        r.component_mask |= mask.value();
    }
    return r;
}

std::string one_text(const iba::record_info& info, std::span<const u8> bytes, bool json) {
    return json ? iba::json(info, bytes) + '\n' : iba::dotted(info, bytes);
}

std::string reply_text(const request& r, std::span<const u8> reply, bool json) {
    const iba::record_info& info = *r.attribute->info;
    if (!mad::is_table_method(r.kind.method)) {
        const std::size_t begin = mad::payload_offset(r.kind.mgmt_class, r.kind.attributeID);
        return one_text(info, reply.subspan(begin, info.bytes), json);
    }
    const auto table = mad::record_table::of_reply(reply, info.bytes);
    if (!table) throw std::runtime_error("the reply is no table: " + table.error().text);
    std::string out;
    for (std::size_t i = 0; i < table.value().size(); ++i) {
        const std::string one = one_text(info, table.value()[i], json);
        out += json ? one : fmt::format("Reply structure #{}\n{}", i, indented(one));
    }
    return out;
}

answer ask_anything(session& in, std::optional<mad::address> target, request r, settings s) {
    mad::any_path path = in.schedule().sa_path();
    if (target) {
        auto resolved = co_await resolve(in, *target);
        if (!resolved) co_return std::move(resolved.error());
        path = resolved.value();
    } else if (r.kind.mgmt_class != MgmtClass::SubnAdm) {
        path = this_node().path;
    }
    const bool is_smp = r.kind.mgmt_class == MgmtClass::SubnLID;
    if (!is_smp && mad::directed(path)) throw usage_error("only subnet management has directed routes");

    std::array<u8, mad::mad_size> bytes{};
    u8* data = mad::write_request(bytes.data(), r.kind, path, s.modifier, r.component_mask);
    std::copy(r.payload.begin(), r.payload.end(), data);
    const comad::coro::rpc_request asked{r.kind, path, s.modifier, r.component_mask};
    auto reply = co_await in.schedule().call_raw(asked, bytes);
    if (!reply) co_return std::move(reply.error());
    co_return reply_text(r, reply.value().payload, s.json);
}

int run_command(const settings& s, const global_options& options) {
    const request r = make_request(s);
    if (options.by_SA && r.kind.mgmt_class == MgmtClass::SubnLID)
        throw usage_error(fmt::format("there is no --sa for {}: it is an SMP; SubnAdmGet asks the SA", s.method));
    std::optional<mad::address> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return ask(options, target ? &*target : nullptr, [&](session& in) { return ask_anything(in, target, r, s); });
}

} // namespace

void add_query(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("query", "make any RPC with any field by name");
    command.add_option("rpc", s->method, "SubnGet, SubnAdmGetTable, PerformanceGet, ...")->required();
    command.add_option("attribute", s->attribute, "SMPNodeInfo, NodeInfo, ...: 'ibtool describe' lists them")
        ->required();
    command.add_option("target", s->target, "where to; of SubnAdm the SA, else this node, unless it is given");
    command
        .add_option("-f,--field", s->fields,
                    "NAME=VALUE, any number of times: a field of the request; in a query to the "
                    "SA records must have it")
        ->allow_extra_args(false);
    command.add_option("-a,--modifier", s->modifier, "attributeModifier")->capture_default_str();
    add_target_options(command, s->kind);
    command.add_flag("--json", s->json, "one JSON object a line");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
