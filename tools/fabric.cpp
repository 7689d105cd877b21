// SPDX-License-Identifier: MIT
// fabric.cpp - which transport a fabric text means.
#include "fabric.hpp"

#include <comad/transports/ibsim.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/transports/umad.hpp>

#include <fmt/format.h>

#include <string_view>

namespace ibtool {
namespace {

namespace transports = comad::transports;

std::string port_name(const std::string& device, unsigned port) {
    return port ? fmt::format("{}/{}", device, port) : device;
}

std::unique_ptr<comad::mad::transport> open_umad(std::string name, const global_options& o) {
    if (!o.ca.empty() || o.ca_port) {
        if (!name.empty())
            throw usage_error("give the port either as --fabric umad:DEVICE/PORT or as -C and -P, not both");
        name = port_name(o.ca, o.ca_port);
    }
    if (name.empty()) name = port_name(o.default_ca, o.default_ca_port);
    return std::make_unique<transports::umad_transport>(transports::select_end_port(name));
}

std::unique_ptr<comad::mad::transport> open_ibsim(std::string_view place) {
    transports::ibsim_options options;
    const std::size_t comma = place.find(',');
    if (!place.substr(0, comma).empty()) options.sockname = place.substr(0, comma);
    if (comma != std::string_view::npos) options.node = place.substr(comma + 1);
    return std::make_unique<transports::ibsim_transport>(options);
}

} // namespace

fabric::fabric(const global_options& o) {
    const std::string_view text = o.fabric.empty() ? "umad" : std::string_view(o.fabric);
    const std::string_view kind = text.substr(0, text.find(':'));
    const std::string_view place = kind.size() < text.size() ? text.substr(kind.size() + 1) : std::string_view{};
    if (kind != "umad" && (!o.ca.empty() || o.ca_port)) {
        throw usage_error(fmt::format("-C and -P name a port of a umad device, but the fabric is '{}'", text));
    }
    if (kind == "umad") {
        own_ = open_umad(std::string(place), o);
    } else if (kind == "ibsim") {
        own_ = open_ibsim(place);
    } else if (kind == "sim" && !place.empty()) {
        simulation_ = transports::sim::make_sim(place);
    } else {
        throw usage_error(
            fmt::format("'{}' is no fabric; write umad[:DEVICE[/PORT]], ibsim[:SOCKNAME[,NODE]], sim:FILE or "
                        "sim:KIND,key=value... with KIND one of {}",
                        text, transports::sim::topology_kinds()));
    }
    transport_ = own_ ? own_.get() : simulation_.transport.get();
}

} // namespace ibtool
