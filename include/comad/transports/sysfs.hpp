// SPDX-License-Identifier: MIT
// sysfs.hpp - the local devices and ports, read from sysfs. It opens no device, and is safe to use in several threads.
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

/// The error that this machine has no InfiniBand device; what() is one line.
struct no_device : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One port of a local channel adapter, switch or router, as sysfs described it when it was read. If a file is missing or
/// invalid, the member keeps its default.
struct end_port {
    std::string device; ///< `mlx5_0`
    unsigned port = 0;  ///< from 1; 0 is the management port of a switch
    std::string umad;   ///< its MAD device: `umad0` is /dev/infiniband/umad0. Empty: it has none
    std::string link_layer{
        "InfiniBand"}; ///< or `Ethernet`, which has no SMPs. Old kernels, which had only InfiniBand, do not report it

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
    /// MLNX_OFED (mad_sa_cc/PORT/max_outstanding): the number of requests to the SA in flight at a time. Others wait in a queue;
    /// if it is full, the driver drops requests without an error. 0: the driver does not report a limit.
    unsigned sa_max_outstanding = 0;
    std::string rate;           ///< as text: `100 Gb/sec (4X EDR)`
    std::vector<iba::gid> gids; ///< the GID table; zero: an entry that is not used
    std::vector<u16> PKeys;     ///< the P_Key table; zero: an entry that is not used

    bool is_infiniband() const noexcept { return link_layer == "InfiniBand"; }
    /// True if the device has no SMI. On planarized hosts, other devices have it (smi_gsi_pair).
    bool is_gsi_only() const noexcept { return capabilityMask & static_cast<u32>(iba::CapabilityMask::IsSMdisabled); }
    std::string name() const { return device + '/' + std::to_string(port); } ///< `mlx5_0/1`

    /// Returns the index of the partition's P_Key, as mad::find_pkey(): full membership before limited.
    std::optional<u16> pkey_index(u16 pkey) const noexcept;
    /// Returns the index of a GID, as mad::find_gid().
    std::optional<u8> gid_index(const iba::gid&) const noexcept;
    /// The path to the subnet's SA (IBA 15.4.2). Its DLID is 0 if no subnet manager has configured the port.
    mad::IBPath sa_path() const noexcept;
};

/// A local RDMA device. Members that sysfs does not have are empty or zero.
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

/// The purpose for which an end port is selected.
enum class port_use : u8 {
    umad, ///< through its MAD device: ports without one are skipped, and ports of RoCE, which have no SMPs
    GMPs, ///< GMPs through libibverbs: no MAD device is needed; ports of RoCE must be named as DEVICE/PORT
};

/// Returns all end ports that have a MAD device, with any link layer, sorted by device in natural order (mlx5_2 before mlx5_10) and
/// by port. Empty if there are none. `sys_class` is the root of the tree, for tests.
std::vector<end_port> end_ports(const std::filesystem::path& sys_class = "/sys/class");

/// Returns the end port with this name: `DEVICE/PORT`, `DEVICE`, `/PORT` of any device, or empty for any port. If several
/// InfiniBand ports match, it is the first Active one, else the first one that is physically up. A port that is down must be
/// named as DEVICE/PORT.
///
///     const transports::end_port port = transports::select_end_port("mlx5_0");
///     fmt::print("{} LID {} {}\n", port.name(), port.LID, port.rate);
///
/// Errors: no_device, or std::runtime_error with one line: none of that name, Ethernet only, none up, or a kernel
/// interface older than ABI version 5.
end_port select_end_port(std::string_view name = {}, const std::filesystem::path& sys_class = "/sys/class",
                         port_use use = port_use::umad);

/// Returns the end port with this GID, GUID or name (select_end_port). Only the GUID of a link-local GID (fe80::/64) is compared,
/// because every port has this prefix; any other GID must be in the table of a port. If several ports have one GUID
/// (smi_gsi_pair), it is the first one that is not down.
///
/// Errors: as select_end_port(); and no InfiniBand port has that GID or GUID.
end_port get_end_port(std::string_view text = {}, const std::filesystem::path& sys_class = "/sys/class",
                      port_use use = port_use::umad);

/// Returns the end port that reaches a target. It is the first of these that exists:
/// the port that the target's text names, which must be the chosen port if one was `chosen`; the chosen port;
/// for a GID outside fe80::/64, the first port that has a GID with the same prefix, preferably one that is not down;
/// the default of select_end_port().
///
/// Errors: those of get_end_port(), or the path requires an end port that is not the chosen one.
end_port end_port_for(const mad::address& target, std::string_view chosen = {},
                      const std::filesystem::path& sys_class = "/sys/class", port_use use = port_use::umad);

/// Returns all devices, with or without MAD device, with any link layer, in natural order. Empty if there are none.
std::vector<device> get_devices(const std::filesystem::path& sys_class = "/sys/class");

/// Returns the device with this name or node GUID; for an empty text the first one.
/// Errors: std::runtime_error with one line.
device get_device(std::string_view text = {}, const std::filesystem::path& sys_class = "/sys/class");

/// The two sides of one logical port. On planarized hosts (XDR) they are ports of two devices: SMPs are sent through one of
/// the ports of `smi1`, which has one for each plane, and all other MADs through `mlx5_0`, whose SMI is disabled.
struct smi_gsi {
    std::optional<end_port> smi; ///< sends SMPs
    std::optional<end_port> gsi; ///< sends all other MADs
};
/// Returns the sides of the logical port that `port` belongs to, from the ports `all`. An ordinary port is both sides. `port` itself
/// is always one of the sides. The other side is the first port that is not down, else the first one.
///
/// The rule follows libibumad's umad_get_smi_gsi_pairs(): InfiniBand ports with the same port GUID are one logical port. Ports with
/// IsSMdisabled are its GSI, the others its SMI.
smi_gsi smi_gsi_pair(const end_port& port, std::span<const end_port> all);

} // namespace comad::transports
