// SPDX-License-Identifier: MIT
// ibv_devices.cpp - ibv_devices: prints names and GUIDs of local devices, in the format of rdma-core.
#include "command.hpp"
#include "text/local_ports.hpp"
#include "text/output.hpp"

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of ibv_devices.
struct ibv_devices_settings : sysfs_root {
    bool json = false;
};

int run_ibv_devices(const ibv_devices_settings& s) {
    const auto devices = comad::transports::get_devices(s.path);
    std::string text = fmt::format("    {:<16}\t   node GUID\n    {:<16}\t----------------\n", "device", "------");
    for (const auto& d : devices) text += fmt::format("    {:<16}\t{:016x}\n", d.name, value(d.nodeGUID));
    write_output(s.json ? devices_json(devices) : text);
    return complete;
}

} // namespace

command ibv_devices_command() {
    return {.name = "ibv_devices",
            .group = command_group::device,
            .no_sa_reason = "it reads only local devices",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibv_devices_settings>();
                takes.flag("--json", s->json);
                s->add_to(takes);
                return [s](const global_options&) { return run_ibv_devices(*s); };
            }};
}

} // namespace ibtool
