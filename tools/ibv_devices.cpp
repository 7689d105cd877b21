// SPDX-License-Identifier: MIT
// ibv_devices.cpp - names and GUIDs of local devices, text as rdma-core's ibv_devices.
#include "commands.hpp"
#include "local_ports.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

struct settings : sysfs_root {
    bool json = false;
};

int run_command(const settings& s) {
    const auto devices = comad::transports::get_devices(s.path);
    std::string text = fmt::format("    {:<16}\t   node GUID\n    {:<16}\t----------------\n", "device", "------");
    for (const auto& d : devices) text += fmt::format("    {:<16}\t{:016x}\n", d.name, value(d.nodeGUID));
    write_output(s.json ? json_of(devices) : text);
    return complete;
}

} // namespace

void add_ibv_devices(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("ibv_devices", "list local devices");
    command.add_flag("--json", s->json, "everything, as one JSON object");
    s->add_to(command);
    command.callback([s, &run] { run = [s](const global_options&) { return run_command(*s); }; });
}

} // namespace ibtool
