// SPDX-License-Identifier: MIT
// fabric.hpp - from the options `--fabric`, -C, -P, -Y and others to an open fabric. Knows no command.
#pragma once
#include "input/options.hpp"
#include <comad/fabric/detail/fabric_port.hpp>
#include <comad/mad/path_text.hpp>
#include <comad/mad/transport.hpp>
#include <comad/sa/client.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/sysfs.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ibtool {

/// The local port for verbs: that of -C and -P, or of a fabric `verbs:DEVICE/PORT`, or the default one. Throws usage_error
/// for another fabric, std::runtime_error with one line where there is none.
comad::transports::end_port local_port_for_verbs(const global_options&);

/// Whether the fabric is a port of this machine, and no simulation.
bool is_local(const global_options&);
/// The local port of such a fabric, as it would be opened. `classes`: as sysfs has them in /sys/class. Throws as above.
comad::transports::end_port local_port_for_mads(const global_options&, const std::filesystem::path& classes);

/// An open fabric, as the options choose it; closing it gives back whatever it held.
class fabric {
public:
    /// `target`: what the command queries; on a local device it may select the port. Null: nothing in particular.
    /// Throws usage_error for a text that names no fabric, and for a target that names a port which the fabric does not
    /// have; std::runtime_error or std::system_error with one line where the fabric cannot be opened.
    explicit fabric(const global_options& options, const comad::mad::address* target = nullptr);
    /// A transport that is open already, and how its port is read again; empty: its SMA is asked.
    fabric(std::unique_ptr<comad::mad::transport> own, const comad::sa::local_port& local_port,
           comad::sa::port_reader reader = {});

    /// The text by which the same place can be opened again, and no other: `umad:mlx5_0/1`.
    const std::string& place() const noexcept { return place_; }
    comad::mad::transport& transport() const noexcept { return port_->transport(); }
    /// The simulated subnet, if it is one of ours; null: it is not.
    const comad::transports::sim::simulation* simulation() const noexcept { return port_->simulation(); }

    /// Our port, as the device or the simulator described it when the fabric was opened: no MAD is sent for that.
    const comad::sa::local_port& local_port() const noexcept { return local_port_; }
    /// How the port is read again; empty: its SMA is asked. Outlives the fabric.
    const comad::sa::port_reader& port_reader() const noexcept { return port_reader_; }
    /// Calls `call` when the device reports that its port changed (over verbs; other devices report nothing). It is called
    /// while the transport receives, and must not send.
    void on_port_event(std::function<void()> call) { *on_port_event_ = std::move(call); }

private:
    comad::fabric_port open(const comad::fabric_text&, const global_options&, const comad::mad::address* target);

    std::string place_;
    std::optional<comad::fabric_port> port_; // never empty after construction
    comad::sa::local_port local_port_;
    comad::sa::port_reader port_reader_;
    std::shared_ptr<std::function<void()>> on_port_event_ = std::make_shared<std::function<void()>>();
};

/// Opens a fabric that ibtool does not know.
using fabric_opener = std::function<fabric(std::string_view place)>;
/// From now on `--fabric KIND:PLACE` opens what `open` returns: for programs that bring a transport of their own, as tests do. Not
/// thread-safe.
void add_fabric_kind(std::string kind, fabric_opener open);

/// The same as `reader`, but the path to the SA is always that of `port`: of an SA that the user chose. Without a reader: `port`.
comad::sa::port_reader with_fixed_sa(comad::sa::port_reader reader, const comad::sa::local_port& port);

} // namespace ibtool
