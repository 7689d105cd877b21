// SPDX-License-Identifier: MIT
// ibstat_text.hpp - formats local devices and their ports as ibstat does. Reads no files.
#pragma once
#include <comad/transports/sysfs.hpp>

#include <functional>
#include <optional>
#include <string>

namespace ibtool {

/// The effective speed of a device's port in bits per second; nullopt: unknown, and the line is omitted.
using effective_speeds = std::function<std::optional<comad::u64>(const comad::transports::device&, unsigned port)>;

/// Returns the text of `ibstat DEVICE`: a device, and on request its ports.
std::string format_device(const comad::transports::device&, bool with_ports, const effective_speeds&);
/// Returns the text of `ibstat DEVICE PORT`: one port.
std::string format_port(const comad::transports::device&, const comad::transports::end_port&, const effective_speeds&);

} // namespace ibtool
