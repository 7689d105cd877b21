// SPDX-License-Identifier: MIT
// ibstat_text.hpp - local devices and their ports in the text of ibstat. Reads no file.
#pragma once
#include <comad/transports/sysfs.hpp>

#include <functional>
#include <optional>
#include <string>

namespace ibtool {

/// The effective speed of a device's port in bits per second; nothing: it is not known, and its line is left out.
using effective_speeds = std::function<std::optional<comad::u64>(const comad::transports::device&, unsigned port)>;

/// `ibstat DEVICE`: a device, and on request its ports.
std::string device_text(const comad::transports::device&, bool with_ports, const effective_speeds&);
/// `ibstat DEVICE PORT`: one port.
std::string port_text(const comad::transports::device&, const comad::transports::end_port&, const effective_speeds&);

} // namespace ibtool
