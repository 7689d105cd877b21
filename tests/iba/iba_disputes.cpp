// SPDX-License-Identifier: MIT
// iba_disputes.cpp - lists the rows where tables follow other sources than the files in data/.
#include "iba_disputes.hpp"

#include <algorithm>

const disputes& layout_disputes() {
    static const disputes all{
        {"CMLAP", {"Linux", {"- QKey 64/32 hex", "+ reserved_64 64/32 reserved"}}},
        {"CMMRA",
         {"Linux", {"- privateData 96/1760 bytes", "- reserved_80 80/16 reserved", "+ privateData 80/1776 bytes"}}},
        {"CMREP",
         {"Linux, Wireshark", {"- reserved_219 219/5 reserved", "+ SRQ 219/1 dec", "+ reserved_220 220/4 reserved"}}},
        {"CMREQ",
         {"Linux, Wireshark",
          {"- localCMQKey 192/32 hex", "- reserved_412 412/4 reserved", "+ SRQ 412/1 dec",
           "+ extendedTransportType 413/3 dec", "+ reserved_192 192/32 reserved"}}},
        {"CMSIDR_REP",
         {"Linux",
          {"- QKey 128/32 hex", "- QPN 32/24 dec", "- classPortinfo 160/576 MADClassPortInfo",
           "- privateData 736/1120 bytes", "- serviceID 64/64 hex", "- status 56/8 dec", "+ QKey 160/32 hex",
           "+ QPN 64/24 dec", "+ additionalInfoLength 40/8 dec", "+ classPortinfo 192/576 MADClassPortInfo",
           "+ privateData 768/1088 bytes", "+ reserved_48 48/16 reserved", "+ reserved_88 88/8 reserved",
           "+ serviceID 96/64 hex", "+ status 32/8 dec"}}},
        {"CMSIDR_REQ", {"Linux", {"- reserved_32 32/32 reserved", "+ PKey 32/16 hex", "+ reserved_48 48/16 reserved"}}},
        {"MADClassPortInfo",
         {"13.4.8.1: every class but Subn has it",
          {"+ CongestionControl Get", "+ CongestionControl Set", "+ Vend Get", "+ Vend Get"}}},
        {"MlxGeneralInfo",
         {"ibdiagnet, mstflint; the PSID is text",
          {"- 108 bytes",
           "- fw_psid 448/128 bytes",
           "- hw_major 616/8 dec",
           "- hw_minor 624/8 dec",
           "- hw_sub_minor 632/8 dec",
           "- reserved_0 0/64 reserved",
           "- reserved_608 608/8 reserved",
           "- reserved_640 640/224 reserved",
           "+ 152 bytes",
           "+ VSKey 0/64 hex",
           "+ capability_mask 4 x 1088/32 hex",
           "+ fw_ext_major 608/32 dec",
           "+ fw_ext_minor 640/32 dec",
           "+ fw_ext_sub_minor 672/32 dec",
           "+ fw_psid 448/128 text",
           "+ reserved_704 704/128 reserved",
           "+ reserved_832 832/8 reserved",
           "+ reserved_864 864/224 reserved",
           "+ sw_major 840/8 dec",
           "+ sw_minor 848/8 dec",
           "+ sw_sub_minor 856/8 dec"}}},
        {"OFASysStatCPUInfo", {"ibsysstat", {"- attribute 0x0112", "+ attribute 0x0012"}}},
        {"OFASysStatPing", {"the facts say nothing of these bytes", {"+ reserved_64 64/448 reserved"}}},
        {"PMPortCounters", {"OpenSM", {"- reserved_160 160/16 reserved", "+ QP1Dropped 160/16 dec"}}},
        {"PMPortCountersExt",
         {"libibmad, OpenSM",
          {"- 72 bytes", "- reserved_32 32/32 reserved", "+ 184 bytes", "+ QP1Dropped 1408/64 dec",
           "+ VL15Dropped 1280/64 dec", "+ counterSelect2 32/32 hex", "+ excessiveBufferOverrunErrors 1216/64 dec",
           "+ linkDownedCounter 704/64 dec", "+ linkErrorRecoveryCounter 640/64 dec",
           "+ localLinkIntegrityErrors 1152/64 dec", "+ portRcvConstraintErrors 1088/64 dec",
           "+ portRcvErrors 768/64 dec", "+ portRcvRemotePhysicalErrors 832/64 dec",
           "+ portRcvSwitchRelayErrors 896/64 dec", "+ portXmitConstraintErrors 1024/64 dec",
           "+ portXmitDiscards 960/64 dec", "+ portXmitWait 1344/64 dec", "+ symbolErrorCounter 576/64 dec"}}},
        {"SAInformInfoRecord",
         {"OpenSM", {"- 80 bytes", "- reserved_480 480/160 reserved", "+ 64 bytes", "+ reserved_480 480/32 reserved"}}},
        {"SAMultiPathRecord",
         {"OpenSM",
          {"- reserved_104 104/8 reserved", "- reserved_136 136/24 reserved", "- reserved_160 160/32 reserved",
           "- reserved_64 64/12 reserved", "+ QOSClass 64/12 hex", "+ serviceID56LSB 136/56 hex",
           "+ serviceID8MSB 104/8 hex"}}},
        {"SAMulticastForwardingTableRecord",
         {"OpenSM, Wireshark",
          {"- blockNum 22/10 dec", "- position 18/4 dec", "- reserved_16 16/2 reserved", "+ blockNum 23/9 dec",
           "+ position 16/4 dec", "+ reserved_20 20/3 reserved"}}},
        {"SMPPortInfo",
         {"libibmad, OpenSM: XDR",
          {"- reserved_448 448/8 reserved", "+ linkSpeedExtActive2 449/2 dec", "+ linkSpeedExtEnabled2 453/3 dec",
           "+ linkSpeedExtSupported2 451/2 dec", "+ reserved_448 448/1 reserved"}}},
        {"SMPVendorDiag",
         {"Wireshark", {"- diagData 32/480 bytes", "- reserved_16 16/16 reserved", "+ diagData 16/496 bytes"}}},
    };
    return all;
}

const disputes& mask_disputes() {
    static const disputes all{
        {"SAGUIDInfoRecord",
         {"OpenSM: a bit for each GUID",
          {"- GUIDInfo.GUIDBlock 4", "+ GUIDInfo.GUIDBlock_0 4", "+ GUIDInfo.GUIDBlock_1 5", "+ GUIDInfo.GUIDBlock_2 6",
           "+ GUIDInfo.GUIDBlock_3 7", "+ GUIDInfo.GUIDBlock_4 8", "+ GUIDInfo.GUIDBlock_5 9",
           "+ GUIDInfo.GUIDBlock_6 10", "+ GUIDInfo.GUIDBlock_7 11"}}},
        {"SAMultiPathRecord",
         {"OpenSM: as the layout",
          {"- SDGID 23", "- reserved_104 16", "- reserved_136 21", "- reserved_160 22", "- reserved_64 8",
           "+ QOSClass 8", "+ SDGID 22", "+ serviceID56LSB 21", "+ serviceID8MSB 16"}}},
        {"SAMulticastForwardingTableRecord",
         {"OpenSM: as the layout", {"- position 2", "- reserved_16 1", "+ position 1", "+ reserved_20 2"}}},
        {"SAPathRecord", {"OpenSM: one field, for which two bits stand", {"- serviceID56LSB 1", "+ serviceID 1"}}},
        {"SAPortInfoRecord",
         {"they took reserved bits, which had one bit of the mask",
          {"+ portInfo.linkSpeedExtActive2 51", "+ portInfo.linkSpeedExtEnabled2 51",
           "+ portInfo.linkSpeedExtSupported2 51"}}},
    };
    return all;
}

bool is_disputed(std::string_view structure, std::string_view row) {
    const auto found = layout_disputes().find(structure);
    if (found == layout_disputes().end()) return false;
    const std::vector<std::string>& lines = found->second.differences;
    return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
        line.remove_prefix(2);
        return line.substr(0, line.find(' ')) == row;
    });
}
