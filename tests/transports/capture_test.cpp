// SPDX-License-Identifier: MIT
// capture_test.cpp - what the library prints for captured MADs, compared with Wireshark's dissector on the same
// packets. The packets are a discovery, and requests and replies with random contents for every attribute that both
// know.
#include "input/pcap.hpp"
#include "program/ibtool_rig.hpp"
#include "program/tshark.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/print.hpp>
#include <comad/mad/detail/packet.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cstdio>
#include <map>
#include <random>
#include <set>

using namespace comad;
using namespace ibtool_rig;
using nlohmann::json;

namespace {

/// A range of bits in a packet.
struct range {
    unsigned off, width;
    friend auto operator<=>(const range&, const range&) = default;
};
struct printed {
    std::string name, value; ///< hex digits according to the width
};
/// What the library prints for a packet, by range. A range can have two names, in a format and in its attribute.
using printed_fields = std::multimap<range, printed>;

std::string digits_of(const json& value, unsigned width) {
    if (value.is_number()) return fmt::format("{:0{}x}", value.get<u64>(), (width + 3) / 4);
    std::string text = value;
    if (text.starts_with("0x")) return text.substr(2);
    std::array<u8, 16> gid;
    if (width == 128 && ::inet_pton(AF_INET6, text.c_str(), gid.data()) == 1) {
        text.clear();
        for (u8 byte : gid) text += fmt::format("{:02x}", byte);
    }
    std::erase(text, ':'); // the colons of a GUID
    return text;
}

/// Returns the value of a field in the output of json(): `nodeInfo.portGUID`, `a[3]`.
const json& value_at(const json& object, const std::string& name) {
    const std::size_t end = name.find_first_of(".[");
    const json& inner = object.at(name.substr(0, end));
    if (end == name.npos) return inner;
    if (name[end] == '.') return value_at(inner, name.substr(end + 1));
    const std::size_t close = name.find(']', end);
    const json& element = inner.at(std::stoul(name.substr(end + 1)));
    return close + 1 == name.size() ? element : value_at(element, name.substr(close + 2));
}

void add_printed(printed_fields& out, const iba::record_info& info, std::span<const u8> packet, std::size_t begin) {
    const std::span<const u8> bytes = packet.subspan(begin, std::min<std::size_t>(info.bytes, packet.size() - begin));
    const json object = json::parse(iba::json(info, bytes, nullptr, iba::json_style::exact));
    for (const iba::field_info& field : iba::fields_of(info)) {
        const iba::row_info& row = field.row;
        if (row.nested) continue;
        const unsigned off = static_cast<unsigned>(begin) * 8 + row.off;
        if (row.count == 1 || row.is_blob() || row.width == 8) {
            const json& value = value_at(object, field.name);
            if (!value.is_array()) out.insert({{off, row.bits()}, {field.name, digits_of(value, row.bits())}});
        }
        for (unsigned i = 0; i < row.count && row.count > 1; ++i) {
            const json& value = value_at(object, field.name);
            if (value.is_array())
                out.insert({{off + i * row.width, row.width},
                            {fmt::format("{}[{}]", field.name, i), digits_of(value[i], row.width)}});
        }
    }
}

printed_fields print_packet(std::span<const u8> packet) {
    printed_fields out;
    const auto parts = mad::parse_packet(packet, mad::packet_start::LRH);
    REQUIRE(parts);
    for (const mad::packet_header& header : parts->headers) add_printed(out, *header.table, packet, header.begin);
    const auto begin = static_cast<std::size_t>(parts->payload.data() - packet.data());
    const iba::mad_tables tables = iba::tables_of(parts->payload);
    REQUIRE(tables.format);
    add_printed(out, *tables.format, packet, begin);
    if (tables.attribute) add_printed(out, *tables.attribute, packet, begin + tables.data_begin);
    return out;
}

/// Errors of the dissector of Wireshark 4.0: it reads other bits for these fields than all other sources.
const std::set<std::string> dissector_errors{
    "infiniband.smpdirected.d", // masks 16 bits of a field, although it assumes 64 bits
};

std::string bits_of_hex(const std::string& digits, std::size_t width) {
    std::string bits;
    for (char digit : digits) bits += fmt::format("{:04b}", std::stoul(std::string(1, digit), nullptr, 16));
    return bits.substr(bits.size() - std::min(width, bits.size()));
}

/// Returns the bits of a packet as the library printed them, with '?' for bits that it did not print.
std::string printed_bits(const printed_fields& ours, std::size_t bytes) {
    std::string bits(bytes * 8, '?');
    for (const auto& [where, field] : ours) bits.replace(where.off, where.width, bits_of_hex(field.value, where.width));
    return bits;
}

/// Compares field by field. A field with the same range is compared with the text of the library. Other fields are
/// parts of library fields, or contain several of them, and are compared bit by bit. Counts the former and collects the
/// names of the latter.
struct comparison {
    unsigned same_place = 0;
    std::set<std::string> other_place;

    void add(std::span<const u8> packet, const tshark_packet& dissected) {
        const printed_fields ours = print_packet(packet);
        const std::string bits = printed_bits(ours, packet.size());
        CHECK_FALSE(dissected.is_malformed);
        for (const tshark_field& field : dissected.fields) {
            if (dissector_errors.count(field.name)) continue;
            CAPTURE(field.name, field.off, field.width);
            const auto [begin, end] = ours.equal_range({field.off, field.width});
            for (auto at = begin; at != end; ++at) {
                ++same_place;
                if (at->second.value != field.value) CHECK(at->second.name + '=' + at->second.value == field.value);
            }
            if (begin != end) continue;
            other_place.insert(field.name);
            const std::string here = bits.substr(field.off, field.width);
            if (here.find('?') == here.npos && here != bits_of_hex(field.value, field.width))
                CHECK(here == bits_of_hex(field.value, field.width));
        }
    }
};

/// Returns the names of fields with ranges that the library does not have, except the known ones.
std::set<std::string> unexpected(const std::set<std::string>& names) {
    const std::set<std::string> known{
        "infiniband",                                           // the whole packet
        "infiniband.bth.opcode",                                // service and function
        "infiniband.invariant.crc",                             // after the MAD
        "infiniband.linearforwardingtable.port",                // one of 64 bytes
        "infiniband.linkrecord.servicedata",                    // the elements of a ServiceRecord as one field
        "infiniband.mad.classspecific",                         // hop pointer and count of a directed route
        "infiniband.mad.data",                                  // everything after the MAD header
        "infiniband.mad.status",                                // with the D bit of a directed route
        "infiniband.multipathrecord.sdgid",                     // the second and third GID
        "infiniband.notice.datadetails",                        // several words
        "infiniband.p_keytable.membershiptype",                 // part of a P_Key
        "infiniband.p_keytable.p_keybase",                      // part of a P_Key
        "infiniband.portcounters.excessivebufferoverrunerrors", // two fields of four bits as one
        "infiniband.portcounters.locallinkintegrityerrors",     // two fields of four bits as one
        "infiniband.portcounters_ext",                          // the whole structure
        "infiniband.reserved",                                  // other boundaries
        "infiniband.rmpp.rmppflags",                            // four bits: the IBA has three
        "infiniband.rmpp.rresptime",                            // four bits: the IBA has five
        "infiniband.rmpp.transferreddata",                      // everything after the RMPP header
        "infiniband.smpdirected.smpstatus",                     // with the D bit
        "infiniband.smplid.smpdata",                            // the attribute
        "infiniband.variant.crc",                               // after the MAD
        "infiniband.vlarbitrationtable.vl",                     // part of an entry
        "infiniband.vlarbitrationtable.weight",                 // part of an entry
    };
    std::set<std::string> rest;
    for (const std::string& name : names) {
        const bool is_capability_bit = name.find(".capabilitymask.") != name.npos;
        if (!is_capability_bit && !known.count(name)) rest.insert(name);
    }
    return rest;
}

comparison compare(const std::string& file) {
    std::vector<std::vector<u8>> packets;
    ibtool::read_pcap(std::fopen(file.c_str(), "rb"), file,
                      [&](const ibtool::captured_packet& p) { packets.emplace_back(p.bytes.begin(), p.bytes.end()); });
    const auto dissected = dissect_with_tshark(file);
    REQUIRE(packets.size() == dissected.size());
    comparison all;
    for (std::size_t i = 0; i < packets.size(); ++i) all.add(packets[i], dissected[i]);
    return all;
}

/// Returns a MAD of the class with this attribute, and random bytes except where they would mislead the dissector.
std::array<u8, mad::mad_size> random_mad(std::mt19937_64& random, iba::MgmtClass mgmt_class, u8 class_version,
                                         iba::Method method, u16 attributeID) {
    std::array<u8, mad::mad_size> mad;
    for (u8& byte : mad) byte = static_cast<u8>(random());
    auto header = iba::decode<iba::MADHeader>(std::span(mad).first<24>());
    header.baseVersion = 1;
    header.mgmtClass = mgmt_class;
    header.classVersion = class_version;
    header.method = method;
    header.attributeID = attributeID;
    iba::encode(header, mad.data());
    if (mgmt_class == iba::MgmtClass::SubnAdm) {         // a single data packet: other packets contain no attribute
        const std::array<u8, 4> data_packet{1, 1, 7, 0}; // version, DATA, First and Last and Active, status
        std::copy(data_packet.begin(), data_packet.end(), mad.begin() + 24);
        mad[56 + 15] = mad[56 + 16] = 1; // the number of GIDs that follow in a MultiPathRecord, which must exist
    }
    return mad;
}

/// Writes requests and a reply for every attribute of the class.
void write_random_mads(ibtool::pcap_writer& out, std::mt19937_64& random, iba::MgmtClass mgmt_class) {
    for (const iba::structure& s : iba::structures()) {
        for (const iba::attribute_use& use : s.uses) {
            if (!use.covers(mgmt_class)) continue;
            for (const iba::Method method : {iba::Method::Get, iba::Method::Set, iba::Method::GetResp}) {
                const auto mad = random_mad(random, mgmt_class, use.class_version, method, s.attributeID);
                out.write({{}, mad::reply_address({}, static_cast<u8>(mgmt_class)), mad});
            }
        }
    }
}

} // namespace

TEST_CASE("tshark decodes the same fields in a captured discovery and finds nothing malformed") {
    const directory files;
    const std::string file = files / "discovery.pcap";
    check_success(run({"--fabric", "sim:fattree2,radix=4,time=virtual", "ibnetdiscover", "--pcap", file}));
    const comparison all = compare(file);
    CHECK(all.same_place > 5000);
    CHECK(unexpected(all.other_place) == std::set<std::string>{});
}

TEST_CASE("tshark decodes the same fields in random SMPs and MADs of the SA and PerfMgt") {
    const directory files;
    const std::string file = files / "random.pcap";
    ibtool::pcap_writer out(file);
    std::mt19937_64 random(1);
    for (const auto mgmt_class :
         {iba::MgmtClass::SubnLID, iba::MgmtClass::SubnDirected, iba::MgmtClass::SubnAdm, iba::MgmtClass::Performance})
        write_random_mads(out, random, mgmt_class);
    out.finish();
    const comparison all = compare(file);
    CHECK(all.same_place > 3000);
    CHECK(unexpected(all.other_place) == std::set<std::string>{});
}
