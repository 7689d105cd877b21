// SPDX-License-Identifier: MIT
// sysfs_files.cpp - the contents of sysfs files in the format of the kernel (Linux, drivers/infiniband/core/sysfs.c, user_mad.c).
#include "../sim/rates.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/transports/detail/vumad/sysfs_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace comad::transports::vumad {
namespace {

using namespace local_attribute;
using iba::smp::PortInfo;

constexpr unsigned abi_version = 5, pkeys = 32;

std::string state_of(const PortInfo& p) {
    static constexpr std::array names{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
    const unsigned n = value(p.portState);
    return fmt::format("{}: {}\n", n, n < names.size() ? names[n] : "<unknown>");
}

std::string physical_state_of(const PortInfo& p) {
    static constexpr std::array names{
        "<unknown>",         "Sleep",   "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
        "LinkErrorRecovery", "Phy Test"};
    const unsigned n = value(p.portPhysicalState);
    return fmt::format("{}: {}\n", n, n < names.size() ? names[n] : "<unknown>");
}

std::string rate_of(const local_attributes& a) {
    const PortInfo& p = a.port;
    struct speed {
        unsigned code, tenths; // tenths of Gb/s per lane
        std::string_view name;
    };
    static constexpr std::array extended{speed{8, 1000, " NDR"}, speed{4, 500, " HDR"}, speed{2, 250, " EDR"},
                                         speed{1, 140, " FDR"}};
    static constexpr std::array usual{speed{4, 100, " QDR"}, speed{2, 50, " DDR"}, speed{1, 25, " SDR"}};
    speed active = usual.back();
    for (const speed& s : usual)
        if (value(p.linkSpeedActive) == s.code) active = s;
    for (const speed& s : extended)
        if (value(p.linkSpeedExtActive) == s.code) active = s;
    if (value(p.linkSpeedExtActive2) == 1) active = {1, 2000, " XDR"};
    if ((a.mlnx_ext_port.LinkSpeedActive & 1) != 0) active = {8, 100, " FDR10"};
    const unsigned lanes = std::max(sim::lanes_of({.width = value(p.linkWidthActive)}), 1u); // Linux shows 0 as 1x
    const unsigned tenths = active.tenths * lanes;
    return fmt::format("{}{} Gb/sec ({}X{})\n", tenths / 10, tenths % 10 ? ".5" : "", lanes, active.name);
}

/// Returns a GID as eight full groups of digits.
std::string gid_of(const local_attributes& a) {
    const u64 prefix = a.port.GIDPrefix != 0 ? a.port.GIDPrefix : iba::link_local_prefix;
    return fmt::format("{}:{}\n", iba::guid{prefix}, a.node.portGUID);
}

std::string description_of(const local_attributes& a) {
    const auto& s = a.description.nodeString;
    const std::string_view text(reinterpret_cast<const char*>(s.data()), s.size());
    return fmt::format("{}\n", text.substr(0, text.find('\0')));
}

/// Collects files by directory.
class file_list {
public:
    std::vector<sysfs_file> all;

    void in(std::string directory, std::size_t port) {
        directory_ = std::move(directory);
        port_ = port;
    }
    void fixed(std::string name, std::string text) {
        add(std::move(name), 0, [text = text + '\n'](const local_attributes&) { return text; });
    }
    template <class Text> void add(std::string name, unsigned what, Text text) {
        all.push_back({directory_ + std::move(name), port_, what, std::move(text)});
    }

private:
    std::string directory_;
    std::size_t port_ = 0;
};

void describe_device(file_list& files) {
    files.add("node_type", node_info, [](const local_attributes& a) {
        static constexpr std::array names{"<unknown>", "CA", "SWITCH", "ROUTER"};
        const unsigned n = value(a.node.nodeType);
        return fmt::format("{}: {}\n", n, n < names.size() ? names[n] : "<unknown>");
    });
    files.add("node_guid", node_info, [](const local_attributes& a) { return fmt::format("{}\n", a.node.nodeGUID); });
    files.add("sys_image_guid", node_info,
              [](const local_attributes& a) { return fmt::format("{}\n", a.node.systemImageGUID); });
    files.add("node_desc", node_description, description_of);
    files.add("hw_rev", node_info, [](const local_attributes& a) { return fmt::format("{:x}\n", a.node.revision); });
    files.add("hca_type", node_info, [](const local_attributes& a) { return fmt::format("MT{}\n", a.node.deviceID); });
    files.fixed("fw_ver", "0.0.0");
    files.fixed("board_id", "virtual");
}

void describe_port(file_list& files) {
    const auto add = [&files](const char* name, auto text) {
        files.add(name, port_info, [text](const local_attributes& a) { return text(a.port); });
    };
    add("lid", [](const PortInfo& p) { return fmt::format("{:#x}\n", value(p.LID)); });
    add("lid_mask_count", [](const PortInfo& p) { return fmt::format("{}\n", p.LMC); });
    add("sm_lid", [](const PortInfo& p) { return fmt::format("{:#x}\n", value(p.masterSMLID)); });
    add("sm_sl", [](const PortInfo& p) { return fmt::format("{}\n", p.masterSMSL); });
    add("state", state_of);
    add("phys_state", physical_state_of);
    files.add("rate", node_info | port_info | mlnx_ext_port_info, rate_of);
    add("cap_mask", [](const PortInfo& p) { return fmt::format("{:#010x}\n", p.capabilityMask); });
    files.fixed("link_layer", "InfiniBand");
    files.add("gids/0", node_info | port_info, gid_of);
    for (unsigned i = 0; i < pkeys; ++i)
        files.add(fmt::format("pkeys/{}", i), pkey_table,
                  [i](const local_attributes& a) { return fmt::format("{:#06x}\n", a.pkeys.PKeyBlock[i]); });
}

} // namespace

std::vector<sysfs_file> sysfs_files(std::span<const described_port> ports) {
    file_list files;
    files.in("infiniband_mad/", 0);
    files.fixed("abi_version", fmt::format("{}", abi_version));
    std::set<std::string> devices;
    for (std::size_t n = 0; n < ports.size(); ++n) {
        const described_port& p = ports[n];
        for (const char* kind : {"umad", "issm"}) {
            files.in(fmt::format("infiniband_mad/{}{}/", kind, n), n);
            files.fixed("ibdev", p.device);
            files.fixed("port", fmt::format("{}", p.port));
        }
        files.in(fmt::format("infiniband/{}/", p.device), n);
        if (devices.insert(p.device).second) describe_device(files);
        files.in(fmt::format("infiniband/{}/ports/{}/", p.device, p.port), n);
        describe_port(files);
    }
    return std::move(files.all);
}

} // namespace comad::transports::vumad
