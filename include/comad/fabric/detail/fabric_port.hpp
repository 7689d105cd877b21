// SPDX-License-Identifier: MIT
// fabric_port.hpp - one object that owns the transport to a fabric and describes the local port: for programs that make their own
// schedules or wrap the transport. open_fabric.hpp adds a schedule.
#pragma once
#include <comad/fabric/detail/fabric_text.hpp>
#include <comad/mad/path_text.hpp>
#include <comad/mad/transport.hpp>
#include <comad/sa/detail/local_port.hpp>
#include <comad/transports/detail/held_requests.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::transports {
struct end_port;
enum class port_use : u8;
} // namespace comad::transports
namespace comad::transports::sim {
struct simulation;
} // namespace comad::transports::sim

namespace comad {

/// What a program chooses in addition to the text that names the fabric. Only local devices have most of these options: an
/// option that the fabric does not have is an error (invalid_option), except `port`, `pkey`, `pkey_index` and `on_port_event`,
/// which are ignored.
struct fabric_options {
    /// The local port if the text does not name it: `mlx5_0/1`, `mlx5_0`, `/1`, or a port's GID or GUID.
    std::string port{};
    /// The target of the program. If neither the text nor `port` names a local port, its text may name one, and the GID prefix of a
    /// target in another subnet selects one (transports::end_port_for).
    std::optional<mad::address> target{};
    /// The P_Key of GMPs whose path has no index, by its value or by its index in the table of the local port. Default: the port's
    /// default P_Key. A queue pair of libibverbs has one P_Key for all its MADs.
    std::optional<u16> pkey{}, pkey_index{};
    /// umad: how often the MAD device is opened. Each file descriptor can have as many MADs in flight as the kernel allows.
    unsigned descriptors = 1;
    /// umad: how long the kernel holds a request.
    transports::kernel_timeout timeout = transports::kernel_timeout::automatic;
    /// verbs: called, while the transport receives, after the port changed and was read again, with the event's name in
    /// libibverbs (`LID changed`). It must not send.
    std::function<void(std::string_view event, const transports::end_port& now)> on_port_event{};
    /// The root of the device tree, for tests.
    std::string sys_class = "/sys/class";
};

/// An open fabric as seen from its local port: the transport, and what is known about the port without a MAD.
///
///     auto port = comad::open_fabric_port("umad:mlx5_0/1");
///     if (!port) return fail(port.error().text);
///     coro::MADSchedule schedule(port.value().transport());
///
/// Lifetime: It owns the transport: schedules on the transport must end before it does.
/// Threads:  Not thread-safe, as the transport.
class fabric_port {
public:
    /// A port of a transport that the program made. `reader` reads the port again; empty: its SMA is queried.
    fabric_port(std::unique_ptr<mad::transport>, const sa::local_port&, sa::port_reader reader = {});
    fabric_port(fabric_port&&) noexcept;
    fabric_port& operator=(fabric_port&&) noexcept;
    ~fabric_port();

    mad::transport& transport() const noexcept;
    /// The text that opens the same fabric again, and no other: `umad:mlx5_0/1`. Empty: the program made the transport.
    const std::string& text() const noexcept;

    /// The local port, as the device, server or simulator described it when the fabric was opened: no MAD was sent for it.
    const sa::local_port& local_port() const noexcept;
    /// Reads the local port again, for sa::client::set_port_reader(). Empty: its SMA is queried. It can outlive this object, but not the
    /// transport.
    const sa::port_reader& port_reader() const noexcept;
    /// The local port with all that sysfs has about it; null: the fabric is not a local device.
    const transports::end_port* end_port() const noexcept;
    /// The simulation; null: the fabric is not simulated by this process.
    const transports::sim::simulation* simulation() const noexcept;

    /// Lines for the user about the fabric, such as parts of a topology file that were left out.
    const std::vector<std::string>& notes() const noexcept;
    /// Of a fabric_kind::automatic that was opened through libibverbs: why no umad device was used. Otherwise empty.
    const std::string& why_not_umad() const noexcept;

private:
    friend struct fabric_opener;
    struct parts;
    explicit fabric_port(std::unique_ptr<parts>) noexcept;
    std::unique_ptr<parts> parts_;
};

/// Opens the fabric that a text names (parse_fabric). It may wait, for example up to five seconds for an ibsim server.
/// Errors: fabric_errc.
fabric_result<fabric_port> open_fabric_port(std::string_view text, const fabric_options& = {});
fabric_result<fabric_port> open_fabric_port(const fabric_text&, const fabric_options& = {});

/// A reader of a local port from sysfs; `name` as `mlx5_0/1`. Each time it reads, it also puts the port's P_Keys and GIDs into
/// `tables`, if that is not null. `tables` must outlive the reader.
sa::port_reader sysfs_port_reader(std::string name, transports::port_use use, std::string sys_class = "/sys/class",
                                  mad::port_tables* tables = nullptr);

} // namespace comad
