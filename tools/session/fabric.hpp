// SPDX-License-Identifier: MIT
// fabric.hpp - opens the fabric that the options `--fabric`, -C, -P, -Y and others select. Does not depend on a command.
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

/// Returns the local port for verbs: the one that -C and -P name, the port of a fabric `verbs:DEVICE/PORT`, or the default port. Throws
/// usage_error for any other fabric, and std::runtime_error with one line if there is no such port.
comad::transports::end_port local_port_for_verbs(const global_options&);

/// Returns whether the fabric is a port of this machine, not a simulation.
bool is_local(const global_options&);
/// Returns the local port that would be opened for such a fabric. `classes`: the directory /sys/class. Throws as
/// local_port_for_verbs().
comad::transports::end_port local_port_for_mads(const global_options&, const std::filesystem::path& classes);

/// An open fabric, as selected by the options. The destructor closes it and releases everything that it held.
class fabric {
public:
    /// Opens the fabric. `target`: the target of the command; on a local device it may select the port. Null: none.
    /// Throws usage_error if the text does not name a fabric, or if the target names a port that the fabric does not have. Throws
    /// std::runtime_error or std::system_error with one line if the fabric cannot be opened.
    explicit fabric(const global_options& options, const comad::mad::address* target = nullptr);
    /// Uses a transport that is already open. `reader` reads its port again; empty: by queries to the SMA of the port.
    fabric(std::unique_ptr<comad::mad::transport> own, const comad::sa::local_port& local_port,
           comad::sa::port_reader reader = {});

    /// Returns the text that opens exactly this port again: `umad:mlx5_0/1`.
    const std::string& place() const noexcept { return place_; }
    comad::mad::transport& transport() const noexcept { return port_->transport(); }
    /// Returns the simulated subnet; null if the fabric is not a simulation of this library.
    const comad::transports::sim::simulation* simulation() const noexcept { return port_->simulation(); }

    /// Returns the local port, as the device or the simulator described it when the fabric was opened. This needed no MAD.
    const comad::sa::local_port& local_port() const noexcept { return local_port_; }
    /// Returns a function that reads the port again; empty: query the SMA of the port. May be used after the fabric is destroyed.
    const comad::sa::port_reader& port_reader() const noexcept { return port_reader_; }
    /// Sets a function that is called when the device reports a change of its port. Only verbs devices report changes. It is called while
    /// the transport receives, and must not send.
    void on_port_event(std::function<void()> call) { *on_port_event_ = std::move(call); }

private:
    comad::fabric_port open(const comad::fabric_text&, const global_options&, const comad::mad::address* target);

    std::string place_;
    std::optional<comad::fabric_port> port_; // never empty after construction
    comad::sa::local_port local_port_;
    comad::sa::port_reader port_reader_;
    std::shared_ptr<std::function<void()>> on_port_event_ = std::make_shared<std::function<void()>>();
};

/// Opens a fabric of a kind that ibtool does not provide.
using fabric_opener = std::function<fabric(std::string_view place)>;
/// Makes `--fabric KIND:PLACE` open the result of `open`. For programs with their own transport, such as tests.
/// Threads: not thread-safe.
void add_fabric_kind(std::string kind, fabric_opener open);

/// Returns a reader like `reader`, except that the path to the SA is always that of `port`, because the user chose the SA. Without a
/// reader, it returns `port`.
comad::sa::port_reader with_fixed_sa(comad::sa::port_reader reader, const comad::sa::local_port& port);

} // namespace ibtool
