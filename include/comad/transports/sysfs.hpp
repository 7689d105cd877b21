// SPDX-License-Identifier: MIT
// sysfs.hpp - the local end ports that ib_umad serves, read from sysfs. Opens no device.
#pragma once
#include <comad/iba/enums.hpp>
#include <comad/iba/types.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace comad::transports {

/// One port of a local channel adapter, switch or router, as the kernel described it when it was read.
/// A file that is missing or makes no sense leaves the member as it is here.
struct end_port {
    std::string device; ///< `mlx5_0`
    unsigned port = 0;  ///< from 1; 0 is the management port of a switch
    std::string umad;   ///< its MAD device: `umad0` is /dev/infiniband/umad0
    std::string link_layer{
        "InfiniBand"}; ///< or `Ethernet`, which has no SMPs. Old kernels, which knew no other, do not say

    iba::NodeType nodeType{};
    iba::guid nodeGUID{};
    iba::PortState portState{};
    iba::PortPhysicalState portPhysicalState{};
    iba::lid LID{};
    u8 LMC = 0;
    iba::lid masterSMLID{};
    u8 masterSMSL = 0;

    bool is_infiniband() const noexcept { return link_layer == "InfiniBand"; }
    std::string name() const { return device + '/' + std::to_string(port); } ///< `mlx5_0/1`
};

/// All end ports with a MAD device, whatever their link layer, by device in natural order (mlx5_2 before mlx5_10), then
/// by port. Empty where there are none. `sys_class` is the root of the tree, for tests.
std::vector<end_port> end_ports(const std::filesystem::path& sys_class = "/sys/class");

/// The end port that `name` means: `DEVICE/PORT`, `DEVICE`, `/PORT` of any device, or nothing. Of several InfiniBand
/// ports the first Active one, else the first that is physically up; a port that is down must be named in full.
///
/// Errors: std::runtime_error with one line: no device at all, none of that name, Ethernet only, none up, or a kernel
/// interface older than ABI version 5.
end_port select_end_port(std::string_view name = {}, const std::filesystem::path& sys_class = "/sys/class");

} // namespace comad::transports
