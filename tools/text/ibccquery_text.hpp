// SPDX-License-Identifier: MIT
// ibccquery_text.hpp - attributes of congestion control as infiniband-diags' ibccquery prints them, label by label. Asks nobody.
#pragma once
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/class_port_info.hpp>

#include <string>

namespace ibtool {

// Dotted lines: `CongestionInfo:..................0x0001`.
std::string congestion_text(const comad::iba::ClassPortInfo&);
std::string congestion_text(const comad::iba::cc::CongestionInfo&);
std::string congestion_text(const comad::iba::cc::CongestionKeyInfo&);
/// With the events that the log has, each behind an empty line.
std::string congestion_text(const comad::iba::cc::CongestionLogSwitch&);
/// Its events are read as the IBA has them: libibmad's labels stand where another field is, and its Local_lid_cn is none.
std::string congestion_text(const comad::iba::cc::CongestionLogCA&);
std::string congestion_text(const comad::iba::cc::SwitchCongestionSetting&);
std::string congestion_text(const comad::iba::cc::SwitchPortCongestionSettingElement&);
/// Below the port's number, and with an empty line.
std::string port_setting_text(unsigned port, const comad::iba::cc::SwitchPortCongestionSettingElement&);
/// With those of all service levels.
std::string congestion_text(const comad::iba::cc::CACongestionSetting&);
std::string congestion_text(const comad::iba::cc::TimeStamp&);
/// The table's limit alone, and an entry below its index.
std::string table_limit_text(const comad::iba::cc::CongestionControlTable&);
std::string table_entry_text(unsigned index, const comad::iba::cc::CongestionControlTableEntry&);

} // namespace ibtool
