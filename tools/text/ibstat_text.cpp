// SPDX-License-Identifier: MIT
// ibstat_text.cpp - formats local ports as ibstat.c of infiniband-diags does; `Effective speed` as in rdma-core 9a645e432.
#include "text/ibstat_text.hpp"

#include "text/local_ports.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>

namespace ibtool {

using comad::transports::device;

namespace {

std::string type_of(const device& d) {
    const auto name = comad::iba::find_name(comad::iba::names_of<comad::iba::NodeType>, value(d.nodeType));
    return name.empty() ? "???" : std::string(name);
}

/// Converts `10 Gb/sec (4X FDR10)` of sysfs to `10 (FDR10)`, as infiniband-diags print it.
std::string format_rate(const std::string& rate) {
    std::string whole = std::to_string(std::strtoul(rate.c_str(), nullptr, 10));
    if (whole == "2") whole = "2.5"; // 1X SDR
    return rate.ends_with("FDR10)") ? whole + " (FDR10)" : whole;
}

std::string lines_of(const device& d, const comad::transports::end_port& p, const char* indent,
                     const effective_speeds& speeds) {
    std::string out;
    const auto line = [&](const char* name, const std::string& text) {
        fmt::format_to(std::back_inserter(out), "{}{}: {}\n", indent, name, text);
    };
    line("State", format_state(p.portState));
    line("Physical state", format_physical_state(p.portPhysicalState));
    line("Rate", format_rate(p.rate));
    if (const auto bits_per_second = speeds(d, p.port))
        line("Effective speed", fmt::format("{:g}", static_cast<double>(*bits_per_second) / 1e9));
    line("Base lid", std::to_string(value(p.LID)));
    line("LMC", std::to_string(p.LMC));
    line("SM lid", std::to_string(value(p.masterSMLID)));
    line("Capability mask", fmt::format("{:#010x}", p.capabilityMask));
    line("Port GUID", fmt::format("{:#018x}", value(p.portGUID)));
    line("Link layer", p.link_layer);
    return out;
}

} // namespace

std::string format_port(const device& d, const comad::transports::end_port& p, const effective_speeds& speeds) {
    return fmt::format("{}: '{}'\nPort {}:\n{}", type_of(d), d.name, p.port, lines_of(d, p, "", speeds));
}

std::string format_device(const device& d, bool with_ports, const effective_speeds& speeds) {
    const std::string type = type_of(d);
    std::string out = fmt::format("{} '{}'\n", type, d.name);
    fmt::format_to(std::back_inserter(out), "\t{} type: {}\n\tNumber of ports: {}\n\tFirmware version: {}\n", type,
                   d.hca_type, d.end_ports.size(), d.fw_ver);
    fmt::format_to(std::back_inserter(out),
                   "\tHardware version: {}\n\tNode GUID: {:#018x}\n\tSystem image GUID: {:#018x}\n", d.hw_ver,
                   value(d.nodeGUID), value(d.systemImageGUID));
    if (!with_ports) return out;
    for (const comad::transports::end_port& p : d.end_ports)
        out += fmt::format("\tPort {}:\n{}", p.port, lines_of(d, p, "\t\t", speeds));
    return out;
}

} // namespace ibtool
