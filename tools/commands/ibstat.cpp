// SPDX-License-Identifier: MIT
// ibstat.cpp - local devices and their ports, as the kernel describes them; text and options as infiniband-diags' ibstat.
#include "command.hpp"
#include "text/local_ports.hpp"
#include "text/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace ibtool {
namespace {

using comad::transports::device;

struct ibstat_settings : sysfs_root {
    std::string device;
    int port = -1;
    bool list = false, brief = false, GUIDs = false, json = false;
};

std::string type_of(const device& d) {
    const auto name = comad::iba::find_name(comad::iba::names_of<comad::iba::NodeType>, value(d.nodeType));
    return name.empty() ? "???" : std::string(name);
}

/// Of `10 Gb/sec (4X FDR10)` what infiniband-diags make: `10 (FDR10)`.
std::string rate_text(const std::string& rate) {
    std::string whole = std::to_string(std::strtoul(rate.c_str(), nullptr, 10));
    if (whole == "2") whole = "2.5"; // 1X SDR
    return rate.ends_with("FDR10)") ? whole + " (FDR10)" : whole;
}

std::string port_text(const comad::transports::end_port& p, const char* indent) {
    std::string out;
    const auto line = [&](const char* name, const std::string& text) {
        fmt::format_to(std::back_inserter(out), "{}{}: {}\n", indent, name, text);
    };
    line("State", state_text(p.portState));
    line("Physical state", physical_state_text(p.portPhysicalState));
    line("Rate", rate_text(p.rate));
    line("Base lid", std::to_string(value(p.LID)));
    line("LMC", std::to_string(p.LMC));
    line("SM lid", std::to_string(value(p.masterSMLID)));
    line("Capability mask", fmt::format("{:#010x}", p.capabilityMask));
    line("Port GUID", fmt::format("{:#018x}", value(p.portGUID)));
    line("Link layer", p.link_layer);
    return out;
}

std::string device_text(const device& d, bool with_ports) {
    const std::string type = type_of(d);
    std::string out = fmt::format("{} '{}'\n", type, d.name);
    fmt::format_to(std::back_inserter(out), "\t{} type: {}\n\tNumber of ports: {}\n\tFirmware version: {}\n", type,
                   d.hca_type, d.end_ports.size(), d.fw_ver);
    fmt::format_to(std::back_inserter(out),
                   "\tHardware version: {}\n\tNode GUID: {:#018x}\n\tSystem image GUID: {:#018x}\n", d.hw_ver,
                   value(d.nodeGUID), value(d.systemImageGUID));
    if (!with_ports) return out;
    for (const comad::transports::end_port& p : d.end_ports)
        out += fmt::format("\tPort {}:\n{}", p.port, port_text(p, "\t\t"));
    return out;
}

const comad::transports::end_port& port_of(const device& d, int number) {
    const auto found = std::find_if(d.end_ports.begin(), d.end_ports.end(), [&](const comad::transports::end_port& p) {
        return static_cast<int>(p.port) == number;
    });
    if (found == d.end_ports.end())
        throw std::runtime_error(
            fmt::format("device '{}' has no port {}; it has {}", d.name, number, d.end_ports.size()));
    return *found;
}

int run_ibstat(const ibstat_settings& s) {
    std::vector<device> devices = comad::transports::get_devices(s.path);
    if (devices.empty()) throw std::runtime_error("no RDMA device in " + s.path);
    if (!s.device.empty()) devices = {comad::transports::get_device(s.device, s.path)};

    std::string text;
    if (s.json) {
        text = devices_json(devices);
    } else if (s.list) {
        for (const device& d : devices) text += d.name + '\n';
    } else if (s.GUIDs) {
        for (const device& d : devices)
            for (const comad::transports::end_port& p : d.end_ports)
                text += fmt::format("{:#018x}\n", value(p.portGUID));
    } else if (s.port >= 0) {
        text = fmt::format("{}: '{}'\nPort {}:\n", type_of(devices[0]), devices[0].name, s.port);
        text += port_text(port_of(devices[0], s.port), "");
    } else {
        for (const device& d : devices) text += device_text(d, !s.brief);
    }
    write_output(text);
    return complete;
}

} // namespace

command ibstat_command() {
    return {.name = "ibstat",
            .group = command_group::device,
            .summary = "show local devices and ports",
            .examples = "ibstat\nibstat mlx5_0 1",
            .no_SA = "it shows this machine",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibstat_settings>();
                takes.option("device", s->device, "only this device, by name or node GUID");
                takes.option("port", s->port, "only this port of the device").range(0, 255);
                takes.flag("-l,--list_of_cas", s->list, "names only");
                takes.flag("-s,--short", s->brief, "without ports");
                takes.flag("-p,--port_list", s->GUIDs, "port GUIDs only");
                takes.flag("--json", s->json, "everything as one JSON object");
                s->add_to(takes);
                return [s](const global_options&) { return run_ibstat(*s); };
            }};
}

} // namespace ibtool
