// SPDX-License-Identifier: MIT
// sysfs.hpp - the local devices and end ports, read from sysfs. Opens no device.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/path_text.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace comad::transports {

/// This machine has no InfiniBand device, in one line.
struct no_device : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One port of a local channel adapter, switch or router, as the kernel described it when it was read.
/// A file that is missing or makes no sense leaves the member as it is here.
struct end_port {
    std::string device; ///< `mlx5_0`
    unsigned port = 0;  ///< from 1; 0 is the management port of a switch
    std::string umad;   ///< its MAD device: `umad0` is /dev/infiniband/umad0. Empty: it has none
    std::string link_layer{
        "InfiniBand"}; ///< or `Ethernet`, which has no SMPs. Old kernels, which knew no other, do not say

    iba::NodeType nodeType{};
    iba::guid nodeGUID{};
    iba::guid portGUID{}; ///< the lower half of the first GID
    u64 GIDPrefix = 0;    ///< of the subnet: the upper half of the first GID
    iba::PortState portState{};
    iba::PortPhysicalState portPhysicalState{};
    iba::lid LID{};
    u8 LMC = 0;
    iba::lid masterSMLID{};
    u8 masterSMSL = 0;
    u32 capabilityMask = 0; ///< set of CapabilityMask
    /// Of MLNX_OFED (mad_sa_cc/PORT/max_outstanding): requests to the SA that are on the wire at a time. Others wait in a queue,
    /// and what finds that full is dropped in silence. 0: it does not say so.
    unsigned sa_max_outstanding = 0;
    std::string rate;           ///< in words: `100 Gb/sec (4X EDR)`
    std::vector<iba::gid> gids; ///< the GID table; zero: an entry that is not used
    std::vector<u16> PKeys;     ///< the P_Key table; zero: an entry that is not used

    bool is_infiniband() const noexcept { return link_layer == "InfiniBand"; }
    /// Its device has no SMI: on a planarized host, where others have it (see smi_gsi_pair).
    bool is_gsi_only() const noexcept { return capabilityMask & static_cast<u32>(iba::CapabilityMask::IsSMdisabled); }
    std::string name() const { return device + '/' + std::to_string(port); } ///< `mlx5_0/1`

    /// As mad::find_pkey(): the index of the partition's P_Key, full membership before limited.
    std::optional<u16> pkey_index(u16 pkey) const noexcept;
    /// As mad::find_gid().
    std::optional<u8> gid_index(const iba::gid&) const noexcept;
    /// The path to the subnet's SA (IBA 15.4.2). Its DLID is 0 while the port knows no subnet manager.
    mad::IBPath sa_path() const noexcept;
};

/// A local device. What is missing in sysfs is empty or zero.
struct device {
    std::string name; ///< `mlx5_0`
    iba::NodeType nodeType{};
    iba::guid nodeGUID{};
    iba::guid systemImageGUID{};
    std::string node_desc;
    std::string fw_ver;
    std::string hw_ver;
    std::string board_id;
    std::string hca_type;
    std::vector<end_port> end_ports; ///< by number
};

/// What an end port is chosen for.
enum class port_use : u8 {
    umad, ///< its MAD device: ports that have none are passed over, and those of RoCE, which have no SMPs
    GMPs, ///< GMPs over verbs: no MAD device is needed, and of RoCE only a port that is named in full is taken
};

/// All end ports with a MAD device, whatever their link layer, by device in natural order (mlx5_2 before mlx5_10), then
/// by port. Empty where there are none. `sys_class` is the root of the tree, for tests.
std::vector<end_port> end_ports(const std::filesystem::path& sys_class = "/sys/class");

/// The end port that `name` means: `DEVICE/PORT`, `DEVICE`, `/PORT` of any device, or nothing. Of several InfiniBand
/// ports the first Active one, else the first that is physically up; a port that is down must be named in full.
///
/// Errors: no_device, or std::runtime_error with one line: none of that name, Ethernet only, none up, or a kernel
/// interface older than ABI version 5.
end_port select_end_port(std::string_view name = {}, const std::filesystem::path& sys_class = "/sys/class",
                         port_use use = port_use::umad);

/// The end port that a text means: a port's GID or GUID, else as select_end_port() has it. Of a link-local GID
/// (fe80::/64) only the GUID counts, because every port has it; another one must be in a port's table. Of several ports
/// with one GUID (see smi_gsi_pair) the first that is not down.
///
/// Errors: as select_end_port(); and no InfiniBand port has that GID or GUID.
end_port get_end_port(std::string_view text = {}, const std::filesystem::path& sys_class = "/sys/class",
                      port_use use = port_use::umad);

/// The end port to go from to a target: the one that its text names, which must be the chosen one, if one was `chosen`; else
/// the chosen one; else, to a GID outside fe80::/64, the first port that has a GID of that prefix, preferably one that is
/// not down; else the default of select_end_port().
///
/// Errors: as get_end_port(); and the path requires another end port than the chosen one.
end_port end_port_for(const mad::address& target, std::string_view chosen = {},
                      const std::filesystem::path& sys_class = "/sys/class", port_use use = port_use::umad);

/// All devices, with or without MAD device, whatever their link layer, in natural order. Empty where there are none.
std::vector<device> get_devices(const std::filesystem::path& sys_class = "/sys/class");

/// The device of that name or node GUID; of an empty text the first one.
/// Errors: std::runtime_error with one line.
device get_device(std::string_view text = {}, const std::filesystem::path& sys_class = "/sys/class");

/// The two sides of one logical port. On planarized hosts (XDR) they are ports of two devices: SMPs go through one of
/// the ports of `smi1`, one for each plane; all other MADs through `mlx5_0`, whose SMI is disabled.
struct smi_gsi {
    std::optional<end_port> smi; ///< sends SMPs
    std::optional<end_port> gsi; ///< sends all other MADs
};
/// The sides of the logical port that `port` belongs to, among `all`; an ordinary port is both of its own. The port that
/// was asked about stays on its side; on the other one the first that is not down is taken, else the first.
///
/// As libibumad's umad_get_smi_gsi_pairs() pairs: several InfiniBand ports with one port GUID are one logical port; of
/// these, the ones with IsSMdisabled are its GSI and the others its SMI.
smi_gsi smi_gsi_pair(const end_port& port, std::span<const end_port> all);

} // namespace comad::transports
