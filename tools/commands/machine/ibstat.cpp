// SPDX-License-Identifier: MIT
// ibstat.cpp - ibstat: prints local devices and their ports as the kernel reports them; text and options as in infiniband-diags.
#include "command.hpp"
#include "text/ibstat_text.hpp"
#include "text/local_ports.hpp"
#include "text/output.hpp"
#ifdef COMAD_HAS_VERBS
#include <comad/verbs/detail/device.hpp>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

using comad::transports::device;

/// The command line of ibstat.
struct ibstat_settings : sysfs_root {
    std::string device;
    int port = -1;
    bool list = false, brief = false, guids = false, json = false;
};

/// Returns the effective speeds of the ports. Returns none if --sysfs names the files of another machine.
effective_speeds speeds_of_this_machine([[maybe_unused]] const ibstat_settings& s) {
#ifdef COMAD_HAS_VERBS
    if (s.path == sysfs_root().path) {
        return [](const device& d, unsigned port) -> std::optional<comad::u64> {
            const auto opened = comad::verbs::context::open(d.name);
            if (!opened) return std::nullopt;
            return opened.value().effective_speed(static_cast<comad::u8>(port));
        };
    }
#endif
    return [](const device&, unsigned) { return std::optional<comad::u64>(); };
}

const comad::transports::end_port& port_of(const device& d, int number) {
    const auto found = std::find_if(d.end_ports.begin(), d.end_ports.end(), [&](const comad::transports::end_port& p) {
        return static_cast<int>(p.port) == number;
    });
    if (found == d.end_ports.end())
        throw std::runtime_error(fmt::format("device '{}' has no port {}; it has {} port{}", d.name, number,
                                             d.end_ports.size(), d.end_ports.size() == 1 ? "" : "s"));
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
    } else if (s.guids) {
        for (const device& d : devices)
            for (const comad::transports::end_port& p : d.end_ports)
                text += fmt::format("{:#018x}\n", value(p.portGUID));
    } else if (s.port >= 0) {
        text = format_port(devices[0], port_of(devices[0], s.port), speeds_of_this_machine(s));
    } else {
        for (const device& d : devices) text += format_device(d, !s.brief, speeds_of_this_machine(s));
    }
    write_output(text);
    return complete;
}

} // namespace

command ibstat_command() {
    return {.name = "ibstat",
            .group = command_group::device,
            .no_sa_reason = "it reads only local devices",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibstat_settings>();
                takes.option("device", s->device);
                takes.option("port", s->port).range(0, 255);
                takes.flag("-l,--list_of_cas", s->list);
                takes.flag("-s,--short", s->brief);
                takes.flag("-p,--port_list", s->guids);
                takes.flag("--json", s->json);
                s->add_to(takes);
                return [s](const global_options&) { return run_ibstat(*s); };
            }};
}

} // namespace ibtool
