// SPDX-License-Identifier: MIT
// iba_libibmad_test.cpp - every field that both libibmad and a table have, on random bytes.
#include "iba_leaves.hpp"
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/registry.hpp>

#include <fmt/format.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::iba;

namespace {

using buffer = std::array<u8, 256>;

/// A range of bits in a buffer.
struct bit_range {
    unsigned off = 0;
    unsigned width = 0;

    auto operator<=>(const bit_range&) const = default;
};
std::ostream& operator<<(std::ostream& out, const bit_range& p) { return out << p.off << '/' << p.width; }

/// Returns the bits that a field of libibmad reads, found one by one. The range is empty if it is not a field.
bit_range place_of(MAD_FIELDS field) {
    bit_range found;
    if (!mad_field_name(field)) return found;
    for (unsigned bit = 0; bit < sizeof(buffer) * 8; ++bit) {
        buffer bytes{};
        bytes[bit / 8] = static_cast<u8>(0x80 >> bit % 8);
        buffer value{};
        mad_decode_field(bytes.data(), field, value.data());
        if (value != buffer{} && found.width++ == 0) found.off = bit;
    }
    return found;
}

/// All fields of libibmad by name and place. A few fields have the same name and place as another one.
using fields = std::multimap<std::pair<std::string, bit_range>, MAD_FIELDS>;
const fields& all_fields() {
    static const fields all = [] {
        fields found;
        for (int i = IB_NO_FIELD + 1; i < IB_FIELD_LAST_; ++i) {
            const auto field = static_cast<MAD_FIELDS>(i);
            if (const bit_range p = place_of(field); p.width > 0)
                found.emplace(std::pair{mad_field_name(field), p}, field);
        }
        return found;
    }();
    return all;
}

/// A field that libibmad and a structure have in common.
struct common_field {
    std::string structure;
    std::string name;
    MAD_FIELDS field;
    unsigned count = 1; ///< number of elements of an array, each of which is a field in libibmad
};

/// The details of notices have their own structure. libibmad reads them at their place in the notice.
unsigned bytes_before(const std::string& structure) { return structure.starts_with("MADNoticeTrap") ? 10 : 0; }

/// Returns the fields that iba_ibmad_map.tsv contains.
std::vector<common_field> known_fields() {
    std::vector<common_field> all;
    for (const std::vector<std::string>& line : load_columns("iba_ibmad_map.tsv")) {
        const bit_range p{static_cast<unsigned>(std::stoul(line[3])) + bytes_before(line[0]) * 8,
                          static_cast<unsigned>(std::stoul(line[4]))};
        // The source of the file has no name for these bits.
        const std::string name =
            line[0] == "PMPortCountersExt" && line[5] == "reserved_32" ? "counterSelect2" : line[5];
        const auto [begin, end] = all_fields().equal_range({line[2], p});
        INFO(line[1]);
        REQUIRE(begin != end);
        for (auto field = begin; field != end; ++field) all.push_back({line[0], name, field->second});
    }
    return all;
}

/// Fields of structures that the file does not contain.
const std::vector<common_field> more_fields{
    {"PMPortCountersExt", "symbolErrorCounter", IB_PC_EXT_ERR_SYM_F},
    {"PMPortCountersExt", "linkErrorRecoveryCounter", IB_PC_EXT_LINK_RECOVERS_F},
    {"PMPortCountersExt", "linkDownedCounter", IB_PC_EXT_LINK_DOWNED_F},
    {"PMPortCountersExt", "portRcvErrors", IB_PC_EXT_ERR_RCV_F},
    {"PMPortCountersExt", "portRcvRemotePhysicalErrors", IB_PC_EXT_ERR_PHYSRCV_F},
    {"PMPortCountersExt", "portRcvSwitchRelayErrors", IB_PC_EXT_ERR_SWITCH_REL_F},
    {"PMPortCountersExt", "portXmitDiscards", IB_PC_EXT_XMT_DISCARDS_F},
    {"PMPortCountersExt", "portXmitConstraintErrors", IB_PC_EXT_ERR_XMTCONSTR_F},
    {"PMPortCountersExt", "portRcvConstraintErrors", IB_PC_EXT_ERR_RCVCONSTR_F},
    {"PMPortCountersExt", "localLinkIntegrityErrors", IB_PC_EXT_ERR_LOCALINTEG_F},
    {"PMPortCountersExt", "excessiveBufferOverrunErrors", IB_PC_EXT_ERR_EXCESS_OVR_F},
    {"PMPortCountersExt", "VL15Dropped", IB_PC_EXT_VL15_DROPPED_F},
    {"PMPortCountersExt", "portXmitWait", IB_PC_EXT_XMT_WAIT_F},
    {"PMPortCountersExt", "QP1Dropped", IB_PC_EXT_QP1_DROP_F},
    {"PMPortExtendedSpeedsCounters", "portSelect", IB_PESC_PORT_SELECT_F},
    {"PMPortExtendedSpeedsCounters", "counterSelect", IB_PESC_COUNTER_SELECT_F},
    {"PMPortExtendedSpeedsCounters", "syncHeaderErrorCounter", IB_PESC_SYNC_HDR_ERR_CTR_F},
    {"PMPortExtendedSpeedsCounters", "unknownBlockCounter", IB_PESC_UNK_BLOCK_CTR_F},
    {"PMPortExtendedSpeedsCounters", "errorDetectionCounterLane", IB_PESC_ERR_DET_CTR_LANE0_F, 12},
    {"PMPortExtendedSpeedsCounters", "FECCorrectableBlockCounterLane", IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F, 12},
    {"PMPortExtendedSpeedsCounters", "FECUncorrectableBlockCounterLane", IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F, 12},
    {"PMPortExtendedSpeedsCountersRSFEC", "portSelect", IB_PESC_RSFEC_PORT_SELECT_F},
    {"PMPortExtendedSpeedsCountersRSFEC", "counterSelect", IB_PESC_RSFEC_COUNTER_SELECT_F},
    {"PMPortExtendedSpeedsCountersRSFEC", "syncHeaderErrorCounter", IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F},
    {"PMPortExtendedSpeedsCountersRSFEC", "unknownBlockCounter", IB_PESC_RSFEC_UNK_BLOCK_CTR_F},
    {"PMPortExtendedSpeedsCountersRSFEC", "FECCorrectableSymbolCounterLane", IB_PESC_RSFEC_FEC_CORR_SYMBOL_CTR_LANE0_F,
     12},
    {"PMPortExtendedSpeedsCountersRSFEC", "portFECCorrectableBlockCounter", IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F},
    {"PMPortExtendedSpeedsCountersRSFEC", "portFECUncorrectableBlockCounter", IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F},
    {"PMPortExtendedSpeedsCountersRSFEC", "portFECCorrectedSymbolCounter", IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F},
    {"PMPortRcvConCtrl", "portPktRcvFECN", IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F},
    {"PMPortRcvConCtrl", "portPktRcvBECN", IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F},
    {"PMPortSLRcvFECN", "portSLRcvFECN", IB_PC_SL_RCV_FECN0_F, 16},
    {"PMPortSLRcvBECN", "portSLRcvBECN", IB_PC_SL_RCV_BECN0_F, 16},
    {"PMPortXmitConCtrl", "portXmitTimeCong", IB_PC_XMIT_CON_CTRL_TIME_CONG_F},
    {"PMPortVLXmitTimeCong", "portVLXmitTimeCong", IB_PC_VL_XMIT_TIME_CONG0_F, 15},
    {"MlnxExtPortInfo", "StateChangeEnable", IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F},
    {"MlnxExtPortInfo", "LinkSpeedSupported", IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F},
    {"MlnxExtPortInfo", "LinkSpeedEnabled", IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F},
    {"MlnxExtPortInfo", "LinkSpeedActive", IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F},
    {"SMPPortInfoExtended", "capabilityMask", IB_PORT_EXT_CAPMASK_F},
    {"SMPPortInfoExtended", "FECModeActive", IB_PORT_EXT_FEC_MODE_ACTIVE_F},
    {"SMPPortInfoExtended", "FDRFECModeSupported", IB_PORT_EXT_FDR_FEC_MODE_SUPPORTED_F},
    {"SMPPortInfoExtended", "FDRFECModeEnabled", IB_PORT_EXT_FDR_FEC_MODE_ENABLED_F},
    {"SMPPortInfoExtended", "EDRFECModeSupported", IB_PORT_EXT_EDR_FEC_MODE_SUPPORTED_F},
    {"SMPPortInfoExtended", "EDRFECModeEnabled", IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F},
    {"CCFormat", "CCKey", IB_CC_CCKEY_F},
    {"CCLogFormat", "CCKey", IB_CC_CCKEY_F},
    {"CCCongestionInfo", "congestionInfo", IB_CC_CONGESTION_INFO_F},
    {"CCCongestionInfo", "controlTableCap", IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F},
    {"CCCongestionKeyInfo", "CCKey", IB_CC_CONGESTION_KEY_INFO_CC_KEY_F},
    {"CCCongestionKeyInfo", "CCKeyProtectBit", IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F},
    {"CCCongestionKeyInfo", "CCKeyLeasePeriod", IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F},
    {"CCCongestionKeyInfo", "CCKeyViolations", IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F},
    {"CCCongestionLogSwitch", "logType", IB_CC_CONGESTION_LOG_LOGTYPE_F},
    {"CCCongestionLogSwitch", "congestionFlags", IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F},
    {"CCCongestionLogSwitch", "logEventsCounter", IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F},
    {"CCCongestionLogSwitch", "currentTimeStamp", IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F},
    {"CCCongestionLogSwitch", "portMap", IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F},
    {"CCCongestionLogEventSwitch", "SLID", IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F},
    {"CCCongestionLogEventSwitch", "DLID", IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F},
    {"CCCongestionLogEventSwitch", "SL", IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F},
    {"CCCongestionLogEventSwitch", "timestamp", IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F},
    {"CCCongestionLogCA", "thresholdEventCounter", IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F},
    {"CCCongestionLogCA", "thresholdCongestionEventMap", IB_CC_CONGESTION_LOG_CA_THRESHOLD_CONGESTION_EVENT_MAP_F},
    {"CCCongestionLogCA", "currentTimeStamp", IB_CC_CONGESTION_LOG_CA_CURRENT_TIMESTAMP_F},
    {"CCCongestionLogEventCA", "localQP", IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F},
    {"CCCongestionLogEventCA", "remoteQP", IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_QP_NUMBER_CN_ENTRY_F},
    {"CCCongestionLogEventCA", "timestamp", IB_CC_CONGESTION_LOG_ENTRY_CA_TIMESTAMP_CN_ENTRY_F},
    {"CCSwitchCongestionSetting", "controlMap", IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F},
    {"CCSwitchCongestionSetting", "victimMask", IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F},
    {"CCSwitchCongestionSetting", "creditMask", IB_CC_SWITCH_CONGESTION_SETTING_CREDIT_MASK_F},
    {"CCSwitchCongestionSetting", "threshold", IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F},
    {"CCSwitchCongestionSetting", "packetSize", IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F},
    {"CCSwitchCongestionSetting", "CSThreshold", IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F},
    {"CCSwitchCongestionSetting", "CSReturnDelay", IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F},
    {"CCSwitchCongestionSetting", "markingRate", IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F},
    {"CCSwitchPortCongestionSettingElement", "valid", IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F},
    {"CCSwitchPortCongestionSettingElement", "controlType",
     IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONTROL_TYPE_F},
    {"CCSwitchPortCongestionSettingElement", "threshold", IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F},
    {"CCSwitchPortCongestionSettingElement", "packetSize", IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F},
    {"CCSwitchPortCongestionSettingElement", "congParmMarkingRate",
     IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F},
    {"CCCACongestionSetting", "portControl", IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F},
    {"CCCACongestionSetting", "controlMap", IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F},
    {"CCCACongestionEntry", "CCTITimer", IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F},
    {"CCCACongestionEntry", "CCTIIncrease", IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F},
    {"CCCACongestionEntry", "triggerThreshold", IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F},
    {"CCCACongestionEntry", "CCTIMin", IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F},
    {"CCCongestionControlTable", "CCTILimit", IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F},
    {"CCCongestionControlTableEntry", "CCTShift", IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F},
    {"CCCongestionControlTableEntry", "CCTMultiplier", IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F},
    {"CCTimeStamp", "timeStamp", IB_CC_TIMESTAMP_F},
};

/// One field in libibmad that is several fields in a table.
struct several {
    std::string structure;
    std::string first;
    std::string last;
    MAD_FIELDS field;
};
const std::vector<several> fields_of_several{
    {"SMPMulticastForwardingTable", "portMaskBlock[0]", "portMaskBlock[31]", IB_MULTICAST_FORW_TBL_F},
    {"SMPSLToVLMappingTable", "SLtoVL[0]", "SLtoVL[15]", IB_SLTOVL_MAPPING_TABLE_F},
    {"SMPVLArbitrationTable", "VLWeightBlock[0]", "VLWeightBlock[31]", IB_VL_ARBITRATION_TABLE_F},
    {"SAServiceRecord", "serviceData8", "serviceData64[1]", IB_SA_SR_DATA_F},
    {"PMPortSamplesCtl", "counterMask1", "counterMask9", IB_PSC_COUNTER_MASKS1TO9_F},
    {"PMPortSamplesCtl", "counterMask10", "counterMask14", IB_PSC_COUNTER_MASKS10TO14_F},
};

/// A field where libibmad reads the wrong bits, and the source that shows this.
struct wrong {
    std::string structure;
    std::string name;
    MAD_FIELDS field;
    bit_range theirs;
};
const std::vector<wrong> wrong_fields{
    // OpenSM's structures and the fields next to it show this: these entries of libibmad lack the swap that the others
    // have.
    {"PMPortCounters", "QP1Dropped", IB_PC_QP1_DROP_F, {176, 16}},
    {"SMPPortInfoExtended", "HDRFECModeSupported", IB_PORT_EXT_HDR_FEC_MODE_SUPPORTED_F, {96, 16}},
    {"SMPPortInfoExtended", "HDRFECModeEnabled", IB_PORT_EXT_HDR_FEC_MODE_ENABLED_F, {144, 16}},
    {"SMPPortInfoExtended", "NDRFECModeSupported", IB_PORT_EXT_NDR_FEC_MODE_SUPPORTED_F, {128, 16}},
    {"SMPPortInfoExtended", "NDRFECModeEnabled", IB_PORT_EXT_NDR_FEC_MODE_ENABLED_F, {176, 16}},
    // According to OpenSM and ibis, both fields follow the remote QP, and the remote LID comes first in its word.
    {"CCCongestionLogEventCA", "SL", IB_CC_CONGESTION_LOG_ENTRY_CA_SL_CN_ENTRY_F, {24, 4}},
    {"CCCongestionLogEventCA", "serviceType", IB_CC_CONGESTION_LOG_ENTRY_CA_SERVICE_TYPE_CN_ENTRY_F, {28, 4}},
    {"CCCongestionLogEventCA", "remoteLID", IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_LID_CN_ENTRY_F, {80, 16}},
};

/// Fields that only libibmad has.
const std::set<MAD_FIELDS> fields_of_libibmad_alone{
    IB_GID_PREFIX_F,
    IB_GID_GUID_F, // a GID is one value in comad
    IB_MAD_METHOD_F,
    IB_MAD_RESPONSE_F, // comad's method includes the R bit
    IB_ATS_SM_NODE_ADDR_F,
    IB_ATS_SM_MAGIC_KEY_F,
    IB_ATS_SM_NODE_TYPE_F,
    IB_ATS_SM_NODE_NAME_F,                        // the data of SAServiceRecord
    IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_LID_CN_F, // OpenSM does not have this field
};

leaf leaf_of(const std::string& structure_name, const std::string& name) {
    const structure* s = find_structure(structure_name);
    INFO(structure_name << '.' << name);
    REQUIRE(s);
    for (const leaf& l : leaves_of(*s->info))
        if (l.name == name) return l;
    FAIL("no such field");
    return {};
}
bit_range place_of(const leaf& l) { return {l.off, l.width}; }

std::string element_name(const common_field& s, unsigned i) {
    return s.count == 1 ? s.name : fmt::format("{}[{}]", s.name, i);
}

MAD_FIELDS operator+(MAD_FIELDS field, unsigned i) { return static_cast<MAD_FIELDS>(static_cast<unsigned>(field) + i); }

/// A field of a table and the same field in libibmad.
struct pair {
    leaf ours;
    MAD_FIELDS theirs;
    unsigned base; ///< the byte where our structure starts
};

bool read_the_same(const pair& p, buffer& bytes) {
    const u8* ours = bytes.data() + p.base;
    buffer value{};
    mad_decode_field(bytes.data(), p.theirs, value.data());
    if (p.ours.width > 64) // a field of bytes
        return std::equal(ours + p.ours.off / 8, ours + (p.ours.off + p.ours.width) / 8, value.begin());
    u64 number = 0; // libibmad writes 32 or 64 bits in host byte order
    std::memcpy(&number, value.data(), p.ours.width > 32 ? 8 : 4);
    return number == bits_at(ours, p.ours.off, p.ours.width);
}

} // namespace

TEST_CASE("libibmad decodes the same values from random bytes") {
    std::map<std::string, std::vector<pair>> structures;
    std::vector<common_field> all = known_fields();
    all.insert(all.end(), more_fields.begin(), more_fields.end());
    for (const common_field& s : all) {
        if (s.field == IB_PC_QP1_DROP_F) continue; // wrong in libibmad, see above
        for (unsigned i = 0; i < s.count; ++i)
            structures[s.structure].push_back(
                {leaf_of(s.structure, element_name(s, i)), s.field + i, bytes_before(s.structure)});
    }
    CHECK(structures.size() == 64);

    std::mt19937_64 random(16);
    for (const auto& [name, pairs] : structures) {
        for (int round = 0; round < 10'000; ++round) {
            buffer bytes;
            for (std::size_t i = 0; i < bytes.size(); i += 8) store_be<u64>(bytes.data() + i, random());
            for (const pair& p : pairs) {
                if (!read_the_same(p, bytes)) FAIL_CHECK(name << '.' << p.ours.name);
            }
        }
    }
}

TEST_CASE("a field of libibmad that has several members in comad covers the same bits") {
    for (const several& s : fields_of_several) {
        INFO(s.structure << '.' << s.first);
        const leaf last = leaf_of(s.structure, s.last);
        bit_range all = place_of(leaf_of(s.structure, s.first));
        all.width = last.off + last.width - all.off;
        CHECK(place_of(s.field) == all);
    }
}

TEST_CASE("libibmad reads other bits only in its known errors") {
    for (const wrong& w : wrong_fields) {
        INFO(w.structure << '.' << w.name);
        CHECK(place_of(w.field) == w.theirs);
        CHECK(place_of(leaf_of(w.structure, w.name)) != w.theirs);
    }
}

TEST_CASE("every field of libibmad is compared") {
    std::set<MAD_FIELDS> compared = fields_of_libibmad_alone;
    for (const common_field& s : known_fields()) compared.insert(s.field);
    for (const common_field& s : more_fields)
        for (unsigned i = 0; i < s.count; ++i) compared.insert(s.field + i);
    for (const several& s : fields_of_several) compared.insert(s.field);
    for (const wrong& w : wrong_fields) compared.insert(w.field);
    for (const auto& [key, field] : all_fields()) {
        INFO(key.first << ' ' << key.second);
        CHECK(compared.contains(field));
    }
}

TEST_CASE("the method byte combines method and response bit as in libibmad") {
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::array<u8, 24> bytes{};
        bytes[3] = static_cast<u8>(byte);
        const Method method = get<&MADHeader::method>(bytes.data());
        CHECK((value(method) & ~response_bit) == mad_get_field(bytes.data(), 0, IB_MAD_METHOD_F));
        CHECK(is_response(method) == (mad_get_field(bytes.data(), 0, IB_MAD_RESPONSE_F) != 0));
    }
}
