// SPDX-License-Identifier: MIT
// sa_text_test.cpp - each line of a record prints the bits that saquery of infiniband-diags 44 prints, with a different
// value in each field. The offsets come from the IBA's tables. ibtool_made_records_test runs saquery itself.
#include "subnet/made_records.hpp"
#include "support/catch.hpp"
#include "text/sa_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>

namespace sa_text_test {

using namespace comad;
using namespace ibtool;
using namespace comad::iba::sa;

namespace {

constexpr unsigned patterns = 16;

/// Builds the lines that saquery prints for the bytes of a record.
class lines_of {
public:
    lines_of(std::span<const u8> bytes, const char* title, unsigned column) : bytes_(bytes), column_(column) {
        text_ = fmt::format("{}\n", title);
    }
    /// Adds a number of this width at this offset.
    lines_of& number(const std::string& label, const char* format, iba::at place, unsigned width) {
        return words(label, fmt::format(fmt::runtime(format), iba::bits_at(bytes_.data(), place, width)));
    }
    lines_of& gid(const std::string& label, unsigned byte) {
        char text[INET6_ADDRSTRLEN];
        return words(label, ::inet_ntop(AF_INET6, &bytes_[byte], text, sizeof text));
    }
    /// Adds a text up to its first zero byte.
    lines_of& characters(const std::string& label, unsigned byte, unsigned count) {
        const std::string all(bytes_.begin() + byte, bytes_.begin() + byte + count);
        return words(label, all.substr(0, all.find('\0')));
    }
    /// Adds all bytes as one number.
    lines_of& bytes(const std::string& label, unsigned byte, unsigned count) {
        std::string digits = "0x";
        for (unsigned i = 0; i < count; ++i) digits += fmt::format("{:02x}", bytes_[byte + i]);
        return words(label, digits);
    }
    lines_of& words(const std::string& label, const std::string& value) {
        return raw("\t\t" + label + std::string(column_ - label.size(), '.') + value + '\n');
    }
    lines_of& raw(const std::string& text) {
        text_ += text;
        return *this;
    }
    operator const std::string&() const { return text_; }
    std::string last() const { return text_.substr(text_.rfind('\n', text_.size() - 2) + 1); }

private:
    std::span<const u8> bytes_;
    unsigned column_;
    std::string text_;
};

/// Calls `compare(record, its bytes)` for each pattern, after `change` has modified the record.
template <class T> void for_each_made(auto&& change, auto&& compare) {
    CHECK(test::are_distinguishable(iba::info_of<T>, patterns));
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
        std::vector<u8> bytes = test::made_bytes(iba::info_of<T>, pattern);
        change(bytes, pattern);
        T record;
        iba::decode(record, bytes.data());
        CAPTURE(pattern);
        compare(record, bytes);
    }
}
/// Calls `compare(record, its bytes)` for each pattern.
template <class T> void for_each_made(auto&& compare) {
    for_each_made<T>([](auto&, unsigned) {}, compare);
}
/// Checks that two texts are equal.
void check(const std::string& ours, const std::string& wanted) { CHECK(ours == wanted); }

constexpr auto dec = "{}", hex = "0x{:X}", small_hex = "{:#x}", GUID = "{:#018x}";

} // namespace

TEST_CASE("a NodeRecord prints saquery's lines") {
    const auto with_type = [](std::vector<u8>& bytes, unsigned pattern) {
        bytes[6] = static_cast<u8>(1 + pattern % 3);
    };
    for_each_made<NodeRecord>(with_type, [](const NodeRecord& r, std::span<const u8> b) {
        const char* const types[] = {"Channel Adapter", "Switch", "Router"};
        check(format_saquery(r, "what a map calls it"), lines_of(b, "NodeRecord dump:", 24)
                                                            .number("lid", dec, {0}, 16)
                                                            .number("reserved", hex, {2}, 16)
                                                            .number("base_version", hex, {4}, 8)
                                                            .number("class_version", hex, {5}, 8)
                                                            .words("node_type", types[b[6] - 1])
                                                            .number("num_ports", dec, {7}, 8)
                                                            .number("sys_guid", GUID, {8}, 64)
                                                            .number("node_guid", GUID, {16}, 64)
                                                            .number("port_guid", GUID, {24}, 64)
                                                            .number("partition_cap", hex, {32}, 16)
                                                            .number("device_id", hex, {34}, 16)
                                                            .number("revision", hex, {36}, 32)
                                                            .number("port_num", dec, {40}, 8)
                                                            .number("vendor_id", hex, {41}, 24)
                                                            .words("NodeDescription", "what a map calls it"));
    });
}

TEST_CASE("a PortInfoRecord prints saquery's lines, complete and short") {
    for_each_made<PortInfoRecord>([](const PortInfoRecord& r, std::span<const u8> b) {
        check(format_saquery_short(r), lines_of(b, "PortInfoRecord dump:", 24)
                                           .number("EndPortLid", dec, {0}, 16)
                                           .number("PortNum", dec, {2}, 8)
                                           .number("base_lid", dec, {4 + 16}, 16)
                                           .number("master_sm_base_lid", dec, {4 + 18}, 16)
                                           .number("capability_mask", hex, {4 + 20}, 32));
        // The other lines are those of smpquery for PortInfo, indented by two more tabs.
        const std::string begin = lines_of(b, "PortInfoRecord dump:", 24)
                                      .raw("\tRID\n")
                                      .number("EndPortLid", dec, {0}, 16)
                                      .number("PortNum", dec, {2}, 8)
                                      .number("Options", small_hex, {3}, 8)
                                      .raw("\tPortInfo dump:\n\t\tMkey:............................<not displayed>\n")
                                      .raw("\t\tGidPrefix:.......................")
                                      .raw(fmt::format("{:#018x}\n", iba::bits_at(b.data(), 12 * 8, 64)));
        CHECK_THAT(format_saquery(r, keys::hidden), Catch::StartsWith(begin));
        CHECK_THAT(format_saquery(r, keys::shown),
                   Catch::Contains(fmt::format("\t\tMkey:............................{:#018x}\n",
                                               iba::bits_at(b.data(), 4 * 8, 64))));
    });
}

TEST_CASE("a SwitchInfoRecord prints saquery's lines") {
    for_each_made<SwitchInfoRecord>([](const SwitchInfoRecord& r, std::span<const u8> b) {
        check(format_saquery(r), lines_of(b, "SwitchInfoRecord dump:", 40)
                                     .raw("\t\tRID\n")
                                     .number("LID", dec, {0}, 16)
                                     .raw("\t\tSwitchInfo dump:\n")
                                     .number("LinearFDBCap", hex, {4}, 16)
                                     .number("RandomFDBCap", hex, {6}, 16)
                                     .number("MulticastFDBCap", hex, {8}, 16)
                                     .number("LinearFDBTop", hex, {10}, 16)
                                     .number("DefaultPort", dec, {12}, 8)
                                     .number("DefaultMulticastPrimaryPort", dec, {13}, 8)
                                     .number("DefaultMulticastNotPrimaryPort", dec, {14}, 8)
                                     .number("LifeTimeValue/PortStateChange/OpSL2VL", hex, {15}, 8)
                                     .number("LIDsPerPort", hex, {16}, 16)
                                     .number("PartitionEnforcementCap", hex, {18}, 16)
                                     .number("flags", hex, {20}, 8)
                                     .number("MulticastFDBTop", hex, {22}, 16));
    });
}

TEST_CASE("a SMInfoRecord and a LinkRecord print saquery's lines") {
    for_each_made<SMInfoRecord>([](const SMInfoRecord& r, std::span<const u8> b) {
        for (const keys which : {keys::shown, keys::hidden}) {
            lines_of wanted(b, "SMInfoRecord dump:", 22);
            wanted.raw("\t\tRID\n").number("LID", dec, {0}, 16).raw("\t\tSMInfo dump:\n").number("GUID", GUID, {4}, 64);
            if (which == keys::shown) wanted.number("SM_Key", GUID, {12}, 64);
            else wanted.words("SM_Key", "<not displayed>"); // infiniband-diags has no such text
            wanted.number("ActCount", dec, {20}, 32)
                .number("Priority", dec, {24}, 4)
                .number("SMState", dec, {24, 4}, 4);
            check(format_saquery(r, which), wanted);
        }
    });
    for_each_made<LinkRecord>([](const LinkRecord& r, std::span<const u8> b) {
        check(format_saquery(r), lines_of(b, "LinkRecord dump:", 27)
                                     .number("FromLID", dec, {0}, 16)
                                     .number("FromPort", dec, {2}, 8)
                                     .number("ToPort", dec, {3}, 8)
                                     .number("ToLID", dec, {4}, 16));
    });
}

TEST_CASE("a PathRecord prints saquery's lines") {
    for_each_made<PathRecord>([](const PathRecord& r, std::span<const u8> b) {
        check(format_saquery(r), lines_of(b, "PathRecord dump:", 24)
                                     .number("service_id", GUID, {0}, 64)
                                     .gid("dgid", 8)
                                     .gid("sgid", 24)
                                     .number("dlid", dec, {40}, 16)
                                     .number("slid", dec, {42}, 16)
                                     .number("hop_flow_raw", hex, {44}, 32)
                                     .number("tclass", hex, {48}, 8)
                                     .number("num_path_revers", hex, {49}, 8)
                                     .number("pkey", hex, {50}, 16)
                                     .number("qos_class", hex, {52}, 12)
                                     .number("sl", hex, {53, 4}, 4)
                                     .number("mtu", hex, {54}, 8)
                                     .number("rate", hex, {55}, 8)
                                     .number("pkt_life", hex, {56}, 8)
                                     .number("preference", hex, {57}, 8)
                                     .number("resv2", "0x{:012X}", {58}, 48));
    });
}

TEST_CASE("a MCMemberRecord prints saquery's lines as a record, a group and a member") {
    for_each_made<MCMemberRecord>([](const MCMemberRecord& r, std::span<const u8> b) {
        // ProxyJoin is at the IBA's position; saquery prints the last bit of its byte.
        check(format_saquery(r), lines_of(b, "MCMember Record dump:", 24)
                                     .gid("MGID", 0)
                                     .gid("PortGid", 16)
                                     .number("qkey", small_hex, {32}, 32)
                                     .number("mlid", small_hex, {36}, 16)
                                     .number("mtu", small_hex, {38}, 8)
                                     .number("TClass", small_hex, {39}, 8)
                                     .number("pkey", small_hex, {40}, 16)
                                     .number("rate", small_hex, {42}, 8)
                                     .number("pkt_life", small_hex, {43}, 8)
                                     .number("SL", small_hex, {44}, 4)
                                     .number("FlowLabel", small_hex, {44, 4}, 20)
                                     .number("HopLimit", small_hex, {47}, 8)
                                     .number("Scope", small_hex, {48}, 4)
                                     .number("JoinState", small_hex, {48, 4}, 4)
                                     .number("ProxyJoin", small_hex, {49}, 1));
        check(format_saquery_group(r), lines_of(b, "MCMemberRecord group dump:", 24)
                                           .gid("MGID", 0)
                                           .number("Mlid", hex, {36}, 16)
                                           .number("Mtu", hex, {38}, 8)
                                           .number("pkey", hex, {40}, 16)
                                           .number("Rate", hex, {42}, 8)
                                           .number("SL", hex, {44}, 4));
        check(format_saquery_member(r, "its node"), lines_of(b, "MCMemberRecord member dump:", 24)
                                                        .gid("MGID", 0)
                                                        .number("Mlid", hex, {36}, 16)
                                                        .gid("PortGid", 16)
                                                        .number("ScopeState", hex, {48}, 8)
                                                        .number("ProxyJoin", hex, {49}, 1)
                                                        .words("NodeDescription", "its node"));
    });
}

TEST_CASE("a ServiceRecord prints saquery's lines") {
    for_each_made<ServiceRecord>([](const ServiceRecord& r, std::span<const u8> b) {
        lines_of wanted(b, "ServiceRecord dump:", 24);
        wanted.number("ServiceID", GUID, {0}, 64)
            .gid("ServiceGID", 8)
            .number("ServiceP_Key", hex, {24}, 16)
            .number("ServiceLease", hex, {28}, 32)
            .words("ServiceKey", "<not displayed>")
            .characters("ServiceName", 48, 64);
        CHECK_THAT(format_saquery(r, keys::shown),
                   Catch::Contains(lines_of(b, "ServiceRecord dump:", 24).bytes("ServiceKey", 32, 16).last()));
        const auto data = [&](unsigned bits, unsigned count, unsigned byte, const char* format) {
            for (unsigned i = 0; i < count; ++i)
                wanted.number(fmt::format("ServiceData{}.{}", bits, i + 1), format, {byte + i * bits / 8}, bits);
        };
        data(8, 16, 112, hex);
        data(16, 8, 128, hex);
        data(32, 4, 144, hex);
        data(64, 2, 160, GUID);
        check(format_saquery(r, keys::hidden), wanted);
    });
}

TEST_CASE("an InformInfoRecord prints saquery's lines for generic and vendor notices") {
    const auto of_both_kinds = [](std::vector<u8>& bytes, unsigned pattern) { bytes[46] = pattern % 2; };
    for_each_made<InformInfoRecord>(of_both_kinds, [](const InformInfoRecord& r, std::span<const u8> b) {
        const bool is_generic = b[46] == 1;
        CHECK_THAT(
            format_saquery(r, keys::shown),
            Catch::Contains(lines_of(b, "InformInfoRecord dump:", 24).number("qpn", "0x{:06X}", {52}, 24).last()));
        check(format_saquery(r, keys::hidden),
              lines_of(b, "InformInfoRecord dump:", 24)
                  .raw("\t\tRID\n")
                  .gid("SubscriberGID", 0)
                  .number("SubscriberEnum", hex, {16}, 16)
                  .raw("\t\tInformInfo dump:\n")
                  .gid("gid", 24)
                  .number("lid_range_begin", dec, {40}, 16)
                  .number("lid_range_end", dec, {42}, 16)
                  .number("is_generic", hex, {46}, 8)
                  .number("subscribe", hex, {47}, 8)
                  .number("trap_type", hex, {48}, 16)
                  .number(is_generic ? "trap_num" : "dev_id", is_generic ? dec : hex, {50}, 16)
                  .words("qpn", "<not displayed>")
                  .number("resp_time_val", hex, {55, 3}, 5)
                  .number(is_generic ? "node_type" : "vendor_id", "0x{:06X}", {57}, 24));
    });
}

TEST_CASE("a record with a table prints saquery's lines") {
    for_each_made<LinearForwardingTableRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "LFT Record dump:", 27);
        wanted.number("LID", dec, {0}, 16).number("Block", dec, {2}, 16).raw("\t\tLFT:\n\t\tLID\tPort Number\n");
        const unsigned block = b[2] << 8 | b[3];
        for (unsigned i = 0; i < 64; ++i) wanted.raw(fmt::format("\t\t{}\t{}\n", block * 64 + i, b[8 + i]));
        check(format_saquery(r), wanted.raw("\n"));
    });
    for_each_made<MulticastForwardingTableRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "MFT Record dump:", 27);
        wanted.number("LID", dec, {0}, 16)
            .number("Position", dec, {2}, 4)
            .number("Block", dec, {2, 7}, 9)
            .raw("\t\tMFT:\n\t\tMLID\tPort Mask\n");
        const unsigned block = (b[2] & 1) << 8 | b[3];
        for (unsigned i = 0; i < 32; ++i)
            wanted.raw(
                fmt::format("\t\t0x{:04x}\t0x{:04x}\n", 0xc000 + block * 32 + i, b[8 + 2 * i] << 8 | b[9 + 2 * i]));
        check(format_saquery(r), wanted.raw("\n"));
    });
    for_each_made<RandomForwardingTableRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "RFT Record dump:", 27);
        wanted.number("LID", dec, {0}, 16).number("Block", dec, {2}, 16);
        wanted.raw("\t\tRFT:\n\t\tLID\tLMC\tValid\tPort Number\n");
        for (unsigned i = 8; i < 72; i += 4)
            wanted.raw(
                fmt::format("\t\t{}\t{}\t{}\t{}\n", b[i] << 8 | b[i + 1], b[i + 2] >> 4 & 7, b[i + 2] >> 7, b[i + 3]));
        check(format_saquery(r), wanted.raw("\n"));
    });
    for_each_made<SLToVLMappingTableRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "SL2VLTableRecord dump:", 27);
        wanted.number("LID", dec, {0}, 16).number("InPort", dec, {2}, 8).number("OutPort", dec, {3}, 8);
        wanted.raw("\t\tSL: 0| 1| 2| 3| 4| 5| 6| 7| 8| 9|10|11|12|13|14|15|\n\t\tVL:");
        for (unsigned i = 0; i < 8; ++i) wanted.raw(fmt::format("{:2}|{:2}|", b[8 + i] >> 4, b[8 + i] & 15));
        check(format_saquery(r), wanted.raw("\n"));
    });
    for_each_made<PKeyTableRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "PKeyTableRecord dump:", 27);
        wanted.number("LID", dec, {0}, 16).number("Port", dec, {4}, 8).number("Block", dec, {2}, 16);
        wanted.raw("\t\tPKey Table:\n");
        for (unsigned i = 0; i < 32; ++i)
            wanted.raw(fmt::format("{}0x{:02x}{:02x}{}", i % 8 == 0 ? "\t\t" : " ", b[8 + 2 * i], b[9 + 2 * i],
                                   i % 8 == 7 ? "\n" : ""));
        check(format_saquery(r), wanted.raw("\n"));
    });
    for_each_made<VLArbitrationTableRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "VLArbTableRecord dump:", 27);
        wanted.number("LID", dec, {0}, 16).number("Port", dec, {2}, 8).number("Block", dec, {3}, 8);
        for (unsigned row = 0; row < 2; ++row) {
            std::string VLs = "\t\tVL    :", weights = "\t\tWeight:";
            for (unsigned i = 8 + 32 * row; i < 40 + 32 * row; i += 2) {
                VLs += fmt::format("{:2}|", b[i] & 15);
                weights += fmt::format("{:2}|", b[i + 1]);
            }
            wanted.raw(VLs + '\n').raw(weights + '\n');
        }
        check(format_saquery(r), wanted);
    });
    for_each_made<GUIDInfoRecord>([](const auto& r, std::span<const u8> b) {
        lines_of wanted(b, "GUIDInfo Record dump:", 27);
        wanted.number("LID", dec, {0}, 16).number("Block", dec, {2}, 8);
        for (unsigned i = 0; i < 8; ++i) wanted.number(fmt::format("GUID {}", i), GUID, {8 + 8 * i}, 64);
        check(format_saquery(r), wanted);
    });
}

TEST_CASE("a ServiceAssociationRecord prints saquery's lines") {
    for_each_made<ServiceAssociationRecord>([](const ServiceAssociationRecord& r, std::span<const u8> b) {
        check(format_saquery(r, keys::shown), lines_of(b, "ServiceAssociationRecord dump:", 24)
                                                  .bytes("ServiceKey", 0, 16)
                                                  .characters("ServiceName", 16, 64));
        check(format_saquery(r, keys::hidden), lines_of(b, "ServiceAssociationRecord dump:", 24)
                                                   .words("ServiceKey", "<not displayed>")
                                                   .characters("ServiceName", 16, 64));
    });
}

TEST_CASE("a structure in any style prints its keys only on request") {
    SMInfoRecord r = test::made<SMInfoRecord>(1);
    r.SMInfo.SMKey = 0x1122334455667788;
    for (const auto style : {structure_style::iba_names, structure_style::annotated}) {
        const auto text = [&](keys which) { return format_structure(style, r, which, [](const auto&) { return ""; }); };
        const bool is_dump = style == structure_style::annotated;
        CHECK(text(keys::shown) == (is_dump ? iba::dump(r) : iba::dotted(r)));
        // Except for this line, and for two words in a dump, the texts are equal.
        CHECK_THAT(text(keys::hidden), Catch::Contains("SMKey") && Catch::Contains("<not displayed>"));
        CHECK_THAT(text(keys::hidden), !Catch::Contains("1122") && !Catch::Contains("7788"));
        CHECK(std::ranges::count(text(keys::hidden), '\n') == std::ranges::count(text(keys::shown), '\n'));
        CHECK_THAT(text(keys::hidden), Catch::Contains(is_dump ? "actCount=" : "ActCount."));
    }
    CHECK(json_compact(structure_json(r, keys::shown)) == iba::json(r));
    CHECK_THAT(json_compact(structure_json(r)), !Catch::Contains("SMKey") && Catch::Contains("\"actCount\":"));
    CHECK(format_structure(structure_style::diags, r, keys::hidden, [](const auto&) { return "as ever"; }) ==
          "as ever");
}

TEST_CASE("the ClassPortInfo of the SA prints saquery's lines") {
    for_each_made<iba::ClassPortInfo>([](const iba::ClassPortInfo& r, std::span<const u8> b) {
        check(format_saquery(r), lines_of(b, "SA ClassPortInfo:", 25)
                                     .number("Base version", dec, {0}, 8)
                                     .number("Class version", dec, {1}, 8)
                                     .number("Capability mask", "0x{:04X}", {2}, 16)
                                     .number("Capability mask 2", "0x{:08X}", {4}, 27)
                                     .number("Response time value", "0x{:02X}", {7, 3}, 5)
                                     .gid("Redirect GID", 8)
                                     .number("Redirect TC/SL/FL", "0x{:08X}", {24}, 32)
                                     .number("Redirect LID", dec, {28}, 16)
                                     .number("Redirect PKey", "0x{:04X}", {30}, 16)
                                     .number("Redirect QP", "0x{:08X}", {33}, 24)
                                     .number("Redirect QKey", "0x{:08X}", {36}, 32)
                                     .gid("Trap GID", 40)
                                     .number("Trap TC/SL/FL", "0x{:08X}", {56}, 32)
                                     .number("Trap LID", dec, {60}, 16)
                                     .number("Trap PKey", "0x{:04X}", {62}, 16)
                                     .number("Trap HL/QP", "0x{:08X}", {64}, 32)
                                     .number("Trap QKey", "0x{:08X}", {68}, 32));
    });
}

} // namespace sa_text_test
