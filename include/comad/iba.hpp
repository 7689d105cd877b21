// SPDX-License-Identifier: MIT
// iba.hpp - every structure of the IBA that has a table, and the list of all of them. Include it for code that works
// on all structures. Code that needs a few structures compiles faster with their own headers.
#pragma once
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/bm.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/cm.hpp>
#include <comad/iba/detail/dm.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/detail/rmpp.hpp>
#include <comad/iba/detail/snmp.hpp>
#include <comad/iba/detail/transport_headers.hpp>
#include <comad/iba/notice.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>
#include <comad/iba/vendor.hpp>

namespace comad::iba {

/// A list of structure types, for templates.
template <wire... T> struct structure_list {};

/// Every structure, in the order of the chapters. Add a new table here; there is no other list.
using all_structures = structure_list<
    // 5, 7, 8, 9: packets
    hdr::RWH, hdr::LRH, hdr::FlowControl, hdr::GRH, hdr::BTH, hdr::RDETH, hdr::DETH, hdr::RETH, hdr::AtomicETH,
    hdr::AETH, hdr::AtomicAckETH, hdr::ImmDt, hdr::IETH,
    // 12: communication management
    cm::Format, cm::Path, cm::REQ, cm::MRA, cm::REJ, cm::REP, cm::RTU, cm::DREQ, cm::DREP, cm::LAP, cm::APR,
    cm::SIDR_REQ, cm::SIDR_REP,
    // 13: what all classes have
    MADHeader, MADHeaderDirected, ClassPortInfo, Notice, NoticeTrap64, NoticeTrap128, NoticeTrap129, NoticeTrap144,
    NoticeTrap145, NoticeTrap256, NoticeTrap257, NoticeTrap259, InformInfo, rmpp::Header, rmpp::ShortHeader, rmpp::Data,
    rmpp::Ack, rmpp::Stop, rmpp::Abort,
    // 14: subnet management
    smp::Format, smp::FormatDirected, smp::NodeDescription, smp::NodeInfo, smp::SwitchInfo, smp::GUIDInfo,
    smp::PortInfo, smp::PKeyTable, smp::SLToVLMappingTable, smp::VLArbitrationTable, smp::LinearForwardingTable,
    smp::LIDPortBlock, smp::RandomForwardingTable, smp::MulticastForwardingTable, smp::SMInfo, smp::NoticeTrap,
    smp::VendorDiag, smp::LedInfo, smp::PortInfoExtended, smp::SwitchPortStateTable, smp::HierarchyInfo,
    smp::MlnxExtPortInfo, smp::MlnxARInfo,
    // 15: subnet administration
    sa::Header, sa::Format, sa::NodeRecord, sa::PortInfoRecord, sa::SLToVLMappingTableRecord, sa::SwitchInfoRecord,
    sa::LinearForwardingTableRecord, sa::RandomForwardingTableRecord, sa::MulticastForwardingTableRecord,
    sa::VLArbitrationTableRecord, sa::SMInfoRecord, sa::PKeyTableRecord, sa::InformInfoRecord, sa::LinkRecord,
    sa::ServiceRecord, sa::ServiceAssociationRecord, sa::PathRecord, sa::MCMemberRecord, sa::GUIDInfoRecord,
    sa::TraceRecord, sa::MultiPathRecord,
    // 16.1, A10, A13: performance management
    pm::Format, pm::PortSamplesCtl, pm::PortSamplesRes, pm::PortCounters, pm::PortRcvErrorDetails,
    pm::PortXmitDiscardDetails, pm::PortOpRcvCounters, pm::PortFlowCtlCounters, pm::PortVLOpPackets, pm::PortVLOpData,
    pm::PortVLXmitFlowCtlUpdateErrors, pm::PortVLXmitWaitCounters, pm::SwPortVLCongestion, pm::PortSamplesResExt,
    pm::PortCountersExt, pm::PortExtendedSpeedsCounters, pm::PortExtendedSpeedsCountersRSFEC, pm::PortRcvConCtrl,
    pm::PortSLRcvFECN, pm::PortSLRcvBECN, pm::PortXmitConCtrl, pm::PortVLXmitTimeCong, pm::PortXmitDataSL,
    pm::PortRcvDataSL,
    // 16.2: baseboard management
    bm::Format,
    // 16.3: device management
    dm::Format, dm::IOUnitInfo, dm::IOControllerProfile, dm::ServiceEntry, dm::ServiceEntries, dm::DiagnosticTimeout,
    dm::PrepareToTest, dm::TestDeviceOnce, dm::TestDeviceLoop, dm::DiagCode,
    // 16.4: SNMP tunneling
    snmp::Format, snmp::CommunityInfo, snmp::PDUInfo,
    // 16.5: vendors
    vend::Format, vend::OUIFormat, vend::MlxGeneralInfo, vend::MlxConfigRecord, vend::MlxConfigSpace,
    vend::MlxCounterGroupInfo, vend::MlxCounterGroupConfig, vend::OFASysStatPing, vend::OFASysStatHostInfo,
    vend::OFASysStatCPUInfo,
    // A10: congestion control
    cc::Format, cc::LogFormat, cc::CongestionInfo, cc::CongestionKeyInfo, cc::CongestionLogEventSwitch,
    cc::CongestionLogSwitch, cc::CongestionLogEventCA, cc::CongestionLogCA, cc::SwitchCongestionSetting,
    cc::SwitchPortCongestionSettingElement, cc::SwitchPortCongestionSetting, cc::CACongestionEntry,
    cc::CACongestionSetting, cc::CongestionControlTableEntry, cc::CongestionControlTable, cc::TimeStamp>;

} // namespace comad::iba
