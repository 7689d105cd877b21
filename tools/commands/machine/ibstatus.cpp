// SPDX-License-Identifier: MIT
// ibstatus.cpp - ibstatus: prints the state of local ports, in the format of infiniband-diags' script.
#include "command.hpp"
#include "text/local_ports.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace ibtool {
namespace {

using comad::transports::device;

/// The command line of ibstatus.
struct ibstatus_settings : sysfs_root {
    std::vector<std::string> ports;
    bool json = false;
};

/// Formats a number with its name, as the kernel's files do: `4: ACTIVE`.
template <class E> std::string numbered(E number, std::string name) {
    return fmt::format("{}: {}", static_cast<unsigned>(number), name);
}
std::string state_line(const comad::transports::end_port& p) {
    static constexpr const char* names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};
    const unsigned n = value(p.portState);
    return numbered(n, n < std::size(names) ? names[n] : "???");
}
std::string physical_state_line(const comad::transports::end_port& p) {
    using comad::iba::PortPhysicalState;
    std::string name = comad::iba::name_or_number(p.portPhysicalState);
    if (p.portPhysicalState == PortPhysicalState::NoChange) name = "<unknown>";
    if (p.portPhysicalState == PortPhysicalState::PhyTest) name = "Phy Test";
    return numbered(p.portPhysicalState, name);
}

/// Formats a GID with eight full groups, as the kernel's files do.
std::string full(const comad::iba::gid& g) {
    std::string out;
    for (unsigned i = 0; i < 16; i += 2)
        fmt::format_to(std::back_inserter(out), "{}{:02x}{:02x}", i ? ":" : "", g.bytes[i], g.bytes[i + 1]);
    return out;
}

std::string text_of(const comad::transports::end_port& p) {
    std::string out = fmt::format("Infiniband device '{}' port {} status:\n", p.device, p.port);
    const auto line = [&](const char* name, const std::string& text) {
        fmt::format_to(std::back_inserter(out), "\t{} {}\n", name, text);
    };
    line("default gid:\t", p.gids.empty() ? "unknown" : full(p.gids[0]));
    line("base lid:\t", fmt::format("{:#x}", value(p.LID)));
    line("sm lid:\t\t", fmt::format("{:#x}", value(p.masterSMLID)));
    line("state:\t\t", state_line(p));
    line("phys state:\t", physical_state_line(p));
    line("rate:\t\t", p.rate);
    line("link_layer:\t", p.link_layer);
    return out + '\n';
}

/// Adds the ports that an argument selects: `mlx5_0`, `mlx5_0:1`, or `mlx5_0/1` as in other commands.
void add_named(const std::string& name, const std::vector<device>& all, std::vector<device>& chosen) {
    const std::size_t cut = name.find_first_of(":/");
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const device& d) { return d.name == name.substr(0, cut); });
    if (found == all.end())
        throw std::runtime_error(fmt::format("RDMA device {} not found; ibtool ibstat -l lists the devices",
                                             comad::iba::as_given(name.substr(0, cut))));
    chosen.push_back(*found);
    if (cut == name.npos) return;
    std::erase_if(chosen.back().end_ports,
                  [&](const comad::transports::end_port& p) { return std::to_string(p.port) != name.substr(cut + 1); });
    if (chosen.back().end_ports.empty())
        throw std::runtime_error(
            fmt::format("device '{}' has no port {}", found->name, comad::iba::as_given(name.substr(cut + 1))));
}

int run_ibstatus(const ibstatus_settings& s) {
    const std::vector<device> all = comad::transports::get_devices(s.path);
    if (all.empty()) throw std::runtime_error("no RDMA device in " + s.path);
    std::vector<device> chosen = s.ports.empty() ? all : std::vector<device>{};
    for (const std::string& name : s.ports) add_named(name, all, chosen);
    std::string text;
    for (const device& d : chosen)
        for (const comad::transports::end_port& p : d.end_ports) text += text_of(p);
    write_output(s.json ? devices_json(chosen) : text);
    return complete;
}

} // namespace

command ibstatus_command() {
    return {.name = "ibstatus",
            .group = command_group::device,
            .no_sa_reason = "it reads only local devices",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibstatus_settings>();
                takes.option("port", s->ports);
                takes.flag("--json", s->json);
                s->add_to(takes);
                return [s](const global_options&) { return run_ibstatus(*s); };
            }};
}

} // namespace ibtool
