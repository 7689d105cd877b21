// SPDX-License-Identifier: MIT
// tables.cpp - what every structure can do at run time: the pieces of docs/reference/field-tables.md. It prints what the comments say.
#include <comad/iba/checked_codec.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/from_json.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/query.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>

#include <array>

using namespace comad;
using iba::sa::NodeRecord;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;

namespace {

void checks() {
    const std::array<u8, 12> bytes{};
    const auto info = iba::decode_checked<NodeInfo>(bytes);
    if (!info) fmt::print("{}\n", info.error().text);
    //> SMPNodeInfo needs 40 bytes, but got only 12

    PortInfo port;
    port.LMC = 9;
    const auto encoded = iba::encode_checked(port);
    if (!encoded) fmt::print("{}\n", encoded.error().text);
    //> SMPPortInfo.LMC: value 9 does not fit in 3 bits
}

void fields() {
    NodeRecord record;
    auto done = iba::set_field(record, "nodeInfo.portGUID", "0017:77ff:feb6:2ca4");
    done = iba::set_field(record, "nodeInfo.nodeType", "Switch");
    fmt::print("{}\n", iba::get_field(record, "nodeInfo.portGUID").value());
    //> 0017:77ff:feb6:2ca4
    iba::sa::LinkRecord link;
    done = iba::set_field(link, "toPrt", "1");
    fmt::print("{}\n", done.error().text);
    //> SALinkRecord has no field 'toPrt'; the nearest are toPort, toLID, fromPort, ...
    for (const iba::field_info& f : iba::fields_of(iba::info_of<iba::sa::LinkRecord>))
        fmt::print("{} {}: {}, {} bits\n", f.row.off, f.name, iba::kind_of(f.row), f.row.width);
    //> 0 fromLID: integer, 16 bits
    //> 16 fromPort: integer, 8 bits
    //> 24 toPort: integer, 8 bits
    //> 32 toLID: integer, 16 bits
    //> 48 reserved_48: integer, 16 bits
}

void json() {
    const iba::sa::LinkRecord link{.fromLID = iba::lid{3}, .fromPort = 1, .toPort = 2, .toLID = iba::lid{4}};
    const std::string text = iba::json(link, iba::json_style::exact);
    fmt::print("{}\n", text);
    //> {"fromLID":3,"fromPort":1,"toPort":2,"toLID":4,"reserved_48":0}
    const auto back = iba::from_json<iba::sa::LinkRecord>(text);
    fmt::print("{}\n", back && back.value() == link);
    //> true
}

void lines() {
    const iba::sa::LinkRecord link{.fromLID = iba::lid{3}, .fromPort = 1, .toPort = 2, .toLID = iba::lid{4}};
    fmt::print("{}", iba::dotted(link, {.column = 25, .colon = true}));
    //> FromLID:.................3
    //> FromPort:................1
    //> ToPort:..................2
    //> ToLID:...................4
}

void masks() {
    auto switches = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(iba::lid{9});
    switches.where<&NodeRecord::nodeInfo, &NodeInfo::nodeType>(iba::NodeType::Switch);
    fmt::print("{:#x}\n", switches.component_mask());
    //> 0x11
    iba::query<NodeRecord> same;
    auto done = same.set("LID", "9");
    done = same.set("nodeInfo.nodeType", "Switch");
    fmt::print("{}\n", same.component_mask() == switches.component_mask());
    //> true
    static_assert(iba::mask_of<&NodeRecord::nodeInfo, &NodeInfo::portGUID> == 1 << 8);
}

} // namespace

int main() {
    checks();
    fields();
    json();
    lines();
    masks();
}
