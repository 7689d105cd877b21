// SPDX-License-Identifier: MIT
// iba_enums_test.cpp - values and names of enumerations and bit sets, compared with libibmad, libibumad and libibverbs.
#include "support/catch.hpp"
#include <comad/iba.hpp>
#include <comad/iba/detail/enums.hpp>

#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

using namespace comad;
using namespace comad::iba;

namespace {

/// Returns `GetTable` for Method::GetTable, as the compiler prints it, or nothing for a number without an enumerator.
template <auto Value> consteval std::string_view enumerator() {
    const std::string_view function = __PRETTY_FUNCTION__;
    const std::size_t begin = function.find("Value = ") + 8;
    const std::string_view text = function.substr(begin, function.find_first_of(";]", begin) - begin);
    return text[0] == '(' ? std::string_view{} : text.substr(text.rfind(':') + 1);
}

template <class E, u64... Numbers>
std::map<u64, std::string> enumerators_among(std::integer_sequence<u64, Numbers...>) {
    // The compiler filters the numbers: one function per number would take minutes with a sanitizer.
    static constexpr u64 numbers[] = {Numbers...};
    static constexpr std::string_view texts[] = {enumerator<static_cast<E>(Numbers)>()...};
    std::map<u64, std::string> found;
    for (std::size_t i = 0; i < std::size(numbers); ++i)
        if (!texts[i].empty()) found.emplace(numbers[i], texts[i]);
    return found;
}
template <class E, u64... Bits> std::map<u64, std::string> bits_among(std::integer_sequence<u64, Bits...>) {
    return enumerators_among<E>(std::integer_sequence<u64, (u64{1} << Bits)...>{});
}

template <class E> std::map<u64, std::string> names() {
    std::map<u64, std::string> all;
    for (const enum_name& n : names_of<E>) CHECK(all.emplace(n.value, n.name).second);
    return all;
}

/// Returns the enumerators of an enumeration of numbers.
template <class E> std::map<u64, std::string> enumerators() {
    return enumerators_among<E>(std::make_integer_sequence < u64, sizeof(E) == 1 ? 256 : 300 > {});
}
/// Returns the bits of an enumeration of bits.
template <class E> std::map<u64, std::string> bits() {
    return bits_among<E>(std::make_integer_sequence<u64, sizeof(E) * 8>{});
}

/// An enumerator and the corresponding constant of another program.
struct constant_pair {
    u64 ours;
    u64 theirs;

    template <class E>
    constant_pair(E enumerator, u64 constant) : ours(static_cast<u64>(enumerator)), theirs(constant) {}
};
void check(std::initializer_list<constant_pair> all) {
    for (const constant_pair& s : all) CHECK(s.ours == s.theirs);
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// Returns the last word of the text that a function of libibmad prints for a number.
template <class Dump> std::string dumped(Dump dump, u32 number) {
    std::array<char, 1024> buffer{};
    dump(buffer.data(), static_cast<int>(buffer.size()), &number, sizeof(number));
    const std::string text(buffer.data());
    return text.substr(text.find_last_of("\t ") + 1);
}

} // namespace

TEST_CASE("every enumerator has a name, and other numbers have none") {
    CHECK(names<Method>() == enumerators<Method>());
    CHECK(names<RMPPStatus>() == enumerators<RMPPStatus>());
    CHECK(names<NoticeType>() == enumerators<NoticeType>());
    CHECK(names<ProducerType>() == enumerators<ProducerType>());
    CHECK(names<TrapNumber>() == enumerators<TrapNumber>());
    CHECK(names<NodeType>() == enumerators<NodeType>());
    CHECK(names<PortState>() == enumerators<PortState>());
    CHECK(names<PortPhysicalState>() == enumerators<PortPhysicalState>());
    CHECK(names<SMState>() == enumerators<SMState>());
    CHECK(names<Selector>() == enumerators<Selector>());

    CHECK(names<RMPPFlag>() == bits<RMPPFlag>());
    CHECK(names<ClassCapability>() == bits<ClassCapability>());
    CHECK(names<CapabilityMask>() == bits<CapabilityMask>());
    CHECK(names<CapabilityMask2>() == bits<CapabilityMask2>());
    CHECK(names<SACapability>() == bits<SACapability>());
    CHECK(names<SACapability2>() == bits<SACapability2>());
    CHECK(names<PMCapability>() == bits<PMCapability>());
    CHECK(names<PMCapability2>() == bits<PMCapability2>());

    // Names differ from identifiers where the name is not a valid identifier.
    const auto have_same_numbers = [](const auto& named, const auto& declared) {
        return std::equal(named.begin(), named.end(), declared.begin(), declared.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; });
    };
    CHECK(have_same_numbers(names<StatusCode>(), enumerators<StatusCode>()));
    CHECK(have_same_numbers(names<RMPPType>(), enumerators<RMPPType>()));
    CHECK(have_same_numbers(names<LinkWidth>(), enumerators<LinkWidth>()));
    CHECK(have_same_numbers(names<LinkSpeed>(), enumerators<LinkSpeed>()));
    CHECK(have_same_numbers(names<LinkSpeedExt>(), enumerators<LinkSpeedExt>()));
    CHECK(have_same_numbers(names<LinkSpeedExt2>(), enumerators<LinkSpeedExt2>()));
    CHECK(have_same_numbers(names<MTU>(), enumerators<MTU>()));
    CHECK(have_same_numbers(names<VLCap>(), enumerators<VLCap>()));
    CHECK(have_same_numbers(names<FECMode>(), enumerators<FECMode>()));
    CHECK(have_same_numbers(names<SAStatus>(), enumerators<SAStatus>()));
    CHECK(have_same_numbers(names<Rate>(), enumerators<Rate>()));
}

TEST_CASE("capability bits have the names of libibmad") {
    // libibmad shortens and misspells some names.
    const std::map<std::string, std::string> theirs{
        {"iscommunicationmanagementsupported", "iscommunicatonmanagementsupported"},
        {"isclientreregistrationsupported", "isclientregistrationsupported"},
    };
    const auto check_names = [&](const auto& names, auto dump, unsigned size) {
        for (unsigned bit = 0; bit < size; ++bit) {
            const u32 set = u32{1} << bit;
            const std::string dumped_name = lower(dumped(dump, set));
            if (dumped_name.starts_with("0x")) continue; // libibmad does not know the bit
            INFO(bit);
            REQUIRE(names.contains(set));
            const std::string ours = lower(names.at(set));
            const auto spelled = theirs.find(ours);
            CHECK((spelled == theirs.end() ? ours : spelled->second) == dumped_name);
        }
    };
    check_names(names<CapabilityMask>(), mad_dump_portcapmask, 32);
    check_names(names<CapabilityMask2>(), mad_dump_portcapmask2, 16);
}

TEST_CASE("states, widths, MTUs and VLs have the names of libibmad") {
    for (const auto& [number, name] : names<PortState>()) CHECK(name == dumped(mad_dump_portstate, number));
    for (const auto& [number, name] : names<PortPhysicalState>()) {
        if (number != 0) CHECK(name == dumped(mad_dump_physportstate, number));
    }
    for (const auto& [number, name] : names<LinkWidth>())
        CHECK(lower(name) == lower(dumped(mad_dump_linkwidth, number)));
    for (const auto& [number, name] : names<MTU>()) CHECK(name == dumped(mad_dump_mtu, number));
    for (const auto& [number, name] : names<VLCap>()) CHECK(name == dumped(mad_dump_vlcap, number));
}

TEST_CASE("classes, methods and status values equal those of libibumad") {
    check({{MgmtClass::SubnLID, UMAD_CLASS_SUBN_LID_ROUTED},
           {MgmtClass::SubnAdm, UMAD_CLASS_SUBN_ADM},
           {MgmtClass::Performance, UMAD_CLASS_PERF_MGMT},
           {MgmtClass::BM, UMAD_CLASS_BM},
           {MgmtClass::DevMgt, UMAD_CLASS_DEVICE_MGMT},
           {MgmtClass::CommMgt, UMAD_CLASS_CM},
           {MgmtClass::SNMP, UMAD_CLASS_SNMP},
           {MgmtClass::Vend, UMAD_CLASS_VENDOR_RANGE1_START},
           {MgmtClass::DevAdm, UMAD_CLASS_DEVICE_ADM},
           {MgmtClass::BootMgt, UMAD_CLASS_BOOT_MGMT},
           {MgmtClass::BIS, UMAD_CLASS_BIS},
           {MgmtClass::CongestionControl, UMAD_CLASS_CONG_MGMT},
           {MgmtClass::VendOUI, UMAD_CLASS_VENDOR_RANGE2_START},
           {MgmtClass::SubnDirected, UMAD_CLASS_SUBN_DIRECTED_ROUTE}});
    check({{Method::Get, UMAD_METHOD_GET},
           {Method::Set, UMAD_METHOD_SET},
           {Method::Send, UMAD_METHOD_SEND},
           {Method::Trap, UMAD_METHOD_TRAP},
           {Method::Report, UMAD_METHOD_REPORT},
           {Method::TrapRepress, UMAD_METHOD_TRAP_REPRESS},
           {Method::GetResp, UMAD_METHOD_GET_RESP},
           {Method::ReportResp, UMAD_METHOD_REPORT_RESP},
           {Method::GetTable, UMAD_SA_METHOD_GET_TABLE},
           {Method::GetTableResp, UMAD_SA_METHOD_GET_TABLE_RESP},
           {Method::GetTraceTable, UMAD_SA_METHOD_GET_TRACE_TABLE},
           {Method::GetMulti, UMAD_SA_METHOD_GET_MULTI},
           {Method::GetMultiResp, UMAD_SA_METHOD_GET_MULTI_RESP},
           {Method::Delete, UMAD_SA_METHOD_DELETE},
           {Method::DeleteResp, UMAD_SA_METHOD_DELETE_RESP}});
    check({{status_code(UMAD_STATUS_BAD_VERSION), value(StatusCode::BadVersion)},
           {status_code(UMAD_STATUS_METHOD_NOT_SUPPORTED), value(StatusCode::MethodNotSupported)},
           {status_code(UMAD_STATUS_ATTR_NOT_SUPPORTED), value(StatusCode::MethodAttributeNotSupported)},
           {status_code(UMAD_STATUS_INVALID_ATTR_VALUE), value(StatusCode::InvalidAttribute)},
           {status_code(0xffe3), value(StatusCode::None)}});
    CHECK(status_busy == UMAD_STATUS_BUSY);
    CHECK(status_redirect == UMAD_STATUS_REDIRECT);
    CHECK(class_status(0x03ff) == 3);
}

TEST_CASE("subnet administration has the status, capabilities and selectors of libibumad") {
    check({{SAStatus::ERR_NO_RESOURCES, UMAD_SA_STATUS_NO_RESOURCES},
           {SAStatus::ERR_REQ_INVALID, UMAD_SA_STATUS_REQ_INVALID},
           {SAStatus::ERR_NO_RECORDS, UMAD_SA_STATUS_NO_RECORDS},
           {SAStatus::ERR_TOO_MANY_RECORDS, UMAD_SA_STATUS_TOO_MANY_RECORDS},
           {SAStatus::ERR_REQ_INVALID_GID, UMAD_SA_STATUS_INVALID_GID},
           {SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS, UMAD_SA_STATUS_INSUF_COMPS},
           {SAStatus::ERR_REQ_DENIED, UMAD_SA_STATUS_REQ_DENIED},
           {SAStatus::ERR_REQ_PRIORITY_SUGGESTED, UMAD_SA_STATUS_PRI_SUGGESTED}});
    check(
        {{SACapability::IsSubnetOptionalRecordsSupported, UMAD_SA_CAP_MASK_IS_SUBNET_OPT_REC_SUP},
         {SACapability::IsUDMulticastSupported, UMAD_SA_CAP_MASK_IS_UD_MCAST_SUP},
         {SACapability::IsMultiPathSupported, UMAD_SA_CAP_MASK_IS_MULTIPATH_SUP},
         {SACapability::IsReinitSupported, UMAD_SA_CAP_MASK_IS_REINIT_SUP},
         {SACapability::IsGIDScopedMultiPathSupported, UMAD_SA_CAP_MASK_IS_GID_SCOPED_MULTIPATH_SUP},
         {SACapability::IsPortInfoCapMaskMatchSupported, UMAD_SA_CAP_MASK_IS_PORTINFO_CAP_MASK_MATCH_SUP},
         {SACapability::IsLinkSpeedWidthPairsTableRecordSupported, UMAD_SA_CAP_MASK_IS_LINK_SPEED_WIDTH_PAIRS_REC_SUP},
         {SACapability::IsPAServicesSupported, UMAD_SA_CAP_MASK_IS_PA_SERVICES_SUP}});
    check({{SACapability2::IsUnPathRePathSupported, UMAD_SA_CAP_MASK2_IS_UNPATH_REPATH_SUP},
           {SACapability2::IsQoSSupported, UMAD_SA_CAP_MASK2_IS_QOS_SUP},
           {SACapability2::IsReversePathPKeyMemberBitSupported, UMAD_SA_CAP_MASK2_IS_REV_PATH_PKEY_MEM_BIT_SUP},
           {SACapability2::IsMulticastFDBTopSupported, UMAD_SA_CAP_MASK2_IS_MCAST_TOP_SUP},
           {SACapability2::IsHierarchyInfoSupported, UMAD_SA_CAP_MASK2_IS_HIERARCHY_INFO_SUP},
           {SACapability2::IsAdditionalGUIDSupported, UMAD_SA_CAP_MASK2_IS_ADDITIONAL_GUID_SUP},
           {SACapability2::IsFullPortInfoRecordSupported, UMAD_SA_CAP_MASK2_IS_FULL_PORTINFO_REC_SUP},
           {SACapability2::IsExtendedSpeedsSupported, UMAD_SA_CAP_MASK2_IS_EXT_SPEEDS_SUP},
           {SACapability2::IsMulticastServiceRecordSupported, UMAD_SA_CAP_MASK2_IS_MCAST_SERVICE_REC_SUP},
           {SACapability2::IsCableInfoRecordSupported, UMAD_SA_CAP_MASK2_IS_CABLE_INFO_REC_SUP},
           {SACapability2::IsPortInfoCapMask2MatchSupported, UMAD_SA_CAP_MASK2_IS_PORT_INFO_CAPMASK2_MATCH_SUP},
           {SACapability2::IsPortInfoExtendedRecordSupported, UMAD_SA_CAP_MASK2_IS_PORT_INFO_EXT_REC_SUP}});
    check({{Selector::GreaterThan, UMAD_SA_SELECTOR_GREATER_THAN},
           {Selector::LessThan, UMAD_SA_SELECTOR_LESS_THAN},
           {Selector::Exactly, UMAD_SA_SELECTOR_EXACTLY},
           {Selector::Best, UMAD_SA_SELECTOR_LARGEST_AVAIL}});
}

TEST_CASE("traps have the numbers of libibumad") {
    check({{TrapNumber::GIDInService, UMAD_SM_GID_IN_SERVICE_TRAP},
           {TrapNumber::GIDOutOfService, UMAD_SM_GID_OUT_OF_SERVICE_TRAP},
           {TrapNumber::MulticastGroupCreated, UMAD_SM_MGID_CREATED_TRAP},
           {TrapNumber::MulticastGroupDeleted, UMAD_SM_MGID_DESTROYED_TRAP},
           {TrapNumber::UnPath, UMAD_SM_UNPATH_TRAP},
           {TrapNumber::RePath, UMAD_SM_REPATH_TRAP},
           {TrapNumber::LinkStateChange, UMAD_SM_LINK_STATE_CHANGED_TRAP},
           {TrapNumber::LinkIntegrityThreshold, UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP},
           {TrapNumber::BufferOverrunThreshold, UMAD_SM_BUFFER_OVERRUN_THRESHOLD_TRAP},
           {TrapNumber::FlowControlWatchdog, UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP},
           {TrapNumber::LocalChange, UMAD_SM_LOCAL_CHANGES_TRAP},
           {TrapNumber::SystemImageGUIDChange, UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP},
           {TrapNumber::BadMKey, UMAD_SM_BAD_MKEY_TRAP},
           {TrapNumber::BadPKey, UMAD_SM_BAD_PKEY_TRAP},
           {TrapNumber::BadQKey, UMAD_SM_BAD_QKEY_TRAP},
           {TrapNumber::BadPKeyAtSwitch, UMAD_SM_BAD_SWITCH_PKEY_TRAP}});
}

TEST_CASE("rates have the codes of libibverbs") {
    check({{Rate::r2_5, IBV_RATE_2_5_GBPS}, {Rate::r5, IBV_RATE_5_GBPS},       {Rate::r10, IBV_RATE_10_GBPS},
           {Rate::r14, IBV_RATE_14_GBPS},   {Rate::r20, IBV_RATE_20_GBPS},     {Rate::r25, IBV_RATE_25_GBPS},
           {Rate::r28, IBV_RATE_28_GBPS},   {Rate::r30, IBV_RATE_30_GBPS},     {Rate::r40, IBV_RATE_40_GBPS},
           {Rate::r50, IBV_RATE_50_GBPS},   {Rate::r56, IBV_RATE_56_GBPS},     {Rate::r60, IBV_RATE_60_GBPS},
           {Rate::r80, IBV_RATE_80_GBPS},   {Rate::r100, IBV_RATE_100_GBPS},   {Rate::r112, IBV_RATE_112_GBPS},
           {Rate::r120, IBV_RATE_120_GBPS}, {Rate::r168, IBV_RATE_168_GBPS},   {Rate::r200, IBV_RATE_200_GBPS},
           {Rate::r300, IBV_RATE_300_GBPS}, {Rate::r400, IBV_RATE_400_GBPS},   {Rate::r600, IBV_RATE_600_GBPS},
           {Rate::r800, IBV_RATE_800_GBPS}, {Rate::r1200, IBV_RATE_1200_GBPS}, {Rate::r1600, 25}});
    for (const auto& [number, identifier] : enumerators<Rate>()) {
        std::string text = identifier.substr(1);
        std::replace(text.begin(), text.end(), '_', '.');
        CHECK(names<Rate>().at(number) == text);
    }
}

TEST_CASE("attributes have the IDs of libibumad") {
    check({{attribute_id<smp::NodeDescription>, UMAD_SM_ATTR_NODE_DESC},
           {attribute_id<smp::NodeInfo>, UMAD_SM_ATTR_NODE_INFO},
           {attribute_id<smp::SwitchInfo>, UMAD_SM_ATTR_SWITCH_INFO},
           {attribute_id<smp::GUIDInfo>, UMAD_SM_ATTR_GUID_INFO},
           {attribute_id<smp::PortInfo>, UMAD_SM_ATTR_PORT_INFO},
           {attribute_id<smp::PKeyTable>, UMAD_SM_ATTR_PKEY_TABLE},
           {attribute_id<smp::SLToVLMappingTable>, UMAD_SM_ATTR_SLVL_TABLE},
           {attribute_id<smp::VLArbitrationTable>, UMAD_SM_ATTR_VL_ARB_TABLE},
           {attribute_id<smp::LinearForwardingTable>, UMAD_SM_ATTR_LINEAR_FT},
           {attribute_id<smp::RandomForwardingTable>, UMAD_SM_ATTR_RANDOM_FT},
           {attribute_id<smp::MulticastForwardingTable>, UMAD_SM_ATTR_MCAST_FT},
           {attribute_id<smp::HierarchyInfo>, UMAD_SM_ATTR_HIERARCHY_INFO},
           {attribute_id<smp::SMInfo>, UMAD_SM_ATTR_SM_INFO},
           {attribute_id<smp::VendorDiag>, UMAD_SM_ATTR_VENDOR_DIAG},
           {attribute_id<smp::LedInfo>, UMAD_SM_ATTR_LED_INFO},
           {attribute_id<smp::PortInfoExtended>, UMAD_SM_ATTR_PORT_INFO_EXT},
           {attribute_id<smp::MlnxExtPortInfo>, UMAD_SM_ATTR_MLNX_EXT_PORT_INFO}});
    check({{attribute_id<sa::NodeRecord>, UMAD_SA_ATTR_NODE_REC},
           {attribute_id<sa::PortInfoRecord>, UMAD_SA_ATTR_PORT_INFO_REC},
           {attribute_id<sa::SLToVLMappingTableRecord>, UMAD_SA_ATTR_SLVL_REC},
           {attribute_id<sa::SwitchInfoRecord>, UMAD_SA_ATTR_SWITCH_INFO_REC},
           {attribute_id<sa::LinearForwardingTableRecord>, UMAD_SA_ATTR_LINEAR_FT_REC},
           {attribute_id<sa::RandomForwardingTableRecord>, UMAD_SA_ATTR_RANDOM_FT_REC},
           {attribute_id<sa::MulticastForwardingTableRecord>, UMAD_SA_ATTR_MCAST_FT_REC},
           {attribute_id<sa::SMInfoRecord>, UMAD_SA_ATTR_SM_INFO_REC},
           {attribute_id<sa::InformInfoRecord>, UMAD_SA_ATTR_INFORM_INFO_REC},
           {attribute_id<sa::LinkRecord>, UMAD_SA_ATTR_LINK_REC},
           {attribute_id<sa::GUIDInfoRecord>, UMAD_SA_ATTR_GUID_INFO_REC},
           {attribute_id<sa::ServiceRecord>, UMAD_SA_ATTR_SERVICE_REC},
           {attribute_id<sa::PKeyTableRecord>, UMAD_SA_ATTR_PKEY_TABLE_REC},
           {attribute_id<sa::PathRecord>, UMAD_SA_ATTR_PATH_REC},
           {attribute_id<sa::VLArbitrationTableRecord>, UMAD_SA_ATTR_VL_ARB_REC},
           {attribute_id<sa::MCMemberRecord>, UMAD_SA_ATTR_MCMEMBER_REC},
           {attribute_id<sa::TraceRecord>, UMAD_SA_ATTR_TRACE_REC},
           {attribute_id<sa::MultiPathRecord>, UMAD_SA_ATTR_MULTI_PATH_REC},
           {attribute_id<sa::ServiceAssociationRecord>, UMAD_SA_ATTR_SERVICE_ASSOC_REC}});
    check({{attribute_id<pm::PortSamplesCtl>, IB_GSI_PORT_SAMPLES_CONTROL},
           {attribute_id<pm::PortSamplesRes>, IB_GSI_PORT_SAMPLES_RESULT},
           {attribute_id<pm::PortCounters>, IB_GSI_PORT_COUNTERS},
           {attribute_id<pm::PortRcvErrorDetails>, IB_GSI_PORT_RCV_ERROR_DETAILS},
           {attribute_id<pm::PortXmitDiscardDetails>, IB_GSI_PORT_XMIT_DISCARD_DETAILS},
           {attribute_id<pm::PortOpRcvCounters>, IB_GSI_PORT_PORT_OP_RCV_COUNTERS},
           {attribute_id<pm::PortFlowCtlCounters>, IB_GSI_PORT_PORT_FLOW_CTL_COUNTERS},
           {attribute_id<pm::PortVLOpPackets>, IB_GSI_PORT_PORT_VL_OP_PACKETS},
           {attribute_id<pm::PortVLOpData>, IB_GSI_PORT_PORT_VL_OP_DATA},
           {attribute_id<pm::PortVLXmitFlowCtlUpdateErrors>, IB_GSI_PORT_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS},
           {attribute_id<pm::PortVLXmitWaitCounters>, IB_GSI_PORT_PORT_VL_XMIT_WAIT_COUNTERS},
           {attribute_id<pm::PortCountersExt>, IB_GSI_PORT_COUNTERS_EXT},
           {attribute_id<pm::PortExtendedSpeedsCounters>, IB_GSI_PORT_EXT_SPEEDS_COUNTERS},
           {attribute_id<pm::PortExtendedSpeedsCountersRSFEC>, IB_GSI_PORT_EXT_SPEEDS_COUNTERS},
           {attribute_id<pm::SwPortVLCongestion>, IB_GSI_SW_PORT_VL_CONGESTION},
           {attribute_id<pm::PortRcvConCtrl>, IB_GSI_PORT_RCV_CON_CTRL},
           {attribute_id<pm::PortSLRcvFECN>, IB_GSI_PORT_SL_RCV_FECN},
           {attribute_id<pm::PortSLRcvBECN>, IB_GSI_PORT_SL_RCV_BECN},
           {attribute_id<pm::PortXmitConCtrl>, IB_GSI_PORT_XMIT_CON_CTRL},
           {attribute_id<pm::PortVLXmitTimeCong>, IB_GSI_PORT_VL_XMIT_TIME_CONG},
           {attribute_id<pm::PortXmitDataSL>, IB_GSI_PORT_XMIT_DATA_SL},
           {attribute_id<pm::PortRcvDataSL>, IB_GSI_PORT_RCV_DATA_SL}});
    check({{attribute_id<cc::CongestionInfo>, IB_CC_ATTR_CONGESTION_INFO},
           {attribute_id<cc::CongestionKeyInfo>, IB_CC_ATTR_CONGESTION_KEY_INFO},
           {attribute_id<cc::CongestionLogSwitch>, IB_CC_ATTR_CONGESTION_LOG},
           {attribute_id<cc::CongestionLogCA>, IB_CC_ATTR_CONGESTION_LOG},
           {attribute_id<cc::SwitchCongestionSetting>, IB_CC_ATTR_SWITCH_CONGESTION_SETTING},
           {attribute_id<cc::SwitchPortCongestionSetting>, IB_CC_ATTR_SWITCH_PORT_CONGESTION_SETTING},
           {attribute_id<cc::CACongestionSetting>, IB_CC_ATTR_CA_CONGESTION_SETTING},
           {attribute_id<cc::CongestionControlTable>, IB_CC_ATTR_CONGESTION_CONTROL_TABLE},
           {attribute_id<cc::TimeStamp>, IB_CC_ATTR_TIMESTAMP}});
}

TEST_CASE("the bits of a set are listed in ascending order, and unnamed bits form one item") {
    CHECK(bits_text<LinkWidth>(0x12) == "4x, 2x");
    CHECK(bits_text<LinkSpeed>(7) == "SDR, DDR, QDR");
    CHECK(bits_text<LinkSpeedExt>(0) == "none");
    CHECK(bits_text<LinkSpeedExt>(0x1c) == "HDR, NDR, ?? 0x10");
    CHECK(bits_text<CapabilityMask>(0x80000001) == "IsHierarchyInfoSupported, ?? 0x1");
    CHECK(bits_text<SACapability2>(u64{1} << 63 | 3) ==
          "IsUnPathRePathSupported, IsQoSSupported, ?? 0x8000000000000000");
    CHECK(bits_text({}, 6) == "?? 0x6");
}
