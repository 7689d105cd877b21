// SPDX-License-Identifier: MIT
// ibtool_overview.cpp - formats the output of `ibtool` without a command: a line for each port, and three useful commands.
#include "text/ibtool_overview.hpp"

#include "text/doctor_checks.hpp"
#include "text/local_ports.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ibtool {
namespace {

using comad::transports::end_port;

constexpr std::size_t most_ports = 6;

/// Returns which users can open the port: `open to alice`.
std::string format_rights(const machine& m, const end_port& p) {
    if (p.umad.empty()) return "no MAD device";
    const auto file = std::ranges::find(m.files, p.umad, &device_file::name);
    if (file == m.files.end()) return p.umad;
    return fmt::format("{} is {}accessible to {}", file->path, file->error == 0 ? "" : "not ", m.user);
}

std::string port_line(const machine& m, const end_port& p) {
    return fmt::format("  {:<12} {}, {} ({}), LID {}, SM at LID {}; {}\n", p.name(), p.link_layer,
                       format_state(p.portState), format_physical_state(p.portPhysicalState), value(p.LID),
                       value(p.masterSMLID), format_rights(m, p));
}

std::string format_ports(const machine& m) {
    const std::vector<end_port> all = ports_of(m);
    if (all.empty()) return "This machine has no InfiniBand ports.\n";
    std::string text = "Local ports:\n";
    for (std::size_t i = 0; i < std::min(all.size(), most_ports); ++i) text += port_line(m, all[i]);
    if (all.size() > most_ports) text += fmt::format("  ... and {} more (ibtool ibstat)\n", all.size() - most_ports);
    return text;
}

using steps = std::array<std::pair<std::string_view, std::string_view>, 3>;

std::string format_next(const steps& next) {
    std::string text = "Next steps:\n";
    for (const auto& [command, what] : next) text += fmt::format("  {:<58} {}\n", command, what);
    return text;
}

constexpr std::pair<std::string_view, std::string_view> list_commands{"ibtool help", "list all commands"};
constexpr std::pair<std::string_view, std::string_view> suggest_doctor{"ibtool doctor",
                                                                       "check this machine and suggest fixes"};

} // namespace

std::string format_overview(const machine& m) {
    std::string text = format_ports(m);
    if (can_open(m))
        return text + fmt::format("ibtool uses {}.\n", m.used->name()) +
               format_next(
                   {suggest_doctor, {"ibtool ibnetdiscover", "list the nodes and links of the subnet"}, list_commands});
    text += m.used ? fmt::format("ibtool would use {}, but cannot open it.\n", m.used->name())
                   : fmt::format("ibtool has no port to use: {}.\n", comad::iba::escaped(m.no_port));
    return text + format_next({suggest_doctor,
                               {"ibtool --fabric sim:fattree2,radix=8,sm=1 ibnetdiscover", "list a simulated subnet"},
                               list_commands});
}

std::string format_overview(std::string_view fabric) {
    return fmt::format("ibtool uses the fabric '{}' (from IBTOOL_FABRIC).\n", comad::iba::escaped(fabric)) +
           format_next(
               {suggest_doctor, {"ibtool ibnetdiscover", "list the nodes and links of the subnet"}, list_commands});
}

} // namespace ibtool
