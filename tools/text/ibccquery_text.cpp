// SPDX-License-Identifier: MIT
// ibccquery_text.cpp - formats congestion control attributes with the labels of libibmad.
#include "text/ibccquery_text.hpp"

#include "comad.hpp"
#include "text/dotted_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ibtool {

using comad::iba::ClassPortInfo;

namespace {

template <class Bytes> std::string format_bytes(const Bytes& bytes) {
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}
std::string format_gid_bytes(const comad::iba::gid& g) {
    return fmt::format("{:016x}{:016x}", g.prefix(), value(g.interface_id()));
}

std::string format_log_head(unsigned type, unsigned flags) {
    return dotted_lines().number("LogType", type).hex("CongestionFlags", flags, 1).take();
}

/// Formats events as the original program does: without events that contain only zeros.
template <class Events, class Text> std::string format_events(const Events& events, Text&& text_of) {
    std::string text;
    for (const auto& e : events)
        if (e != typename Events::value_type{}) text += text_of(e) + '\n';
    return text;
}

std::string format_event(const cc::CongestionLogEventSwitch& e) {
    return dotted_lines()
        .number("SLID", value(e.SLID))
        .number("DLID", value(e.DLID))
        .number("SL", e.SL)
        .number("Timestamp", e.timestamp)
        .take();
}

std::string format_event(const cc::CongestionLogEventCA& e) {
    return dotted_lines()
        .number("Local_QP_CN_Entry", e.localQP)
        .number("SL_CN_Entry", e.SL)
        .hex("Service_Type_CN_Entry", e.serviceType, 1)
        .number("Remote_QP_Number_CN_Entry", e.remoteQP)
        .number("Remote_LID_CN_Entry", value(e.remoteLID))
        .number("Timestamp_CN_Entry", e.timestamp)
        .take();
}

} // namespace

std::string format_congestion(const ClassPortInfo& c) {
    return dotted_lines()
        .number("BaseVersion", c.baseVersion)
        .number("ClassVersion", c.classVersion)
        .hex("CapabilityMask", c.capabilityMask, 2)
        .hex("CapabilityMask2", c.capabilityMask2, 4)
        .number("RespTimeVal", c.respTimeValue)
        .text("RedirectGID", format_gid_bytes(c.redirectGID))
        .hex("RedirectTC", c.redirectTC, 1)
        .number("RedirectSL", c.redirectSL)
        .hex("RedirectFL", c.redirectFL, 3)
        .number("RedirectLID", value(c.redirectLID))
        .hex("RedirectPKey", c.redirectPKey, 2)
        .hex("RedirectQP", c.redirectQP, 3)
        .hex("RedirectQKey", c.redirectQKey, 4)
        .text("TrapGID", format_gid_bytes(c.trapGID))
        .hex("TrapTC", c.trapTC, 1)
        .number("TrapSL", c.trapSL)
        .hex("TrapFL", c.trapFL, 3)
        .number("TrapLID", value(c.trapLID))
        .hex("TrapPKey", c.trapPKey, 2)
        .number("TrapHL", c.trapHL)
        .hex("TrapQP", c.trapQP, 3)
        .hex("TrapQKey", c.trapQKey, 4)
        .take();
}

std::string format_congestion(const cc::CongestionInfo& c) {
    return dotted_lines()
        .hex("CongestionInfo", c.congestionInfo, 2)
        .number("ControlTableCap", c.controlTableCap)
        .take();
}

std::string format_congestion(const cc::CongestionKeyInfo& c) {
    return dotted_lines()
        .hex("CC_Key", c.CCKey, 8)
        .number("CC_KeyProtectBit", c.CCKeyProtectBit)
        .number("CC_KeyLeasePeriod", c.CCKeyLeasePeriod)
        .number("CC_KeyViolations", c.CCKeyViolations)
        .take();
}

std::string format_congestion(const cc::CongestionLogSwitch& c) {
    return format_log_head(c.logType, c.congestionFlags) +
           dotted_lines()
               .number("LogEventsCounter", c.logEventsCounter)
               .number("CurrentTimeStamp", c.currentTimeStamp)
               .text("PortMap", format_bytes(c.portMap))
               .take() +
           '\n' + format_events(c.congestionLogEvent, [](const auto& e) { return format_event(e); });
}

std::string format_congestion(const cc::CongestionLogCA& c) {
    return format_log_head(c.logType, c.congestionFlags) +
           dotted_lines()
               .number("ThresholdEventCounter", c.thresholdEventCounter)
               .hex("ThresholdCongestionEventMap", c.thresholdCongestionEventMap, 2)
               .number("CurrentTimeStamp", c.currentTimeStamp)
               .take() +
           '\n' + format_events(c.congestionLogEvent, [](const auto& e) { return format_event(e); });
}

std::string format_congestion(const cc::SwitchCongestionSetting& c) {
    return dotted_lines()
        .hex("Control_Map", c.controlMap, 4)
        .text("Victim_Mask", format_bytes(c.victimMask))
        .text("Credit_Mask", format_bytes(c.creditMask))
        .hex("Threshold", c.threshold, 1)
        .number("Packet_Size", c.packetSize)
        .hex("CS_Threshold", c.CSThreshold, 1)
        .hex("CS_ReturnDelay", c.CSReturnDelay, 2)
        .number("Marking_Rate", c.markingRate)
        .take();
}

std::string format_congestion(const cc::SwitchPortCongestionSettingElement& e) {
    return dotted_lines()
        .number("Valid", e.valid)
        .number("Control_Type", e.controlType)
        .hex("Threshold", e.threshold, 1)
        .number("Packet_Size", e.packetSize)
        .number("Cong_Parm_Marking_Rate", e.congParmMarkingRate)
        .take();
}
std::string format_port_setting(unsigned port, const cc::SwitchPortCongestionSettingElement& e) {
    return dotted_lines().number("Port", port).take() + format_congestion(e) + '\n';
}

std::string format_congestion(const cc::CACongestionSetting& c) {
    std::string text =
        dotted_lines().hex("Port_Control", c.portControl, 2).hex("Control_Map", c.controlMap, 2).take() + '\n';
    for (unsigned SL = 0; SL < c.congestionEntry.size(); ++SL) {
        const cc::CACongestionEntry& e = c.congestionEntry[SL];
        text += dotted_lines()
                    .number("SL", SL)
                    .number("CCTI_Timer", e.CCTITimer)
                    .number("CCTI_Increase", e.CCTIIncrease)
                    .number("Trigger_Threshold", e.triggerThreshold)
                    .number("CCTI_Min", e.CCTIMin)
                    .take() +
                '\n';
    }
    return text;
}

std::string format_congestion(const cc::TimeStamp& c) { return dotted_lines().number("Timestamp", c.timeStamp).take(); }

std::string format_table_limit(const cc::CongestionControlTable& c) {
    return dotted_lines().number("CCTI_Limit", c.CCTILimit).take() + '\n';
}
std::string format_table_entry(unsigned index, const cc::CongestionControlTableEntry& e) {
    return dotted_lines()
               .number("Entry", index)
               .number("CCT_Shift", e.CCTShift)
               .number("CCT_Multiplier", e.CCTMultiplier)
               .take() +
           '\n';
}

} // namespace ibtool
