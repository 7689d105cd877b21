// SPDX-License-Identifier: MIT
// ibccquery_text.hpp - formats congestion control attributes as infiniband-diags' ibccquery does, with the same labels. Sends nothing.
#pragma once
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/class_port_info.hpp>

#include <string>

namespace ibtool {

// Return dotted lines: `CongestionInfo:..................0x0001`.
std::string format_congestion(const comad::iba::ClassPortInfo&);
std::string format_congestion(const comad::iba::cc::CongestionInfo&);
std::string format_congestion(const comad::iba::cc::CongestionKeyInfo&);
/// Includes the events of the log, each after an empty line.
std::string format_congestion(const comad::iba::cc::CongestionLogSwitch&);
/// Events are decoded as in the IBA. libibmad has its labels at other fields, and its Local_lid_cn is not a field.
std::string format_congestion(const comad::iba::cc::CongestionLogCA&);
std::string format_congestion(const comad::iba::cc::SwitchCongestionSetting&);
std::string format_congestion(const comad::iba::cc::SwitchPortCongestionSettingElement&);
/// Starts with the port's number, and ends with an empty line.
std::string format_port_setting(unsigned port, const comad::iba::cc::SwitchPortCongestionSettingElement&);
/// Includes the entries of all service levels.
std::string format_congestion(const comad::iba::cc::CACongestionSetting&);
std::string format_congestion(const comad::iba::cc::TimeStamp&);
/// Return only the limit of the table, or an entry after its index.
std::string format_table_limit(const comad::iba::cc::CongestionControlTable&);
std::string format_table_entry(unsigned index, const comad::iba::cc::CongestionControlTableEntry&);

} // namespace ibtool
