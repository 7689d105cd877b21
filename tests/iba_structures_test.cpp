// SPDX-License-Identifier: MIT
// iba_structures_test.cpp - the tables of MAD header and chapter 14 against three sources that know nothing of them:
// the layout facts, buffers with known values, and libibmad.
#include "catch.hpp"
#include "iba_data.hpp"
#include <comad/iba/mad_header.hpp>
#include <comad/iba/registry.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>
#include <infiniband/mad.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::iba;
using nlohmann::json;

namespace {

/// A value as the facts write it.
template <class V> json as_fact(const V& v) {
    if (sizeof(V) == 8) return fmt::format("{:#018x}", static_cast<u64>(v));
    return static_cast<u32>(v);
}
json as_fact(std::span<const u8> bytes) {
    std::string hex = "0x";
    for (u8 byte : bytes) hex += fmt::format("{:02x}", byte);
    return hex;
}
template <std::size_t N> json as_fact(const std::array<u8, N>& bytes) { return as_fact(std::span<const u8>(bytes)); }

/// A member: its name as it is spelled in C++, its value, and libibmad's field with the same bits (IB_NO_FIELD: none).
struct member {
    std::string name;
    MAD_FIELDS peer;
    json value;
};
using members = std::vector<member>;
#define MEMBER(name, peer)                                                                                             \
    member { #name, peer, as_fact(s.name) }

members members_of(const MADHeader& s) {
    return {MEMBER(baseVersion, IB_MAD_BASEVER_F),
            MEMBER(mgmtClass, IB_MAD_MGMTCLASS_F),
            MEMBER(classVersion, IB_MAD_CLASSVER_F),
            MEMBER(method, IB_NO_FIELD), // two fields of libibmad
            MEMBER(status, IB_MAD_STATUS_F),
            MEMBER(classSpecific, IB_NO_FIELD),
            MEMBER(transactionID, IB_MAD_TRID_F),
            MEMBER(attributeID, IB_MAD_ATTRID_F),
            MEMBER(attributeModifier, IB_MAD_ATTRMOD_F)};
}

members members_of(const MADHeaderDirected& s) {
    return {MEMBER(baseVersion, IB_MAD_BASEVER_F),
            MEMBER(mgmtClass, IB_MAD_MGMTCLASS_F),
            MEMBER(classVersion, IB_MAD_CLASSVER_F),
            MEMBER(method, IB_NO_FIELD), // two fields of libibmad
            MEMBER(D, IB_DRSMP_DIRECTION_F),
            MEMBER(status, IB_DRSMP_STATUS_F),
            MEMBER(hopPointer, IB_DRSMP_HOPPTR_F),
            MEMBER(hopCount, IB_DRSMP_HOPCNT_F),
            MEMBER(transactionID, IB_MAD_TRID_F),
            MEMBER(attributeID, IB_MAD_ATTRID_F),
            MEMBER(attributeModifier, IB_MAD_ATTRMOD_F)};
}

members operator+(members all, const members& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

members members_of(const smp::Format& s) {
    const members own = {MEMBER(MKey, IB_MAD_MKEY_F), MEMBER(data, IB_NO_FIELD)};
    return members_of(s.header) + own;
}

members members_of(const smp::FormatDirected& s) {
    const members own = {MEMBER(MKey, IB_MAD_MKEY_F),          MEMBER(drSLID, IB_DRSMP_DRSLID_F),
                         MEMBER(drDLID, IB_DRSMP_DRDLID_F),    MEMBER(data, IB_NO_FIELD),
                         MEMBER(initialPath, IB_DRSMP_PATH_F), MEMBER(returnPath, IB_DRSMP_RPATH_F)};
    return members_of(s.header) + own;
}

members members_of(const smp::NodeDescription& s) { return {MEMBER(nodeString, IB_NODE_DESC_F)}; }

members members_of(const smp::NodeInfo& s) {
    return {MEMBER(baseVersion, IB_NODE_BASE_VERS_F),
            MEMBER(classVersion, IB_NODE_CLASS_VERS_F),
            MEMBER(nodeType, IB_NODE_TYPE_F),
            MEMBER(numPorts, IB_NODE_NPORTS_F),
            MEMBER(systemImageGUID, IB_NODE_SYSTEM_GUID_F),
            MEMBER(nodeGUID, IB_NODE_GUID_F),
            MEMBER(portGUID, IB_NODE_PORT_GUID_F),
            MEMBER(partitionCap, IB_NODE_PARTITION_CAP_F),
            MEMBER(deviceID, IB_NODE_DEVID_F),
            MEMBER(revision, IB_NODE_REVISION_F),
            MEMBER(localPortNum, IB_NODE_LOCAL_PORT_F),
            MEMBER(vendorID, IB_NODE_VENDORID_F)};
}

members members_of(const smp::SwitchInfo& s) {
    return {MEMBER(linearFDBCap, IB_SW_LINEAR_FDB_CAP_F),
            MEMBER(randomFDBCap, IB_SW_RANDOM_FDB_CAP_F),
            MEMBER(multicastFDBCap, IB_SW_MCAST_FDB_CAP_F),
            MEMBER(linearFDBTop, IB_SW_LINEAR_FDB_TOP_F),
            MEMBER(defaultPort, IB_SW_DEF_PORT_F),
            MEMBER(defaultMulticastPrimaryPort, IB_SW_DEF_MCAST_PRIM_F),
            MEMBER(defaultMulticastNotPrimaryPort, IB_SW_DEF_MCAST_NOT_PRIM_F),
            MEMBER(lifeTimeValue, IB_SW_LIFE_TIME_F),
            MEMBER(portStateChange, IB_SW_STATE_CHANGE_F),
            MEMBER(optimizedSLtoVLMappingProgramming, IB_SW_OPT_SLTOVL_MAPPING_F),
            MEMBER(LIDsPerPort, IB_SW_LIDS_PER_PORT_F),
            MEMBER(partitionEnforcementCap, IB_SW_PARTITION_ENFORCE_CAP_F),
            MEMBER(inboundEnforcementCap, IB_SW_PARTITION_ENF_INB_F),
            MEMBER(outboundEnforcementCap, IB_SW_PARTITION_ENF_OUTB_F),
            MEMBER(filterRawInboundCap, IB_SW_FILTER_RAW_INB_F),
            MEMBER(filterRawOutboundCap, IB_SW_FILTER_RAW_OUTB_F),
            MEMBER(enhancedPort0, IB_SW_ENHANCED_PORT0_F),
            MEMBER(multicastFDBTop, IB_SW_MCAST_FDB_TOP_F)};
}

members members_of(const smp::PortInfo& s) {
    return {MEMBER(MKey, IB_PORT_MKEY_F),
            MEMBER(GIDPrefix, IB_PORT_GID_PREFIX_F),
            MEMBER(LID, IB_PORT_LID_F),
            MEMBER(masterSMLID, IB_PORT_SMLID_F),
            MEMBER(capabilityMask, IB_PORT_CAPMASK_F),
            MEMBER(diagCode, IB_PORT_DIAG_F),
            MEMBER(MKeyLeasePeriod, IB_PORT_MKEY_LEASE_F),
            MEMBER(localPortNum, IB_PORT_LOCAL_PORT_F),
            MEMBER(linkWidthEnabled, IB_PORT_LINK_WIDTH_ENABLED_F),
            MEMBER(linkWidthSupported, IB_PORT_LINK_WIDTH_SUPPORTED_F),
            MEMBER(linkWidthActive, IB_PORT_LINK_WIDTH_ACTIVE_F),
            MEMBER(linkSpeedSupported, IB_PORT_LINK_SPEED_SUPPORTED_F),
            MEMBER(portState, IB_PORT_STATE_F),
            MEMBER(portPhysicalState, IB_PORT_PHYS_STATE_F),
            MEMBER(linkDownDefaultState, IB_PORT_LINK_DOWN_DEF_F),
            MEMBER(MKeyProtectBits, IB_PORT_MKEY_PROT_BITS_F),
            MEMBER(LMC, IB_PORT_LMC_F),
            MEMBER(linkSpeedActive, IB_PORT_LINK_SPEED_ACTIVE_F),
            MEMBER(linkSpeedEnabled, IB_PORT_LINK_SPEED_ENABLED_F),
            MEMBER(neighborMTU, IB_PORT_NEIGHBOR_MTU_F),
            MEMBER(masterSMSL, IB_PORT_SMSL_F),
            MEMBER(VLCap, IB_PORT_VL_CAP_F),
            MEMBER(initType, IB_PORT_INIT_TYPE_F),
            MEMBER(VLHighLimit, IB_PORT_VL_HIGH_LIMIT_F),
            MEMBER(VLArbitrationHighCap, IB_PORT_VL_ARBITRATION_HIGH_CAP_F),
            MEMBER(VLArbitrationLowCap, IB_PORT_VL_ARBITRATION_LOW_CAP_F),
            MEMBER(initTypeReply, IB_PORT_INIT_TYPE_REPLY_F),
            MEMBER(MTUCap, IB_PORT_MTU_CAP_F),
            MEMBER(VLStallCount, IB_PORT_VL_STALL_COUNT_F),
            MEMBER(HOQLife, IB_PORT_HOQ_LIFE_F),
            MEMBER(operationalVLs, IB_PORT_OPER_VLS_F),
            MEMBER(partitionEnforcementInbound, IB_PORT_PART_EN_INB_F),
            MEMBER(partitionEnforcementOutbound, IB_PORT_PART_EN_OUTB_F),
            MEMBER(filterRawInbound, IB_PORT_FILTER_RAW_INB_F),
            MEMBER(filterRawOutbound, IB_PORT_FILTER_RAW_OUTB_F),
            MEMBER(MKeyViolations, IB_PORT_MKEY_VIOL_F),
            MEMBER(PKeyViolations, IB_PORT_PKEY_VIOL_F),
            MEMBER(QKeyViolations, IB_PORT_QKEY_VIOL_F),
            MEMBER(GUIDCap, IB_PORT_GUID_CAP_F),
            MEMBER(clientReregister, IB_PORT_CLIENT_REREG_F),
            MEMBER(multicastPKeyTrapSuppressionEnabled, IB_PORT_MCAST_PKEY_SUPR_ENAB_F),
            MEMBER(subnetTimeOut, IB_PORT_SUBN_TIMEOUT_F),
            MEMBER(respTimeValue, IB_PORT_RESP_TIME_VAL_F),
            MEMBER(localPhyErrors, IB_PORT_LOCAL_PHYS_ERR_F),
            MEMBER(overrunErrors, IB_PORT_OVERRUN_ERR_F),
            MEMBER(maxCreditHint, IB_PORT_MAX_CREDIT_HINT_F),
            MEMBER(linkRoundTripLatency, IB_PORT_LINK_ROUND_TRIP_F),
            MEMBER(capabilityMask2, IB_PORT_CAPMASK2_F),
            MEMBER(linkSpeedExtActive, IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
            MEMBER(linkSpeedExtSupported, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
            MEMBER(linkSpeedExtEnabled, IB_PORT_LINK_SPEED_EXT_ENABLED_F)};
}

members members_of(const smp::MlnxExtPortInfo& s) {
    return {MEMBER(StateChangeEnable, IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F),
            MEMBER(LinkSpeedSupported, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F),
            MEMBER(LinkSpeedEnabled, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F),
            MEMBER(LinkSpeedActive, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F)};
}

template <wire T> json layout_of() {
    for (json& facts : load_data("iba_layout.jsonl"))
        if (facts["struct"] == info_of<T>.name) return facts;
    FAIL("no facts about " << info_of<T>.name);
    return {};
}

unsigned bits_of(const json& field) { return field.value("total_bits", field["bit_width"].get<unsigned>()); }

show display_of(const json& field) {
    const std::string display = field.value("display", "");
    if (field["type"] == "GUID") return show::guid;
    if (display == "hex") return show::hex;
    if (display == "gid_prefix") return show::prefix;
    if (display == "string") return show::text;
    if (display == "data") return show::data;
    return show::dec;
}

} // namespace

TEMPLATE_TEST_CASE("a table has the names, offsets, widths and counts of the IBA", "", MADHeader, MADHeaderDirected,
                   smp::Format, smp::FormatDirected, smp::NodeDescription, smp::NodeInfo, smp::SwitchInfo,
                   smp::PortInfo) {
    const record_info& info = info_of<TestType>;
    const json facts = layout_of<TestType>();
    CHECK(info.bytes == facts["size_bytes"]);
    CHECK(info.section == facts["section"].get<std::string>());
    REQUIRE(info.rows.size() == facts["fields"].size());

    for (std::size_t i = 0; i < info.rows.size(); ++i) {
        const row_info& row = info.rows[i];
        const json& field = facts["fields"][i];
        INFO(field["name"]);
        CHECK(row.off == field["bit_offset"]);
        CHECK(row.bits() == bits_of(field));
        CHECK(row.is_reserved == field.value("reserved", false));
        if (row.is_reserved) continue;
        CHECK(row.name == field["name"].get<std::string>());
        if (field["type"] == "uint") CHECK(row.count == field["count"]);
        // Which enumerations are shown by name is ours to choose.
        if (row.how != show::name) CHECK(row.how == display_of(field));
    }
}

TEMPLATE_TEST_CASE("an attribute has the id and the methods of the IBA", "", smp::NodeDescription, smp::NodeInfo,
                   smp::SwitchInfo, smp::PortInfo) {
    using traits = attribute_of<TestType>;
    const json facts = layout_of<TestType>();
    CHECK(traits::attributeID == facts["attribute_id"]);
    CHECK(facts["mgmt_classes"] == json::array({0x01, 0x81})); // SubnLID stands for both
    const attribute_use use = use_of<TestType>(MgmtClass::SubnLID);
    std::vector<std::string> methods;
    if (use.allows(Method::Get)) methods.push_back("SubnGet");
    if (use.allows(Method::Set)) methods.push_back("SubnSet");
    std::vector<std::string> expected;
    for (const json& method : facts["methods"]) expected.push_back(method["rpc"]);
    CHECK(methods == expected);
}

TEMPLATE_TEST_CASE("the registry finds an attribute of either routing by its id", "", smp::NodeDescription,
                   smp::NodeInfo, smp::SwitchInfo, smp::PortInfo, smp::MlnxExtPortInfo) {
    const u16 id = attribute_of<TestType>::attributeID;
    CHECK(find_attribute(MgmtClass::SubnLID, 1, id) == &info_of<TestType>);
    CHECK(find_attribute(MgmtClass::SubnDirected, 1, id) == &info_of<TestType>);
    CHECK(find_attribute(MgmtClass::SubnLID, 2, id) == nullptr);
    CHECK(find_attribute(MgmtClass::SubnAdm, 1, id) == nullptr);
}

TEST_CASE("the registry finds a format by class and version") {
    CHECK(find_format(MgmtClass{0x01}, 1) == &info_of<smp::Format>);
    CHECK(find_format(MgmtClass{0x81}, 1) == &info_of<smp::FormatDirected>);
    CHECK(find_format(MgmtClass{0x81}, 2) == nullptr);
    CHECK(find_format(MgmtClass{0x7f}, 1) == nullptr);
}

TEMPLATE_TEST_CASE("known bytes decode to their known values and encode to the same bytes", "", MADHeader,
                   MADHeaderDirected, smp::Format, smp::FormatDirected, smp::NodeDescription, smp::NodeInfo,
                   smp::SwitchInfo, smp::PortInfo) {
    const json facts = layout_of<TestType>();
    const auto named = std::count_if(facts["fields"].begin(), facts["fields"].end(),
                                     [](const json& field) { return !field.value("reserved", false); });

    unsigned vectors = 0;
    for (const json& vector : load_data("iba_vectors.jsonl")) {
        if (vector["struct"] != info_of<TestType>.name) continue;
        ++vectors;
        const std::vector<u8> bytes = from_hex(vector["hex"]);
        REQUIRE(bytes.size() == wire_size<TestType>);
        TestType decoded;
        decode(decoded, bytes.data());

        const members all = members_of(decoded);
        CHECK(std::cmp_equal(all.size(), named));
        for (const member& m : all) {
            INFO(m.name);
            CHECK(m.value == vector["values"].at(m.name));
        }

        std::vector<u8> encoded(bytes.size(), 0xff);
        encode(decoded, encoded.data());
        CHECK(encoded == bytes);
    }
    CHECK(vectors == 4);
}

TEMPLATE_TEST_CASE("libibmad reads the same values from random bytes", "", MADHeader, MADHeaderDirected, smp::Format,
                   smp::FormatDirected, smp::NodeDescription, smp::NodeInfo, smp::SwitchInfo, smp::PortInfo,
                   smp::MlnxExtPortInfo) {
    std::mt19937 random(14);
    for (int round = 0; round < 200; ++round) {
        std::array<u8, 256> bytes;
        for (u8& byte : bytes) byte = static_cast<u8>(random());
        TestType decoded;
        decode(decoded, bytes.data());

        for (const member& m : members_of(decoded)) {
            if (m.peer == IB_NO_FIELD) continue;
            INFO(m.name);
            const auto row = std::find_if(info_of<TestType>.rows.begin(), info_of<TestType>.rows.end(),
                                          [&](const row_info& r) { return r.name == m.name; });
            REQUIRE(row != info_of<TestType>.rows.end());
            if (row->count > 1) {
                std::array<u8, 64> theirs{};
                mad_decode_field(bytes.data(), m.peer, theirs.data());
                CHECK(m.value == as_fact(theirs));
            } else if (row->width > 32) {
                u64 theirs = 0;
                mad_decode_field(bytes.data(), m.peer, &theirs);
                CHECK(m.value == as_fact(theirs));
            } else {
                u32 theirs = 0;
                mad_decode_field(bytes.data(), m.peer, &theirs);
                CHECK(m.value == as_fact(theirs));
            }
        }
    }
}

TEST_CASE("the method byte is libibmad's method and response bit") {
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::array<u8, 24> bytes{};
        bytes[3] = static_cast<u8>(byte);
        const Method method = get<&MADHeader::method>(bytes.data());
        CHECK((value(method) & ~response_bit) == mad_get_field(bytes.data(), 0, IB_MAD_METHOD_F));
        CHECK(is_response(method) == (mad_get_field(bytes.data(), 0, IB_MAD_RESPONSE_F) != 0));
    }
}
